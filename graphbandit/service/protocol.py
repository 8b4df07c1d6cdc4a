"""The rules for keys, rewards and activation, as one function of requests and of what is logged.

It touches no database: the writer passes what the log has on the keys of a group of requests, and appends the rows that
the function returns. A request is a list of operations and is done as a whole or not at all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import msgspec

from graphbandit.service.messages import some
from graphbandit.service.rows import DecisionBody, Kind, Row, unpack

Aggregation = Literal["once", "sum", "earliest"]
"""What a further reward of an arm does: it is refused unless it is equal, it is added, or it is ignored."""

Pair: TypeAlias = tuple[str, str]
"""A bandit and a key."""


class Decide(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """Log this decision, unless the key has one already."""

    bandit: str
    key: str
    body: bytes


class Observe(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """Log rewards of a decision; `final`: no more will come."""

    bandit: str
    key: str
    rewards: dict[str, float]
    final: bool = False
    aggregation: Aggregation = "once"


class Activate(msgspec.Struct, frozen=True, array_like=True, tag=3):
    """The decision was shown after all, and is to be learnt from."""

    bandit: str
    key: str


class Configure(msgspec.Struct, frozen=True, array_like=True, tag=4):
    """The bandit has these settings from here on."""

    bandit: str
    body: bytes


Operation: TypeAlias = Decide | Observe | Activate | Configure


class Done(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """An operation that is done: how many rows it added, and for a decision the body in the log."""

    key: str
    new: int
    body: bytes | None = None


class Refusal(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """A request that is not done: the HTTP status, the offending field, what is wrong, and the operation's number."""

    status: int
    detail: str
    field: str | None = None
    index: int = 0


Answer: TypeAlias = list[Done] | Refusal


@dataclass
class Known:
    """What the log has on one key."""

    body: bytes | None = None
    rewards: dict[str, list[float]] = field(default_factory=dict)
    active: bool = False
    final: bool = False

    @property
    def decision(self) -> DecisionBody:
        """The decision, unpacked."""
        return unpack(self.body)

    def copy(self) -> "Known":
        """A copy that can be changed without changing this one."""
        return Known(self.body, {arm: list(given) for arm, given in self.rewards.items()}, self.active, self.final)


def known_from(rows: Sequence[Row]) -> dict[Pair, Known]:
    """What rows of the log, in their order, say about their keys."""
    found: dict[Pair, Known] = {}
    for row in rows:
        known = found.setdefault((row.bandit, row.key), Known())
        if row.kind == Kind.DECISION:
            known.body = row.body
            known.active = known.decision.active
        elif row.kind == Kind.REWARD and row.reward is not None:
            known.rewards.setdefault(row.arm, []).append(row.reward)
        elif row.kind == Kind.ACTIVATION:
            known.active = True
        elif row.kind == Kind.FINAL:
            known.final = True
    return found


def pairs_of(requests: Sequence[Sequence[Operation]]) -> set[Pair]:
    """The keys that requests are about."""
    return {(op.bandit, op.key) for request in requests for op in request if not isinstance(op, Configure)}


def apply(request: Sequence[Operation], known: dict[Pair, Known], rows: list[Row], next_position: int) -> Answer:
    """Do one request: append its rows and bring `known` up to date, or refuse it and change nothing.

    Positions count up from `next_position` with `rows`; the writer fills in the times.
    """
    touched: dict[Pair, Known] = {}
    added: list[Row] = []
    done: list[Done] = []

    def row(bandit: str, kind: Kind, key: str, arm: str = "", part: int = 0, reward: float | None = None,
            body: bytes | None = None) -> None:  # fmt: skip
        position = next_position + len(rows) + len(added)
        added.append(Row(position, bandit, kind, key or str(position), arm, part, reward, 0.0, body))

    for index, operation in enumerate(request):
        if isinstance(operation, Configure):
            row(operation.bandit, Kind.CONFIGURATION, "", body=operation.body)
            done.append(Done("", 1))
            continue
        pair = (operation.bandit, operation.key)
        entry = touched.get(pair)
        if entry is None:
            entry = known[pair].copy() if pair in known else Known()
            touched[pair] = entry
        before = len(added)
        if isinstance(operation, Decide):
            if entry.body is None:
                entry.body, entry.active = operation.body, unpack(operation.body).active
                row(operation.bandit, Kind.DECISION, operation.key, body=operation.body)
            done.append(Done(operation.key, len(added) - before, entry.body))
            continue
        if entry.body is None:
            return Refusal(404, f"no decision has the id {operation.key!r}", "id", index)
        if isinstance(operation, Activate):
            if not entry.active:
                entry.active = True
                row(operation.bandit, Kind.ACTIVATION, operation.key)
        else:
            refusal = _observe(operation, entry, index, row)
            if refusal is not None:
                return refusal
        done.append(Done(operation.key, len(added) - before))
    known.update(touched)
    rows += added
    return done


def _observe(operation: Observe, entry: Known, index: int, row: Callable[..., None]) -> Refusal | None:
    revealed = entry.decision.revealed
    for arm, reward in operation.rewards.items():
        if arm not in revealed:
            message = f"decision {operation.key!r} did not reveal arm {arm!r}; expected some of {some(revealed)}"
            return Refusal(422, message, f"rewards.{arm}", index)
        earlier = entry.rewards.get(arm, [])
        if operation.aggregation == "once" and earlier:
            if earlier[0] != reward:
                message = (
                    f"the reward of {arm!r} of decision {operation.key!r} is {earlier[0]!r} already, not {reward!r}"
                )
                return Refusal(409, message, f"rewards.{arm}", index)
            continue
        if operation.aggregation == "earliest" and earlier:
            continue
        row(operation.bandit, Kind.REWARD, operation.key, arm, len(earlier), reward)
        entry.rewards.setdefault(arm, []).append(reward)
    if operation.final and not entry.final:
        entry.final = True
        row(operation.bandit, Kind.FINAL, operation.key)
    return None
