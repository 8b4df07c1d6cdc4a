"""The client: a bandit behind an address, used like `Bandit`.

Every decision has a key before it is asked for, so that a request whose answer got lost is safe to send again.
"""

import asyncio
import random
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphbandit.errors import MissingExtraError, ServiceError

if TYPE_CHECKING:
    import httpx

RETRIED = (429, 502, 503, 504)
"""Answers after which the same request may succeed."""


def _httpx() -> Any:
    try:
        import httpx
    except ImportError as error:
        raise MissingExtraError("the client needs httpx; install graphbandit[service]") from error
    return httpx


@dataclass(frozen=True)
class RemoteDecision:
    """A decision of a service.

    - `id`: the key of the decision, with which rewards are handed back.
    - `arm`: the arm to play, by name.
    - `action`: the place of the arm among the bandit's arms, or among those that were sent along.
    - `probability`: with which it was drawn.
    - `revealed`: the arms whose rewards may be handed back.
    - `snapshot`: which state of the bandit decided.
    - `proposed`: in apprentice mode, the arm that the bandit would have played; None (default): not in that mode.
    - `explanation`: what `explain` asked for; None (default): nothing.
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
        """The decision as JSON has it."""
        return {**self.__dict__, "revealed": list(self.revealed)}


class _Requests:
    """What both clients share: requests as JSON, and what answers mean."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = {name: i for i, name in enumerate(names)}

    @staticmethod
    def decide(context: Any, key: str | None, graph: Any, **more: Any) -> dict[str, Any]:
        """The request for one decision; it has a key."""
        body = {"context": {} if context is None else context, "key": key or uuid.uuid4().hex}
        body.update((name, value) for name, value in (("graph", graph), *more.items()) if value is not None)
        if "available" in body:
            body["available"] = list(body["available"])
        return body

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

    @staticmethod
    def observe(decision: RemoteDecision | str, rewards: Mapping[str, float], final: bool) -> dict[str, Any]:
        """The request for the rewards of one decision."""
        key = decision.id if isinstance(decision, RemoteDecision) else decision
        return {"id": key, "rewards": {str(arm): float(reward) for arm, reward in rewards.items()}, "final": final}


def _checked(response: "httpx.Response") -> Any:
    """The JSON of an answer; ServiceError if it is a problem."""
    if response.status_code < 400:
        return response.json() if response.content else None
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    detail = problem.get("detail") or f"the service answered {response.status_code}"
    raise ServiceError(detail, status=response.status_code, field=problem.get("field"))


def _pause(attempt: int) -> float:
    """Seconds before the next attempt: twice as long each time, at random, so that clients do not come in step."""
    return min(2.0, 0.05 * 2.0**attempt) * (0.5 + random.random())


class Client:
    """A service at an address; `client["prices"]` is one of its bandits.

    - `url`: the address, as "http://127.0.0.1:8765".
    - `token`: a bearer token; None (default): the service asks for none.
    - `timeout`: seconds after which an attempt is given up, 5 by default.
    - `retries`: how often a request is sent again after it failed on the way or the service was away, 8 by default.
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 5.0, retries: int = 8) -> None:
        httpx = _httpx()
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        self._http: Any = httpx.Client(base_url=url, headers=headers, timeout=timeout, trust_env=False)
        self._retries = retries

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getitem__(self, name: str) -> "RemoteBandit":
        return RemoteBandit(self, name, self.request("GET", f"/v1/{name}")["arms"])

    @property
    def bandits(self) -> list[dict[str, Any]]:
        """All bandits with their settings."""
        found: list[dict[str, Any]] = self.request("GET", "/v1")["bandits"]
        return found

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request, again if it fails on the way; every request of this client is safe to repeat."""
        httpx = _httpx()
        for attempt in range(self._retries + 1):
            try:
                response = self._http.request(method, path, json=body)
                if response.status_code not in RETRIED or attempt == self._retries:
                    return _checked(response)
            except httpx.TransportError as error:
                if attempt == self._retries:
                    raise ServiceError(f"{self._http.base_url} cannot be reached: {error}") from error
            time.sleep(_pause(attempt))
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


