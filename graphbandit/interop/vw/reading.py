"""The second pass: rounds of a file of Vowpal Wabbit as batches of a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa

from graphbandit.base.checks import setting_choice, setting_integer
from graphbandit.base.choices import ContextForm
from graphbandit.base.shapes import Float
from graphbandit.errors import GraphError, LogError
from graphbandit.graphs import FeedbackGraph, FeedbackGraphs, ProbabilisticGraphs, bandit
from graphbandit.interop.vw.outline import Outline, outline_of
from graphbandit.interop.vw.vw_round import FeatureValues, LineError, Skipped, VwRound
from graphbandit.logs import Log, LogBatch
from graphbandit.logs.format import Layout
from graphbandit.logs.from_arrays import log_batch, log_stamp
from graphbandit.logs.storage import ArrayStorage
from graphbandit.rounds.shown import Graphs

MAX_FEATURES = 4096
ROUNDS = 1 << 12
"""Rounds of a batch."""

Parse = Callable[[Path], Iterator[VwRound | Skipped]]


class VwReader:
    """Reads a file twice: for its outline, and for its rounds, in batches.

    - `path`: the file.
    - `parse`: from a path to the file's rounds, one after the other.
    - `context_form`: "auto" (default), "shared", "arms" or "both", as in `read_dsjson`.
    - `features`: the features to take; None (default): all there are.
    - `max_features`: more features than this are refused, 4,096 by default.
    """

    def __init__(
        self,
        path: Path,
        parse: Parse,
        context_form: ContextForm = "auto",
        features: Sequence[str] | None = None,
        max_features: int = MAX_FEATURES,
    ) -> None:
        setting_choice("context_form", context_form, get_args(ContextForm))
        self.path, self._parse, self._context_form = path, parse, context_form
        self._features = features
        self._max_features = setting_integer("max_features", max_features, at_least=1)

    @cached_property
    def outline(self) -> Outline:
        """What the file holds."""
        return outline_of(self._rounds(), self._max_features, self._features)

    @cached_property
    def kind(self) -> ContextForm:
        """Which features make the context."""
        found = self.outline
        if self._context_form != "auto":
            return self._context_form
        if found.same_arms or not found.arms:
            return "shared"
        return "both" if found.shared else "arms"

    @cached_property
    def layout(self) -> Layout:
        """The log's stamp and its further columns."""
        found = self.outline
        shared, arms = list(found.shared), list(found.arms)
        names = {"shared": shared, "arms": arms, "both": [*shared, *arms]}[self.kind]
        shape = (len(names),) if self.kind == "shared" else (found.n_arms, len(names))
        tags = None if found.tags is None else list(found.tags)
        stamp = log_stamp(found.n_arms, shape if names else (0,), tags, names or None)
        return Layout(stamp=stamp, columns={"key": pa.string()} if found.keys else {})

    def batches(self, rounds: int = ROUNDS) -> Iterator[LogBatch]:
        """The rounds in order, as checked batches.

        - `rounds`: the largest number of rounds in a batch, 4,096 by default.
        """
        found = (one for one in self._rounds() if isinstance(one, VwRound))
        done = 0
        while part := list(islice(found, rounds)):
            yield self._batch(part, done)
            done += len(part)

    def to_log(self) -> Log:
        """All rounds in memory."""
        (batch,) = self.batches(self.outline.rounds)
        return Log(ArrayStorage(self.layout, batch))

    def _rounds(self) -> Iterator[VwRound | Skipped]:
        try:
            yield from self._parse(self.path)
        except LineError as error:
            raise LogError(f"{self.path.name}, line {error.line}: {error.message}") from None

    def _batch(self, part: list[VwRound], first: int) -> LogBatch:
        found, n, k = self.outline, len(part), self.outline.n_arms
        places = [self._places(one) for one in part]
        rewards = np.full((n, k), np.nan)
        q = np.full((n, k), np.nan)
        available = np.zeros((n, k), dtype=np.bool_)
        p = np.zeros((n, k))
        for t, (one, arms) in enumerate(zip(part, places, strict=True)):
            available[t, arms] = True
            for arm, reward in one.rewards.items():
                rewards[t, arms[arm]] = reward
            for arm, probability in one.observation_probabilities.items():
                q[t, arms[arm]] = probability
            if found.probabilities and one.probabilities is not None:
                p[t, arms] = one.probabilities
        try:
            batch = log_batch(
                self.layout.stamp,
                ids=np.arange(first, first + n),
                contexts=self._context_rows(part, places),
                graphs=self._graphs(part, places),
                actions=np.array([arms[one.action] for one, arms in zip(part, places, strict=True)]),
                probabilities=p if found.probabilities else np.array([one.probability for one in part]),
                rewards=rewards,
                observation_probabilities=None if np.isnan(q).all() else q,
                available=None if found.all_arms else available,
                times=self._times(part) if found.times else None,
                columns={"key": np.array([one.key for one in part], dtype=object)} if found.keys else None,
            )
        except LogError as error:
            if error.row is None:
                raise
            raise LogError(f"{self.path.name}, line {part[error.row].line}: {error.message}") from None
        return replace(batch, first_row=first)

    def _places(self, one: VwRound) -> list[int]:
        """The arms of a round by their number in the log."""
        tags = self.outline.tags
        return list(range(len(one.arms))) if tags is None or one.tags is None else [tags[tag] for tag in one.tags]

    def _context_rows(self, part: list[VwRound], places: list[list[int]]) -> Float[np.ndarray, "n ..."]:
        found, kind = self.outline, self.kind
        rows = np.zeros((len(part), *self.layout.stamp.context_shape))
        if not self.layout.stamp.context_size:
            return rows
        offset = len(found.shared) if kind == "both" else 0
        for t, (one, arms) in enumerate(zip(part, places, strict=True)):
            if kind in ("shared", "both"):
                for column, value in _known(one.shared, found.shared):
                    rows[(t, column) if kind == "shared" else (t, arms, column)] = value
            if kind in ("arms", "both"):
                for arm, features in zip(arms, one.arms, strict=True):
                    for column, value in _known(features, found.arms):
                        rows[t, arm, offset + column] = value
        return rows

    def _graphs(self, part: list[VwRound], places: list[list[int]]) -> FeedbackGraph | Graphs:
        """The graph of each round; a round without one reveals the arm played."""
        k = self.outline.n_arms
        if not self.outline.graphs:
            return bandit(k)
        loops = tuple((arm, arm, 1.0) for arm in range(k))
        pool: dict[tuple[tuple[int, int, float], ...], int] = {}
        index = np.empty(len(part), dtype=np.int32)
        for t, (one, arms) in enumerate(zip(part, places, strict=True)):
            edges = one.edges
            key = loops if edges is None else tuple(sorted((arms[j], arms[a], v) for j, a, v in edges if v))
            index[t] = pool.setdefault(key, len(pool))
        try:
            if self.outline.probabilistic:
                return ProbabilisticGraphs.pool(np.stack([_matrix(key, k) for key in pool]), index)
            graphs = [FeedbackGraph.from_dense(_matrix(key, k) > 0, require_loops=False) for key in pool]
            return FeedbackGraphs.pool(graphs, index)
        except GraphError as error:
            raise LogError(f"{self.path.name}: {error}") from None

    def _times(self, part: list[VwRound]) -> Any:
        """Times of events, without a Z at the end and without digits beyond microseconds."""
        times = []
        for one in part:
            head, dot, digits = str(one.time).rstrip("Z").partition(".")
            try:
                times.append(np.datetime64(f"{head}{dot}{digits[:6]}", "us"))
            except ValueError:
                raise LogError(
                    f"{self.path.name}, line {one.line}: Timestamp is {one.time!r}; "
                    "expected a time as 2026-01-31T12:00:00Z"
                ) from None
        return np.array(times, dtype="datetime64[us]")


def _known(features: FeatureValues, columns: dict[str, int]) -> list[tuple[int, float]]:
    """The features that have a column, by its number."""
    return [(columns[name], value) for name, value in features.items() if name in columns]


def _matrix(edges: Sequence[tuple[int, int, float]], k: int) -> Float[np.ndarray, "arms arms"]:
    matrix = np.zeros((k, k))
    for j, a, value in edges:
        matrix[j, a] = value
    return matrix
