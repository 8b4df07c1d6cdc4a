"""What each learner says of its decisions in its own words, for `Decision.explain`.

A row of words is one of four things, by its type: numbers of all arms (n, arms), a set of arms as a mask (n, arms), one
number a round, or one arm a round as a whole number, -1 for none. Nothing of it is looked at to decide or to learn.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from graphbandit.base.shapes import Float, Shaped
from graphbandit.learners.adacb import AdaCB
from graphbandit.learners.adacb_g import AdaCBG
from graphbandit.learners.base import Learner
from graphbandit.learners.bootstrapped_thompson import BootstrappedThompson
from graphbandit.learners.epochs.estimates import InverseGapLearner
from graphbandit.learners.epsilon_greedy import EpsilonGreedy
from graphbandit.learners.every_round.arm_means import ArmMeansLearner, ArmMeansState
from graphbandit.learners.every_round.base import EveryRoundLearner
from graphbandit.learners.every_round.exponential_weights import Exp3Learner, Exp3State
from graphbandit.learners.every_round.linear_rewards import LinearLearner, LinearState
from graphbandit.learners.exp3_dom import Exp3DOM
from graphbandit.learners.exp3_lgc import LinearLossLearner, LinearLossState
from graphbandit.learners.exp3_set import Exp3SET
from graphbandit.learners.ids_g import IDSG
from graphbandit.learners.ids_n import IDSN
from graphbandit.learners.late_graphs import LateGraph
from graphbandit.learners.lin_ucb import LinUCB
from graphbandit.learners.oracles import OracleLearner
from graphbandit.learners.regcb import RegCB
from graphbandit.learners.regcb_g import RegCBG
from graphbandit.learners.ts_n import TSN
from graphbandit.learners.uniform import Uniform
from graphbandit.rounds.decisions import BEST, Decisions
from graphbandit.rounds.shown import Shown

Words = dict[str, Shaped[np.ndarray, "n ..."]]


class LateWords(Mapping[str, Shaped[np.ndarray, "n ..."]]):
    """Words that are worked out when somebody asks for them; copies and pickles are plain dictionaries.

    - `make`: works them out. It keeps alive what it needs, so that should be small.
    """

    def __init__(self, make: Callable[[], Words]) -> None:
        self._make = make

    @cached_property
    def _words(self) -> Words:
        return self._make()

    def __getitem__(self, name: str) -> Shaped[np.ndarray, "n ..."]:
        return self._words[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)

    def __reduce__(self) -> tuple[type, tuple[Words]]:
        return dict, (self._words,)


def in_words(learner: Learner[Any], state: Any, shown: Shown, decisions: Decisions) -> Decisions:
    """The decisions with what this learner says of them; whoever wrote their own `choose` says it there."""
    if isinstance(learner, LateGraph):
        return in_words(learner.learner, state.inner, shown, decisions)
    if type(learner).choose.__module__.partition(".")[0] != "graphbandit":
        return decisions
    if isinstance(learner, EveryRoundLearner):
        make = partial(_words_of_round, learner, state, shown, decisions)
        big = isinstance(learner, LinearLearner | LinearLossLearner)  # states of matrices: too much to be kept
        return decisions.telling(make() if big else LateWords(make))
    return decisions.telling(_words_of_epoch(learner, state, decisions))


def _words_of_epoch(learner: Learner[Any], state: Any, made: Decisions) -> Words:
    """Of learners that learn at the end of an epoch; all is at hand."""
    if isinstance(learner, IDSG):
        return {BEST: made.best, **made.told, "candidates": made.candidates}
    if isinstance(learner, RegCB):
        return {BEST: made.best, **_some(made, "lower bound", "upper bound"), "candidates": made.candidates}
    if isinstance(learner, BootstrappedThompson):
        return {BEST: made.best, **_some(made, "estimate")}
    if isinstance(learner, Uniform):
        return {}
    learnt = state.model is not None
    unknown = np.full(made.gaps.shape, np.nan) if not learnt else made.gaps  # without an estimate, 0 would say a lot
    words: Words = {BEST: made.best if learnt else np.full(len(made), -1), "gap": unknown}
    if isinstance(learner, EpsilonGreedy):
        words["epsilon"] = np.full(len(made), learner.epsilon_in(state.epoch, state.problem))
    if isinstance(learner, AdaCBG | AdaCB):
        words["candidates"] = made.candidates
    if isinstance(learner, AdaCBG | AdaCB | RegCBG):
        words["exploration set"] = made.exploration_set
    if isinstance(learner, AdaCBG | AdaCB | InverseGapLearner | OracleLearner):
        words["gamma"] = made.gamma if learnt else unknown[:, 0]
    return words


def _some(made: Decisions, *names: str) -> Words:
    """Of what the learner told itself, these."""
    return {name: made.told[name] for name in names}


def _words_of_round(learner: EveryRoundLearner[Any], state: Any, shown: Shown, made: Decisions) -> Words:
    """Of learners that learn in every round."""
    if isinstance(learner, ArmMeansLearner):
        return _of_means(learner, state, shown, made)
    if isinstance(learner, LinearLearner):
        return _of_regression(learner, state, shown, made)
    if isinstance(learner, Exp3Learner | LinearLossLearner):
        return _of_weights(learner, state, shown, made)
    return {}


def _of_means(learner: ArmMeansLearner, state: ArmMeansState, shown: Shown, made: Decisions) -> Words:
    """Bounds of UCB-N and UCB-MaxN; the posterior of TS-N and IDS-N, and what IDS-N makes of it."""
    from graphbandit.kernels.learners import arm_means as kernels
    from graphbandit.kernels.learners.gaussian_information import regrets_and_information

    n, settings = len(made), learner._settings(state.problem)
    arrays, means = kernels.MeanArrays(state.counts, state.sums), np.empty(state.problem.n_arms)
    if not isinstance(learner, TSN | IDSN):
        bounds = kernels.upper_bounds(state.rounds, settings, arrays, means)
        means = np.where(state.counts > 0, means, np.nan)
        best = np.where(state.counts[made.best] > 0, made.best, -1)
        rows = {"mean reward": means, "upper bound": bounds, "times seen": state.counts.astype(np.float64)}
        return {BEST: best, **{name: np.tile(row, (n, 1)) for name, row in rows.items()}}
    variances = kernels.posterior(settings, arrays, means)
    rows = {"posterior mean": means, "posterior deviation": np.sqrt(variances)}
    if isinstance(learner, IDSN) and n == 1:
        regrets, information = np.empty((2, len(means)))
        offered = np.ascontiguousarray(shown.offered(len(means))[0])
        regrets_and_information(means, variances, settings.noise, offered, regrets, information)
        rows |= {"expected regret": regrets, "information": information}
    return {BEST: made.best, **{name: np.tile(row, (n, 1)) for name, row in rows.items()}}


def _of_regression(learner: LinearLearner, state: LinearState, shown: Shown, made: Decisions) -> Words:
    """Estimates of LinUCB with their upper bounds, and the posterior of LinTS."""
    from graphbandit.kernels.learners import linear_rewards as kernels

    n, n_arms = len(made), state.problem.n_arms
    features = learner.features(shown.contexts, n_arms)
    known = learner._regressions(state, features)
    arrays, settings = learner._arrays(known, copy=False), learner._settings(state.problem, features)
    rows: Float[np.ndarray, "2 n arms"] = np.empty((2, n, n_arms))
    directions = np.empty((n_arms, features.shape[2]))
    for t in range(n):
        means = np.empty(n_arms)
        noise = kernels.estimate(t, settings, arrays, means, directions)
        rows[0, t] = means
        if isinstance(learner, LinUCB):
            rows[1, t] = kernels.upper_bounds(settings, arrays, noise, means, directions)
        else:
            rows[1, t] = settings.width * noise * np.sqrt((directions * directions).sum(axis=1))
    start = float(state.totals[4])  # rewards may be counted from the first one seen
    if isinstance(learner, LinUCB):
        return {BEST: made.best, "estimate": rows[0] + start, "upper bound": rows[1] + start}
    return {BEST: made.best, "posterior mean": rows[0] + start, "posterior deviation": rows[1]}


def _of_weights(
    learner: Exp3Learner | LinearLossLearner, state: Exp3State | LinearLossState, shown: Shown, made: Decisions
) -> Words:
    """Exponential weights, the losses they come from, and gamma where there is one."""
    if isinstance(state, Exp3State):
        level = made.notes[:, 0].astype(np.int64) if isinstance(learner, Exp3DOM) else np.zeros(len(made), np.int64)
        losses = state.losses[level]
    else:
        assert isinstance(learner, LinearLossLearner)
        rows = learner._contexts(state, shown.contexts)
        losses = rows @ state.vectors.T if state.vectors.shape[1] else np.zeros(made.probabilities.shape)
    words: Words = {"estimated losses": losses}
    if isinstance(learner, Exp3SET):
        return {"weight": made.baseline, **words}
    implicit = made.notes[:, 1] > 0.0  # a bias in place of a share of exploration
    share = np.where(implicit, 0.0, made.gamma)[:, None]
    spread = share * made.exploration_set / np.maximum(made.exploration_set.sum(axis=1, keepdims=True), 1)
    with np.errstate(invalid="ignore", divide="ignore"):  # all of it is exploration: no weight shows
        weights = np.where(share < 1.0, np.maximum(made.baseline - spread, 0.0) / (1.0 - share), np.nan)
    sets: Words = {} if implicit.all() else {"exploration set": made.exploration_set}
    return {"weight": weights, **words, **sets, "gamma": made.gamma}
