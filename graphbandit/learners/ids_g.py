"""IDS.G, information-directed sampling carried over to contexts, function classes and feedback graphs.

Information-directed sampling is due to Russo & Van Roy (2014): the ratio of squared regret and information, the fact
that two arms suffice, and the variance v(a) in place of the mutual information. The frequentist form follows Kirschner
& Krause (2018) and Kirschner, Lattimore & Krause (2020).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from graphbandit.base.array_types import Contexts, Offers, RoundsByArms
from graphbandit.base.checks import LARGEST, as_in_kernels, setting_choice
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.learners.epochs.base import AnyFunctionClass, schedule_of
from graphbandit.learners.epochs.plausible import (
    DrawingLearner,
    Parts,
    PlausibleState,
    bounds_of,
    check_drawn,
    draws_know_nothing,
    masks_of,
    values_of_draws,
)
from graphbandit.learners.epochs.schedule import EpochSchedule
from graphbandit.learners.problem import Problem
from graphbandit.planning.information import decide_by_draws, direct, room_for, weigh_bounds
from graphbandit.rounds.decisions import Columns, Decisions, decisions_of_kernel
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import BEST, Words

if TYPE_CHECKING:
    from graphbandit.kernels.planning.information import Weighed

Form = Literal["bayesian", "frequentist"]

GROWTH = 1.1

MOST_SINGLE = 200
"""Rounds after each of which IDS.G learns, at most."""


@savable
@dataclass(frozen=True, kw_only=True)
class IDSG(DrawingLearner):
    """Information-directed sampling (Russo & Van Roy, 2014) with feedback graphs, the default choice.

    Each round it plays what costs little regret for what it teaches about the best arm.

    At an epoch's start, the function class gives plausible functions f_b with weights w_b. Then:

        mu(a) = sum_b w_b f_b(x, a)                            Delta(a) = sum_b w_b max_j f_b(x, j) - mu(a)
        P(s)  = weight of those whose best arm is s             mu(a | s) = their weighted mean at a
        v(a)  = sum_s P(s) (mu(a | s) - mu(a))^2                 g(j) = sum over a in out(j) of v(a)
        p     = argmin over distributions of (sum p Delta)^2 / (sum p g);   if some Delta(a) = 0, play it

    It takes any graph, also one without self-loops, and `ProbabilisticGraphs`, for which g(j) = sum_a P(j reveals a)
    v(a). Some classes cannot draw before they have seen rewards, or their draws say that all arms are the same; with
    these, epoch 1 explores uniformly. An arm that is not on offer is never the best, but it still teaches if it is
    revealed.

    - `form`: "bayesian" (default): the formulas above. "frequentist": Delta(a) = max_b u(b) - l(a) and v(a) = log(1 +
      w(a)^2 / sigma^2), with l and u the bounds of F_m at the class's sharp radius and w = (u - l) / 2.
    - `draws`: how many functions the Bayesian form draws from an infinite class, 200 by default.
    - `delta`: probability that the truth is outside F_m (frequentist), or that noise which the problem does not give is
      estimated too low; 0.1 by default.
    - `epoch_growth`: factor between the ends of epochs; smaller fits more often. None (default): it learns after every
      round up to round 2 K, or 200 if there are more than 100 arms, and then in epochs that grow by 1.1
      (`docs/ids.md`).
    - `seed`: names the stream that draws come from, 0 by default; give each repeat a seed of its own.
    - `function_class`: the functions that may be the truth; None (default): those of the problem.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    In the decisions, `gaps` are Delta(a) - min Delta, `candidates` the arms s with P(s) > 0 (frequentist: those whose
    upper bound reaches the best lower one), and `exploration_set` the arms that may be played. `docs/ids.md` says what
    is proven about it and what is not.

    In this example two functions disagree on arms 0 and 1. Arm 2 is bad in both but reveals the others. So it is worth
    playing now and then, but only if arms 0 and 1 do not reveal themselves.

    >>> from graphbandit import Bandit, FeedbackGraph, FiniteClass, Problem
    >>> functions = FiniteClass(lambda x: np.array([[[1.0, 0, -1], [0, 1, -1]]]), n_functions=2, n_arms=3)
    >>> bandit = Bandit(IDSG(), Problem(n_arms=3, function_class=functions, noise=0.5))
    >>> for edges in ([(0, 0), (1, 1), (2, 0), (2, 1)], [(2, 0), (2, 1)]):
    ...     graph = FeedbackGraph.from_edges(edges, 3, require_loops=False)
    ...     bandit.decide([0.0], graph).probabilities.round(4)
    array([1., 0., 0.])
    array([0.6667, 0.    , 0.3333])
    """

    form: Form = "bayesian"
    epoch_growth: float | None = None  # type: ignore[assignment]  # `growth` is what counts

    plans_with_probabilities = True
    """In either form: an arm's information counts in proportion to the probability that it is revealed."""

    def __post_init__(self) -> None:
        setting_choice("form", self.form, get_args(Form))
        super().__post_init__()

    def epochs(self, problem: Problem) -> EpochSchedule:
        """By default it learns in every round while arms are new: an epoch plays the same arms if nothing varies."""
        single = min(2 * problem.n_arms, MOST_SINGLE) if self.epoch_growth is None else 0
        return schedule_of(self.growth, problem.longest_epoch, single)

    @property
    def growth(self) -> float:
        """The `epoch_growth` that is used."""
        return GROWTH if self.epoch_growth is None else self.epoch_growth

    @property
    def takes_draws(self) -> bool:
        """In the Bayesian form."""
        return self.form == "bayesian"

    def choose(self, state: PlausibleState, shown: Shown, rng: np.random.Generator) -> Decisions:
        """Regret and information of every arm, the smallest ratio, draw."""
        graphs, contexts = shown.graphs, shown.contexts
        assert graphs is not None  # rounds without a graph were refused
        epoch: _Epoch = self.of_epoch(state)
        n, masks = len(contexts), masks_of(shown, epoch.functions.n_arms)
        if epoch.weights is not None:
            assert epoch.values is not None  # there are draws
            found = decide_by_draws(
                graphs,
                epoch.values(contexts),
                weights=epoch.weights,
                available=masks,
                count_alike_as_blind=epoch.knows_nothing,
                uniforms=rng.random(n),
                check=check_drawn,
            )
        else:
            found = room_for(n, epoch.functions.n_arms)
            weigh = _weigh_by_bounds if epoch.values is None else _weigh_nothing
            weigh(epoch, state, contexts, masks, found)
            direct(graphs, masks, rng.random(n), found)
        known = {"of_epoch": state.epoch, "words": _SAID}
        return decisions_of_kernel(found.actions[:, 1], found.probability, found.tables[:, 1], found, _FIELDS, known)

    def prepared(self, state: PlausibleState) -> "_Epoch":
        """The draws, ready for use, and their weights."""
        functions = self.functions(state.problem)
        if self.form == "frequentist":
            return _Epoch(functions, None, None, False)
        weights = as_in_kernels(state.plausible.weights) if len(state.plausible) else None
        knows_nothing = draws_know_nothing(functions, state)
        return _Epoch(functions, values_of_draws(functions, state.plausible), weights, knows_nothing)

    def words(self, state: PlausibleState, shown: Shown, made: Decisions) -> Words:
        """Estimates, expected regrets and information, as `choose` has told them, and the candidates."""
        return {BEST: "best", **made.told, "candidates": "candidates"}


