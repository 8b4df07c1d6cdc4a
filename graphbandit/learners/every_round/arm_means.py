"""What UCB-N, UCB-MaxN, TS-N and IDS-N share: contexts are ignored, each arm has a number of rewards and their sum."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from graphbandit.base.array_types import ArmIndices, Contexts, PerArm, RoundsByArms
from graphbandit.base.checks import LARGEST_SCALE, optional_number, setting_number
from graphbandit.base.declared import limits
from graphbandit.base.saved_files import savable
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.learners.every_round.base import EveryRoundLearner, RoundState, noise_of, run_rounds
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import BEST, Words

if TYPE_CHECKING:
    from graphbandit.kernels.learners.arm_means import MeanSettings
    from graphbandit.kernels.learners.base import Inputs, Outputs


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class ArmMeansState(RoundState):
    """How often each arm's reward was seen, and the sum of those rewards."""

    counts: ArmIndices = field(metadata=limits(at_least=0))
    sums: PerArm


class ArmMeansLearner(EveryRoundLearner[ArmMeansState]):
    """A learner of arms that are the same in every round."""

    noise: float | None

    _rule: ClassVar[str]
    """The kernel's name of the algorithm."""

    needs_loops = False
    """No: an arm that is never revealed stays as unknown as it was."""

    late_words = True

    def __post_init__(self) -> None:
        optional_number("noise", self.noise, at_least=0.0, at_most=LARGEST_SCALE)

    @abstractmethod
    def _settings(self, problem: Problem) -> "MeanSettings":
        """The rule with its constants."""

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

    # the same steps in every family: arrays of its own, its kernel, a state of these arrays
    def _run(
        self, state: ArmMeansState, contexts: Contexts, graphs: FeedbackGraphs, inputs: "Inputs", outputs: "Outputs"
    ) -> ArmMeansState:
        from graphbandit.kernels.learners import arm_means as kernels

        arrays = kernels.MeanArrays(state.counts, state.sums)
        if inputs.learn:
            arrays = kernels.MeanArrays(state.counts.copy(), state.sums.copy())
        run_rounds(kernels, graphs, state.rounds, self._settings(state.problem), arrays, inputs, outputs)
        return self._after(state, arrays, len(contexts)) if inputs.learn else state

    def _learn(self, state: ArmMeansState, observations: Observations) -> ArmMeansState:
        from graphbandit.kernels.learners import arm_means as kernels

        arrays = kernels.MeanArrays(state.counts.copy(), state.sums.copy())
        kernels.learn(arrays, observations.arms, observations.rewards)
        return self._after(state, arrays, 1)


@dataclass(frozen=True, kw_only=True)
class OptimisticMeansLearner(ArmMeansLearner):
    """What UCB-N and UCB-MaxN share: upper bounds of the arms' means."""

    width: float = 1.0
    noise: float | None = None

    needs_loops = True
    """Yes: an arm that is never revealed would keep its infinite bound and be played forever."""

    def __post_init__(self) -> None:
        super().__post_init__()
        setting_number("width", self.width, at_least=0.0, at_most=LARGEST_SCALE)

    def _settings(self, problem: Problem) -> "MeanSettings":
        from graphbandit.kernels.learners import arm_means as kernels

        rule, noise = getattr(kernels, self._rule), noise_of(self.noise, problem)
        return kernels.MeanSettings(rule, noise, float(self.width), 0.0, 1.0, 0)

    def words(self, state: ArmMeansState, shown: Shown, made: Decisions) -> Words:
        """Means, their upper bounds, and how often each arm was seen."""
        from graphbandit.kernels.learners.arm_means import MeanArrays, upper_bounds

        means = np.empty(state.problem.n_arms)
        bounds = upper_bounds(state.rounds, self._settings(state.problem), MeanArrays(state.counts, state.sums), means)
        means = np.where(state.counts > 0, means, np.nan)
        rows = {"mean reward": means, "upper bound": bounds, "times seen": state.counts.astype(np.float64)}
        return {BEST: np.where(state.counts[made.best] > 0, made.best, -1), **_repeated(rows, len(made))}


@dataclass(frozen=True, kw_only=True)
class GaussianMeansLearner(ArmMeansLearner):
    """What TS-N and IDS-N share: a Gaussian prior of the arms' means."""

    prior_mean: float = 0.0
    prior_scale: float = 1.0
    noise: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        # squares of them, and their products with rewards, stay finite
        setting_number("prior_mean", self.prior_mean, at_least=-LARGEST_SCALE, at_most=LARGEST_SCALE)
        setting_number("prior_scale", self.prior_scale, at_least=1.0 / LARGEST_SCALE, at_most=LARGEST_SCALE)

    def _settings(self, problem: Problem) -> "MeanSettings":
        from graphbandit.kernels.learners import arm_means as kernels

        rule, noise = getattr(kernels, self._rule), noise_of(self.noise, problem)
        variance = float(self.prior_scale) ** 2
        return kernels.MeanSettings(rule, noise, 1.0, float(self.prior_mean), variance, self._address())

    @abstractmethod
    def _address(self) -> int:
        """Where the kernel is that makes probabilities of the posterior."""

    def words(self, state: ArmMeansState, shown: Shown, made: Decisions) -> Words:
        """The posterior: means and deviations."""
        means, variances = self._posterior(state)
        rows = {"posterior mean": means, "posterior deviation": np.sqrt(variances)}
        return {BEST: made.best, **_repeated(rows, len(made))}

    def _posterior(self, state: ArmMeansState) -> tuple[PerArm, PerArm]:
        from graphbandit.kernels.learners.arm_means import MeanArrays, posterior

        means = np.empty(state.problem.n_arms)
        variances = posterior(self._settings(state.problem), MeanArrays(state.counts, state.sums), means)
        return means, variances


def _repeated(rows: dict[str, PerArm], n: int) -> dict[str, RoundsByArms]:
    """The same words in each of n rounds."""
    return {name: np.tile(row, (n, 1)) for name, row in rows.items()}
