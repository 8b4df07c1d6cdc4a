"""What UCB-N, UCB-MaxN, TS-N and IDS-N share: contexts are ignored, each arm has a number of rewards and their sum."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.checks import LARGEST_SCALE, setting_number
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float, Int, Shaped
from graphbandit.base.values import trusted
from graphbandit.errors import SettingError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.learners.every_round.base import EveryRoundLearner, RoundState, noise_of, run_rounds
from graphbandit.learners.problem import Problem
from graphbandit.rounds.observations import Observations

if TYPE_CHECKING:
    from graphbandit.kernels.learners.arm_means import MeanSettings
    from graphbandit.kernels.learners.base import Inputs, Outputs


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class ArmMeansState(RoundState):
    """How often each arm's reward was seen, and the sum of those rewards."""

    counts: Int[np.ndarray, " arms"]
    sums: Float[np.ndarray, " arms"]

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = (self.problem.n_arms,)
        if self.counts.shape != shape or self.counts.dtype != np.int64 or (self.counts < 0).any():
            raise SettingError(
                f"counts are {self.counts.dtype} of shape {self.counts.shape}; expected int64 of {shape}"
            )
        if self.sums.shape != shape or self.sums.dtype != np.float64 or not np.isfinite(self.sums).all():
            raise SettingError(f"sums are {self.sums.dtype} of shape {self.sums.shape}; expected finite of {shape}")


class ArmMeansLearner(EveryRoundLearner[ArmMeansState]):
    """A learner of arms that are the same in every round."""

    noise: float | None

    def __post_init__(self) -> None:
        if self.noise is not None:
            setting_number("noise", self.noise, at_least=0.0, at_most=LARGEST_SCALE)

    @staticmethod
    def _check_prior(mean: float, scale: float) -> None:
        """Raise SettingError unless these are of a prior whose squares and products with rewards stay finite."""
        setting_number("prior_mean", mean, at_least=-LARGEST_SCALE, at_most=LARGEST_SCALE)
        setting_number("prior_scale", scale, at_least=1.0 / LARGEST_SCALE, at_most=LARGEST_SCALE)

    @property
    def needs_loops(self) -> bool:
        """No: an arm that is never revealed stays as unknown as it was."""
        return False

    @abstractmethod
    def _settings(self, problem: Problem) -> "MeanSettings":
        """Which rule, with which constants."""

    def init(self, problem: Problem) -> ArmMeansState:
        """Nothing was seen."""
        noise_of(self.noise, problem)
        return ArmMeansState(
            problem=problem, rounds=0, counts=np.zeros(problem.n_arms, dtype=np.int64), sums=np.zeros(problem.n_arms)
        )

    def grown(self, state: ArmMeansState, problem: Problem) -> ArmMeansState:
        """Nothing was seen of the new arms."""
        new = problem.n_arms - len(state.counts)
        counts, sums = np.pad(state.counts, (0, new)), np.pad(state.sums, (0, new))
        return ArmMeansState(problem=problem, rounds=state.rounds, counts=counts, sums=sums)

    def _run(
        self,
        state: ArmMeansState,
        contexts: Shaped[np.ndarray, "n ..."],
        graphs: FeedbackGraphs,
        inputs: "Inputs",
        outputs: "Outputs",
    ) -> ArmMeansState:
        from graphbandit.kernels.learners import arm_means as kernels

        arrays = kernels.MeanArrays(state.counts, state.sums)
        if inputs.learn:
            arrays = kernels.MeanArrays(state.counts.copy(), state.sums.copy())
        run_rounds(kernels, graphs, state.rounds, self._settings(state.problem), arrays, inputs, outputs)
        if not inputs.learn:
            return state
        rounds = state.rounds + len(contexts)
        return trusted(ArmMeansState, problem=state.problem, rounds=rounds, counts=arrays.counts, sums=arrays.sums)

    def _learn(self, state: ArmMeansState, observations: Observations) -> ArmMeansState:
        from graphbandit.kernels.learners import arm_means as kernels

        arrays = kernels.MeanArrays(state.counts.copy(), state.sums.copy())
        kernels.learn(arrays, observations.arms, observations.rewards)
        rounds = state.rounds + 1
        return trusted(ArmMeansState, problem=state.problem, rounds=rounds, counts=arrays.counts, sums=arrays.sums)
