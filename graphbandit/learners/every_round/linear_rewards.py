"""What LinUCB and LinTS share: features from contexts, and a ridge regression that grows with every reward revealed."""

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from graphbandit.base.array_types import Contexts
from graphbandit.base.checks import (
    INTEGER,
    LARGEST,
    as_in_kernels,
    check_features,
    setting_array,
    setting_boolean,
    setting_number,
    within,
)
from graphbandit.base.declared import limits
from graphbandit.base.direct_calls import DirectCall, kernels_of
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.base.trusted import tuple_of
from graphbandit.errors import InputError, SettingError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.learners.every_round.base import EveryRoundLearner, RoundState, run_rounds
from graphbandit.learners.problem import Problem
from graphbandit.rounds.observations import Observations
from graphbandit.rounds.small_numbers import small_array

if TYPE_CHECKING:
    from graphbandit.kernels.learners.base import Inputs, Outputs
    from graphbandit.kernels.learners.linear_rewards import LinearArrays, LinearSettings


_LARGEST = LARGEST**0.25
"""How large a feature may be."""

_run_linear = DirectCall("learners.linear_rewards", "run")
_learn_linear = DirectCall("learners.linear_rewards", "learn")


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class LinearState(RoundState):
    """Factors U of V = ridge I + sum phi phi', sums b = sum r phi, log det V - d log ridge: one each, or one an arm.

    `totals` are the number of rewards, the sum of their squares, the smallest, the largest, and the reward that r is
    counted from: 0, or the first one where the noise is not known. The regressions have no rows before the first round,
    as the first context says how long features are.
    """

    factors: Float[np.ndarray, "vectors d d"] = field(metadata=limits(diagonal_above=0.0))
    sums: Float[np.ndarray, "vectors d"]
    log_determinants: Float[np.ndarray, " vectors"]
    totals: Float[np.ndarray, " 5"] = field(metadata=limits(finite=False))

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.sums) not in (0, 1, self.problem.n_arms):
            raise InputError(f"there are {len(self.sums)} regressions; expected 1 or {self.problem.n_arms}")
        count, squares, _, _, reference = self.totals.tolist()
        if not (0 <= count < math.inf and 0 <= squares < math.inf and math.isfinite(reference)):
            raise InputError(f"totals are {self.totals}; expected a count, a sum of squares, a range and a reward")


