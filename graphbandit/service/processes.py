"""`graphbandit serve`: everything in one process, or deciders, a writer and a learner, each in its own.

With several processes a parent supervises them: it restarts any that dies, and all end when the parent does.
"""

import asyncio
import contextlib
import gc
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from graphbandit.base.parallel_tasks import one_thread_of_algebra
from graphbandit.errors import ConfigurationError, DatabaseError
from graphbandit.service import configuration as settings
from graphbandit.service import json_logging, learn_all
from graphbandit.service.application import Service
from graphbandit.service.configuration import FIXED, BanditSettings, Configuration
from graphbandit.service.core import Core
from graphbandit.service.json_logging import say
from graphbandit.service.link import LocalLink, LogLink, RemoteLink, serve_link
from graphbandit.service.messages import DecideRequest
from graphbandit.service.metrics import FOLDER, Metrics
from graphbandit.service.reader import Reader, example_request
from graphbandit.service.request_decider import RequestDecider
from graphbandit.service.server import address, serve
from graphbandit.service.store import VERSION, Store, open_store
from graphbandit.service.tokens import Tokens
from graphbandit.service.writer import Writer, configure


def prepare(found: Configuration, url: str) -> Store:
    """Open the log, bring its schema up to date, and log the configuration; refuse one that does not fit the log."""
    Tokens(found.tokens)
    for name, bandit in found.bandits.items():
        Core(name, bandit)
    store = open_store(url)
    before = store.migrate()
    if 0 < before < VERSION:
        say("the schema of the log was brought up to date", before=before, now=VERSION)
    check_fits(store, found.bandits)
    configure(store, {name: msgspec.json.encode(bandit) for name, bandit in found.bandits.items()})
    return store


def check_fits(store: Store, bandits: dict[str, BanditSettings]) -> None:
    """Raise ConfigurationError unless all bandits fit the log they have."""
    for name, bandit in bandits.items():
        logged = store.configuration(name)
        if logged is not None and logged.body is not None:
            check_change(name, msgspec.json.decode(logged.body, type=BanditSettings), bandit)


def check_change(name: str, before: BanditSettings, after: BanditSettings) -> None:
    """Raise ConfigurationError if a bandit would no longer fit the log it has."""

    def refuse(field: str, message: str) -> ConfigurationError:
        return ConfigurationError(
            f"bandits.{name}.{field}",
            f"{message}, but the bandit has a log already: give it a new name to start afresh",
        )

    for field in FIXED:
        if getattr(before, field) != getattr(after, field) and not (
            field == "capacity" and before.slots == after.slots
        ):
            raise refuse(field, f"was {getattr(before, field)!r} and is {getattr(after, field)!r}")
    gone = [arm for arm in before.names if arm not in after.names]
    if gone:
        raise refuse("arms", f"lack {gone[0]!r}, which was one (keep it there, and name it in retired)")
    if before.names != after.names[: len(before.names)]:
        raise refuse("arms", "are in another order (add new ones at the end)")
    if before.slots != after.slots:
        raise refuse("arms", f"need {after.slots} places and had {before.slots} (capacity leaves room for more)")
    if (before.default_reward is None) != (after.default_reward is None) or before.aggregation != after.aggregation:
        raise refuse("default_reward", "came or went, or its aggregation changed")


# everything in one process


def run_single(found: Configuration, url: str, bound: socket.socket, ready: Callable[[str], None]) -> None:
    """Decider, writer and learner in this process, until SIGTERM or SIGINT."""
    store = prepare(found, url)
    _no_default_signals()
    metrics = Metrics()
    stop, news = threading.Event(), threading.Event()
    writer = Writer(store, found.bandits, metrics, on_group=news.set)
    writer.start()
    with _runner() as runner:
        loop, fresh = runner.get_loop(), asyncio.Event()

        def published() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(fresh.set)

        arguments = (store.clone(), found.bandits, stop, news, published)
        learner = threading.Thread(target=learn_all.run, args=arguments, name="learner", daemon=True)
        learner.start()

        try:
            runner.run(_decide(found, store.clone(), LocalLink(writer, loop), metrics, bound, ready, fresh))
        finally:
            writer.stop()
            stop.set()
            news.set()
            learner.join(10.0)
            say("stopped")


async def _decide(
    found: Configuration,
    store: Store,
    log: LogLink,
    metrics: Metrics,
    bound: socket.socket,
    ready: Callable[[str], None],
    fresh: asyncio.Event,
) -> None:
    """Answer requests until the end; `fresh` says that there is a new snapshot."""
    decider = RequestDecider(found.bandits)
    reader = Reader(store, decider, found.bandits)
    with contextlib.suppress(DatabaseError):
        await reader.run(reader.refresh)
    await asyncio.to_thread(_warm_up, decider)
    _settle()
    service = Service(found, decider, log, reader, metrics, bound.getsockname()[0], fresh)
    try:
        await serve(service, bound, started=lambda: ready(address(bound)))
    finally:
        await asyncio.to_thread(reader.close)


