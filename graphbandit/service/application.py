"""The routes: JSON in, JSON out, problems as problem+json."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib import resources
from typing import Any, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from graphbandit.errors import DatabaseError
from graphbandit.service import messages, openapi
from graphbandit.service.answers import RefusedError, checked, decoded, json, problem
from graphbandit.service.batcher import Batcher
from graphbandit.service.configuration import Configuration
from graphbandit.service.core import FieldError
from graphbandit.service.json_logging import logger
from graphbandit.service.link import LogLink
from graphbandit.service.messages import ActivateRequest, DecideRequest, ObserveRequest
from graphbandit.service.metrics import Metrics
from graphbandit.service.personalizer import Personalizer, as_there
from graphbandit.service.protocol import Activate, Observe
from graphbandit.service.reader import Reader
from graphbandit.service.request_decider import Prepared, RequestDecider
from graphbandit.service.tokens import Tokens

T = TypeVar("T")
PAGE = resources.files("graphbandit.service") / "templates" / "page.html"
"""The live page: one HTML file with its style and script inside, served as it is; what it shows is pushed to it."""
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
"""The headers of pages."""
Endpoint = Callable[[Request], Awaitable[Response]]
LOCAL = ("127.0.0.1", "localhost", "::1")
"""Addresses and names by which only this machine reaches itself."""


class Service:
    """What all routes share."""

    def __init__(
        self,
        configuration: Configuration,
        decider: RequestDecider,
        log: LogLink,
        reader: Reader,
        metrics: Metrics,
        address: str,
        fresh: asyncio.Event,
    ) -> None:
        self.decider, self.log, self.reader, self.metrics = decider, log, reader, metrics
        self.limits = configuration.service.limits
        self.tokens = Tokens(configuration.tokens)
        self.answers_to = _own_names(configuration, address) if not self.tokens else None
        self.batcher = Batcher(decider, log, metrics)
        self.stopping, self.fresh = asyncio.Event(), fresh
        self._decide = msgspec.json.Decoder(DecideRequest | list[DecideRequest])
        self._observe = msgspec.json.Decoder(ObserveRequest | list[ObserveRequest])
        self._activate = msgspec.json.Decoder(ActivateRequest | list[ActivateRequest])

    def bandit(self, request: Request) -> str:
        """The bandit in the path."""
        name = str(request.path_params["bandit"])
        if name not in self.decider.cores:
            known = ", ".join(sorted(self.decider.cores))
            raise RefusedError(404, f"no bandit is called {name[:64]!r}; expected one of {known}", "bandit")
        return name

    async def body(self, request: Request) -> bytes:
        """The request's body, within the limits of size and time."""
        limit = self.limits.body_bytes
        length = request.headers.get("content-length", "0")
        if length.isdigit() and int(length) > limit:
            raise RefusedError(413, f"the body has {length} bytes; expected at most {limit}")
        received = bytearray()
        try:
            async with asyncio.timeout(self.limits.seconds):
                async for part in request.stream():
                    received += part
                    if len(received) > limit:
                        raise RefusedError(413, f"the body has more than {limit} bytes")
        except TimeoutError:
            raise RefusedError(408, f"the body did not come within {self.limits.seconds:g} seconds") from None
        return bytes(received)

    def decoded(self, decoder: "msgspec.json.Decoder[T | list[T]]", data: bytes) -> tuple[list[T], bool]:
        """The items of a request, and whether it was a batch."""
        found = decoded(decoder, data)
        if not isinstance(found, list):
            return [found], False
        if not found or len(found) > self.limits.batch:
            raise RefusedError(422, f"the batch has {len(found)} items; expected 1 to {self.limits.batch}")
        return found, True

    def prepared(self, name: str, items: list[DecideRequest], *, batch: bool = False) -> list[Prepared]:
        """Check requests for decisions; a refusal within a batch has the index of the request."""
        if self.reader.figures[name].open + len(items) > self.limits.open_decisions:
            raise RefusedError(429, f"more than {self.limits.open_decisions} decisions of {name!r} await rewards")
        found = []
        for number, item in enumerate(items):
            index = number if batch else None
            if item.arms is not None and len(item.arms) > self.limits.arms:
                raise RefusedError(
                    422, f"has {len(item.arms)} arms; expected at most {self.limits.arms}", "arms", index
                )
            try:
                found.append(self.decider.prepare(name, item))
            except FieldError as error:
                raise RefusedError(422, f"{error.field}: {error}", error.field, index) from None
        return found

    def rewards(self, name: str, items: list[ObserveRequest], *, batch: bool = False) -> list[Observe]:
        """Check requests for rewards; refuse them if the learner cannot take one of the rewards."""
        core = self.decider.cores[name]
        for index, item in enumerate(items):
            try:
                core.check_rewards(list(item.rewards.values()))
            except ValueError as error:
                raise RefusedError(422, str(error), "rewards", index if batch else None) from None
        return [Observe(name, i.id, i.rewards, i.final, core.settings.aggregation) for i in items]

    async def decide(self, request: Request) -> Response:
        """POST /v1/{bandit}/decide."""
        name = self.bandit(request)
        items, batch = self.decoded(self._decide, await self.body(request))
        prepared = self.prepared(name, items, batch=batch)
        done = checked(await self.batcher.decide(name, prepared), batch=batch)
        answers = [
            self.decider.answer(name, one.key, one.body, item.explain) for one, item in zip(done, items, strict=True)
        ]
        return json(answers if batch else answers[0])

    async def observe(self, request: Request) -> Response:
        """POST /v1/{bandit}/observe."""
        name = self.bandit(request)
        items, batch = self.decoded(self._observe, await self.body(request))
        try:
            done = checked(await self.log.submit(self.rewards(name, items, batch=batch)), batch=batch)
        except RefusedError as error:
            raise self._of_unknown_arm(name, error) from None
        answers = [messages.ObserveAnswer(one.key, one.new) for one in done]
        return json(answers if batch else answers[0])

    def _of_unknown_arm(self, name: str, error: RefusedError) -> RefusedError:
        """The refusal of rewards, which says so if no arm of the bandit has the name of the one that is refused."""
        names, (kind, _, arm) = self.decider.cores[name].settings.names, (error.field or "").partition(".")
        if kind != "rewards" or not arm or not names or arm in names:
            return error
        message = f"no arm is called {arm!r}; expected some of {messages.some(names)}"
        return RefusedError(error.status, message, error.field, error.index)

    async def activate(self, request: Request) -> Response:
        """POST /v1/{bandit}/activate."""
        name = self.bandit(request)
        items, batch = self.decoded(self._activate, await self.body(request))
        done = checked(await self.log.submit([Activate(name, item.id) for item in items]), batch=batch)
        answers = [messages.ActivateAnswer(one.key, one.new) for one in done]
        return json(answers if batch else answers[0])

    async def bandits(self, request: Request) -> Response:
        """GET /v1."""
        return json({"bandits": [self.reader.bandit(name) for name in self.decider.cores]})

    async def show(self, request: Request) -> Response:
        """GET /v1/{bandit}."""
        return json(self.reader.bandit(self.bandit(request)))

    async def decision(self, request: Request) -> Response:
        """GET /v1/{bandit}/decisions/{id}."""
        name, key = self.bandit(request), str(request.path_params["id"])
        found = await self.reader.run(lambda: self.reader.decision(name, key))
        if found is None:
            raise RefusedError(404, f"no decision has the id {key[:256]!r}", "id")
        return json(found)

    async def events(self, request: Request) -> Response:
        """GET /v1/{bandit}/events: what the page shows, pushed every second."""
        name = self.bandit(request)

        async def stream() -> AsyncIterator[bytes]:
            while not self.stopping.is_set():
                try:
                    found = await self.reader.run(lambda: self.reader.page(name))
                    yield b"data: " + msgspec.json.encode(found) + b"\n\n"
                except DatabaseError as error:
                    yield b"event: problem\ndata: " + msgspec.json.encode(str(error)) + b"\n\n"
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.stopping.wait(), 1.0)

        headers = {"cache-control": "no-store"}
        return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)

    async def health(self, request: Request) -> Response:
        """GET /health: the process answers."""
        return json({"status": "up"})

    async def ready(self, request: Request) -> Response:
        """GET /ready: the log can be written and read."""
        age = time.monotonic() - self.reader.refreshed
        if not self.log.reached:
            return problem(503, "the writer is away")
        if not self.log.ready or age > 5.0:
            return problem(503, "the log cannot be read" if self.log.ready else "the log cannot be written")
        return json({"status": "ready"})

    async def numbers(self, request: Request) -> Response:
        """GET /metrics."""
        self.metrics.learning.set(self.reader.learning)
        for name, figures in self.reader.figures.items():
            self.metrics.open.labels(name).set(figures.open)
            age = self.reader.snapshot_age(name)
            if age is not None:
                self.metrics.snapshot_age.labels(name).set(age)
            for gauge, counts in ((self.metrics.unknown, figures.unknown), (self.metrics.missing, figures.missing)):
                for column, count in counts.items():
                    gauge.labels(name, column).set(count)
        return Response(self.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def docs(self, request: Request) -> Response:
        """GET /docs."""
        return Response(openapi.page(), media_type="text/html; charset=utf-8", headers=HEADERS)

    async def openapi(self, request: Request) -> Response:
        """GET /openapi.json."""
        return json(openapi.document())

    async def live(self, request: Request) -> Response:
        """GET /: the live page."""
        return Response(PAGE.read_bytes(), media_type="text/html; charset=utf-8", headers=HEADERS)


def application(service: Service) -> Callable[..., Awaitable[None]]:
    """The ASGI application."""

    def route(path: str, endpoint: Endpoint, scope: str | None, method: str = "GET") -> Route:
        async def answered(request: Request) -> Response:
            return await _answered(service, request, path, endpoint, scope)

        return Route(path, answered, methods=[method])

    personalizer = Personalizer(service)
    routes = [
        route("/v1/{bandit}/decide", service.decide, "decide", "POST"),
        route("/v1/{bandit}/observe", service.observe, "observe", "POST"),
        route("/v1/{bandit}/activate", service.activate, "decide", "POST"),
        route("/v1/{bandit}/decisions/{id:path}", service.decision, "read"),
        route("/v1/{bandit}/events", service.events, "read"),
        route("/v1/{bandit}", service.show, "read"),
        route("/v1", service.bandits, "read"),
        route("/personalizer/v1.0/rank", personalizer.rank, "decide", "POST"),
        route("/personalizer/v1.0/events/{id}/reward", personalizer.reward, "observe", "POST"),
        route("/personalizer/v1.0/events/{id}/activate", personalizer.activate, "decide", "POST"),
        route("/metrics", service.numbers, "read"),
        route("/health", service.health, None),
        route("/ready", service.ready, None),
        route("/docs", service.docs, None),
        route("/openapi.json", service.openapi, None),
        route("/", service.live, None),
    ]

    async def not_found(request: Request, error: Exception) -> Response:
        return problem(404, f"there is no path {request.url.path[:256]}; the page /docs lists all of them")

    async def not_allowed(request: Request, error: Exception) -> Response:
        return problem(405, f"{request.method} is not allowed at this path")

    handlers: dict[Any, Any] = {404: not_found, 405: not_allowed}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return _with_short_way(service, app)


def _with_short_way(service: Service, app: Starlette) -> Callable[..., Awaitable[None]]:
    """Let decide and observe skip the router and its layers, which cost as much as the rest of a request."""
    hot = {"decide": service.decide, "observe": service.observe}

    async def entrance(scope: Any, receive: Any, send: Any) -> None:
        parts: list[str] = []
        if scope["type"] == "http" and scope["method"] == "POST":
            parts = scope["path"].split("/")
        if len(parts) != 4 or parts[0] or parts[1] != "v1" or parts[3] not in hot:
            await app(scope, receive, send)
            return
        scope["path_params"] = {"bandit": parts[2]}
        verb = parts[3]
        response = await _answered(service, Request(scope, receive), f"/v1/{{bandit}}/{verb}", hot[verb], verb)
        await response(scope, receive, send)

    return entrance


def _own_names(configuration: Configuration, address: str) -> frozenset[str] | None:
    """The host names that requests may use; None: any, because the service listens at an address open to others."""
    settings = configuration.service
    if address not in LOCAL and not settings.names:
        return None
    return frozenset(name.lower() for name in (*LOCAL, address, settings.host, *settings.names))


def _is_foreign(request: Request) -> bool:
    """Whether a browser sends this request from a page of another site."""
    origin = request.headers.get("origin")
    return origin is not None and origin.partition("://")[2] != request.headers.get("host")


def _called(request: Request) -> str:
    """The host name of a request, without the port."""
    host = request.headers.get("host", "")
    return host.partition("]")[0].lstrip("[") if host.startswith("[") else host.rpartition(":")[0] or host


async def _answered(service: Service, request: Request, path: str, endpoint: Endpoint, scope: str | None) -> Response:
    """The answer of an endpoint, or the problem that it raises; `path` names the route in the metrics."""
    started = time.perf_counter()
    try:
        response = await _guarded(service, request, endpoint, scope)
    except Exception:  # a defect: the client gets an answer, and the log the reason
        logger.exception("a request has failed")
        response = problem(500, "the service has failed; its log says why")
    if response.status_code >= 400 and path.startswith("/personalizer/"):
        response = as_there(response)
    service.metrics.requests.labels(path, str(response.status_code)).observe(time.perf_counter() - started)
    return response


async def _guarded(service: Service, request: Request, endpoint: Endpoint, scope: str | None) -> Response:
    """Check the token, run the endpoint, and turn what it raises into problems."""
    if scope is not None:
        header = request.headers.get("authorization")
        if header is None and request.url.path.startswith("/personalizer/"):
            # Personalizer's clients send their key in this header
            header = f"Bearer {request.headers.get('ocp-apim-subscription-key', '')}"
        status = service.tokens.allowed(header, scope)
        if status != 200:
            return problem(status, f"expected a token with the scope {scope!r}")
    names = service.answers_to if scope is not None else None
    if names is not None and (name := _called(request).lower()) not in names:
        # somebody else's name may point here, and a page of theirs could then read the answers (DNS rebinding)
        return problem(403, f"the service is called {name[:64]!r} here; expected service.names to have it, or tokens")
    if request.method == "POST" and not service.tokens and _is_foreign(request):
        return problem(403, "the request comes from a page of another site; expected tokens to be set up for that")
    try:
        return await endpoint(request)
    except RefusedError as refused:
        return problem(refused.status, refused.detail, refused.field, refused.index)
    except ClientDisconnect:
        return problem(400, "the client has gone")
    except DatabaseError as error:
        return problem(503, str(error))
