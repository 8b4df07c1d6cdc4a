"""From requests to decisions, with nothing but the newest snapshot of each bandit."""

import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from graphbandit.base.program_constants import SOLVERS
from graphbandit.errors import GraphBanditError, SavedFileError
from graphbandit.service.configuration import BanditSettings
from graphbandit.service.core import Asked, Core, Decided, FieldError, Snapshot
from graphbandit.service.graphs import edge_probabilities
from graphbandit.service.json_logging import say
from graphbandit.service.messages import ArmFeatures, DecideAnswer, DecideRequest, Explanation
from graphbandit.service.rows import DecisionBody, pack, unpack
from graphbandit.service.store import Store

SNAPSHOTS = 9
"""The newest snapshots of a bandit, which are kept in memory to explain decisions."""


def new_key() -> str:
    """A key for a decision that came without one; keys made one after the other are neighbours in the index."""
    return f"{time.time_ns():016x}{secrets.token_hex(8)}"


@dataclass(slots=True)
class Prepared:
    """A checked request, with what is logged of it."""

    request: DecideRequest
    asked: Asked
    features: bytes | None


class RequestDecider:
    """Decides the requests to all bandits; stateless within a snapshot."""

    def __init__(self, bandits: Mapping[str, BanditSettings]) -> None:
        self.cores = {name: Core(name, bandit) for name, bandit in bandits.items()}
        self.snapshots = {name: core.initial() for name, core in self.cores.items()}
        self._recent = {name: OrderedDict([(one.hash, one)]) for name, one in self.snapshots.items()}
        self.made: dict[str, float] = {}  # when the newest snapshots were made
        self._damaged: set[str] = set()

    def refresh(self, store: Store) -> list[str]:
        """Load the newest snapshots; returns the bandits that have a new one."""
        changed = []
        for name in self.cores:
            newest = store.newest_hash(name)
            if newest is None or newest == self.snapshots[name].hash:
                continue
            row = store.snapshot(newest)
            if row is not None and row.data is not None:
                found = self._restored(name, bytes(row.data), newest)
                if found is None:
                    continue
                self._recent[name][newest] = self.snapshots[name] = found  # in this order, for requests meanwhile
                self.made[name] = row.time
                if len(self._recent[name]) > SNAPSHOTS:
                    self._recent[name].popitem(last=False)
                changed.append(name)
        return changed

    def _restored(self, name: str, data: bytes, hash_: str) -> Snapshot | None:
        """A snapshot; None if it is damaged: then the one before it stays in use until it is made again."""
        try:
            return self.cores[name].restore(data, hash_)
        except SavedFileError as error:
            if hash_ not in self._damaged:
                say("a snapshot is damaged, and is not taken up", level=logging.ERROR, bandit=name, error=str(error))
            self._damaged.add(hash_)
            return None

    def prepare(self, name: str, request: DecideRequest) -> Prepared:
        """Check and encode a request; FieldError says what is wrong with it."""
        core = self.cores[name]
        if core.settings.mode == "apprentice":
            if request.arm is None:
                raise FieldError("arm", "is missing; in apprentice mode the caller says which arm it plays")
        elif request.arm is not None or request.probability is not None:
            raise FieldError("arm", 'came with the request; expected it only where mode = "apprentice"')
        arms = None
        if request.arms is not None:
            arms = [(a.name, a.features) if isinstance(a, ArmFeatures) else (a, {"name": a}) for a in request.arms]
        key = request.key if request.key is not None else new_key()
        try:
            context = msgspec.json.decode(request.context)
        except (msgspec.DecodeError, RecursionError) as error:
            raise FieldError("context", str(error)) from None
        asked = core.asked(key, context, arms, request.graph, request.available)
        if request.arm is not None and request.arm not in asked.names:
            raise FieldError("arm", f"is {request.arm!r}, which is not an arm")
        features = None if arms is None else msgspec.json.encode([features for _, features in arms])
        return Prepared(request, asked, features)

    def decide(self, name: str, prepared: Sequence[Prepared]) -> list[bytes | GraphBanditError]:
        """The body that is logged for each request, or the error that refuses it."""
        core, snapshot = self.cores[name], self.snapshots[name]
        asked = [one.asked for one in prepared]
        try:
            made: list[Decided | GraphBanditError] = list(core.decide(snapshot, asked))
        except GraphBanditError:
            made = []
            for one in asked:
                try:
                    made += core.decide(snapshot, [one])
                except GraphBanditError as error:
                    made.append(error)
        return [
            found if isinstance(found, GraphBanditError) else pack(self._body(snapshot, one, found))
            for one, found in zip(prepared, made, strict=True)
        ]

    def _body(self, snapshot: Snapshot, prepared: Prepared, made: Decided) -> DecisionBody:
        request, names = prepared.request, prepared.asked.names
        batch, row = made.batch, made.row
        arm, probability, proposed = names[batch.action[row]], float(batch.probability[row]), None
        revealed, q = made.revealed.tolist(), batch.observation_probabilities[row]
        if request.arm is not None:
            arm, proposed = request.arm, arm
            probability = 1.0 if request.probability is None else request.probability
            # a lower bound: the caller may also play other arms that reveal them
            q = probability * edge_probabilities(prepared.asked.graph, names.index(arm))
            revealed = q.nonzero()[0].tolist()
        return DecisionBody(
            context=bytes(request.context),
            arms=None if request.arms is None else list(names),
            arm_features=prepared.features,
            graph=None if request.graph is None else msgspec.json.encode(request.graph),
            available=request.available,
            active=request.active,
            snapshot=snapshot.hash,
            epoch=int(batch.epoch[row]),
            arm=arm,
            probability=probability,
            p=batch.probabilities[row, : len(names)].astype("<f8").tobytes(),
            revealed=[names[a] for a in revealed],
            q=q[: len(names)].astype("<f8").tobytes(),
            notes=batch.notes[row].astype("<f8").tobytes(),
            best=names[batch.best[row]],
            proposed=proposed,
            unknown=prepared.asked.tally.unknown,
            missing=prepared.asked.tally.missing,
        )

    def answer(self, name: str, key: str, data: bytes | None, explain: bool) -> DecideAnswer:
        """The answer to a request, from its decision in the log."""
        body = unpack(data)
        explanation = self.explanation(name, key, body, None) if explain else None
        return DecideAnswer(key, body.arm, body.probability, body.revealed, body.snapshot, body.proposed, explanation)

    def explanation(self, name: str, key: str, body: DecisionBody, store: Store | None) -> Explanation | None:
        """Decide again with the snapshot of that time; None if it is no longer there."""
        core = self.cores[name]
        snapshot = self._recent[name].get(body.snapshot)
        if snapshot is None and store is not None:
            row = store.snapshot(body.snapshot)
            if row is not None and row.data is not None:
                snapshot = self._restored(name, bytes(row.data), body.snapshot)
        if snapshot is None:
            return None
        asked = core.asked_before(key, body)
        made = core.decide(snapshot, [asked])[0].batch.round(0)
        names = asked.names

        def by_name(values: np.ndarray) -> dict[str, float]:
            return dict(zip(names, values.tolist(), strict=False))

        def chosen(mask: np.ndarray) -> list[str]:
            return [arm for arm, there in zip(names, mask.tolist(), strict=False) if there]

        def finite(value: float) -> float | None:
            return float(value) if np.isfinite(value) else None

        return Explanation(
            snapshot=snapshot.hash,
            epoch=int(made["epoch"]),
            best=names[made["best"]],
            probabilities=by_name(made["probabilities"]),
            observation_probabilities=by_name(made["observation_probabilities"]),
            candidates=chosen(made["candidates"]),
            exploration_set=chosen(made["exploration_set"]),
            gaps=by_name(made["gaps"]),
            gamma=finite(made["gamma"]),
            objective=finite(made["objective"]),
            solver=SOLVERS[made["solver"]],
        )