class LinearLearner(EveryRoundLearner[LinearState]):
    """A learner of rewards phi(x, a)' theta.

    Contexts of shape (arms, d) are the arms' features, for one theta. Contexts of shape (d,) are features of the round,
    for a theta of each arm; or, with `arm_features` z, for one theta and phi = x kron z(a). With `intercept` a 1 is put
    behind x, and behind z.
    """

    ridge: float
    intercept: bool
    arm_features: npt.ArrayLike | None
    noise: float | None

    needs_loops = False
    """No: what is not revealed is not learnt."""

    def _check_features(self) -> None:
        """Raise SettingError unless these are settings of a ridge regression; arm features become plain tuples."""
        setting_boolean("intercept", self.intercept)
        setting_number("ridge", self.ridge, above=0.0)
        if self.arm_features is not None:
            table = setting_array("arm_features", self.arm_features, ("arms", "d"))
            if np.abs(table).max() > LARGEST**0.25:
                raise SettingError(f"arm_features go beyond {LARGEST**0.25:g}; expected smaller ones")
            object.__setattr__(self, "arm_features", tuple(map(tuple, table.tolist())))

    def grown(self, state: LinearState, problem: Problem) -> LinearState:
        """A theta of each arm is new for new arms; one theta for all stays what it is."""
        before, (vectors, d) = state.problem.n_arms, state.sums.shape
        if self.arm_features is not None or (vectors == before == 1):
            raise SettingError(
                "arm_features, or a single arm, are settings of the learner; expected IDSG or AdaCBG with "
                "Problem(arm_features=...), which take more arms"
            )
        new = problem.n_arms - before if vectors == before else 0
        fresh = np.broadcast_to(np.sqrt(self.ridge) * np.eye(d), (new, d, d))
        return LinearState(
            problem=problem,
            rounds=state.rounds,
            factors=np.concatenate([state.factors, fresh]),
            sums=np.concatenate([state.sums, np.zeros((new, d))]),
            log_determinants=np.pad(state.log_determinants, (0, new)),
            totals=state.totals,
        )

    @property
    def takes_own_arms(self) -> bool:
        """Yes, with one theta: rounds then show the features of their arms."""
        return self.arm_features is None

    def _told_noise(self, problem: Problem) -> float:
        """sigma of the learner or of the problem; NaN if neither says it."""
        told = problem.noise if self.noise is None else self.noise
        return math.nan if told is None else float(told)

    @abstractmethod
    def _counts_from_first(self, problem: Problem) -> bool:
        """Whether rewards are counted from the first one seen, as they are if nobody told the noise."""

    @abstractmethod
    def _settings(self, problem: Problem, features: Float[np.ndarray, "n rows d"]) -> "LinearSettings":
        """Which rule, with which constants."""

    def init(self, problem: Problem) -> LinearState:
        """No data."""
        if self.arm_features is not None and len(np.asarray(self.arm_features)) != problem.n_arms:
            given = len(np.asarray(self.arm_features))
            raise SettingError(f"arm_features are of {given} arms; expected {problem.n_arms}")
        return LinearState(
            problem=problem,
            rounds=0,
            factors=np.empty((0, 0, 0)),
            sums=np.empty((0, 0)),
            log_determinants=np.empty(0),
            totals=np.array([0.0, 0.0, np.inf, -np.inf, 0.0]),
        )

    def features(self, contexts: Contexts, n_arms: int) -> Float[np.ndarray, "n rows d"]:
        """phi of each round: (n, 1, d), or (n, arms, d) where arms have features of their own."""
        plain = contexts.ndim == 3 and self.arm_features is None and not self.intercept and contexts.flags.carray
        if plain and contexts.shape[1] == n_arms and contexts.shape[2] and small_array(contexts, _LARGEST):
            return contexts  # as most are
        if contexts.ndim == 2:
            rows = contexts[:, None, :]
        elif contexts.ndim == 3 and contexts.shape[1] == n_arms:
            rows = contexts
        else:
            raise InputError(f"contexts have shape {contexts.shape}; expected (n, d) or (n, {n_arms}, d)")
        if not rows.shape[2]:
            raise InputError(f"contexts have shape {contexts.shape}; expected at least one feature")
        if rows.dtype.kind not in "biuf":
            raise InputError(f"contexts have type {rows.dtype}; expected numbers")
        if not within(rows, _LARGEST):
            check_features(rows, largest=_LARGEST)
        if self.arm_features is not None and rows.shape[1] != 1:
            raise InputError(f"contexts have shape {contexts.shape}; expected (n, d), as there are arm_features")
        if self.intercept:
            rows = np.concatenate([rows, np.ones((*rows.shape[:2], 1))], axis=2)
        if self.arm_features is not None:
            arms = np.array(self.arm_features)
            if self.intercept:
                arms = np.hstack([arms, np.ones((len(arms), 1))])
            rows = (rows[:, :, :, None] * arms[None, :, None, :]).reshape(len(rows), len(arms), -1)
        return as_in_kernels(rows)

    def _regressions(self, state: LinearState, features: Float[np.ndarray, "n rows d"]) -> LinearState:
        """The state as it is, or, before anything was learnt, with empty regressions of the right size."""
        d = features.shape[2]
        vectors = self._vectors(state.problem, features)
        if not len(state.sums):
            factor = np.sqrt(self.ridge) * np.eye(d)
            return LinearState(
                problem=state.problem,
                rounds=state.rounds,
                factors=np.broadcast_to(factor, (vectors, d, d)).copy(),
                sums=np.zeros((vectors, d)),
                log_determinants=np.zeros(vectors),
                totals=state.totals,
            )
        if state.sums.shape != (vectors, d):
            found, expected = (vectors, d), state.sums.shape
            raise InputError(
                f"the context gives {found[0]} regressions of {found[1]} features; "
                f"expected its shape to give {expected[0]} of {expected[1]} as before"
            )
        return state

    @staticmethod
    def _vectors(problem: Problem, features: Float[np.ndarray, "n rows d"]) -> int:
        """How many theta there are: one, or one an arm where features are those of the round."""
        return problem.n_arms if features.shape[1] == 1 else 1

    def _run(
        self, state: LinearState, contexts: Contexts, graphs: FeedbackGraphs, inputs: "Inputs", outputs: "Outputs"
    ) -> LinearState:
        kernels = kernels_of("learners.linear_rewards")
        before, features = state, self.features(contexts, state.problem.n_arms)
        state = self._regressions(state, features)
        if features is contexts and state is before:
            state.__dict__["fitting"] = contexts  # what is decided now is learnt next
        known = None if inputs.learn else state.__dict__.get("in_kernels")
        arrays = self._arrays(state, copy=inputs.learn) if known is None else known
        settings, ready = self._settings(state.problem, features), inputs.learn or known is not None
        run_rounds(kernels, graphs, state.rounds, settings, arrays, inputs, outputs, run=_run_linear, ready=ready)
        return self._after(state, arrays, len(contexts)) if inputs.learn else state

    def _learn(self, state: LinearState, observations: Observations) -> LinearState:
        features = observations.contexts
        if features is not state.__dict__.get("fitting"):
            features = self.features(features, state.problem.n_arms)
            state = self._regressions(state, features)
        arrays = self._arrays(state, copy=True)
        _learn_linear.call(
            arrays,
            features,
            as_in_kernels(observations.rows, INTEGER),
            as_in_kernels(observations.arms, INTEGER),
            as_in_kernels(observations.rewards),
            self._counts_from_first(state.problem),
        )
        return self._after(state, arrays, 1)

    @staticmethod
    def _arrays(state: LinearState, *, copy: bool) -> "LinearArrays":
        given = (state.factors, state.sums, state.log_determinants, state.totals)
        kind = kernels_of("learners.linear_rewards").LinearArrays
        arrays: LinearArrays = tuple_of(kind, [a.copy() for a in given] if copy else given)
        return arrays
