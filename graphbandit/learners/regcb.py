"""RegCB (Foster, Agarwal, Dudik, Luo & Schapire 2018): confidence bounds of any function class."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from graphbandit.base.checks import setting_choice
from graphbandit.base.saved_files import savable
from graphbandit.learners.epochs.base import AnyFunctionClass
from graphbandit.learners.epochs.deciding import decided
from graphbandit.learners.epochs.plausible import PlausibleLearner, PlausibleState, bounds_of
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.drawn_arms import uniform_over
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import BEST, Words

Form = Literal["elimination", "optimistic"]


@savable
@dataclass(frozen=True, kw_only=True)
class RegCB(PlausibleLearner):
    """Plays by u(a) and l(a), the largest and the smallest f(x, a) over f in F_m (HIGH and LOW in the paper).

    It learns from every reward the graph reveals, and ignores the graph when choosing. F_m is cut from all data at
    the class's sharp radius, which holds at all times at once with probability 1 - delta; the paper's own radius is a
    worst-case logarithm times the epochs left. Unlike the candidates of AdaCB.G, arms here are judged one by one: an
    arm may have the highest upper bound though no single function calls it best. In the decisions, `best` and `gaps`
    are of (l + u) / 2.

    - `form`: "optimistic" (default): argmax_a u(a), lowest index on ties; uniformly among arms of which nothing is
      known, those whose u is infinite. "elimination": uniformly among { a : u(a) >= max_b l(b) }, the arms that may
      be best.
    - `delta`: probability that the truth is outside of F_m, 0.1 by default.
    - `epoch_growth`: factor between the ends of epochs, 2 by default; smaller fits more often.
    - `function_class`: the functions that may be the truth; None (default): those of the problem.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> from graphbandit import Bandit, FiniteClass, Problem, graphs
    >>> functions = FiniteClass(lambda x: np.array([[[1.0, 0, -1], [0.5, 2, -1]]]), n_functions=2, n_arms=3)
    >>> problem = Problem(n_arms=3, function_class=functions, noise=0.5)
    >>> for form in ("elimination", "optimistic"):
    ...     Bandit(RegCB(form=form), problem).decide([0.0], graphs.bandit(3)).probabilities
    array([0.5, 0.5, 0. ])
    array([0., 1., 0.])
    """

    delta: float = 0.1
    epoch_growth: float = 2.0
    function_class: AnyFunctionClass | None = None
    form: Form = "optimistic"

    def __post_init__(self) -> None:
        setting_choice("form", self.form, get_args(Form))
        super().__post_init__()

    def choose(self, state: PlausibleState, shown: Shown, rng: np.random.Generator) -> Decisions:
        """Bounds, the arms that may be best, and all of them or the most hopeful one."""
        functions = self.functions(state.problem)
        functions.check_contexts(shown.contexts)
        lower, upper = bounds_of(functions, state.plausible, shown.contexts)
        offered = shown.offered(functions.n_arms)
        low, high = np.where(offered, lower, -np.inf), np.where(offered, upper, -np.inf)
        candidates = offered & (high >= low.max(axis=1, keepdims=True))
        if self.form == "elimination":
            probabilities = uniform_over(candidates)
        else:
            first = np.arange(high.shape[1]) == np.argmax(high, axis=1)[:, None]
            probabilities = uniform_over(np.where((high == np.inf).any(axis=1, keepdims=True), high == np.inf, first))
        middle = np.zeros(lower.shape)
        np.add(0.5 * lower, 0.5 * upper, out=middle, where=np.isfinite(lower) & np.isfinite(upper))
        told = {"lower bound": lower, "upper bound": upper}
        explained = {"candidates": candidates, "exploration_set": probabilities > 0, "told": told}
        return decided(probabilities, middle, state, shown, rng, **explained)

    def words(self, state: PlausibleState, shown: Shown, made: Decisions) -> Words:
        """The bounds that `choose` has told, and the candidates."""
        bounds = {name: made.told[name] for name in ("lower bound", "upper bound")}
        return {BEST: made.best, **bounds, "candidates": made.candidates}
