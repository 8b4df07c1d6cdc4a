"""What a learner decides: a batch of decisions, and one decision of a `Bandit`."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from graphbandit.base.programs import SOLVERS
from graphbandit.base.shapes import Bool, Float, Int


@dataclass(frozen=True, kw_only=True, eq=False)
class Decisions:
    """A batch of n decisions, each with everything that explains it.

    Symbols of the paper: `probabilities` p, `observation_probabilities` q(a) = sum of p(j) over the arms j that
    reveal a, `baseline` p-tilde, `gaps` c(a) = v(best) - v(a), `candidates` A(x; F_m), `exploration_set` S,
    `gamma` the exploration parameter, `epoch` m. `objective` is sum_a p(a) c(a), the value of the sampling
    program (2), and `duality_gap` its certified relative gap (nan where the learner asks for no program).
    `coverage_factor` is the share of the demanded coverage that the graph allows: 1 unless a weakly observable graph
    reveals too little (`docs/weak-graphs.md`); it may be left out.
    """

    action: Int[np.ndarray, " n"]
    probability: Float[np.ndarray, " n"]
    probabilities: Float[np.ndarray, "n arms"]
    observation_probabilities: Float[np.ndarray, "n arms"]
    best: Int[np.ndarray, " n"]
    gaps: Float[np.ndarray, "n arms"]
    baseline: Float[np.ndarray, "n arms"]
    candidates: Bool[np.ndarray, "n arms"]
    exploration_set: Bool[np.ndarray, "n arms"]
    gamma: Float[np.ndarray, " n"]
    epoch: Int[np.ndarray, " n"]
    objective: Float[np.ndarray, " n"]
    duality_gap: Float[np.ndarray, " n"]
    solver: Int[np.ndarray, " n"]
    coverage_factor: Float[np.ndarray, " n"] = field(default_factory=lambda: np.ones(0))

    def __post_init__(self) -> None:
        if not len(self.coverage_factor):
            object.__setattr__(self, "coverage_factor", np.ones(len(self.action)))

    def __len__(self) -> int:
        return len(self.action)

    def __getitem__(self, index: slice) -> "Decisions":
        return Decisions(**{f.name: getattr(self, f.name)[index] for f in fields(self)})

    @classmethod
    def concatenate(cls, parts: "list[Decisions]") -> "Decisions":
        """Several batches as one."""
        if len(parts) == 1:
            return parts[0]
        return cls(**{f.name: np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls)})

    def round(self, i: int) -> dict[str, Any]:
        """Round i alone: field name to scalar or (K,) array; `exploration_set` and `candidates` as masks."""
        return {f.name: getattr(self, f.name)[i] for f in fields(self)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Decision:
    """One decision of a `Bandit`: what to play, under which id rewards are awaited, and why this arm.

    `revealed` are the arms whose rewards may be handed back to `Bandit.observe`.
    """

    id: int
    action: int
    probability: float
    revealed: Int[np.ndarray, " revealed"]
    probabilities: Float[np.ndarray, " arms"]
    observation_probabilities: Float[np.ndarray, " arms"]
    best: int
    gaps: Float[np.ndarray, " arms"]
    baseline: Float[np.ndarray, " arms"]
    candidates: Int[np.ndarray, " candidates"]
    exploration_set: Int[np.ndarray, " explored"]
    gamma: float
    epoch: int
    objective: float
    duality_gap: float
    solver: str
    coverage_factor: float = 1.0

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


def _quality(duality_gap: float) -> str:
    if np.isnan(duality_gap):
        return ""
    return ", certified optimal" if duality_gap <= 1e-9 else f", certified within {duality_gap:.1%} of the optimum"


def _arms(arms: Int[np.ndarray, " some"]) -> str:
    shown = ", ".join(str(a) for a in arms[:12])
    return shown + (f", ... ({len(arms)} in all)" if len(arms) > 12 else "") if len(arms) else "none"


def split_decisions(
    decisions: Decisions, ids: Iterator[int], revealed: Bool[np.ndarray, "n arms"]
) -> Iterator[Decision]:
    """The rounds of a batch as single decisions."""
    for i, decision_id in zip(range(len(decisions)), ids, strict=False):
        yield Decision(
            id=decision_id,
            action=int(decisions.action[i]),
            probability=float(decisions.probability[i]),
            revealed=revealed[i].nonzero()[0],
            probabilities=decisions.probabilities[i],
            observation_probabilities=decisions.observation_probabilities[i],
            best=int(decisions.best[i]),
            gaps=decisions.gaps[i],
            baseline=decisions.baseline[i],
            candidates=decisions.candidates[i].nonzero()[0],
            exploration_set=decisions.exploration_set[i].nonzero()[0],
            gamma=float(decisions.gamma[i]),
            epoch=int(decisions.epoch[i]),
            objective=float(decisions.objective[i]),
            duality_gap=float(decisions.duality_gap[i]),
            solver=SOLVERS[decisions.solver[i]],
            coverage_factor=float(decisions.coverage_factor[i]),
        )
