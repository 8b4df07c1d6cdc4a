"""What travels between environment, learner and user: observations one way, decisions the other.

Throughout, n is the number of rounds of a batch, K the number of arms, and rounds are counted from 0 since the
start of a run. Arrays have the round as their first axis.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from graphbandit.checks import LARGEST, first_not_finite
from graphbandit.errors import InputError, ObservationError
from graphbandit.shapes import Bool, Float, Int, Shaped

SOLVERS = ("none", "trivial", "simplex", "highs", "anytime", "interior-point")
"""How a round's probabilities came about; `Decisions.solver` holds positions in this tuple.

"none": the learner asks for no linear program; "trivial": all mass on the best arm, nothing to solve;
"simplex": the compiled exact solver; "highs": the HiGHS reference stood in; "anytime": a large program, stopped
at a certified gap; "interior-point": the compiled solver of SquareCB.G's convex program.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Observations:
    """The rounds a learner has not yet learnt from, and every reward that was revealed in them.

    `contexts[i]` is the context of round `rounds[i]` (ascending, no round twice); the reward `rewards[k]` was seen
    for arm `arms[k]` in the round of row `rows[k]`. Rows are sorted by round, then arm, whatever order the rewards
    came in, so that sums over them are the same to the last bit. Rounds before those the learner expects are late
    news of rounds it has passed already.

    `actions[i]` is the arm that was played in the round of row i, `propensities[k]` the probability q with which the
    reward k was going to be revealed when that round was decided, and `notes[i]` what the learner noted down then
    (`Learner.notes`). They travel with the rewards and not in the learner's state, so news may be as late as it likes.
    `Bandit` and `simulate` always fill them in.
    """

    contexts: Shaped[np.ndarray, "n ..."]
    rounds: Int[np.ndarray, " n"]
    rows: Int[np.ndarray, " observed"]
    arms: Int[np.ndarray, " observed"]
    rewards: Float[np.ndarray, " observed"]
    available: Bool[np.ndarray, "n arms"] | None = None
    actions: Int[np.ndarray, " n"] | None = None
    propensities: Float[np.ndarray, " observed"] | None = None
    notes: Float[np.ndarray, "n notes"] | None = None

    def __len__(self) -> int:
        return len(self.rounds)

    @property
    def n_observed(self) -> int:
        """How many rewards there are."""
        return len(self.rewards)

    def check(self, n_arms: int) -> None:
        """Raise unless the arrays fit each other and the arms; kernels trust them."""
        n, k = len(self), self.n_observed
        fits = len(self.contexts) == n and self.rows.shape == self.arms.shape == self.rewards.shape == (k,)
        if not fits or (self.available is not None and self.available.shape != (n, n_arms)):
            raise InputError(
                f"the observations have {len(self.contexts)} contexts for {n} rounds, and {len(self.rows)} rows, "
                f"{len(self.arms)} arms and {k} rewards; expected as many of each"
            )
        for name, places, size in (("rows", self.rows, n), ("arms", self.arms, n_arms)):
            if k and not 0 <= places.min() <= places.max() < size:
                found = f"{places.min()} to {places.max()}"
                raise InputError(f"the observations have {name} {found}; expected 0 to {size - 1}")
        if not (np.abs(self.rewards) <= LARGEST).all():
            where = first_not_finite(self.rewards, largest=LARGEST)
            raise ObservationError(
                f"the observed rewards have {where}; expected finite numbers up to {LARGEST:g} in size"
            )

    @classmethod
    def from_masks(
        cls,
        contexts: Shaped[np.ndarray, "n ..."],
        revealed: Bool[np.ndarray, "n arms"],
        rewards: Float[np.ndarray, "n arms"],
        *,
        first_round: int = 0,
        available: Bool[np.ndarray, "n arms"] | None = None,
        actions: Int[np.ndarray, " n"] | None = None,
        observation_probabilities: Float[np.ndarray, "n arms"] | None = None,
        notes: Float[np.ndarray, "n notes"] | None = None,
    ) -> "Observations":
        """Observations of consecutive rounds from dense arrays; rewards outside `revealed` are not looked at.

        `actions`, `observation_probabilities` (as in the `Decisions`) and `notes` are for learners that weight rewards
        by how likely they were to be seen.

        >>> seen = Observations.from_masks(np.zeros((1, 2)), np.array([[True, False]]), np.array([[0.5, 9.0]]))
        >>> seen.arms, seen.rewards
        (array([0]), array([0.5]))
        """
        rows, arms = np.nonzero(revealed)
        rounds = np.arange(first_round, first_round + len(contexts))
        return cls(
            contexts=contexts,
            rounds=rounds,
            rows=rows,
            arms=arms,
            rewards=rewards[rows, arms],
            available=available,
            actions=actions,
            propensities=None if observation_probabilities is None else observation_probabilities[rows, arms],
            notes=notes,
        )

    @classmethod
    def concatenate(cls, parts: "list[Observations]") -> "Observations":
        """Parts of consecutive, ascending rounds as one."""
        starts = np.cumsum([0, *(len(part) for part in parts[:-1])])

        def joined(name: str) -> Any:
            """Of all parts, None unless all have it."""
            arrays = [getattr(part, name) for part in parts]
            return None if any(array is None for array in arrays) else np.concatenate(arrays)

        return cls(
            contexts=np.concatenate([part.contexts for part in parts]),
            rounds=np.concatenate([part.rounds for part in parts]),
            rows=np.concatenate([part.rows + start for part, start in zip(parts, starts, strict=True)]),
            arms=np.concatenate([part.arms for part in parts]),
            rewards=np.concatenate([part.rewards for part in parts]),
            available=joined("available"),
            actions=joined("actions"),
            propensities=joined("propensities"),
            notes=joined("notes"),
        )

    def between(self, first: int, stop: int) -> "Observations":
        """The part with first <= round < stop."""
        low, high = np.searchsorted(self.rounds, [first, stop])
        return self.take(int(low), int(high))

    def take(self, low: int, high: int) -> "Observations":
        """The rows low .. high - 1."""
        start, end = np.searchsorted(self.rows, [low, high])
        return Observations(
            contexts=self.contexts[low:high],
            rounds=self.rounds[low:high],
            rows=self.rows[start:end] - low,
            arms=self.arms[start:end],
            rewards=self.rewards[start:end],
            available=None if self.available is None else self.available[low:high],
            actions=None if self.actions is None else self.actions[low:high],
            propensities=None if self.propensities is None else self.propensities[start:end],
            notes=None if self.notes is None else self.notes[low:high],
        )


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
