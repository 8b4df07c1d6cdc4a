"""FALCON (Simchi-Levi & Xu 2021): inverse-gap weighting over all arms; the graph only feeds the estimate."""

from dataclasses import dataclass
from typing import Any

from graphbandit.function_classes.base import FunctionClass
from graphbandit.learners.epochs import EpochState
from graphbandit.learners.estimates import InverseGapLearner
from graphbandit.persistence import savable
from graphbandit.rounds import SamplingRule


@savable
@dataclass(frozen=True, kw_only=True)
class Falcon(InverseGapLearner):
    """p(a) = 1 / (K + gamma_m c(a)) for a != best, the rest on best; uniform in epoch 1.

    gamma_m = sqrt(eta K tau_{m-1} / (2 log(2 K |F| T^2 / delta))). It uses every reward the graph reveals to estimate,
    and ignores the graph when choosing: the baseline of the paper's experiments.
    """

    eta: float = 1.0
    delta: float = 0.1
    epoch_growth: float = 2.0
    function_class: FunctionClass[Any, Any, Any] | None = None

    @property
    def needs_loops(self) -> bool:
        """No: the graph plays no part in the choice."""
        return False

    def rule(self, state: EpochState) -> SamplingRule:
        """All arms, no program."""
        return SamplingRule(explore_all=True, coverage="none", rate=self._rate(state))
