"""The client for asyncio, which sends calls that are made at the same time as one request."""

import asyncio
from collections.abc import Mapping
from typing import Any

from graphbandit.errors import ServiceError
from graphbandit.service import client_calls
from graphbandit.service.client_calls import RemoteDecision


class AsyncClient:
    """`Client` for asyncio.

    - `url`: the address, such as "http://127.0.0.1:8765".
    - `token`: a bearer token; None (default): the service asks for none.
    - `timeout`: seconds after which an attempt is given up, 5 by default.
    - `retries`: how often a request is repeated after it failed on the way or the service was away, 8 by default.
    - `batching`: whether calls that are made at the same time go out as one request; True by default.
    """

    def __init__(
        self, url: str, token: str | None = None, *, timeout: float = 5.0, retries: int = 8, batching: bool = True
    ) -> None:
        self._http: Any = client_calls.import_httpx().AsyncClient(**client_calls.http_settings(url, token, timeout))
        self._retries, self.batching = retries, batching

    def __repr__(self) -> str:
        return f"AsyncClient({str(self._http.base_url).rstrip('/')!r})"

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __getitem__(self, name: str) -> "AsyncRemoteBandit":
        return AsyncRemoteBandit(self, name)

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request, and repeat it if it fails on the way; every request of this client is safe to repeat.

        - `method`: the method of HTTP, such as "GET".
        - `path`: the path at the service, such as "/v1/prices".
        - `body`: what is sent as JSON; None (default): nothing.
        """
        # the same lines as Client.request, which cannot await
        httpx, content = client_calls.import_httpx(), client_calls.encoded(body)
        for attempt in range(self._retries + 1):
            try:
                response = await self._http.request(method, path, content=content)
                if response.status_code not in client_calls.RETRIED or attempt == self._retries:
                    return client_calls.checked(response)
            except httpx.TransportError as error:
                if attempt == self._retries:
                    raise ServiceError(f"{self._http.base_url} cannot be reached: {error}") from error
            await asyncio.sleep(client_calls.pause(attempt))
        raise AssertionError("unreachable")

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()


class AsyncRemoteBandit:
    """`RemoteBandit` for asyncio."""

    LARGEST = 100

    def __init__(self, client: AsyncClient, name: str) -> None:
        self._client, self.name = client, name
        self._requests: client_calls.Requests | None = None
        self._waiting: dict[str, list[tuple[dict[str, Any], asyncio.Future[Any]]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def decide(
        self, context: Any = None, graph: Any = None, *, key: str | None = None, **more: Any
    ) -> RemoteDecision:
        """Decide; the same key again is the same decision."""
        requests = await self._known()
        request = requests.decide(context, key, graph, **more)
        return requests.decision(request, await self._post("decide", request))

    async def observe(
        self, decision: RemoteDecision | str, rewards: Mapping[Any, float], *, final: bool = False
    ) -> None:
        """Send rewards, all at once or in parts; sending the same ones again changes nothing."""
        await self._post("observe", (await self._known()).observe(decision, rewards, final))

    async def forget(self, decision: RemoteDecision | str) -> None:
        """Stop waiting for the rewards of a decision."""
        await self.observe(decision, {}, final=True)

    async def explain(self, decision: RemoteDecision | str) -> dict[str, Any]:
        """Everything that explains a decision."""
        found: dict[str, Any] = await self._client.request("GET", client_calls.decision_path(self.name, decision))
        return found

    async def status(self) -> dict[str, Any]:
        """Settings, snapshot, rounds, open decisions, delays."""
        found: dict[str, Any] = await self._client.request("GET", f"/v1/{self.name}")
        return found

    async def _known(self) -> client_calls.Requests:
        """What makes requests from the names of the bandit's arms, which are asked for once."""
        if self._requests is None:
            self._requests = client_calls.Requests((await self.status())["arms"])
        return self._requests

    async def activate(self, decision: RemoteDecision | str) -> None:
        """Say that a decision asked for with `active=False` was shown after all, so that it is learnt from."""
        await self._post("activate", {"id": client_calls.id_of(decision)})

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
        except Exception as error:  # every caller that waits for an answer gets the error
            if len(waiting) > 1 and isinstance(error, ServiceError) and 400 <= error.status < 500:
                # one of them is wrong, and a batch is accepted whole or not at all: send them one by one
                await asyncio.gather(*(self._send(verb, [one]) for one in waiting))
                return
            for _, future in waiting:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), answer in zip(waiting, answers, strict=True):
            if not future.done():
                future.set_result(answer)
