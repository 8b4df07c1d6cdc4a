"""SquareCB.G (Zhang, Zhang, Vrousgou, Luo and Mineiro 2023): each round the convex program of its estimate."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbandit.checks import LARGEST, setting_number
from graphbandit.errors import SettingError
from graphbandit.function_classes.base import FunctionClass
from graphbandit.graph_batches import FeedbackGraphs
from graphbandit.learners.epochs import EpochSchedule, EpochState
from graphbandit.learners.estimates import EstimateLearner
from graphbandit.persistence import savable
from graphbandit.probabilities import decisions_from_probabilities
from graphbandit.shapes import Bool, Float
from graphbandit.squarecb_program import solve_squarecb_programs
from graphbandit.types import Decisions


@savable
@dataclass(frozen=True, kw_only=True)
class SquareCBG(EstimateLearner):
    """p is the optimum of `squarecb_program` at the losses -fhat_m(x, a), solved exactly and certified.

    The oracle is the offline one: fhat_m is the least-squares fit at the start of epoch m. `gamma` is "power", for

        gamma_m = gamma_scale * max(1, tau_{m-1}) ^ gamma_exponent

    with the rounds tau_{m-1} before the epoch, as the authors' own program has it with the same defaults, or a number,
    for that gamma throughout. The theory asks for sqrt(alpha T / regret of the oracle), which is such a power too. In
    epoch 1 all losses are equal, p reveals as much as can be, and gamma is 1. Arms need not reveal themselves, but each
    on offer must be revealed by one on offer.
    """

    gamma: float | str = "power"
    gamma_scale: float = 10.0
    gamma_exponent: float = 0.5
    epoch_growth: float = 2.0
    function_class: FunctionClass[Any, Any, Any] | None = None

    def __post_init__(self) -> None:
        check_gamma(self.gamma, self.gamma_scale, self.gamma_exponent)
        EpochSchedule(growth=self.epoch_growth)

    @property
    def needs_loops(self) -> bool:
        """No: the program says itself who must be revealed."""
        return False

    def gamma_of(self, state: EpochState) -> float:
        """gamma_m."""
        return 1.0 if state.model is None else gamma_at(self.gamma, self.gamma_scale, self.gamma_exponent, state.rounds)

    def sample(
        self,
        state: EpochState,
        values: Float[np.ndarray, "n arms"],
        graphs: FeedbackGraphs,
        uniforms: Float[np.ndarray, " n"],
        available: Bool[np.ndarray, "n arms"] | None,
    ) -> Decisions:
        """One convex program a round."""
        n, gamma = len(values), self.gamma_of(state)
        answers = solve_squarecb_programs(-values, graphs, np.full(n, gamma), available=available)
        best = np.argmax(values if available is None else np.where(available, values, -np.inf), axis=1)
        return decisions_from_probabilities(
            answers.probabilities,
            graphs=graphs,
            uniforms=uniforms,
            epoch=state.epoch,
            best=best,
            gaps=values[np.arange(n), best][:, None] - values,
            available=available,
            gamma=gamma,
            duality_gap=answers.duality_gap,
            solver="interior-point",
        )


def check_gamma(gamma: float | str, scale: float, exponent: float) -> None:
    """Raise SettingError unless gamma is "power" or a number above 0, and the power is one."""
    if isinstance(gamma, str):
        if gamma != "power":
            raise SettingError(f"gamma is {gamma!r}; expected 'power' or a number above 0")
    else:
        setting_number("gamma", gamma, above=0.0, below=LARGEST)
    setting_number("gamma_scale", scale, above=0.0, below=LARGEST)
    setting_number("gamma_exponent", exponent, at_least=0.0, below=2.0)


def gamma_at(gamma: float | str, scale: float, exponent: float, rounds: int) -> float:
    """The gamma of a learner that has learnt from so many rounds."""
    return scale * float(max(1, rounds)) ** exponent if isinstance(gamma, str) else float(gamma)