def _warm_up(decider: RequestDecider) -> None:
    """Decide once for each bandit, so that kernels are compiled before the first request."""
    for name, core in decider.cores.items():
        message = msgspec.json.decode(msgspec.json.encode(example_request(core.settings)), type=DecideRequest)
        decider.decide(name, [decider.prepare(name, message)])


def _settle() -> None:
    """Exclude everything loaded so far from garbage collections, and keep linear algebra to one thread.

    Collecting all objects would stop the answers for tens of milliseconds. A second thread of algebra gains nothing at
    the size of a batch, and spins on a core that the other processes need.
    """
    one_thread_of_algebra()
    gc.collect()
    gc.freeze()


def _runner() -> asyncio.Runner:
    import uvloop

    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


def _no_default_signals() -> None:
    """Ignore signals outside the server, which raises them again once it has stopped: the process must not end then."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)


# several processes


def run_supervised(
    path: Path, found: Configuration, url: str, bound: socket.socket, workers: int, ready: Callable[[str], None]
) -> None:
    """Start a writer, a learner and the deciders, restart any that dies, and end all of them at a signal."""
    prepare(found, url).close()
    folder = Path(tempfile.mkdtemp(prefix="graphbandit-"))
    (folder / "metrics").mkdir()
    alive, parent = os.pipe()  # the write end closes with this process, however it ends
    os.set_inheritable(alive, True)
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())

    def start(role: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "graphbandit.service.processes", role, str(path), url, str(folder)]
        command += [str(bound.fileno()), str(alive)]
        environment = {**os.environ, FOLDER: str(folder / "metrics")}
        return subprocess.Popen(command, pass_fds=(bound.fileno(), alive), env=environment, start_new_session=True)

    roles = ["writer", "learner", *(f"decider-{i}" for i in range(workers))]
    children = {role: start(role) for role in roles}
    began = dict.fromkeys(roles, time.monotonic())
    said = False
    try:
        while not stopping.wait(0.05):
            if not said and all((folder / f"{role}.ready").exists() for role in roles):
                said = True
                ready(address(bound))
            for role, child in children.items():
                code = child.poll()
                if code is not None and time.monotonic() - began[role] > 0.5:
                    say("a process has ended and is started again", level=logging.WARNING, role=role, code=code)
                    children[role], began[role] = start(role), time.monotonic()
    finally:
        for part in (roles[2:], ["learner"], ["writer"]):  # the writer last: it writes what deciders have taken
            _end([children[role] for role in part])
        os.close(parent)
        shutil.rmtree(folder, ignore_errors=True)
        say("stopped")


def _end(children: list[subprocess.Popen[bytes]]) -> None:
    """Stop processes, by force if they take too long."""
    for child in children:
        child.terminate()
    deadline = time.monotonic() + 15.0
    for child in children:
        try:
            child.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def child(role: str, path: str, url: str, folder: str, bound: int, alive: int) -> None:
    """Run one of several processes."""
    json_logging.start()
    threading.Thread(target=_end_with_parent, args=(alive,), daemon=True).start()
    found = settings.read(path)
    _no_default_signals()
    place = Path(folder)

    def ready(_: str = "") -> None:
        (place / f"{role}.ready").touch()

    if role == "writer":
        with _runner() as runner:
            runner.run(_write(found, url, place, ready))
    elif role == "learner":
        stop = threading.Event()
        signal.signal(signal.SIGTERM, lambda *_: stop.set())
        ready()
        one_thread_of_algebra()
        learn_all.run(open_store(url), found.bandits, stop, threading.Event())
    else:
        listener = socket.socket(fileno=bound)
        with _runner() as runner:
            runner.run(_remote_decide(found, url, place, listener, ready))


async def _write(found: Configuration, url: str, folder: Path, ready: Callable[[], None]) -> None:
    store, metrics = open_store(url), Metrics()
    while True:
        try:
            writer = Writer(store, found.bandits, metrics)
            await asyncio.to_thread(writer.start)
            break
        except DatabaseError as error:
            say("the log cannot be opened, and is tried again", level=logging.WARNING, error=str(error))
            await asyncio.sleep(0.5)
    path = folder / "link"
    path.unlink(missing_ok=True)
    server = await serve_link(str(path), writer)
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    ready()
    await stopped.wait()
    await asyncio.to_thread(writer.stop)
    await asyncio.sleep(0.05)  # the last answers are on their way
    server.close()
    store.close()


async def _remote_decide(
    found: Configuration, url: str, folder: Path, listener: socket.socket, ready: Callable[[str], None]
) -> None:
    log = RemoteLink(str(folder / "link"))
    connecting = asyncio.create_task(log.run())
    await _decide(found, open_store(url), log, Metrics(), listener, ready, asyncio.Event())
    connecting.cancel()


def _end_with_parent(alive: int) -> None:
    """Wait until the parent is gone, then end at once: it may have been killed."""
    with contextlib.suppress(OSError):
        os.read(alive, 1)
    os._exit(1)


if __name__ == "__main__":
    child(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]), int(sys.argv[6]))
