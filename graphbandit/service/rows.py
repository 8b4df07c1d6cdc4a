"""The rows of the log. The log is one table in one order; everything the service knows follows from it."""

from enum import IntEnum
from typing import NamedTuple

import msgspec


class Kind(IntEnum):
    """What a row says."""

    CONFIGURATION = 0
    DECISION = 1
    REWARD = 2
    ACTIVATION = 3
    FINAL = 4
    TICK = 5


class Row(NamedTuple):
    """One row.

    `key` is the id of the decision it is about. A reward has its `arm`, `reward` and `part`, the number of rewards of
    this arm before it. `time` never decreases with the position. `body` is packed: a `DecisionBody`, or a
    configuration as JSON.
    """

    position: int
    bandit: str
    kind: int
    key: str
    arm: str
    part: int
    reward: float | None
    time: float
    body: bytes | None


class DecisionBody(msgspec.Struct, frozen=True, array_like=True):
    """Everything that was known when a decision was made.

    `context`, `arm_features` and `graph` are JSON as it was sent; `arms` are the names that came with the request.
    `p` and `q` hold the probabilities that each arm is played and revealed (float64, by slot), `revealed` the names of
    the arms whose rewards may come. `notes` are the learner's own (float64). In apprentice mode `arm`, `probability`
    and `q` are the caller's, and `p` and `proposed` what the service would have done. `unknown` and `missing` count
    the undeclared categories and the missing values, by feature.
    """

    context: bytes
    arms: list[str] | None
    arm_features: bytes | None
    graph: bytes | None
    available: list[str] | None
    active: bool
    snapshot: str
    epoch: int
    arm: str
    probability: float
    p: bytes
    revealed: list[str]
    q: bytes
    notes: bytes
    best: str
    proposed: str | None = None
    unknown: dict[str, int] = {}
    missing: dict[str, int] = {}


_decoder = msgspec.msgpack.Decoder(DecisionBody)
_encoder = msgspec.msgpack.Encoder()


def pack(body: DecisionBody) -> bytes:
    """The body as the bytes of a row."""
    return _encoder.encode(body)


def unpack(data: bytes | None) -> DecisionBody:
    """The body of a decision's row, which has one."""
    assert data is not None
    return _decoder.decode(data)
