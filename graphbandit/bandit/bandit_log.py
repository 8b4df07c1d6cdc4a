"""The log of a bandit: its decisions and rewards, written as they are made (docs/log-format.md).

A call writes its rows before it changes the bandit, and returns after. So every decision and reward that the caller
knows of is in the log, and a call that cannot write has changed nothing. A kill between the two leaves at most the rows
of that one call behind.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import numpy as np

from graphbandit.bandit.given_arms import stacked_masks
from graphbandit.bandit.given_graphs import Graph, graph_batch
from graphbandit.base.checks import setting_choice
from graphbandit.base.choices import LogSync
from graphbandit.base.shapes import Bool, Int, Shaped
from graphbandit.errors import LogError, SettingError
from graphbandit.learners.played import News
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decision import Decision
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.shown import Graphs

if TYPE_CHECKING:
    from graphbandit.logs import LogWriter


class BanditLog:
    """Writes what one bandit decides and observes to a log in a folder.

    The id of a round in the log is its id in the bandit plus an offset, so that a log goes on where it ended when a
    bandit is loaded, or when another one writes to it. `starts` has a row (first round, offset, next id of the log) for
    each such start; rewards of rounds before the first have no decision in the log and are counted as `unlogged`.

    - `folder`: where the log is; made with the first round if it does not exist, continued if it does.
    - `problem`: names the arms and features.
    - `rounds`: how many rounds the bandit has decided.
    - `sync`: as `LogWriter` has it.
    - `starts`: those that were saved with the bandit; None for one that had no log.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        problem: Problem,
        rounds: int,
        *,
        sync: LogSync = "file",
        starts: Int[np.ndarray, "starts 3"] | None = None,
    ) -> None:
        if not isinstance(folder, str | os.PathLike) or not os.fspath(folder):
            raise SettingError(f"log is {folder!r}; expected the path of a folder, or None")
        setting_choice("log_sync", sync, get_args(LogSync))
        self.folder, self.sync_policy, self.unlogged = Path(folder), sync, 0
        self._problem, self._process = problem, os.getpid()
        self._joining: Problem | None = None
        self._writer: LogWriter | None = None
        self._graphs: bool | None = None
        written = 0 if starts is None else int(starts[-1, 2])
        self._starts: list[tuple[int, int]] = [] if starts is None else [(int(a), int(b)) for a, b, _ in starts]
        if (self.folder / "log.json").exists():
            self._continue(rounds, written)
        elif written:
            raise LogError(f"{self.folder} is not a log; expected the log that the saved bandit has written")
        else:
            self._starts = [(rounds, 0)]

    @property
    def starts(self) -> Int[np.ndarray, "starts 3"]:
        """What a saved bandit holds of its log."""
        next_id = 0 if self._writer is None else self._writer.next_id
        return np.array([(*start, next_id) for start in self._starts], dtype=np.int64)

    def stage_decisions(
        self,
        first: int,
        contexts: Shaped[np.ndarray, "n ..."],
        graphs: Graphs | None,
        available: Bool[np.ndarray, "n arms"] | None,
        decisions: Decisions,
        keys: Sequence[str | None],
    ) -> None:
        """Write the rounds from `first` on; they count once `commit` is called."""
        from graphbandit.logs.batch import LogBatch

        n_arms = decisions.probabilities.shape[1]
        if self._joining is not None and self._joining.n_arms == n_arms:
            self._problem, self._joining = self._joining, None
        writer = self._open(contexts.shape[1:])
        n = len(contexts)
        if contexts.shape[1:] != writer.layout.stamp.context_shape:
            raise LogError(
                f"the context has shape {contexts.shape[1:]}; expected {writer.layout.stamp.context_shape}, as the "
                f"log in {self.folder} has"
            )
        if self._graphs not in (None, graphs is not None):
            found, wanted = ("no graph", "one") if graphs is None else ("a graph", "none")
            raise LogError(f"the round has {found}; expected {wanted}, as all other rounds of the log in {self.folder}")
        if n_arms > writer.layout.stamp.n_arms:
            writer.grow(n_arms, self._names)
        batch = LogBatch(
            first_row=0,
            ids=np.arange(first, first + n) + self._offset(first),
            contexts=np.asarray(contexts, dtype=np.float64),
            graphs=graphs,
            actions=decisions.action,
            probability=decisions.probability,
            probabilities=decisions.probabilities,
            rewards=np.empty((n, 0)),
            available=available,
            epochs=decisions.epoch,
            times=np.full(n, _now()).view("datetime64[us]"),
            columns={"key": np.array(keys, dtype=object)},
        )
        writer.stage_decisions(batch)
        self._graphs = graphs is not None

    def stage_rewards(self, number: int, news: News) -> bool:
        """Write the rewards that came for a round; False if the log does not have the round."""
        import pyarrow as pa

        from graphbandit.logs.format import REWARDS, TIME

        if not self._starts or number < self._starts[0][0]:
            self.unlogged += len(news.arms)
            return False
        writer, k = self._open(None), len(news.arms)
        columns = [
            pa.array(np.full(k, number + self._offset(number))),
            pa.array(np.array(news.arms, dtype=np.int32)),
            pa.array(np.array(news.rewards, dtype=np.float64)),
            pa.array(np.minimum(np.array(news.observation_probabilities, dtype=np.float64), 1.0)),
            pa.array(np.full(k, _now()), pa.int64()).view(TIME),
        ]
        writer.stage_rewards(pa.table(columns, schema=writer.layout.schema(REWARDS)))
        return True

    def commit(self) -> None:
        """Make the rows staged last count."""
        if self._writer is not None:
            self._writer.commit()

    def sync(self) -> None:
        """Flush all rows to disk."""
        if self._writer is not None:
            self._writer.sync()

    def close(self) -> None:
        """Seal the files and unlock the folder."""
        if self._writer is not None:
            self._writer.close()

    @property
    def _names(self) -> list[str] | None:
        return None if self._problem.arms is None else list(self._problem.arms)

    def check_arms(self, problem: Problem) -> None:
        """Expect these arms from now on. The log takes them up with the first round that has them."""
        self._joining = problem

    def _continue(self, rounds: int, written: int) -> None:
        """Go on with an existing log if it has these arms and, for a saved bandit, is the log that it wrote."""
        from graphbandit.logs.folder import read_stamp

        stamp, names = read_stamp(self.folder), self._names
        few = stamp.n_arms
        known = stamp.arms is None if names is None else stamp.arms == tuple(names[:few])
        if few > self._problem.n_arms or not known:
            has = f"{few} arms" if stamp.arms is None else f"the arms {', '.join(stamp.arms)}"
            raise LogError(
                f"the log in {self.folder} has {has}; expected those of the bandit's problem, or the first of them "
                "(arms that have joined a log may join a bandit by add_arms, and then log_to goes on with the log)"
            )
        writer = self._open(stamp.context_shape)
        self._graphs = _has_graphs(writer) if writer.next_id else None
        if written > writer.next_id:
            writer.release()
            raise LogError(
                f"the log in {self.folder} ends with id {writer.next_id - 1}; expected the log that the saved bandit "
                f"has written, with id {written - 1}"
            )
        # never below the last offset: ids of rounds that were learnt but not decided are skipped
        last = self._starts[-1][1] if self._starts else 0
        self._starts.append((rounds, max(writer.next_id - rounds, last)))

    def _offset(self, number: int) -> int:
        return next(offset for first, offset in reversed(self._starts) if first <= number)

    def _open(self, context_shape: tuple[int, ...] | None) -> LogWriter:
        """The writer; opened for the first round, whose context has the shape."""
        if os.getpid() != self._process:
            raise LogError(f"the log in {self.folder} belongs to the process that opened it; expected log_to another")
        if self._writer is None:
            import pyarrow as pa

            from graphbandit.logs import LogWriter

            assert context_shape is not None  # a reward comes after its round
            problem = self._problem
            names = None if problem.features is None else problem.features.feature_names
            exists = (self.folder / "log.json").exists()
            self._writer = LogWriter(
                self.folder,
                n_arms=None if exists else problem.n_arms,
                context_shape=context_shape,
                arms=self._names,
                context_names=names if names is not None and context_shape == (len(names),) else None,
                columns={"key": pa.string()},
                sync=self.sync_policy,
            )
            weakref.finalize(self, _release, self._writer, os.getpid())
        return self._writer


