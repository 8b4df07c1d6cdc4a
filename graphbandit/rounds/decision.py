"""One decision of a `Bandit`: what to play, under which id rewards are awaited, and why this arm."""

from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from graphbandit.base.arm_names import ArmNames
from graphbandit.base.fragments import fragment
from graphbandit.base.program_constants import CERTIFIED, SOLVERS, SolverName
from graphbandit.base.shapes import Bool, Float, Int, Shaped
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.probabilistic import ProbabilisticGraph
from graphbandit.rounds.decisions import ARRAYS, WORDS, Decisions
from graphbandit.rounds.words import BEST

MOST_ROWS = 30
"""How many arms a notebook shows."""

_SINGULAR = {"candidates": "candidate", "exploration set": "explored"}
"""What a set of arms is called at the head of a column."""


@runtime_checkable
class Sealed(Protocol):
    """What a bandit keeps of a round, with a digest of it."""

    @property
    def seal(self) -> str:
        """The digest."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Decision:
    """One decision of a `Bandit`. What explains it is computed when you ask for it.

    - `id`: the number of the round, from 0.
    - `action`: the arm to play.
    - `probability`: the probability with which it was drawn.
    - `revealed`: the arms whose rewards may be handed back to `Bandit.observe`.
    - `bandit`: the identity of the bandit that decided; `observe` refuses decisions of another one.
    - `arms`: the names of the arms; None (default): they have none.
    - `key`: the caller's own name for the decision; None (default): it gave none.
    - `sealed`: a digest of the round, or what computes it; empty by default. The digest shows a bandit that another
      copy of it made a decision under the same id.
    - `made_by`: the copy of the bandit, in a process, that made it, because two copies may make equal decisions; None
      (default, and always in files): not known.
    - `batch`, `row`: the `Decisions` it belongs to and its row there; row 0 by default.
    - `context`, `available`, `graph`: what a `Decider` was shown, for `Bandit.take`; None (default): the bandit itself
      decided. The graph is also None if it is the bandit's own.

    A `Decider` gives no ids: its decisions have the id -1 until a bandit takes them.
    """

    id: int
    action: int
    probability: float
    revealed: Int[np.ndarray, " revealed"]
    bandit: str
    batch: Decisions = field(repr=False)
    row: int = 0
    arms: ArmNames | None = None
    key: str | None = None
    sealed: str | Sealed = field(default="", repr=False)
    made_by: str | None = field(default=None, repr=False)
    context: Shaped[np.ndarray, "1 ..."] | None = field(default=None, repr=False)
    available: Bool[np.ndarray, "1 arms"] | None = field(default=None, repr=False)
    graph: FeedbackGraph | ProbabilisticGraph | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "sealed": self.seal}

    @property
    def seal(self) -> str:
        """The digest of the round; empty where no rewards are awaited."""
        return self.sealed if isinstance(self.sealed, str) else self.sealed.seal

    @property
    def arm(self) -> str | int:
        """The arm to play: its name, or its number if arms have no names."""
        return self.label(self.action)

    @property
    def revealed_arms(self) -> list[str | int]:
        """The arms whose rewards may be handed back, by name if they have names."""
        return [self.label(arm) for arm in self.revealed.tolist()]

    def label(self, arm: int) -> str | int:
        """The name of an arm, or its number if arms have no names."""
        return arm if self.arms is None else self.arms[arm]

    # each property is a row of one of the batch's arrays; written out, it has a type and a docstring
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
        """The probabilities that the sampling program improved on."""
        row: Float[np.ndarray, " arms"] = self.batch.baseline[self.row]
        return row

    @property
    def candidates(self) -> Int[np.ndarray, " candidates"]:
        """A(x; F_m): the arms that may be the best."""
        return np.flatnonzero(self.batch.candidates[self.row])

    @property
    def exploration_set(self) -> Int[np.ndarray, " explored"]:
        """S: the arms that are played to learn about the candidates."""
        return np.flatnonzero(self.batch.exploration_set[self.row])

    @property
    def gamma(self) -> float:
        """The exploration parameter; nan for learners that have none."""
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
        """The certified relative gap of the program's answer; nan if there was no program."""
        return float(self.batch.duality_gap[self.row])

    @property
    def solver(self) -> SolverName:
        """How the probabilities were found, one of `SOLVERS`."""
        return SOLVERS[int(self.batch.solver[self.row])]

    @property
    def coverage_factor(self) -> float:
        """The share of the demanded coverage that the graph allows."""
        return float(self.batch.coverage_factor[self.row])

    def detached(self) -> "Decision":
        """A copy that shares nothing with this one or with the rest of its batch."""
        row = slice(self.row, self.row + 1)
        told = {name: rows[row].copy() for name, rows in self.batch.told.items()}
        batch = Decisions(**{name: getattr(self.batch, name)[row].copy() for name in ARRAYS}, told=told)
        return replace(self, batch=batch, row=0, revealed=self.revealed.copy(), sealed=self.seal)

    def __repr__(self) -> str:
        name = "" if self.arms is None else f"arm={self.arm!r}, "
        return (
            f"Decision(id={self.id}, {name}action={self.action}, probability={self.probability:.4g}, "
            f"best={self.label(self.best)!r}, epoch={self.epoch})"
        )

    def explain(self) -> str:
        """The decision in the learner's own words and figures, one line a fact."""
        facts = {
            "probabilities": self._probabilities(),
            **{name: self._in_words(name, rows[self.row]) for name, rows in self.batch.told.items()},
            "expected gap": self._expected_gap(),
            "solver": "" if self.solver == "none" else self.solver + _quality(self.duality_gap),
            "coverage": "" if self.coverage_factor >= 1.0 else f"{self.coverage_factor:.4g} of what is asked for",
            "reveals": self._listed(self.revealed),
        }
        width = max(21, *(len(name) for name, fact in facts.items() if fact))
        head = f"decision {self.id}, epoch {self.epoch}: play arm {self.arm} (probability {self.probability:.4g})"
        return "\n".join([head, *(f"  {name:<{width}} {fact}" for name, fact in facts.items() if fact)])

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain values that JSON takes; numbers that are not finite become None."""
        told = {name: rows[self.row] for name, rows in self.batch.told.items()}
        return {
            "id": self.id,
            "key": self.key,
            "bandit": self.bandit,
            "arm": self.arm,
            "action": self.action,
            "probability": self.probability,
            "revealed": self.revealed_arms,
            "probabilities": self._mapped(self.probabilities),
            "observation_probabilities": self._mapped(self.observation_probabilities),
            "best": self.label(self.best),
            "gaps": self._mapped(self.gaps),
            "candidates": [self.label(arm) for arm in self.candidates.tolist()],
            "exploration_set": [self.label(arm) for arm in self.exploration_set.tolist()],
            "gamma": _or_none(told["gamma"]) if "gamma" in told else None,
            "epoch": self.epoch,
            "objective": _or_none(self.objective),
            "duality_gap": _or_none(self.duality_gap),
            "solver": self.solver,
            "coverage_factor": self.coverage_factor,
            **{
                name.replace(",", "").replace(" ", "_"): self._plain(row)
                for name, row in told.items()
                if name not in WORDS and not _is_nothing(row)
            },
        }

    def _repr_html_(self) -> str:
        """The decision for a notebook: the most likely arms, their probabilities as bars, and what the learner says."""
        revealed = np.zeros(len(self.probabilities), dtype=np.bool_)
        revealed[self.revealed] = True
        told = {name: rows[self.row] for name, rows in self.batch.told.items()}
        columns = {
            "q": self.observation_probabilities,
            **{name: row for name, row in told.items() if np.ndim(row) == 1 and not _is_nothing(row)},
            "revealed": revealed,
        }
        order = np.argsort(-self.probabilities, kind="stable")[:MOST_ROWS].tolist()
        arms = [
            {
                "name": self.label(arm),
                "played": arm == self.action,
                "p": self.probabilities[arm],
                "cells": [_cell(row[arm]) for row in columns.values()],
            }
            for arm in order
        ]
        return fragment(
            "graphbandit.rounds",
            "decision.html",
            decision=self,
            facts=[f"{name} {self._in_words(name, row)}" for name, row in told.items() if np.ndim(row) == 0],
            heads=[_SINGULAR.get(name, name) for name in columns],
            arms=arms,
            left=len(self.probabilities) - len(order),
        )

    def _in_words(self, name: str, row: Any) -> str:
        """A row of words as text: numbers by arm, a set of arms, an arm, or a number; empty if it says nothing."""
        if np.ndim(row) == 1:
            return self._listed(np.flatnonzero(row)) if row.dtype == np.bool_ else self._by_arm(row)
        if name == BEST:
            return str(self.label(int(row))) if self._knows_best() else "none yet: nothing tells the arms apart so far"
        return "" if _is_nothing(row) else f"{float(row):.4g}"

    def _probabilities(self) -> str:
        support = np.flatnonzero(self.probabilities > 0)
        order = support[np.argsort(-self.probabilities[support], kind="stable")]
        shown = ", ".join(f"{self.label(a)}: {self.probabilities[a]:.4g}" for a in order[:8].tolist())
        return shown + (f", and {len(order) - 8} more" if len(order) > 8 else "")

    def _knows_best(self) -> bool:
        """Whether there is an estimate, and some candidate looks worse than the best."""
        told = self.batch.told.get(BEST)
        if told is None or told[self.row] < 0:
            return False
        gaps = self.gaps[self.candidates]
        return len(gaps) == 1 or bool((gaps != 0.0).any())

    def _expected_gap(self) -> str:
        if not self._knows_best() or np.isnan(self.objective):
            return ""
        better = f" (baseline {float(self.baseline @ self.gaps):.4g})" if self.solver != "none" else ""
        return f"{self.objective:.4g}{better}"

    def _by_arm(self, row: Float[np.ndarray, " arms"]) -> str:
        order = [arm for arm in np.argsort(-self.probabilities, kind="stable").tolist() if not np.isnan(row[arm])]
        shown = ", ".join(f"{self.label(arm)}: {row[arm]:.4g}" for arm in order[:8])
        return shown + (", ..." if len(order) > 8 else "")

    def _plain(self, row: Any) -> Any:
        """A row of words as values that JSON takes."""
        if np.ndim(row) == 0:
            return _or_none(float(row))
        if row.dtype == np.bool_:
            return [self.label(arm) for arm in np.flatnonzero(row).tolist()]
        return self._mapped(row)

    def _mapped(self, row: Float[np.ndarray, " arms"]) -> dict[str, float | None]:
        return {str(self.label(arm)): _or_none(value) for arm, value in enumerate(row.tolist())}

    def _listed(self, arms: Int[np.ndarray, " some"]) -> str:
        shown = ", ".join(str(self.label(arm)) for arm in arms[:12].tolist())
        return shown + (f", ... ({len(arms)} in all)" if len(arms) > 12 else "") if len(arms) else "none"


def _quality(duality_gap: float) -> str:
    if np.isnan(duality_gap):
        return ""
    return ", certified optimal" if duality_gap <= CERTIFIED else f", certified within {duality_gap:.1%} of the optimum"


def _is_nothing(row: Any) -> bool:
    """Whether a row of words has nothing to say."""
    return bool(np.isnan(row).all())


def _cell(value: Any) -> str:
    """A value of an arm in a table."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else ""
    return "" if np.isnan(value) else f"{value:.4g}"


def _or_none(value: float) -> float | None:
    """A number that JSON takes, or None."""
    return float(value) if np.isfinite(value) else None
