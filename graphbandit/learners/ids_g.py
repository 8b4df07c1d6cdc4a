"""IDS.G, information-directed sampling carried over to contexts, function classes and feedback graphs.

Information-directed sampling is due to Russo & Van Roy (2014): the ratio of squared regret and information, the fact
that two arms suffice, and the variance v(a) in place of the mutual information. The frequentist form follows Kirschner
& Krause (2018) and Kirschner, Lattimore & Krause (2020).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from graphbandit.base.array_types import ArmMasks, Contexts, Offers, RoundMask, RoundsByArms
from graphbandit.base.checks import LARGEST, as_in_kernels, setting_choice
from graphbandit.base.direct_calls import DirectCall, kernels_of
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.graphs.batch import FeedbackGraphs
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
from graphbandit.planning.information import by_weighed_draws, information_directed_rounds
from graphbandit.rounds.decisions import Columns, Decisions, decisions_of_kernel
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import BEST, Words

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
        graphs = shown.graphs
        assert graphs is not None  # the door let none without in
        epoch: _Epoch = self.of_epoch(state)
        if epoch.weights is not None and isinstance(graphs, FeedbackGraphs) and graphs.is_packed:
            return _in_one_kernel(epoch, state, shown, graphs, rng)
        contexts, masks = shown.contexts, masks_of(shown, epoch.functions.n_arms)
        outlook = _by_bounds if epoch.values is None else _by_draws
        regrets, information, estimates, candidates, blind = outlook(epoch, state, contexts, masks)
        found = information_directed_rounds(
            graphs,
            regrets=regrets,
            information=information,
            available=masks,
            blind=blind,
            uniforms=rng.random(len(contexts)),
        )
        return Decisions.drawn(
            action=found.actions[:, 1],
            probabilities=found.probabilities,
            observation_probabilities=found.observed,
            best=found.actions[:, 0],
            gaps=found.gaps,
            candidates=candidates,
            epoch=state.epoch,
            told={"expected regret": regrets, "information": found.gains, "estimate": estimates},
        )

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


def _in_one_kernel(
    epoch: _Epoch, state: PlausibleState, shown: Shown, graphs: FeedbackGraphs, rng: np.random.Generator
) -> Decisions:
    """The Bayesian form with draws and packed graphs, by far the most common case: one call of a kernel."""
    contexts = shown.contexts
    n = len(contexts)
    assert epoch.values is not None  # it is the Bayesian form
    assert epoch.weights is not None  # and there are draws
    found = by_weighed_draws(
        graphs,
        epoch.values(contexts),
        weights=epoch.weights,
        available=masks_of(shown, graphs.n_arms),
        knows_nothing=epoch.knows_nothing,
        uniforms=rng.random(n),
        check=check_drawn,
    )
    tables, _, actions, probability = found
    known = {"of_epoch": state.epoch, "words": _SAID}
    return decisions_of_kernel(actions[:, 1], probability, tables[:, 1], found, _FIELDS, known)


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


_Outlook = tuple[
    RoundsByArms,
    RoundsByArms,
    RoundsByArms,
    ArmMasks,
    RoundMask,
]
"""Delta, v, the estimates mu (or the middle of the bounds), the candidates, and the rounds in which nothing tells the
arms apart yet: these are played uniformly."""


_posterior_information = DirectCall("planning.information", "posterior_information")


def _by_draws(epoch: _Epoch, state: PlausibleState, contexts: Contexts, masks: Offers) -> _Outlook:
    n, n_arms = len(contexts), epoch.functions.n_arms
    tables, candidates = np.zeros((3, n, n_arms)), np.empty((n, n_arms), dtype=np.bool_)
    regrets, information, estimates = tables[0], tables[1], tables[2]
    weights = as_in_kernels(state.plausible.weights)
    assert epoch.values is not None  # it is the Bayesian form
    for part, values in epoch.values(contexts):
        check_drawn(values)
        _posterior_information.call(
            as_in_kernels(values),
            weights,
            as_in_kernels(masks if len(masks) == 1 else masks[part], np.bool_),
            regrets[part],
            information[part],
            estimates[part],
            candidates[part],
        )
    if not len(weights):
        candidates[:] = masks
    blind = np.zeros(n, dtype=np.bool_)
    if epoch.knows_nothing:
        blind[:] = (np.where(masks, regrets, 0.0) == 0.0).all(axis=1)
    return regrets, information, estimates, candidates, blind


def _by_bounds(epoch: _Epoch, state: PlausibleState, contexts: Contexts, masks: Offers) -> _Outlook:
    lower, upper = bounds_of(epoch.functions, state.plausible, contexts)
    blind = ~((np.abs(lower) <= LARGEST) & (np.abs(upper) <= LARGEST)).all(axis=1)
    lower, upper = np.where(blind[:, None], 0.0, lower), np.where(blind[:, None], 0.0, upper)
    regrets, information = np.empty(lower.shape), np.empty(lower.shape)
    candidates = np.empty(lower.shape, dtype=np.bool_)
    assert state.noise is not None  # a version space has a noise
    kernels = kernels_of("planning.information")
    kernels.bound_information(lower, upper, state.noise, masks, regrets, information, candidates)
    return regrets, information, (lower + upper) / 2.0, candidates, blind
