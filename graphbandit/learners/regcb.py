"""RegCB (Foster, Agarwal, Dudik, Luo & Schapire 2018): confidence bounds of any function class."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from graphbandit.base.checks import LARGEST, setting_choice, setting_number
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Bool, Shaped
from graphbandit.function_classes.base import FunctionClass
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.learners.base import check_batch, function_class_of
from graphbandit.learners.epochs.plausible import PlausibleLearner, PlausibleState, bounds_of, plausible_space
from graphbandit.learners.epochs.schedule import EpochSchedule
from graphbandit.planning.draw import decisions_from_probabilities, uniform_over
from graphbandit.rounds.decisions import Decisions


@savable
@dataclass(frozen=True, kw_only=True)
class RegCB(PlausibleLearner):
    """Plays by u(a) and l(a), the largest and the smallest f(x, a) over f in F_m (HIGH and LOW in the paper).

    `form` "elimination": uniformly among { a : u(a) >= max_b l(b) }, the arms that may be best. "optimistic":
    argmax_a u(a), lowest index on ties; uniformly among arms of which nothing is known, those whose u is infinite.
    It learns from every reward the graph reveals, and ignores the graph when choosing.

    F_m is cut from all data at the class's sharp radius, which holds at all times at once with probability 1 - delta;
    the paper's own radius is a worst-case logarithm times the epochs left. `epoch_growth` is the factor
    between epochs. Unlike the candidates of AdaCB.G, arms here are judged one by one: an arm may have the highest
    upper bound though no single function calls it best. In the decisions, `best` and `gaps` are of (l + u) / 2.

    >>> from graphbandit import FeedbackGraphs, FiniteClass, Problem, graphs
    >>> functions = FiniteClass(lambda x: np.array([[[1.0, 0, -1], [0.5, 2, -1]]]), n_functions=2, n_arms=3)
    >>> problem, graphs = Problem(n_arms=3, function_class=functions, noise=0.5), graphs.bandit(3)
    >>> for form in ("elimination", "optimistic"):
    ...     learner = RegCB(form=form)
    ...     once = FeedbackGraphs.repeat(graphs, 1)
    ...     learner.decide(learner.init(problem), np.zeros((1, 1)), once, np.random.default_rng(0)).probabilities
    array([[0.5, 0.5, 0. ]])
    array([[0., 1., 0.]])
    """

    form: Literal["elimination", "optimistic"] = "optimistic"
    delta: float = 0.1
    epoch_growth: float = 2.0
    function_class: FunctionClass[Any, Any, Any] | None = None

    def __post_init__(self) -> None:
        setting_choice("form", self.form, ("elimination", "optimistic"))
        setting_number("delta", self.delta, above=1.0 / LARGEST, below=1.0)
        EpochSchedule(growth=self.epoch_growth)

    def plausible(
        self, functions: FunctionClass[Any, Any, Any], data: Any, noise: float, names: tuple[str | int, ...]
    ) -> Any:
        """F_m."""
        return plausible_space(functions, data, noise, delta=self.delta)

    def decide(
        self,
        state: PlausibleState,
        contexts: Shaped[np.ndarray, "n ..."],
        graphs: FeedbackGraphs,
        rng: np.random.Generator,
        *,
        available: Bool[np.ndarray, "n arms"] | None = None,
    ) -> Decisions:
        """Bounds, the arms that may be best, and all of them or the most hopeful one."""
        problem = state.problem
        functions = function_class_of(self.function_class, problem)
        left = self.rounds_until_update(state)
        available = check_batch(problem.n_arms, left, contexts, graphs, available, loops=False)
        functions.check_contexts(contexts)
        lower, upper = bounds_of(functions, state.plausible, contexts)
        offered = np.ones(lower.shape, dtype=np.bool_) if available is None else available
        low, high = np.where(offered, lower, -np.inf), np.where(offered, upper, -np.inf)
        candidates = offered & (high >= low.max(axis=1, keepdims=True))
        if self.form == "elimination":
            probabilities = uniform_over(candidates)
        else:
            first = np.arange(high.shape[1]) == np.argmax(high, axis=1)[:, None]
            probabilities = uniform_over(np.where((high == np.inf).any(axis=1, keepdims=True), high == np.inf, first))
        middle = np.zeros(lower.shape)
        np.add(0.5 * lower, 0.5 * upper, out=middle, where=np.isfinite(lower) & np.isfinite(upper))
        best = np.argmax(np.where(offered, middle, -np.inf), axis=1)
        return decisions_from_probabilities(
            probabilities,
            graphs=graphs,
            uniforms=rng.random(len(contexts)),
            epoch=state.epoch,
            best=best,
            gaps=middle[np.arange(len(best)), best][:, None] - middle,
            available=available,
            candidates=candidates,
            exploration_set=probabilities > 0,
        )