class RemoteBandit:
    """A bandit of a service, used like `Bandit`; ``client["prices"]`` makes it.

    - `client`: the connection to the service.
    - `name`: of the bandit there.
    - `arms`: the names of its arms.
    """

    def __init__(self, client: Client, name: str, arms: Sequence[str]) -> None:
        self._client, self.name, self.arms = client, name, tuple(arms)
        self._requests = _Requests(arms)

    def __repr__(self) -> str:
        return f"RemoteBandit({self.name!r})"

    def decide(self, context: Any = None, graph: Any = None, *, key: str | None = None, **more: Any) -> RemoteDecision:
        """Decide; the same key again is the same decision.

        More: `available`, `arms`, `active`, `explain`, and in apprentice mode `arm` and `probability`.
        """
        request = self._requests.decide(context, key, graph, **more)
        return self._requests.decision(request, self._post("decide", request))

    def decide_batch(
        self, contexts: Iterable[Any], graph: Any = None, *, keys: Sequence[str] | None = None, **more: Any
    ) -> list[RemoteDecision]:
        """Decide many in one request, all or none."""
        rows = list(contexts)
        names = [None] * len(rows) if keys is None else list(keys)
        requests = [self._requests.decide(row, key, graph, **more) for row, key in zip(rows, names, strict=True)]
        answers = self._post("decide", requests)
        return [self._requests.decision(asked, answer) for asked, answer in zip(requests, answers, strict=True)]

    def observe(self, decision: RemoteDecision | str, rewards: Mapping[str, float], *, final: bool = False) -> None:
        """Hand back rewards, all at once or in parts; the same ones again change nothing."""
        self._post("observe", self._requests.observe(decision, rewards, final))

    def observe_batch(self, rewards: Iterable[tuple[RemoteDecision | str, Mapping[str, float]]]) -> None:
        """Hand back rewards of many decisions in one request, all or none."""
        self._post("observe", [self._requests.observe(decision, given, False) for decision, given in rewards])

    def activate(self, decision: RemoteDecision | str) -> None:
        """Have a decision that was asked for with `active=False` learnt from."""
        self._post("activate", {"id": decision.id if isinstance(decision, RemoteDecision) else decision})

    def forget(self, decision: RemoteDecision | str) -> None:
        """Wait no longer for the rewards of a decision."""
        self.observe(decision, {}, final=True)

    def explain(self, decision: RemoteDecision | str) -> dict[str, Any]:
        """Everything that explains a decision."""
        key = decision.id if isinstance(decision, RemoteDecision) else decision
        found: dict[str, Any] = self._client.request("GET", f"/v1/{self.name}/decisions/{_quoted(key)}")
        return found

    @property
    def status(self) -> dict[str, Any]:
        """Settings, snapshot, rounds, open decisions, delays."""
        found: dict[str, Any] = self._client.request("GET", f"/v1/{self.name}")
        return found

    @property
    def rounds(self) -> int:
        """Rounds that its newest snapshot has learnt from."""
        return int(self.status["rounds"])

    def _post(self, verb: str, body: Any) -> Any:
        return self._client.request("POST", f"/v1/{self.name}/{verb}", body)


class AsyncClient:
    """As `Client`, for asyncio. The settings are those of `Client`, and one more.

    - `batching`: whether calls that are made at the same time go out as one request; True by default.
    """

    def __init__(
        self, url: str, token: str | None = None, *, timeout: float = 5.0, retries: int = 8, batching: bool = True
    ) -> None:
        httpx = _httpx()
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        self._http: Any = httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout, trust_env=False)
        self._retries, self.batching = retries, batching

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __getitem__(self, name: str) -> "AsyncRemoteBandit":
        return AsyncRemoteBandit(self, name)

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request, again if it fails on the way."""
        httpx = _httpx()
        for attempt in range(self._retries + 1):
            try:
                response = await self._http.request(method, path, json=body)
                if response.status_code not in RETRIED or attempt == self._retries:
                    return _checked(response)
            except httpx.TransportError as error:
                if attempt == self._retries:
                    raise ServiceError(f"{self._http.base_url} cannot be reached: {error}") from error
            await asyncio.sleep(_pause(attempt))
        raise AssertionError("unreachable")

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()


class AsyncRemoteBandit:
    """As `RemoteBandit`, for asyncio."""

    LARGEST = 100

    def __init__(self, client: AsyncClient, name: str) -> None:
        self._client, self.name = client, name
        self._requests: _Requests | None = None
        self._waiting: dict[str, list[tuple[dict[str, Any], asyncio.Future[Any]]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def decide(
        self, context: Any = None, graph: Any = None, *, key: str | None = None, **more: Any
    ) -> RemoteDecision:
        """Decide; the same key again is the same decision."""
        if self._requests is None:
            self._requests = _Requests((await self._client.request("GET", f"/v1/{self.name}"))["arms"])
        request = self._requests.decide(context, key, graph, **more)
        return self._requests.decision(request, await self._post("decide", request))

    async def observe(
        self, decision: RemoteDecision | str, rewards: Mapping[str, float], *, final: bool = False
    ) -> None:
        """Hand back rewards, all at once or in parts; the same ones again change nothing."""
        await self._post("observe", _Requests.observe(decision, rewards, final))

    async def activate(self, decision: RemoteDecision | str) -> None:
        """Have a deferred decision learnt from."""
        await self._post("activate", {"id": decision.id if isinstance(decision, RemoteDecision) else decision})

    async def _post(self, verb: str, body: dict[str, Any]) -> Any:
        if not self._client.batching:
            return await self._client.request("POST", f"/v1/{self.name}/{verb}", body)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        waiting = self._waiting.setdefault(verb, [])
        waiting.append((body, future))
        if len(waiting) == 1:
            loop.call_soon(self._flush, verb)
        return await future

    def _flush(self, verb: str) -> None:
        waiting = self._waiting.pop(verb, [])
        for start in range(0, len(waiting), self.LARGEST):
            task = asyncio.create_task(self._send(verb, waiting[start : start + self.LARGEST]))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _send(self, verb: str, waiting: list[tuple[dict[str, Any], asyncio.Future[Any]]]) -> None:
        path = f"/v1/{self.name}/{verb}"
        try:
            answers = await self._client.request("POST", path, [body for body, _ in waiting])
        except Exception as error:
            if len(waiting) > 1 and isinstance(error, ServiceError) and 400 <= error.status < 500:
                # one of them is wrong, and a batch is done as a whole or not at all: ask one by one
                await asyncio.gather(*(self._send(verb, [one]) for one in waiting))
                return
            for _, future in waiting:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), answer in zip(waiting, answers, strict=True):
            if not future.done():
                future.set_result(answer)


def _quoted(key: str) -> str:
    from urllib.parse import quote

    return quote(key, safe="")
