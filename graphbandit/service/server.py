"""One decider: the HTTP server, and the tasks that keep its snapshots fresh."""

import asyncio
import contextlib
import errno
import ipaddress
import logging
import socket
import time
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from graphbandit.errors import DatabaseError
from graphbandit.service.application import Service, application
from graphbandit.service.json_logging import say

REFRESH = 0.1
"""Seconds between looks for a new snapshot."""
LARGEST_HEADERS = 65536
"""The most bytes of headers, apart from those in the first packet that the network delivers."""


def listening(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            raise DatabaseError(f"port {port} is in use; choose another with --port") from None
        reason = f"this machine cannot listen on {host}:{port}: {error.strerror or error}"
        raise DatabaseError(f"{reason}; choose others with --host and --port") from error
    bound.listen(2048)
    bound.set_inheritable(True)
    return bound


def address(bound: socket.socket) -> str:
    """The address of a listening socket, as a URL."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _is_local(bound: socket.socket) -> bool:
    """Whether only this machine can reach the socket."""
    return ipaddress.ip_address(bound.getsockname()[0]).is_loopback


def _patient(seconds: float) -> type[HttpToolsProtocol]:
    """A protocol that hangs up on clients whose headers do not arrive in time, or do not end."""

    class Patient(HttpToolsProtocol):
        _timer: asyncio.TimerHandle | None = None
        _received = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._timer = self.loop.call_later(seconds, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._received = 0 if self._timer is None else self._received + len(data)
            if self._received > LARGEST_HEADERS:
                self.transport.close()

        def on_message_begin(self) -> None:
            super().on_message_begin()
            if self._timer is None:
                self._timer = self.loop.call_later(seconds, self.transport.close)

        def on_headers_complete(self) -> None:
            self._stop_timer()
            super().on_headers_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return Patient


async def serve(service: Service, bound: socket.socket, *, started: Callable[[], None]) -> None:
    """Answer requests until SIGTERM or SIGINT, then finish those that are under way."""
    settings = uvicorn.Config(
        application(service),
        loop="uvloop",
        http=_patient(service.limits.seconds),
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=False,
        limit_concurrency=service.limits.connections,
        proxy_headers=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=10,
    )
    if not service.tokens and not _is_local(bound):
        say("anyone who reaches this address may do everything: there are no tokens", level=logging.WARNING)
    server = uvicorn.Server(settings)
    refreshing = asyncio.create_task(_refresh(service))
    watching = asyncio.create_task(_watch(server, service, started))
    try:
        await server.serve(sockets=[bound])
    finally:
        service.stopping.set()
        for task in (refreshing, watching):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def _watch(server: uvicorn.Server, service: Service, started: Callable[[], None]) -> None:
    """Call `started` when the server is up; end the streams when it is about to stop."""
    while not server.started:
        await asyncio.sleep(0.01)
    started()
    while not server.should_exit:
        await asyncio.sleep(0.1)
    service.stopping.set()


async def _refresh(service: Service) -> None:
    """Load new snapshots while the server runs: when the learner says so, and every `REFRESH` seconds."""
    failed, reader, metrics = False, service.reader, service.metrics
    while True:
        began = time.monotonic()
        try:
            for name in await reader.run(reader.refresh):
                metrics.snapshots.labels(name).inc()
            failed = False
        except DatabaseError as error:
            if not failed:
                say("the log cannot be read", level=logging.WARNING, error=str(error))
            failed = True
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(service.fresh.wait(), max(0.001, REFRESH - (time.monotonic() - began)))
        service.fresh.clear()
