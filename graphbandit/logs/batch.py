"""A batch of logged rounds as arrays, and the checks that every batch passes before anyone computes with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from graphbandit.base.checks import LARGEST
from graphbandit.base.shapes import Bool, Float, Int, Shaped
from graphbandit.errors import LogError
from graphbandit.graphs import FeedbackGraphs, ProbabilisticGraphs
from graphbandit.graphs.bits import diagonal
from graphbandit.graphs.products import times_graphs
from graphbandit.rounds import Observations

SUM_TOLERANCE = 1e-6
"""How far the probabilities of a round may be from a sum of one, and recorded numbers from computed ones."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LogBatch:
    """n consecutive rounds of a log.

    - `first_row`: the number of the first round in the log.
    - `ids`: the decisions' ids.
    - `contexts`: one row a round.
    - `graphs`: None if the log does not say what was revealed with which probability.
    - `actions`, `probability`: the arm that was played, and the probability with which it was.
    - `rewards`: [t, a], nan where arm a was not revealed.
    - `probabilities`: those of all arms, nan in rounds where the log holds only that of the arm played; None
      (default): it holds no others in any round.
    - `observation_probabilities`: [t, a], where there are no graphs, for the revealed arms, nan elsewhere; None
      (default): the graphs say it.
    - `available`: the arms on offer; None (default): all.
    - `epochs`, `times`: of the rounds; None (default): the log does not say.
    - `columns`: the further columns of the decisions; none by default.
    """

    first_row: int
    ids: Int[np.ndarray, " n"]
    contexts: Float[np.ndarray, "n ..."]
    graphs: FeedbackGraphs | ProbabilisticGraphs | None
    actions: Int[np.ndarray, " n"]
    probability: Float[np.ndarray, " n"]
    rewards: Float[np.ndarray, "n arms"]
    probabilities: Float[np.ndarray, "n arms"] | None = None
    observation_probabilities: Float[np.ndarray, "n arms"] | None = None
    available: Bool[np.ndarray, "n arms"] | None = None
    epochs: Int[np.ndarray, " n"] | None = None
    times: Shaped[np.ndarray, " n"] | None = None
    columns: Mapping[str, Shaped[np.ndarray, " n"]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def n_arms(self) -> int:
        """K."""
        return int(self.rewards.shape[1])

    @cached_property
    def revealed(self) -> Bool[np.ndarray, "n arms"]:
        """Which arms have a reward in the log."""
        mask: Bool[np.ndarray, "n arms"] = ~np.isnan(self.rewards)
        return mask

    @property
    def revealed_of_played(self) -> Bool[np.ndarray, "n arms"]:
        """Which arms were played and have a reward in the log."""
        mask, played = np.zeros_like(self.revealed), (np.arange(len(self)), self.actions)
        mask[played] = self.revealed[played]
        return mask

    @cached_property
    def q(self) -> Float[np.ndarray, "n arms"]:
        """q(a) = sum over j of p(j) G[j, a]: the probability that the reward of a was going to be revealed.

        It is nan where the log does not tell: for arms that were not revealed, if it lacks the graph or all
        probabilities but that of the arm played.
        """
        known, recorded = self._q_from_graphs, self.observation_probabilities
        if known is None:
            return np.full(self.rewards.shape, np.nan) if recorded is None else recorded
        return known if recorded is None else np.where(np.isnan(recorded), known, recorded)

    @cached_property
    def all_known(self) -> Bool[np.ndarray, " n"]:
        """Whether the probabilities of all arms are known, for each round."""
        if self.probabilities is None:
            return np.zeros(len(self), dtype=np.bool_)
        mask: Bool[np.ndarray, " n"] = ~np.isnan(self.probabilities).any(axis=1)
        return mask

    @cached_property
    def _q_from_graphs(self) -> Float[np.ndarray, "n arms"] | None:
        """q as far as it follows from the graphs; None without any."""
        if self.graphs is None:
            return None
        if self.all_known.all() and self.probabilities is not None:
            return times_graphs(self.probabilities, self.graphs)
        found = self._q_of_one_way()
        if self.probabilities is not None and self.all_known.any():
            rows = self.all_known
            found[rows] = times_graphs(self.probabilities[rows], self.graphs[rows])
        return found

    def _q_of_one_way(self) -> Float[np.ndarray, "n arms"]:
        """q of arms that only the arm played reveals, for which its own probability is enough; nan for others."""
        found = np.full(self.rewards.shape, np.nan)
        rows = np.arange(len(self))
        if self.loops_only:
            found[rows, self.actions] = self.probability
            return found
        if isinstance(self.graphs, ProbabilisticGraphs):
            edges = self.graphs.stored[self.graphs.index, self.actions]
            ways = (self.graphs.stored > 0).sum(axis=1)[self.graphs.index]
        else:
            assert self.graphs is not None
            edges = self.graphs._revealed(self.actions).astype(np.float64)
            ways = times_graphs(np.ones(self.rewards.shape), self.graphs)
        one = (edges > 0) & (ways == 1)
        found[one] = (edges * self.probability[:, None])[one]
        return found

    @cached_property
    def loops_only(self) -> bool:
        """Whether every graph of the batch has self-loops and nothing else."""
        if not isinstance(self.graphs, FeedbackGraphs):
            return False
        used = np.unique(self.graphs.index)
        if isinstance(self.graphs.stored, np.ndarray):
            words = self.graphs.stored[used]
            one_each = np.bitwise_count(words).sum(axis=(1, 2), dtype=np.int64) == self.n_arms
            return bool(one_each.all() and diagonal(words).all())
        graphs = [self.graphs.stored[i] for i in used]
        return all(graph.has_all_loops and graph.n_edges == graph.n_arms for graph in graphs)

    @cached_property
    def expected(self) -> Bool[np.ndarray, "n arms"] | None:
        """Which arms the action surely reveals; None if the log does not tell."""
        if isinstance(self.graphs, ProbabilisticGraphs):
            return np.asarray(self.graphs.stored[self.graphs.index, self.actions] >= 1.0)
        return self.allowed

    @cached_property
    def allowed(self) -> Bool[np.ndarray, "n arms"] | None:
        """Which arms the action may reveal; None if the log does not tell."""
        return None if self.graphs is None else self.graphs._revealed(self.actions)

    def observations(self, first_round: int | None = None) -> Observations:
        """What a learner or a function class learns from; rounds are counted from `first_round` (the row, if None)."""
        return Observations.from_masks(
            self.contexts,
            self.revealed,
            self.rewards,
            first_round=self.first_row if first_round is None else first_round,
            available=self.available,
            actions=self.actions,
            observation_probabilities=self.q,
        )

    def take(self, rows: slice | Shaped[np.ndarray, " chosen"]) -> LogBatch:
        """Some of the rounds; `first_row` stays right only for a slice of consecutive rounds."""
        start = rows.indices(len(self))[0] if isinstance(rows, slice) else 0
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("first_row", "columns")}
        part: dict[str, Any] = {name: None if value is None else value[rows] for name, value in given.items()}
        columns = {name: values[rows] for name, values in self.columns.items()}
        return LogBatch(first_row=self.first_row + start, columns=columns, **part)

    def check(self) -> None:
        """Raise LogError at the first round that contradicts itself."""
        n_arms, p = self.n_arms, self.probability

        def refuse(wrong: Any, message: Any) -> None:
            if wrong.any():
                row = int(np.argmax(wrong))
                raise LogError(message(row), table="decisions", row=self.first_row + row)

        def refuse_arm(wrong: Bool[np.ndarray, "n arms"], message: Any) -> None:
            refuse(wrong.any(axis=1), lambda row: message(row, int(np.argmax(wrong[row]))))

        check_growing(self.ids, self.first_row)
        finite = np.isfinite(self.contexts.reshape(len(self), -1)).all(axis=1)
        refuse(~finite, lambda t: f"the context is {self.contexts[t]}; expected finite numbers")
        refuse(
            (self.actions < 0) | (self.actions >= n_arms),
            lambda t: f"the action is {self.actions[t]}; expected an arm of 0 .. {n_arms - 1}",
        )
        refuse(
            ~((p > 0) & (p <= 1 + SUM_TOLERANCE)),
            lambda t: f"the probability of the action is {p[t]}; expected a number above 0 and at most 1",
        )
        played = (np.arange(len(self)), self.actions)
        if self.available is not None:
            refuse(~self.available[played], lambda t: f"the action {self.actions[t]} was not available")
        if self.probabilities is not None:
            each = self.probabilities
            untold = np.isnan(each).all(axis=1, keepdims=True)
            refuse_arm(
                ~((each >= 0) & (each <= 1 + SUM_TOLERANCE)) & ~untold,
                lambda t, a: f"the probability of arm {a} is {each[t, a]}; expected a number from 0 to 1",
            )
            total = each.sum(axis=1)
            refuse(np.abs(total - 1) > SUM_TOLERANCE, lambda t: f"the probabilities sum to {total[t]}; expected 1")
            refuse(
                np.abs(each[played] - p) > SUM_TOLERANCE,
                lambda t: (
                    f"the probability of the action is {p[t]}, "
                    f"but probabilities has {each[t, self.actions[t]]} for arm {self.actions[t]}"
                ),
            )
            if self.available is not None:
                refuse_arm(
                    (each > 0) & ~self.available,
                    lambda t, a: f"arm {a} was not available but has probability {each[t, a]}",
                )
        self._check_rewards(refuse_arm)

    def _check_rewards(self, refuse_arm: Any) -> None:
        seen, y = self.revealed, self.rewards
        refuse_arm(
            seen & ~(np.abs(y) <= LARGEST),
            lambda t, a: f"the reward of arm {a} is {y[t, a]}; expected a finite number up to {LARGEST:g} in size",
        )
        allowed = self.allowed
        if allowed is not None:
            refuse_arm(
                seen & ~allowed,
                lambda t, a: (
                    f"the reward of arm {a} is in the log, but playing arm "
                    f"{self.actions[t]} does not reveal it in the graph of the round"
                ),
            )
        recorded = self.observation_probabilities
        if recorded is not None:
            refuse_arm(
                ~np.isnan(recorded) & ~((recorded > 0) & (recorded <= 1 + SUM_TOLERANCE)) & seen,
                lambda t, a: (
                    f"the observation probability of arm {a} is {recorded[t, a]}; "
                    "expected a number above 0 and at most 1"
                ),
            )
            known = self._q_from_graphs
            if known is not None:
                refuse_arm(
                    np.abs(known - recorded) > SUM_TOLERANCE,
                    lambda t, a: (
                        f"the observation probability of arm {a} is {recorded[t, a]}, but the "
                        f"probabilities and the graph of the round give {known[t, a]}"
                    ),
                )


def check_growing(ids: Int[np.ndarray, " n"], first_row: int) -> None:
    """Raise LogError at the first id that is not above the one before it."""
    growing = np.diff(ids) > 0
    if not growing.all():
        row = int(np.argmin(growing)) + 1
        raise LogError(
            f"the id {ids[row]} follows {ids[row - 1]}; expected ids that grow from row to row",
            table="decisions",
            row=first_row + row,
        )
