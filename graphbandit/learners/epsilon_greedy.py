"""Epsilon-greedy: mostly the arm that looks best, now and then any arm at all."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from graphbandit.base.checks import LARGEST, setting_choice, setting_number
from graphbandit.base.saved_files import savable
from graphbandit.errors import SettingError
from graphbandit.learners.epochs.base import AnyFunctionClass, EpochState, rounds_that_count
from graphbandit.learners.epochs.deciding import decided
from graphbandit.learners.epochs.estimates import EstimateLearner
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.drawn_arms import uniform_over
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import Words

Schedule = Literal["cube-root", "constant"]


@savable
@dataclass(frozen=True, kw_only=True)
class EpsilonGreedy(EstimateLearner):
    """p(a) = epsilon_m / K for every arm, and 1 - epsilon_m more for argmax_a fhat_m(x, a); uniform in epoch 1.

    It learns from every reward the graph reveals, and ignores the graph when choosing.

    - `epsilon`: how much to explore, 1 by default; with the constant schedule a probability.
    - `schedule`: "cube-root" (default): epsilon_m = min(1, epsilon (K / tau_{m-1})^(1/3)), which at epsilon = 1 has
      regret of order T^(2/3) K^(1/3) up to logarithms (Langford & Zhang 2008). "constant": epsilon_m = epsilon.
    - `epoch_growth`: factor between the ends of epochs, 2 by default; smaller fits more often.
    - `function_class`: the functions that may be the truth; None (default): those of the problem.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> learner, problem = EpsilonGreedy(), Problem(n_arms=8)
    >>> [round(learner.epsilon_in(m, problem), 4) for m in (1, 4, 5, 8)]
    [1.0, 1.0, 0.7937, 0.3969]
    """

    epsilon: float = 1.0
    schedule: Schedule = "cube-root"
    epoch_growth: float = 2.0
    function_class: AnyFunctionClass | None = None

    def __post_init__(self) -> None:
        setting_choice("schedule", self.schedule, get_args(Schedule))
        setting_number("epsilon", self.epsilon, at_least=0.0, below=LARGEST)
        if self.schedule == "constant" and self.epsilon > 1.0:
            raise SettingError(f"epsilon is {self.epsilon!r}; expected a probability, as the schedule is constant")
        super().__post_init__()

    def epsilon_in(self, epoch: int, problem: Problem) -> float:
        """epsilon_m: the share of rounds of an epoch that are played uniformly.

        - `epoch`: m, from 1.
        - `problem`: what the learner is told.
        """
        if epoch == 1:
            return 1.0
        if self.schedule == "constant":
            return float(self.epsilon)
        played = rounds_that_count(problem, self.epochs(problem).tau(epoch - 1))
        return float(min(1.0, self.epsilon * (problem.n_arms / played) ** (1 / 3)))

    def choose(self, state: EpochState, shown: Shown, rng: np.random.Generator) -> Decisions:
        """Estimates, and the mixture of the best arm and all arms."""
        values = self.estimates(state, shown)
        epsilon = self.epsilon_in(state.epoch, state.problem)
        probabilities = epsilon * uniform_over(shown.offered(values.shape[1]))
        probabilities[np.arange(len(values)), shown.best_offered(values)] += 1.0 - epsilon
        return decided(probabilities, values, state, shown, rng)

    def words(self, state: EpochState, shown: Shown, made: Decisions) -> Words:
        """The words of an estimate, and epsilon."""
        epsilon = np.full(len(made), self.epsilon_in(state.epoch, state.problem))
        return {**super().words(state, shown, made), "epsilon": epsilon}
