"""Answers to questions about a bandit: its settings, figures and decisions, read from the database in a thread."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec
import numpy as np

from graphbandit.errors import DatabaseError
from graphbandit.service.configuration import BanditSettings
from graphbandit.service.protocol import known_from
from graphbandit.service.request_decider import RequestDecider
from graphbandit.service.rows import Kind, Row, unpack
from graphbandit.service.statistics import BUCKETS, Figures, summary
from graphbandit.service.store import Store

T = TypeVar("T")

LAG = 2
"""Seconds after which the learner has counted the decisions of a second: it writes its figures every second."""


class Reader:
    """One connection in one thread."""

    def __init__(self, store: Store, decider: RequestDecider, bandits: dict[str, BanditSettings]) -> None:
        self._store, self._decider, self._bandits = store, decider, bandits
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reader")
        self.figures = {name: Figures() for name in bandits}  # as of the last refresh
        self.refreshed = 0.0
        self._asked = 0.0
        self.learning = False  # whether a learner is at work, as of a second ago

    async def run(self, work: Callable[[], T]) -> T:
        """Do something with the store in the reader's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def close(self) -> None:
        """Close the connection."""
        self._thread.shutdown()
        self._store.close()

    def refresh(self) -> list[str]:
        """Load new snapshots and figures; returns the bandits with a new snapshot."""
        changed = self._decider.refresh(self._store)
        for name in self._bandits:
            saved = self._store.statistics(name)
            if saved is not None:
                self.figures[name] = msgspec.msgpack.decode(saved[1], type=Figures)
        self.refreshed = time.monotonic()
        if self.refreshed - self._asked >= 1.0:
            self._asked = self.refreshed
            self.learning = self._store.has_lease()
        return changed

    def snapshot_age(self, name: str) -> float | None:
        """Seconds since the newest snapshot was made; None before the first."""
        made = self._decider.made.get(name)
        return None if made is None else max(0.0, time.time() - made)

    def bandit(self, name: str) -> dict[str, Any]:
        """Settings, snapshot, rounds, open decisions, delays."""
        snapshot = self._decider.snapshots[name]
        example = example_request(self._bandits[name])
        return {
            "bandit": name,
            "settings": msgspec.to_builtins(self._bandits[name]),
            "arms": list(self._bandits[name].names),
            "snapshot": {"hash": snapshot.hash, "position": snapshot.position, "rounds": snapshot.rounds},
            "rounds": snapshot.rounds,
            "learning": self.learning,
            **summary(self.figures[name], self._bandits[name]),
            "example_context": example["context"],
            "example_request": example,
        }

    def decision(self, name: str, key: str) -> dict[str, Any] | None:
        """Everything that explains a decision; None if no decision has this key."""
        rows = self._store.find([(name, key)])
        known = known_from(rows).get((name, key))
        if known is None or known.body is None:
            return None
        body = known.decision
        names = body.arms or list(self._bandits[name].names)
        try:
            explanation = self._decider.explanation(name, key, body, self._store)
        except (DatabaseError, ValueError):  # an arm or graph that is gone from the configuration
            explanation = None
        return {
            "id": key,
            "bandit": name,
            "time": rows[0].time,
            "position": rows[0].position,
            "context": msgspec.json.decode(body.context),
            "graph": None if body.graph is None else msgspec.json.decode(body.graph),
            "available": body.available,
            "arms": body.arms,
            "arm": body.arm,
            "probability": body.probability,
            "proposed": body.proposed,
            "probabilities": dict(zip(names, np.frombuffer(body.p).tolist(), strict=False)),
            "revealed": body.revealed,
            "observation_probabilities": dict(zip(names, np.frombuffer(body.q).tolist(), strict=False)),
            "active": known.active,
            "final": known.final,
            "snapshot": body.snapshot,
            "epoch": body.epoch,
            "best": body.best,
            "rewards": [
                {"arm": row.arm, "reward": row.reward, "time": row.time, "delay": row.time - rows[0].time}
                for row in rows
                if row.kind == Kind.REWARD
            ],
            "explanation": None if explanation is None else msgspec.to_builtins(explanation),
        }

    def played(self, name: str, key: str) -> str | None:
        """The arm of a decision; None if no decision has this key."""
        known = known_from(self._store.find([(name, key)])).get((name, key))
        return None if known is None or known.body is None else known.decision.arm

    def page(self, name: str) -> dict[str, Any]:
        """What the live page shows of a bandit."""
        figures, settings = self.figures[name], self._bandits[name]
        now = time.time()
        rates = {second: (decisions, rewards) for second, decisions, rewards in figures.rates}
        end = int(now) - LAG
        return {
            **self.bandit(name),
            "now": now,
            "rates": [[second, *rates.get(second, (0, 0))] for second in range(end - 60, end)],
            "mass": [
                {"time": b.time, "count": b.count, "mass": {arm: p / b.count for arm, p in b.mass.items()}}
                for b in figures.buckets[-2 * BUCKETS :]
                if b.count
            ],
            "graph": graph_edges(settings),
            "through": [[*edge.split("\0"), count] for edge, count in figures.through.items()],
            "newest": [_newest(row) for row in self._store.newest(name, Kind.DECISION, 12)],
            "snapshots": [
                {
                    "hash": s.hash,
                    "position": s.position,
                    "rounds": s.rounds,
                    "time": s.time,
                    **msgspec.json.decode(s.facts),
                }
                for s in self._store.snapshots(name, newest=12)
            ][::-1],
        }


def _newest(row: Row) -> dict[str, Any]:
    body = unpack(row.body)
    return {
        "id": row.key,
        "time": row.time,
        "arm": body.arm,
        "probability": body.probability,
        "best": body.best,
        "epoch": body.epoch,
        "revealed": len(body.revealed),
    }


def graph_edges(settings: BanditSettings) -> list[list[str]]:
    """The bandit's own graph as pairs of names, without self-loops."""
    names = settings.names
    if settings.graph == "complete":
        return [[a, b] for a in names for b in names if a != b]
    edges = settings.graph.get("edges", []) if isinstance(settings.graph, dict) else settings.graph
    if isinstance(settings.graph, dict) and "probabilities" in settings.graph:
        matrix = settings.graph["probabilities"]
        edges = [[a, b] for a, row in zip(names, matrix, strict=True) for b, p in zip(names, row, strict=True) if p > 0]
    return [edge for edge in edges if edge[0] != edge[1]] if isinstance(edges, list) else []


def example_request(settings: BanditSettings) -> dict[str, Any]:
    """An example of a request that `decide` takes."""
    if settings.own_arms:
        arms = [{"name": "first", "features": {"kind": "a"}}, {"name": "second", "features": {"kind": "b"}}]
        return {"context": {"hour": 9}, "arms": arms}
    context: dict[str, Any] = {}
    for name, kind in settings.features.items():
        declared = kind.get("kind") if isinstance(kind, dict) else kind
        if isinstance(kind, list) or declared == "category":
            context[name] = kind[0] if isinstance(kind, list) else kind["categories"][0]
        elif declared == "boolean":
            context[name] = True
        else:
            context[name] = 1.0
    request: dict[str, Any] = {"context": context}
    if settings.mode == "apprentice":
        request["arm"] = settings.names[0]
    return request
