"""What EXP3-SET, EXP3-DOM, EXP3.G and EXP3-IX share: exponential weights of estimated losses, contexts ignored."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from graphbandit.base.array_types import Contexts, RoundsByArms
from graphbandit.base.checks import optional_number
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
    from graphbandit.kernels.learners.exponential_weights import Exp3Settings


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class Exp3State(RoundState):
    """Sums of estimated losses, (levels, arms), and what the rates depend on, (levels, 2)."""

    losses: Float[np.ndarray, "levels arms"] = field(metadata=limits(at_least=0.0, finite=False))
    totals: Float[np.ndarray, "kinds 2"] = field(metadata=limits(at_least=0.0, finite=False))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < len(self.losses) <= len(self.totals):
            raise InputError(
                f"there are {len(self.losses)} levels of losses and {len(self.totals)} rows of totals; "
                "expected at least one level, and a row of totals for each"
            )


@dataclass(frozen=True, kw_only=True)
class Exp3Learner(BoundedRewards, EveryRoundLearner[Exp3State]):
    """A learner of losses that an adversary may have chosen."""

    eta: float | None = None

    _rule: ClassVar[str]
    """The kernel's name of the algorithm."""

    late_words = True

    def __post_init__(self) -> None:
        optional_number("eta", self.eta, above=0.0)
        super().__post_init__()

    def _empty(self, n_arms: int) -> tuple[Float[np.ndarray, "levels arms"], Float[np.ndarray, "kinds 2"]]:
        """Losses and totals before the first round."""
        return np.zeros((1, n_arms)), np.zeros((1, 2))

    def init(self, problem: Problem) -> Exp3State:
        """All arms alike."""
        losses, totals = self._empty(problem.n_arms)
        return Exp3State(problem=problem, rounds=0, losses=losses, totals=totals)

    def words(self, state: Exp3State, shown: Shown, made: Decisions) -> Words:
        """Weights, estimated losses, and exploration."""
        return weights_in_words(self._losses(state, made), made)

    def _losses(self, state: Exp3State, made: Decisions) -> RoundsByArms:
        """The estimated losses that each round's weights come from."""
        return np.tile(state.losses[0], (len(made), 1))

    def _check_levels(self, state: Exp3State) -> None:
        """Raise SettingError at a state of another learner, whose arrays kernels would take for this one's."""
        losses, totals = self._empty(state.problem.n_arms)
        if state.losses.shape != losses.shape or state.totals.shape != totals.shape:
            raise SettingError(
                f"the state has losses of shape {state.losses.shape} and totals of shape {state.totals.shape}; "
                f"{type(self).__name__} expects {losses.shape} and {totals.shape}"
            )

    def _settings(self, problem: Problem) -> "Exp3Settings":
        from graphbandit.kernels.learners import exponential_weights as kernels

        return kernels.Exp3Settings(
            rule=getattr(kernels, self._rule),
            eta=given(self.eta),
            gamma=given(getattr(self, "gamma", None)),  # some have neither setting
            independence=given(getattr(self, "independence", None)),
            horizon=given(problem.horizon),
            low=float(self.low),
            high=float(self.high),
            address=self._address(),
        )

    def _address(self) -> int:
        """The address of the kernel that answers questions about graphs; 0 (default) if there are none."""
        return 0

    # the same steps in every family: arrays of its own, its kernel, a state of these arrays
    def _run(
        self, state: Exp3State, contexts: Contexts, graphs: FeedbackGraphs, inputs: "Inputs", outputs: "Outputs"
    ) -> Exp3State:
        from graphbandit.kernels.learners import exponential_weights as kernels

        self._check_levels(state)
        arrays = kernels.Exp3Arrays(state.losses, state.totals)
        if inputs.learn:
            arrays = kernels.Exp3Arrays(state.losses.copy(), state.totals.copy())
        run_rounds(kernels, graphs, state.rounds, self._settings(state.problem), arrays, inputs, outputs)
        return self._after(state, arrays, len(contexts)) if inputs.learn else state

    def _learn(self, state: Exp3State, observations: Observations) -> Exp3State:
        from graphbandit.kernels.learners import exponential_weights as kernels

        self._check_levels(state)
        notes, q = notes_of(observations, self.n_notes), observation_probabilities_of(observations)
        if not ((notes[:, 0] >= 0) & (notes[:, 0] < len(state.totals)) & (notes[:, 1] >= 0)).all():
            raise InputError(f"the notes of the observations are {notes.tolist()}; expected those of decided rounds")
        arrays = kernels.Exp3Arrays(state.losses.copy(), state.totals.copy())
        seen = observations
        kernels.learn(self._settings(state.problem), arrays, seen.rows, seen.arms, seen.rewards, q, notes)
        return self._after(state, arrays, 1)
