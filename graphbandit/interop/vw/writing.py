"""Rounds of a log as lines of Vowpal Wabbit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from graphbandit.base.saved_files import write_atomically
from graphbandit.errors import LogError, SavedFileError
from graphbandit.graphs import ProbabilisticGraphs
from graphbandit.interop.vw.text import PROBABILITIES
from graphbandit.logs import Log, LogBatch


def write_lines(path: Path, lines: Iterator[str]) -> None:
    """All lines to a file, or none."""
    try:
        write_atomically(path, lambda file: file.writelines(line.encode() + b"\n" for line in lines))
    except SavedFileError as error:
        cause = error.__cause__  # a round that cannot be written, or what is wrong with the file
        raise (cause if isinstance(cause, LogError) else LogError(str(error))) from None


def dsjson_lines(log: Log) -> Iterator[str]:
    """A JSON object a round."""
    for written, t, arms, place, action in _each_round(log):
        batch = written.batch
        content: dict[str, Any] = {}
        seen = np.flatnonzero(batch.revealed[t]).tolist()
        if action in seen:
            content["_label_cost"] = 0.0 - float(batch.rewards[t, action])
        content |= {
            "_label_probability": float(batch.probability[t]),
            "_label_Action": place[action] + 1,
            "_labelIndex": place[action],
        }
        if seen != [action]:
            content["o"] = [_outcome(place[arm], batch.rewards[t, arm], written.q[t, arm]) for arm in seen]
        if batch.times is not None:
            content["Timestamp"] = f"{np.datetime_as_string(batch.times[t], 'us')}Z"
        content |= {"Version": "1", "EventId": written.key(t)}
        if batch.probabilities is not None and batch.all_known[t]:
            ranking = [action, *(arm for arm in arms if arm != action)]
            content["a"] = [place[arm] + 1 for arm in ranking]
            content["p"] = [float(batch.probabilities[t, arm]) for arm in ranking]
        context: dict[str, Any] = {}
        if written.shared:
            context["x"] = dict(zip(written.names, batch.contexts[t].tolist(), strict=True))
        edges = written.edges(t, place)
        if edges is not None:
            context["_graph"] = [{"row": a, "col": j, "val": value} for j, a, value in edges]
        context["_multi"] = [written.json_arm(t, arm) for arm in arms]
        yield json.dumps(content | {"c": context, "VWState": {"m": "N/A"}}, separators=(",", ":"))


def _outcome(place: int, reward: float, q: float) -> dict[str, float]:
    return {"v": float(reward), "a": place + 1, **({} if np.isnan(q) else {"p": float(q)})}


def text_lines(log: Log) -> Iterator[str]:
    """A shared line, a line for each arm and an empty line for each round."""
    for written, t, arms, place, action in _each_round(log):
        batch = written.batch
        seen = set(np.flatnonzero(batch.revealed[t]).tolist())
        if action not in seen:
            raise LogError(
                f"the arm played, {action}, has no reward; expected one in each round that is written as text",
                table="decisions",
                row=batch.first_row + t,
            )
        edges = written.edges(t, place)
        graph = "" if edges is None else "graph " + " ".join(f"{a},{j},{v:.17g}" for j, a, v in edges) + " "
        yield f"shared {graph}{written.probabilities(t, arms)}|{written.shared_text(t)}"
        for arm in arms:
            label = ""
            if arm in seen:
                q = batch.probability[t] if arm == action else written.q[t, arm]
                if np.isnan(q):
                    raise LogError(
                        f"the log does not say with which probability arm {arm} was revealed",
                        table="decisions",
                        row=batch.first_row + t,
                    )
                label = f"{place[action]}:{0.0 - float(batch.rewards[t, arm])!r}:{float(q)!r} "
            yield f"{label}{written.tag(arm)}|{written.text_arm(t, arm)}"
        yield ""


def _each_round(log: Log) -> Iterator[tuple[_BatchText, int, list[int], dict[int, int], int]]:
    """Each round: its batch, its row there, the arms on offer, the place of each among them, and the arm played."""
    for batch in log.batches():
        written = _BatchText(log, batch)
        for t in range(len(batch)):
            arms = written.arms(t)
            yield written, t, arms, {arm: i for i, arm in enumerate(arms)}, int(batch.actions[t])


class _BatchText:
    """What the rounds of a batch have in common."""

    def __init__(self, log: Log, batch: LogBatch) -> None:
        self.batch, self.q, stamp = batch, batch.q, log._storage.layout.stamp
        self.shared = bool(stamp.context_size) and len(log.context_shape) < 2
        size = log.context_shape[-1] if log.context_shape else 1
        given = None if stamp.context_names is None else [_safe(name) for name in stamp.context_names]
        unique = given is not None and len(set(given)) == len(given) == size
        self.names = given if unique and given is not None else [str(i) for i in range(size)]
        self._of_arms = bool(stamp.context_size) and not self.shared
        arms = [str(arm) for arm in range(log.n_arms)] if log.arms is None else [_safe(arm) for arm in log.arms]
        self._arms = arms if len(set(arms)) == len(arms) else [f"{i}_{name}" for i, name in enumerate(arms)]
        self._tagged = batch.available is not None or log.arms is not None
        self._plain = batch.loops_only
        self._edges: dict[int, list[tuple[int, int, float]]] = {}

    def arms(self, t: int) -> list[int]:
        """The arms on offer."""
        available = self.batch.available
        return list(range(len(self._arms))) if available is None else np.flatnonzero(available[t]).tolist()

    def key(self, t: int) -> str:
        """The event's name: the log's key, or its id."""
        keys = self.batch.columns.get("key")
        return str(self.batch.ids[t]) if keys is None or keys[t] is None else str(keys[t])

    def probabilities(self, t: int, arms: list[int]) -> str:
        """The probabilities of the arms on offer, as a tag."""
        p = self.batch.probabilities
        return (
            ""
            if p is None or not self.batch.all_known[t]
            else "'" + PROBABILITIES + ",".join(repr(float(p[t, arm])) for arm in arms)
        )

    def edges(self, t: int, place: dict[int, int]) -> list[tuple[int, int, float]] | None:
        """(j, a, value) by place, of arms on offer; None where each arm reveals itself alone."""
        graphs = self.batch.graphs
        if graphs is None or self._plain:
            return None
        stored = int(graphs.index[t])
        found = self._edges.get(stored)
        if found is None:
            if isinstance(graphs, ProbabilisticGraphs):
                matrix = graphs.matrix(t)
                found = [(j, a, float(matrix[j, a])) for j, a in np.argwhere(matrix > 0).tolist()]
            else:
                found = [(j, a, 1.0) for j, a in graphs[t].edges().tolist()]
            self._edges[stored] = found
        return [(place[j], place[a], value) for j, a, value in found if j in place and a in place]

    def json_arm(self, t: int, arm: int) -> dict[str, Any]:
        """The features of an arm: its row of the context, or its name."""
        tag = {"_tag": self._arms[arm]} if self._tagged else {}
        if self._of_arms:
            return tag | {"a": dict(zip(self.names, self.batch.contexts[t, arm].tolist(), strict=True))}
        return tag | {"a": {self._arms[arm]: 1.0}}

    def tag(self, arm: int) -> str:
        """The tag of an arm's line."""
        return f"'{self._arms[arm]}" if self._tagged else ""

    def shared_text(self, t: int) -> str:
        """The features of the round."""
        return "x " + self._text(self.batch.contexts[t]) if self.shared else ""

    def text_arm(self, t: int, arm: int) -> str:
        """The features of an arm."""
        return "a " + (self._text(self.batch.contexts[t, arm]) if self._of_arms else self._arms[arm])

    def _text(self, row: Any) -> str:
        values = np.atleast_1d(row).tolist()
        return " ".join(f"{name}:{value!r}" for name, value in zip(self.names, values, strict=True))


def _safe(name: str) -> str:
    """A name without the characters that mean something in the text format."""
    return re.sub(r"[\s|:']", "_", name)