def stage_taken(log: BanditLog | None, own: Graph | None, made: Sequence[tuple[int, Decision]]) -> bool:
    """Write decisions of deciders under their new ids; `own` is the bandit's graph. False if there is no log."""
    if log is None or not made:
        return False
    chosen = [own if one.graph is None else one.graph for _, one in made]
    graphs = [graph for graph in chosen if graph is not None]
    if len(graphs) not in (0, len(made)):
        raise LogError("some rounds have a graph and others none; expected one in every round of a log, or in none")
    log.stage_decisions(
        made[0][0],
        np.concatenate([one.context for _, one in made if one.context is not None]),
        graph_batch(graphs) if graphs else None,
        stacked_masks([one.available for _, one in made], made[0][1].batch.probabilities.shape[1]),
        Decisions.concatenate([one.batch[one.row : one.row + 1] for _, one in made]),
        [one.key for _, one in made],
    )
    return True


def _release(writer: LogWriter, process: int) -> None:
    """Close the files of a log that nobody can write to any more; a copy of the process leaves them alone."""
    if os.getpid() == process:
        writer.release()


def _now() -> int:
    return time.time_ns() // 1000


def _has_graphs(writer: LogWriter) -> bool:
    """Whether the rounds of a log have graphs."""
    from graphbandit.logs import Log

    last = Log.read(writer.folder)[-1:]
    return not len(last) or last.to_batch().graphs is not None
