"""One decision of a `Bandit`: what to play, under which id rewards are awaited, and why this arm."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from graphbandit.base.programs import SOLVERS
from graphbandit.base.shapes import Float, Int
from graphbandit.rounds.decisions import Decisions


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Decision:
    """One decision of a `Bandit`, and what explains it, which is worked out when it is asked for.

    - `id`: the number of the round, from 0.
    - `action`: the arm to play.
    - `probability`: the probability with which it was drawn.
    - `revealed`: the arms whose rewards may be handed back to `Bandit.observe`.
    - `bandit`: the identity of the bandit that decided; `observe` refuses decisions of another one.
    """

    id: int
    action: int
    probability: float
    revealed: Int[np.ndarray, " revealed"]
    bandit: str
    batch: Decisions = field(repr=False)
    row: int = 0

    @property
    def probabilities(self) -> Float[np.ndarray, " arms"]:
        """p: the probability of each arm."""
        row: Float[np.ndarray, " arms"] = self.batch.probabilities[self.row]
        return row

    @property
    def observation_probabilities(self) -> Float[np.ndarray, " arms"]:
        """q(a): the probability with which arm a's reward was going to be revealed."""
        row: Float[np.ndarray, " arms"] = self.batch.observation_probabilities[self.row]
        return row

    @property
    def best(self) -> int:
        """The arm with the largest estimated mean reward."""
        return int(self.batch.best[self.row])

    @property
    def gaps(self) -> Float[np.ndarray, " arms"]:
        """c(a): how much worse each arm looks than `best`."""
        row: Float[np.ndarray, " arms"] = self.batch.gaps[self.row]
        return row

    @property
    def baseline(self) -> Float[np.ndarray, " arms"]:
        """The probabilities that the sampling program has improved on."""
        row: Float[np.ndarray, " arms"] = self.batch.baseline[self.row]
        return row

    @property
    def candidates(self) -> Int[np.ndarray, " candidates"]:
        """A(x; F_m): the arms that may be the best."""
        arms: Int[np.ndarray, " candidates"] = self.batch.candidates[self.row].nonzero()[0]
        return arms

    @property
    def exploration_set(self) -> Int[np.ndarray, " explored"]:
        """S: the arms that are played to learn about the candidates."""
        arms: Int[np.ndarray, " explored"] = self.batch.exploration_set[self.row].nonzero()[0]
        return arms

    @property
    def gamma(self) -> float:
        """The exploration parameter; not a number for learners that have none."""
        return float(self.batch.gamma[self.row])

    @property
    def epoch(self) -> int:
        """m: the learner's epoch, from 1."""
        return int(self.batch.epoch[self.row])

    @property
    def objective(self) -> float:
        """sum_a p(a) c(a): the expected gap."""
        return float(self.batch.objective[self.row])

    @property
    def duality_gap(self) -> float:
        """The certified relative gap of the program's answer; not a number where there was no program."""
        return float(self.batch.duality_gap[self.row])

    @property
    def solver(self) -> str:
        """How the probabilities came about, one of `SOLVERS`."""
        return SOLVERS[self.batch.solver[self.row]]

    @property
    def coverage_factor(self) -> float:
        """The share of the demanded coverage that the graph allows."""
        return float(self.batch.coverage_factor[self.row])

    def __repr__(self) -> str:
        return (
            f"Decision(id={self.id}, action={self.action}, probability={self.probability:.4g}, "
            f"best={self.best}, epoch={self.epoch})"
        )

    def explain(self) -> str:
        """The decision in words and figures, one line a fact."""
        support = np.flatnonzero(self.probabilities > 0)
        order = support[np.argsort(-self.probabilities[support], kind="stable")]
        shown = ", ".join(f"{a}: {self.probabilities[a]:.4g}" for a in order[:8])
        more = f", and {len(order) - 8} more" if len(order) > 8 else ""
        lines = [
            f"decision {self.id}, epoch {self.epoch}: play arm {self.action} "
            f"(drawn with probability {self.probability:.4g})",
            f"  estimated best arm    {self.best if self.epoch > 1 else 'none yet: the first epoch has no estimate'}",
            f"  candidates            {_arms(self.candidates)}",
            f"  exploration set       {_arms(self.exploration_set)}",
            f"  gamma                 {self.gamma:.4g}",
            f"  probabilities         {shown}{more}",
            f"  expected gap          {self.objective:.4g} (baseline {float(self.baseline @ self.gaps):.4g})",
            f"  solver                {self.solver}{_quality(self.duality_gap)}",
            f"  reveals               {_arms(self.revealed)}",
        ]
        if self.coverage_factor < 1.0:
            lines.append(f"  coverage              {self.coverage_factor:.4g} of what is asked for: no more is seen")
        return "\n".join(lines)


def split_decisions(
    decisions: Decisions, first: int, revealed: list[Int[np.ndarray, " revealed"]], bandit: str
) -> Iterator[Decision]:
    """The rounds of a batch as single decisions of consecutive ids."""
    for row, (action, probability) in enumerate(
        zip(decisions.action.tolist(), decisions.probability.tolist(), strict=True)
    ):
        yield Decision(
            id=first + row,
            action=action,
            probability=probability,
            revealed=revealed[row],
            bandit=bandit,
            batch=decisions,
            row=row,
        )


def _quality(duality_gap: float) -> str:
    if np.isnan(duality_gap):
        return ""
    return ", certified optimal" if duality_gap <= 1e-9 else f", certified within {duality_gap:.1%} of the optimum"


def _arms(arms: Int[np.ndarray, " some"]) -> str:
    shown = ", ".join(str(a) for a in arms[:12])
    return shown + (f", ... ({len(arms)} in all)" if len(arms) > 12 else "") if len(arms) else "none"