class _Epoch(NamedTuple):
    """What the rounds of an epoch have in common."""

    functions: AnyFunctionClass
    values: Callable[[Contexts], Parts] | None
    """of the draws; None in the frequentist form"""
    weights: Float[np.ndarray, " draws"] | None
    """of the draws; None in the frequentist form, and where there are none"""
    knows_nothing: bool


def _table(number: int) -> Callable[[Any], RoundsByArms]:
    return lambda found: np.ascontiguousarray(found.tables[:, number])


_FIELDS: Columns = {
    "probabilities": _table(0),
    "gaps": _table(2),
    "information": _table(3),
    "expected regret": _table(4),
    "estimate": _table(5),
    "best": lambda found: found.actions[:, 0],
    "candidates": lambda found: found.candidates,
}
"""The fields of decisions in what the kernel has filled, and what is said beside them."""

_SAID: Words = {
    BEST: "best",
    **{name: name for name in ("expected regret", "information", "estimate")},
    "candidates": "candidates",
}


def _weigh_nothing(epoch: _Epoch, state: PlausibleState, contexts: Contexts, masks: Offers, found: "Weighed") -> None:
    """Where the class cannot draw yet."""
    assert epoch.values is not None  # it is the Bayesian form
    epoch.values(contexts)  # refuses contexts that the class cannot take
    found.tables[:] = 0.0
    found.candidates[:], found.blind[:] = masks, epoch.knows_nothing


def _weigh_by_bounds(epoch: _Epoch, state: PlausibleState, contexts: Contexts, masks: Offers, found: "Weighed") -> None:
    """By the bounds of the plausible functions; rounds in which they have none are blind."""
    lower, upper = bounds_of(epoch.functions, state.plausible, contexts)
    blind = ~((np.abs(lower) <= LARGEST) & (np.abs(upper) <= LARGEST)).all(axis=1)
    lower, upper = np.where(blind[:, None], 0.0, lower), np.where(blind[:, None], 0.0, upper)
    assert state.noise is not None  # a version space has a noise
    weigh_bounds(lower, upper, noise=state.noise, available=masks, blind=blind, found=found)
