"""How deciders reach the one writer: directly in one process, over a Unix socket from others."""

import asyncio
import contextlib
import itertools
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from graphbandit.service.protocol import Answer, Done, Operation, Refusal
from graphbandit.service.writer import Writer

AWAY = Refusal(503, "the writer is away, try again with the same key")
LARGEST_FRAME = 64 * 2**20
FAILED_FOR = 5.0
"""Seconds for which the log counts as not ready after a failed write, unless a write succeeds before."""


class LogLink(ABC):
    """Where operations are made durable."""

    _failed_at = -FAILED_FOR

    async def submit(self, request: Sequence[Operation]) -> Answer:
        """Submit a request; returns once it is durable or refused."""
        answer = await self._submitted(request)
        failed = isinstance(answer, Refusal) and answer.status == 503
        self._failed_at = time.monotonic() if failed else -FAILED_FOR
        return answer

    @abstractmethod
    async def _submitted(self, request: Sequence[Operation]) -> Answer:
        """Hand a request to the writer, and wait for its answer."""

    @property
    @abstractmethod
    def reached(self) -> bool:
        """Whether the writer can be reached."""

    @property
    def ready(self) -> bool:
        """Whether the writer can be reached, and could write what it was last asked to.

        A failure counts only for a while: otherwise a load balancer would never send a request again.
        """
        return self.reached and time.monotonic() - self._failed_at >= FAILED_FOR


class _Waker:
    """Hands things from another thread to the event loop, waking it once for many of them."""

    def __init__(self, loop: asyncio.AbstractEventLoop, take: Callable[[Any], None]) -> None:
        self._loop, self._take = loop, take
        self._things: deque[Any] = deque()
        self._woken = False

    def put(self, thing: Any) -> None:
        """Hand one over, from any thread."""
        self._things.append(thing)
        if not self._woken:
            self._woken = True
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._woken = False  # before anything is taken, so that what is put meanwhile wakes the loop again
        while self._things:
            self._take(self._things.popleft())


class LocalLink(LogLink):
    """A writer in this process. Answers of a group wake the event loop once."""

    def __init__(self, writer: Writer, loop: asyncio.AbstractEventLoop) -> None:
        self._writer, self._loop = writer, loop
        self._waker = _Waker(loop, _resolve)

    async def _submitted(self, request: Sequence[Operation]) -> Answer:
        """Hand it to the writer's thread."""
        future: asyncio.Future[Answer] = self._loop.create_future()
        self._writer.submit(request, lambda answer: self._waker.put((future, answer)))
        return await future

    @property
    def reached(self) -> bool:
        """Always: it is a thread of this process."""
        return True


def _resolve(pair: tuple[asyncio.Future[Answer], Answer]) -> None:
    future, answer = pair
    if not future.done():
        future.set_result(answer)


class _Call(msgspec.Struct, array_like=True):
    number: int
    request: list[Operation]


class _Reply(msgspec.Struct, array_like=True):
    number: int
    done: list[Done]
    refusal: Refusal | None


_encoder = msgspec.msgpack.Encoder()
_calls = msgspec.msgpack.Decoder(_Call)
_replies = msgspec.msgpack.Decoder(_Reply)


def _frame(message: Any) -> bytes:
    data = _encoder.encode(message)
    return len(data).to_bytes(4, "little") + data


async def _frames(reader: asyncio.StreamReader) -> Any:
    while True:
        size = int.from_bytes(await reader.readexactly(4), "little")
        if size > LARGEST_FRAME:
            raise ConnectionError("a frame is too large")
        yield await reader.readexactly(size)


class RemoteLink(LogLink):
    """A writer in another process. It may die and restart: open requests are then refused, and are safe to retry."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._writer: asyncio.StreamWriter | None = None

    async def run(self) -> None:
        """Keep the connection up; to be run as a task."""
        while True:
            try:
                reader, self._writer = await asyncio.open_unix_connection(self._path)
                async for data in _frames(reader):
                    reply = _replies.decode(data)
                    future = self._waiting.pop(reply.number, None)
                    if future is not None and not future.done():
                        future.set_result(reply.done if reply.refusal is None else reply.refusal)
            except (OSError, asyncio.IncompleteReadError, msgspec.DecodeError):
                pass
            finally:
                if self._writer is not None:
                    self._writer.close()
                self._writer = None
                waiting, self._waiting = self._waiting, {}
                for future in waiting.values():
                    if not future.done():
                        future.set_result(AWAY)
            await asyncio.sleep(0.05)

    async def _submitted(self, request: Sequence[Operation]) -> Answer:
        """Send it, and wait for the answer."""
        if self._writer is None:
            return AWAY
        number = next(self._numbers)
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            self._writer.write(_frame(_Call(number, list(request))))
        except (RuntimeError, OSError):  # the writer has died, and this end of the connection has not noticed yet
            del self._waiting[number]
            return AWAY
        return await future

    @property
    def reached(self) -> bool:
        """Whether the connection is up."""
        return self._writer is not None


async def serve_link(path: str, writer: Writer) -> asyncio.AbstractServer:
    """Take requests of deciders in other processes; only this user can connect."""
    loop = asyncio.get_running_loop()

    def send(item: tuple[asyncio.StreamWriter, int, Answer]) -> None:
        stream, number, answer = item
        if not stream.is_closing():
            refusal = answer if isinstance(answer, Refusal) else None
            stream.write(_frame(_Reply(number, [] if isinstance(answer, Refusal) else answer, refusal)))

    waker = _Waker(loop, send)

    async def connected(reader: asyncio.StreamReader, stream: asyncio.StreamWriter) -> None:
        def take(call: _Call) -> None:
            writer.submit(call.request, lambda answer: waker.put((stream, call.number, answer)))

        with contextlib.suppress(asyncio.IncompleteReadError, OSError, msgspec.DecodeError):
            async for data in _frames(reader):
                take(_calls.decode(data))
        stream.close()

    return await asyncio.start_unix_server(connected, path)
