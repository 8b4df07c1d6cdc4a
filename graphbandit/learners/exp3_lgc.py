"""EXP3-LGC-U and EXP3-LGC-IX: adversarial losses that are linear in contexts.

By Wang, Li, Zhou, Giannakis, Varshney & Zhao, AAAI 2021.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from graphbandit.base.array_types import Contexts, Matrix
from graphbandit.base.checks import (
    LARGEST,
    as_in_kernels,
    check_within,
    optional_number,
    setting_boolean,
    setting_number,
)
from graphbandit.base.declared import limits
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.errors import InputError, SettingError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.learners.every_round.base import (
    EveryRoundLearner,
    RoundState,
    notes_of,
    observation_probabilities_of,
    run_rounds,
)
from graphbandit.learners.every_round.losses import BoundedRewards, given, weights_in_words
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import Words

if TYPE_CHECKING:
    from graphbandit.kernels.learners.base import Inputs, Outputs
    from graphbandit.kernels.learners.exp3_linear import LinearLossArrays, LinearLossSettings


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class LinearLossState(RoundState):
    """Sums of estimated loss vectors, the Cholesky factor U of ridge I + sum x x', and the sum of Q.

    The arrays are empty before the first round, as the first context says how long vectors are.
    """

    vectors: Float[np.ndarray, "arms d"]
    factor: Matrix = field(metadata=limits(diagonal_above=0.0))
    totals: Float[np.ndarray, " 1"]


@dataclass(frozen=True, kw_only=True)
class LinearLossLearner(BoundedRewards, EveryRoundLearner[LinearLossState]):
    """What EXP3-LGC-U and EXP3-LGC-IX share; contexts have shape (d,), the same for all arms."""

    eta: float | None = None
    gamma: float | None = None
    intercept: bool = True
    ridge: float = 1.0

    _rule: ClassVar[str]
    """The kernel's name of the algorithm."""

    def __post_init__(self) -> None:
        optional_number("eta", self.eta, above=0.0)
        optional_number("gamma", self.gamma, above=0.0)
        setting_number("ridge", self.ridge, above=0.0)
        setting_boolean("intercept", self.intercept)
        super().__post_init__()

    def init(self, problem: Problem) -> LinearLossState:
        """All arms alike."""
        vectors, factor = np.empty((problem.n_arms, 0)), np.empty((0, 0))
        return LinearLossState(problem=problem, rounds=0, vectors=vectors, factor=factor, totals=np.zeros(1))

    def words(self, state: LinearLossState, shown: Shown, made: Decisions) -> Words:
        """Weights, estimated losses, and exploration, at once: a state with matrices is too large to be kept."""
        rows, known = self._contexts(state, shown.contexts), state.vectors.shape[1] > 0
        losses = rows @ state.vectors.T if known else np.zeros(made.probabilities.shape)
        return weights_in_words(losses, made)

    def _contexts(self, state: LinearLossState, contexts: Contexts) -> Float[np.ndarray, "n d"]:
        if contexts.ndim != 2 or not contexts.shape[1] or contexts.dtype.kind not in "biuf":
            raise InputError(
                f"contexts have type {contexts.dtype} and shape {contexts.shape}; expected numbers, (n, d)"
            )
        check_within("contexts have", contexts, LARGEST**0.25)
        rows = np.hstack([contexts, np.ones((len(contexts), 1))]) if self.intercept else contexts
        d = state.vectors.shape[1]
        if d and rows.shape[1] != d:
            before = d - self.intercept
            raise InputError(f"the context has shape {contexts.shape[1:]}; expected ({before},) as before")
        return as_in_kernels(rows)

    def _arrays(self, state: LinearLossState, d: int) -> "LinearLossArrays":
        """The arrays of the state, or empty ones of the right size; new in any case."""
        from graphbandit.kernels.learners.exp3_linear import LinearLossArrays

        if not state.vectors.shape[1]:
            factor = np.sqrt(self.ridge) * np.eye(d)
            return LinearLossArrays(np.zeros((state.problem.n_arms, d)), factor, np.zeros(1))
        return LinearLossArrays(state.vectors.copy(), state.factor.copy(), state.totals.copy())

    def _settings(self, rows: Float[np.ndarray, "n d"]) -> "LinearLossSettings":
        from graphbandit.kernels.learners import exp3_linear as kernels

        return kernels.LinearLossSettings(
            rule=getattr(kernels, self._rule),
            contexts=rows,
            eta=given(self.eta),
            gamma=given(self.gamma),
            low=float(self.low),
            high=float(self.high),
        )

    def _run(
        self, state: LinearLossState, contexts: Contexts, graphs: FeedbackGraphs, inputs: "Inputs", outputs: "Outputs"
    ) -> LinearLossState:
        from graphbandit.kernels.learners import exp3_linear as kernels

        rows = self._contexts(state, contexts)
        arrays = self._arrays(state, rows.shape[1])
        run_rounds(kernels, graphs, state.rounds, self._settings(rows), arrays, inputs, outputs)
        return self._after(state, arrays, len(contexts)) if inputs.learn else state

    def _learn(self, state: LinearLossState, observations: Observations) -> LinearLossState:
        from graphbandit.kernels.learners import exp3_linear as kernels

        rows = self._contexts(state, observations.contexts)
        notes, q = notes_of(observations, self.n_notes), observation_probabilities_of(observations)
        if not (notes[:, 1] >= 0).all():
            raise InputError(f"the notes of the observations are {notes.tolist()}; expected those of decided rounds")
        arrays = self._arrays(state, rows.shape[1])
        seen, settings = observations, self._settings(rows)
        kernels.learn(state.rounds, settings, arrays, rows, seen.rows, seen.arms, seen.rewards, q, notes)
        return self._after(state, arrays, 1)


