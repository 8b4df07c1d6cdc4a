"""IDS.G, information-directed sampling carried over to contexts, function classes and feedback graphs.

Information-directed sampling is of Russo & Van Roy (2014, section 4: the ratio of squared regret and information, and
that two arms suffice; section 6: the variance in place of the mutual information). The frequentist form follows
Kirschner & Krause (2018, section 3) and Kirschner, Lattimore & Krause (2020, section 3).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from graphbandit.checks import LARGEST, first_not_finite, setting_choice, setting_integer, setting_number
from graphbandit.errors import InputError
from graphbandit.function_classes.base import Draws, FunctionClass
from graphbandit.graph_batches import FeedbackGraphs
from graphbandit.information import information_directed, neighbourhood_information
from graphbandit.learners.base import Learner, candidates_of, check_batch, function_class_of
from graphbandit.learners.epochs import EpochSchedule, add_epoch, check_clock, rounds_left
from graphbandit.learners.noise import conservative_noise, warn_of_estimated_noise
from graphbandit.persistence import savable
from graphbandit.probabilistic_graphs import ProbabilisticGraphs
from graphbandit.probabilities import decisions_from_probabilities
from graphbandit.problem import Problem
from graphbandit.seeds import stream
from graphbandit.shapes import Bool, Float, Shaped
from graphbandit.types import Decisions, Observations

CELLS = 2**17
"""Values f_b(x, a) held at a time, so that memory never grows with the batch."""


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class IDSGState:
    """What IDS.G knows in epoch m.

    `draws` are the plausible functions of the Bayesian form, `space` is F_m of the frequentist form, and the other of
    the two is None. `noise` is the sigma that was used for it (infinite while nothing can be said),
    `lowest_reward` and `highest_reward` the span of what was seen.
    """

    problem: Problem
    rounds: int
    epoch: int
    data: Any
    draws: Draws | None
    space: Any
    noise: float
    lowest_reward: float
    highest_reward: float

    def __post_init__(self) -> None:
        check_clock(self.problem, self.rounds, self.epoch)


@savable
@dataclass(frozen=True, kw_only=True)
class IDSG(Learner[IDSGState]):
    """Plays what costs little regret for what its neighbourhood teaches about which arm is best here.

    Over plausible functions f_b with weights w_b, taken from the function class at an epoch's start:

        mu(a) = sum_b w_b f_b(x, a)                            Delta(a) = sum_b w_b max_j f_b(x, j) - mu(a)
        P(s)  = weight of those whose best arm is s             mu(a | s) = their weighted mean at a
        v(a)  = sum_s P(s) (mu(a | s) - mu(a))^2                 g(j) = sum over a in out(j) of v(a)
        p     = argmin over distributions of (sum p Delta)^2 / (sum p g);   if some Delta(a) = 0, play it

    `form` "frequentist" has Delta(a) = max_b u(b) - l(a) and v(a) = log(1 + w(a)^2 / sigma^2) instead, with l and u the
    bounds of F_m at the class's sharp radius, delta the probability that the truth is outside, and w = (u - l) / 2.
    `draws` is how many functions the Bayesian form takes of an infinite class, `seed` names the stream they come
    from, `epoch_growth` is the factor between epochs. Any graph will do: also without self-loops, and also
    `ProbabilisticGraphs`, for which g(j) = sum_a P(j reveals a) v(a). A class that can draw nothing before it has seen
    something (no members), or whose draws then say that all arms are the same, is explored uniformly in epoch 1. An
    arm not on offer is nobody's best, but teaches when it is revealed.

    In the decisions, `gaps` are Delta(a) - min Delta, `candidates` the arms s with P(s) > 0 (frequentist: those whose
    upper bound reaches the best lower one), and `exploration_set` the arms that may be played. `docs/ids.md` has what
    is proven of it and what is not.

    Two functions disagree on arms 0 and 1, and arm 2 is bad in both but reveals the others: worth playing, now and
    then, only where arms 0 and 1 do not reveal themselves.

    >>> from graphbandit import FeedbackGraph, FeedbackGraphs, FiniteClass
    >>> functions = FiniteClass(lambda x: np.array([[[1.0, 0, -1], [0, 1, -1]]]), n_functions=2, n_arms=3)
    >>> learner, rng = IDSG(), np.random.default_rng(0)
    >>> state = learner.init(Problem(n_arms=3, function_class=functions, noise=0.5))
    >>> for edges in ([(0, 0), (1, 1), (2, 0), (2, 1)], [(2, 0), (2, 1)]):
    ...     graphs = FeedbackGraphs.repeat(FeedbackGraph.from_edges(edges, 3, require_loops=False), 1)
    ...     learner.decide(state, np.zeros((1, 1)), graphs, rng).probabilities.round(4)
    array([[1., 0., 0.]])
    array([[0.6667, 0.    , 0.3333]])
    """

    form: Literal["bayesian", "frequentist"] = "bayesian"
    draws: int = 200
    delta: float = 0.1
    epoch_growth: float = 1.2
    seed: int = 0
    function_class: FunctionClass[Any, Any, Any] | None = None

    def __post_init__(self) -> None:
        setting_choice("form", self.form, ("bayesian", "frequentist"))
        setting_integer("draws", self.draws, at_least=1)
        setting_number("delta", self.delta, above=1.0 / LARGEST, below=1.0)
        EpochSchedule(growth=self.epoch_growth)
        setting_integer("seed", self.seed, at_least=0)

    def init(self, problem: Problem) -> IDSGState:
        """What the class holds plausible without data: all of a finite one, each function with the same weight."""
        functions = function_class_of(self.function_class, problem)
        if problem.noise is None:
            warn_of_estimated_noise("IDS.G")
        noise = math.inf if problem.noise is None else float(problem.noise)
        return self._state(functions, problem, 0, 1, functions.empty(), noise, math.inf, -math.inf)

    def rounds_until_update(self, state: IDSGState) -> int:
        """Rounds until the epoch, or the horizon, ends."""
        return rounds_left(self._schedule, state.problem, state.rounds, state.epoch)

    def decide(
        self,
        state: IDSGState,
        contexts: Shaped[np.ndarray, "n ..."],
        graphs: FeedbackGraphs | ProbabilisticGraphs,
        rng: np.random.Generator,
        *,
        available: Bool[np.ndarray, "n arms"] | None = None,
    ) -> Decisions:
        """Regret and information of every arm, the smallest ratio, draw."""
        problem = state.problem
        functions = function_class_of(self.function_class, problem)
        left = self.rounds_until_update(state)
        available = check_batch(problem.n_arms, left, contexts, graphs, available, loops=False, odds=True)
        functions.check_contexts(contexts)
        masks = np.ones((1, problem.n_arms), dtype=np.bool_) if available is None else np.ascontiguousarray(available)
        if state.draws is None:
            regrets, information, candidates, blind = _by_bounds(functions, state, contexts, masks)
        else:
            regrets, information, candidates, blind = _by_draws(functions, state, state.draws, contexts, masks)
        gains = neighbourhood_information(graphs, information)
        probabilities, best = information_directed(regrets, gains, masks)
        probabilities[blind] = np.broadcast_to(masks / masks.sum(axis=1, keepdims=True), regrets.shape)[blind]
        return decisions_from_probabilities(
            probabilities,
            graphs=graphs,
            uniforms=rng.random(len(contexts)),
            epoch=state.epoch,
            best=best,
            gaps=regrets - regrets[np.arange(len(best)), best][:, None],
            available=available,
            candidates=candidates,
            exploration_set=probabilities > 0,
        )

    def update(self, state: IDSGState, observations: Observations) -> IDSGState:
        """End an epoch: plausible functions given all data so far."""
        problem, m = state.problem, state.epoch
        functions = function_class_of(self.function_class, problem)
        expected = self.rounds_until_update(state)
        _, data, _ = add_epoch(
            functions, state.data, observations, rounds=state.rounds, expected=expected, split=state.rounds
        )
        low = float(observations.rewards.min(initial=state.lowest_reward))
        high = float(observations.rewards.max(initial=state.highest_reward))
        noise = conservative_noise(
            problem.noise, functions, data, span=max(high - low, 0.0), epoch=m + 1, delta=self.delta
        )
        return self._state(functions, problem, state.rounds + expected, m + 1, data, float(noise), low, high)

    @cached_property
    def _schedule(self) -> EpochSchedule:
        return EpochSchedule(growth=self.epoch_growth)

    def _state(
        self,
        functions: FunctionClass[Any, Any, Any],
        problem: Problem,
        rounds: int,
        epoch: int,
        data: Any,
        noise: float,
        low: float,
        high: float,
    ) -> IDSGState:
        """The plausible functions of an epoch, drawn from a stream that the state itself names.

        While nothing can be said of the noise, data says nothing either: what is plausible is what was without it.
        """
        draws, space = None, None
        if self.form == "bayesian":
            rng = stream(self.seed, "IDS.G", epoch, functions.n_observed(data), low.hex(), high.hex())
            known = noise < math.inf
            draws = functions.draws(
                data if known else functions.empty(), noise=noise if known else 1.0, count=self.draws, rng=rng
            )
        else:
            radius = functions.sharp_radius(data, noise, self.delta) if noise < math.inf else math.inf
            space = functions.version_space(data, radius)
        return IDSGState(
            problem=problem,
            rounds=rounds,
            epoch=epoch,
            data=data,
            draws=draws,
            space=space,
            noise=noise,
            lowest_reward=low,
            highest_reward=high,
        )


_Outlook = tuple[
    Float[np.ndarray, "n arms"], Float[np.ndarray, "n arms"], Bool[np.ndarray, "n arms"], Bool[np.ndarray, " n"]
]
"""Delta, v, the candidates, and the rounds in which nothing tells the arms apart yet: these are played uniformly."""


def _by_draws(
    functions: FunctionClass[Any, Any, Any],
    state: IDSGState,
    draws: Draws,
    contexts: Shaped[np.ndarray, "n ..."],
    masks: Bool[np.ndarray, "masks arms"],
) -> _Outlook:
    from graphbandit.kernels.information import posterior_information

    n, n_arms = len(contexts), functions.n_arms
    regrets, information = np.zeros((n, n_arms)), np.zeros((n, n_arms))
    candidates = np.array(np.broadcast_to(masks, (n, n_arms)))
    if not len(draws):
        # contexts the class cannot evaluate are refused now: at the update it would be too late
        candidates_of(functions, functions.version_space(state.data, math.inf), contexts, None)
        return regrets, information, candidates, np.ones(n, dtype=np.bool_)
    step = max(CELLS // (len(draws) * n_arms), 1)
    for start in range(0, n, step):
        part = slice(start, start + step)
        values = np.ascontiguousarray(functions.draw_values(draws, contexts[part]))
        expected = (len(contexts[part]), len(draws), n_arms)
        if values.dtype != np.float64 or values.shape != expected:
            raise InputError(
                f"the function class gave draws of type {values.dtype} and shape {values.shape}; "
                f"expected numbers of shape {expected}"
            )
        mask = masks if len(masks) == 1 else masks[part]
        posterior_information(values, draws.weights, mask, regrets[part], information[part], candidates[part])
    if not (np.abs(regrets) <= LARGEST).all():
        where = first_not_finite(regrets, largest=LARGEST)
        raise InputError(
            f"the draws of the function class give a regret of {where}; "
            f"expected values, finite ones, up to {LARGEST:g} in size"
        )
    empty = functions.n_observed(state.data) == 0
    return regrets, information, candidates, (np.where(masks, regrets, 0.0) == 0.0).all(axis=1) & empty


def _by_bounds(
    functions: FunctionClass[Any, Any, Any],
    state: IDSGState,
    contexts: Shaped[np.ndarray, "n ..."],
    masks: Bool[np.ndarray, "masks arms"],
) -> _Outlook:
    from graphbandit.kernels.information import bound_information

    lower, upper = functions.bounds(state.space, contexts)
    expected = (len(contexts), functions.n_arms)
    if lower.shape != expected or upper.shape != expected or not (lower <= upper).all():
        raise InputError(
            f"the function class gave bounds of shapes {lower.shape} and {upper.shape}; "
            f"expected {expected}, the lower ones not above the upper ones"
        )
    blind = ~((np.abs(lower) <= LARGEST) & (np.abs(upper) <= LARGEST)).all(axis=1)
    regrets, information = np.empty(expected), np.empty(expected)
    candidates = np.empty(expected, dtype=np.bool_)
    bound_information(
        np.where(blind[:, None], 0.0, lower),
        np.where(blind[:, None], 0.0, upper),
        state.noise,
        masks,
        regrets,
        information,
        candidates,
    )
    return regrets, information, candidates, blind
