"""What both clients share: making requests and reading answers.

Every decision gets a key before it is requested, so that a request whose answer was lost is safe to send again.
"""

import operator
import random
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from graphbandit.base.extras import imported
from graphbandit.errors import InputError, ServiceError, SettingError
from graphbandit.graphs import FeedbackGraph, ProbabilisticGraph

if TYPE_CHECKING:
    import httpx

RETRIED = (429, 502, 503, 504)
"""Answers after which the same request may succeed."""


def import_httpx() -> Any:
    """Import httpx, which is an extra."""
    return imported("httpx", "service", "the client needs httpx")


@dataclass(frozen=True)
class RemoteDecision:
    """A decision of a service.

    - `id`: the key of the decision, under which rewards are sent.
    - `arm`: the arm to play, by name.
    - `action`: the place of the arm among the bandit's arms, or among those that were sent along.
    - `probability`: the probability with which it was drawn.
    - `revealed`: the arms whose rewards may be sent.
    - `snapshot`: the hash of the snapshot that decided.
    - `proposed`: in apprentice mode, the arm that the bandit would have played; None (default): not in that mode.
    - `explanation`: the explanation, if `explain` asked for one; None (default): there is none.
    """

    id: str
    arm: str
    action: int
    probability: float
    revealed: tuple[str, ...]
    snapshot: str
    proposed: str | None = None
    explanation: Mapping[str, Any] | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The decision as a dictionary for JSON."""
        return {**self.__dict__, "revealed": list(self.revealed)}


class Requests:
    """Requests to a bandit whose arms have these names, and its answers."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = {name: i for i, name in enumerate(names)}

    def decide(self, context: Any, key: str | None, graph: Any, **more: Any) -> dict[str, Any]:
        """The request for one decision; it has a key."""
        body = {"context": {} if context is None else context, "key": key or uuid.uuid4().hex}
        body.update(
            (name, value) for name, value in (("graph", self._graph(graph)), *more.items()) if value is not None
        )
        if "available" in body:
            body["available"] = list(body["available"])
        return body

    def _graph(self, graph: Any) -> Any:
        """A graph of the library as JSON; anything else stays as it is."""
        if isinstance(graph, ProbabilisticGraph):
            return {"probabilities": graph.matrix.tolist()}
        if not isinstance(graph, FeedbackGraph):
            return graph
        names = list(self._names)
        if graph.n_arms != len(names):
            raise InputError(f"the graph has {graph.n_arms} arms; expected {len(names)}, as the bandit has")
        return {"edges": [[names[j], names[a]] for j, a in graph.edges().tolist()], "loops": False}

    def decision(self, request: Mapping[str, Any], answer: Mapping[str, Any]) -> RemoteDecision:
        """The answer as a decision."""
        places = self._names
        if "arms" in request:
            places = {a["name"] if isinstance(a, Mapping) else a: i for i, a in enumerate(request["arms"])}
        return RemoteDecision(
            id=answer["id"],
            arm=answer["arm"],
            action=places.get(answer["arm"], -1),
            probability=answer["probability"],
            revealed=tuple(answer["revealed"]),
            snapshot=answer["snapshot"],
            proposed=answer.get("proposed"),
            explanation=answer.get("explanation"),
        )

    def observe(self, decision: RemoteDecision | str, rewards: Any, final: bool) -> dict[str, Any]:
        """The request for the rewards of one decision."""
        if not hasattr(rewards, "items"):
            raise InputError(f"rewards is a {type(rewards).__name__}; expected a mapping from arm to reward")
        given = {self._arm(arm): float(reward) for arm, reward in rewards.items()}
        return {"id": id_of(decision), "rewards": given, "final": final}

    def _arm(self, arm: Any) -> str:
        """The name of an arm, given by its name or, if the arms are configured, by its number."""
        if isinstance(arm, str):
            return arm
        names = list(self._names)
        try:
            number = operator.index(arm)
        except TypeError:
            number = -1
        if isinstance(arm, bool) or not 0 <= number < len(names):
            expected = f"a name, or a number below {len(names)}" if names else "a name"
            raise InputError(f"rewards has the arm {arm!r}; expected {expected}")
        return names[number]


def id_of(decision: RemoteDecision | str) -> str:
    """The key of a decision, given as the decision or as its key."""
    return decision.id if isinstance(decision, RemoteDecision) else decision


def encoded(body: Any) -> bytes | None:
    """A request as JSON. Values of NumPy and pandas become Python's; NaN becomes null."""
    import msgspec

    def plain(value: Any) -> Any:
        for method in ("to_dict", "tolist", "isoformat"):
            if hasattr(value, method):
                return getattr(value, method)()
        raise InputError(f"the request has a {type(value).__name__}; expected what JSON can hold")

    return None if body is None else msgspec.json.encode(body, enc_hook=plain)


def http_settings(url: str, token: str | None, timeout: float) -> dict[str, Any]:
    """The settings of httpx for both clients."""
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise SettingError(
            f'url is {url!r}; expected an address with http:// or https://, such as "http://127.0.0.1:8765"'
        )
    headers = {"content-type": "application/json"}
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    return {"base_url": url, "headers": headers, "timeout": timeout, "trust_env": False}


def checked(response: "httpx.Response") -> Any:
    """The JSON of an answer; ServiceError if it is a problem."""
    if response.status_code < 400:
        return response.json() if response.content else None
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    detail = problem.get("detail") or f"the service answered {response.status_code}"
    raise ServiceError(detail, status=response.status_code, field=problem.get("field"))


def pause(attempt: int) -> float:
    """Seconds before the next attempt: twice as long each time, times a random factor, so that clients spread out."""
    return min(2.0, 0.05 * 2.0**attempt) * (0.5 + random.random())


def decision_path(bandit: str, decision: RemoteDecision | str) -> str:
    """The path of the explanation of a decision."""
    return f"/v1/{bandit}/decisions/{quote(id_of(decision), safe='')}"
