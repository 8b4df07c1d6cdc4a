"""Epsilon-greedy: mostly the arm that looks best, now and then any arm at all."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from graphbandit.base.checks import LARGEST, setting_choice, setting_number
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Bool, Shaped
from graphbandit.errors import SettingError
from graphbandit.function_classes.base import FunctionClass
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.learners.epochs.estimates import EstimateLearner
from graphbandit.learners.epochs.schedule import EpochSchedule, EpochState
from graphbandit.planning.draw import decisions_from_probabilities, uniform_over
from graphbandit.rounds.decisions import Decisions


@savable
@dataclass(frozen=True, kw_only=True)
class EpsilonGreedy(EstimateLearner):
    """p(a) = epsilon_m / K for every arm, and 1 - epsilon_m more for argmax_a fhat_m(x, a); uniform in epoch 1.

    `schedule` "constant": epsilon_m = epsilon. "cube-root": epsilon_m = min(1, epsilon (K / tau_{m-1})^(1/3)), which at
    epsilon = 1 has regret of order T^(2/3) K^(1/3) up to logarithms, the rate of Langford & Zhang (2008). It
    learns from every reward the graph reveals, and ignores the graph when choosing.

    >>> learner = EpsilonGreedy()
    >>> [round(learner.epsilon_in(m, n_arms=8), 4) for m in (1, 4, 5, 8)]
    [1.0, 1.0, 0.7937, 0.3969]
    """

    epsilon: float = 1.0
    schedule: Literal["cube-root", "constant"] = "cube-root"
    epoch_growth: float = 2.0
    function_class: FunctionClass[Any, Any, Any] | None = None

    def __post_init__(self) -> None:
        setting_choice("schedule", self.schedule, ("cube-root", "constant"))
        setting_number("epsilon", self.epsilon, at_least=0.0, below=LARGEST)
        if self.schedule == "constant" and self.epsilon > 1.0:
            raise SettingError(f"epsilon is {self.epsilon!r}; expected a probability, as the schedule is constant")
        EpochSchedule(growth=self.epoch_growth)

    def epsilon_in(self, epoch: int, n_arms: int) -> float:
        """epsilon_m: the share of rounds of this epoch that are played uniformly."""
        if epoch == 1:
            return 1.0
        if self.schedule == "constant":
            return float(self.epsilon)
        return float(min(1.0, self.epsilon * (n_arms / self._schedule.tau(epoch - 1)) ** (1 / 3)))

    def decide(
        self,
        state: EpochState,
        contexts: Shaped[np.ndarray, "n ..."],
        graphs: FeedbackGraphs,
        rng: np.random.Generator,
        *,
        available: Bool[np.ndarray, "n arms"] | None = None,
    ) -> Decisions:
        """Estimates, and the mixture of the best arm and all arms."""
        values, available = self.estimates(state, contexts, graphs, available, loops=False)
        offered = np.ones(values.shape, dtype=np.bool_) if available is None else available
        best = np.argmax(np.where(offered, values, -np.inf), axis=1)
        rows = np.arange(len(best))
        epsilon = self.epsilon_in(state.epoch, state.problem.n_arms)
        probabilities = epsilon * uniform_over(offered)
        probabilities[rows, best] += 1.0 - epsilon
        return decisions_from_probabilities(
            probabilities,
            graphs=graphs,
            uniforms=rng.random(len(contexts)),
            epoch=state.epoch,
            best=best,
            gaps=values[rows, best][:, None] - values,
            available=available,
        )