# the settings of both are those of LinearLossLearner, listed in both docstrings so that help() shows them
@savable
@dataclass(frozen=True, kw_only=True)
class Exp3LGCU(LinearLossLearner):
    """p = (1 - gamma) w + gamma / K, w(a) proportional to exp(-eta x' sum_s theta_s(a)).

    theta_s(a) = loss / q_s(a) S^-1 x_s where arm a's loss was revealed and 0 elsewhere: unbiased, when contexts are
    drawn independently with second moments S = E[x x']. The paper takes S as known; here it is (ridge I + sum x x')
    / t.

    - `eta`: learning rate. None (default): eta_t = sqrt(log K / (K t + d (K + sum_{s<t} Q_s))), with Q_s = sum_a p_s(a)
      / q_s(a), the paper's order sqrt(log K / ((K + alpha d) T)) with what was seen in place of alpha and T.
    - `gamma`: share of exploration. None (default): gamma_t = min(1/2, eta_t K x' S^-1 x), which aims at eta x' theta
      within 1, as its analysis needs.
    - `intercept`: whether a 1 is put behind x; True by default, as losses in [0, 1] are linear in x only with a
      constant.
    - `ridge`: regularisation of the regression, 1 by default.
    - `low`, `high`: the range of rewards, 0 and 1 by default; loss = (high - reward) / (high - low).
    - `clip`: whether a reward outside counts as the nearer end; False (default): it is refused.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> from graphbandit import Bandit, Problem, graphs
    >>> bandit = Bandit(Exp3LGCU(eta=0.5, gamma=0.2, ridge=1e-12), Problem(n_arms=2))
    >>> decision = bandit.decide([0.0], graphs.complete(2))
    >>> bandit.observe(decision, {0: 1.0, 1: 0.0})  # losses 0 and 1 at x = (0, 1), for which S^-1 x = (0, 1)
    >>> bandit.decide([0.0], graphs.complete(2)).probabilities.round(4)  # 0.8 (1, exp(-0.5)) / sum + 0.1
    array([0.598, 0.402])
    """

    _rule = "LGC_U"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gamma is not None and self.gamma > 1.0:
            raise SettingError(f"gamma is {self.gamma!r}; expected a number above 0 and up to 1")


# the settings are those of LinearLossLearner, listed here and in Exp3LGCU so that help() shows them
@savable
@dataclass(frozen=True, kw_only=True)
class Exp3LGCIX(LinearLossLearner):
    """p(a) proportional to exp(-eta x' sum_s theta_s(a)), with implicit exploration in the estimates instead of mixing.

    theta_s(a) = loss / (q_s(a) + gamma_s) S^-1 x_s where arm a's loss was revealed, S as in `Exp3LGCU`. The paper's
    guarantee is for losses and contexts that are not negative.

    - `eta`, `gamma`: learning rate and bias. None (default): gamma_t = eta_t = sqrt(log K / (d (K + sum_{s<t} Q_s)))
      with Q_s = sum_a p_s(a) / (q_s(a) + gamma_s), of the order of the paper's.
    - `intercept`: whether a 1 is put behind x; True by default, as losses in [0, 1] are linear in x only with a
      constant.
    - `ridge`: regularisation of the regression, 1 by default.
    - `low`, `high`: the range of rewards, 0 and 1 by default; loss = (high - reward) / (high - low).
    - `clip`: whether a reward outside counts as the nearer end; False (default): it is refused.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> from graphbandit import Bandit, Problem, graphs
    >>> bandit = Bandit(Exp3LGCIX(eta=1.0, gamma=0.25, ridge=1e-12), Problem(n_arms=2))
    >>> decision = bandit.decide([0.0], graphs.complete(2))
    >>> bandit.observe(decision, {0: 1.0, 1: 0.0})
    >>> bandit.decide([0.0], graphs.complete(2)).probabilities.round(4)  # 1 and exp(-0.8), in proportion
    array([0.69, 0.31])
    """

    _rule = "LGC_IX"
