"""The JSON of requests and answers. The OpenAPI document is made from these types."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

Name = Annotated[str, Meta(min_length=1, max_length=256, pattern=r"^[^\x00-\x1f\x7f]+$")]
"""A key or the name of an arm: up to 256 characters, no control characters."""


class ArmFeatures(Struct, frozen=True, forbid_unknown_fields=True):
    """An arm that comes with the request."""

    name: Name
    features: Any = None


class DecideRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Ask for a decision.

    `key`: the same key again gets the same decision. `context`: an object with the bandit's features.
    `arms`: for bandits whose arms come with the request. `graph`: the name of one of the bandit's graphs, or
    {"edges": [[played, revealed], ...]}, or {"probabilities": [[1, 0.5], [0, 1]]}: the probability that playing arm j
    reveals arm a, in the arms' order. `available`: the arms that may be played. `active`: false if it may not be
    shown after all; it is learnt from once activated. `arm`, `probability`: the caller's choice, in apprentice mode.
    `explain`: send the explanation along.
    """

    context: msgspec.Raw = msgspec.field(default_factory=lambda: msgspec.Raw(b"{}"))
    key: Name | None = None
    arms: list[Name | ArmFeatures] | None = None
    graph: str | dict[str, Any] | None = None
    available: list[Name] | None = None
    active: bool = True
    arm: Name | None = None
    probability: Annotated[float, Meta(gt=0, le=1)] | None = None
    explain: bool = False


class Explanation(Struct, frozen=True, kw_only=True):
    """Why this arm: the probabilities p, the observation probabilities q, and the learner's view of each arm."""

    snapshot: str
    epoch: int
    best: str
    probabilities: dict[str, float]
    observation_probabilities: dict[str, float]
    candidates: list[str]
    exploration_set: list[str]
    gaps: dict[str, float]
    gamma: float | None
    objective: float | None
    solver: str


class DecideAnswer(Struct, frozen=True, omit_defaults=True):
    """A decision: play `arm`. `revealed` are the arms whose rewards may be sent back under `id`."""

    id: str
    arm: str
    probability: float
    revealed: list[str]
    snapshot: str
    proposed: str | None = None
    explanation: Explanation | None = None


class ObserveRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Rewards of a decision, all at once or in parts; `final`: no more will come."""

    id: Name
    rewards: dict[Name, Annotated[float, Meta(ge=-1e6, le=1e6)]] = {}
    final: bool = False


class ObserveAnswer(Struct, frozen=True):
    """How many of the rewards were new; 0 if all had been sent before."""

    id: str
    new: int


class ActivateRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The decision was shown after all."""

    id: Name


class ActivateAnswer(Struct, frozen=True):
    """`new` is 0 if it was active already."""

    id: str
    new: int


class PersonalizerError(Struct, frozen=True):
    """What is wrong, in the form that clients of Personalizer expect."""

    code: str
    message: str


class Problem(Struct, frozen=True, omit_defaults=True):
    """What is wrong (RFC 9457); `field` is the part of the request, `index` its place in a batch."""

    title: str
    status: int
    detail: str
    field: str | None = None
    index: int | None = None
    type: str = "about:blank"
    error: PersonalizerError | None = None


def some(names: Sequence[str]) -> str:
    """The first of these names, as a message lists them."""
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
