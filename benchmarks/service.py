"""The service under load: durable decisions a second and their delay, beside a bare server that decides nothing.

Everything stays on the loopback of this machine; rounds and time are bounded. The load generator speaks HTTP/1.1 over
plain asyncio sockets, because it shares the machine with the service.
"""

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.postgres import BINARIES, Postgres, temporary_postgres, unprivileged
from benchmarks.settings import Settings
from benchmarks.timing import Progress

K, D = 50, 20
CHILD = b"graphbandit.service.processes"
ADACBG, IDSG = '"AdaCBG"', '"IDSG"'


def configuration(learner: str) -> str:
    features = ", ".join(f'x{i} = {{ kind = "number", missing = "fill" }}' for i in range(D))
    arms = ", ".join(f'"arm{i}"' for i in range(K))
    edges = ", ".join(f'["arm{i}", "arm{(i + j) % K}"]' for i in range(K) for j in (1, 2))
    return f"[bandits.load]\narms = [{arms}]\ngraph = [{edges}]\nlearner = {learner}\nfeatures = {{ {features} }}\n"


def processor_seconds(process: Path) -> float:
    """Seconds of processor time of a process, by its folder in /proc."""
    fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def family(process: int) -> list[Path]:
    """The folders in /proc of a process and of its children."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if process in (int(entry.name), parent):
                found.append(entry)
    return found


class Running:
    """A server in a process of its own, and the address it has printed."""

    def __init__(self, command: list[str], log: Path) -> None:
        self._log = log.open("wb")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._log, start_new_session=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode()
        if "http://" not in line:
            raise RuntimeError(f"the server did not start: {line} {log.read_text()}")
        self.port = int(line.strip().rsplit(":", 1)[1])

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self._log.close()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def memory(self) -> int:
        """Resident bytes of it and its children."""
        pages = 0
        for entry in family(self.process.pid):
            with contextlib.suppress(OSError):
                pages += int((entry / "statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def processor_time(self) -> float:
        """Seconds of processor time that it and its children have taken."""
        return sum(self.processor_times().values())

    def processor_times(self) -> dict[str, float]:
        """The same by part: decider, writer, learner, and what looks after them, or all in one process."""
        found: dict[str, float] = {}
        for entry in family(self.process.pid):
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                at = words.index(CHILD) + 1 if CHILD in words else None
                part = "parent" if at is None else words[at].decode().partition("-")[0]
                found[part] = found.get(part, 0.0) + processor_seconds(entry)
        return found


class Connection:
    """One connection to the service, over plain asyncio sockets."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def to(cls, port: int) -> "Connection":
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def post(self, where: str, body: bytes) -> bytes:
        """The body of the answer; anything but 200 is an error."""
        head = f"POST {where} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n\r\n"
        self.writer.write(head.encode() + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(answer.decode())
        at = answer.index(b"content-length: ") + 16
        return await self.reader.readexactly(int(answer[at : answer.index(b"\r", at)]))

    async def observe(self, decision: dict[str, Any], rng: random.Random) -> None:
        """Random rewards of all arms that the decision revealed."""
        rewards = {arm: rng.random() for arm in decision["revealed"]}
        await self.post("/v1/load/observe", json.dumps({"id": decision["id"], "rewards": rewards}).encode())

    def close(self) -> None:
        self.writer.close()


async def one_client(
    port: int, path: str, bodies: list[bytes], stop_at: float, delays: list[float], observe: float
) -> None:
    connection = await Connection.to(port)
    rng = random.Random(id(connection))
    while (started := time.perf_counter()) < stop_at:
        answer = await connection.post(path, rng.choice(bodies))
        delays.append(time.perf_counter() - started)
        if observe and rng.random() < observe:
            await connection.observe(json.loads(answer), rng)
    connection.close()


def context(rng: random.Random) -> dict[str, float]:
    return {f"x{i}": round(rng.gauss(0, 1), 4) for i in range(D)}


def load(running: "Running", clients: int, seconds: float, observe: float = 0.0) -> dict[str, Any]:
    """Ask for decisions for some seconds; how many were answered, how fast, at what cost."""
    rng, path, port = random.Random(0), "/v1/load/decide", running.port
    bodies = [json.dumps({"context": context(rng)}).encode() for _ in range(500)]
    spent = running.processor_time()

    async def main() -> tuple[list[float], float]:
        delays: list[float] = []
        began = time.perf_counter()
        await asyncio.gather(
            *(one_client(port, path, bodies, began + seconds, delays, observe) for _ in range(clients))
        )
        return delays, time.perf_counter() - began

    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        delays, took = runner.run(main())
    delays.sort()
    return {
        "clients": clients,
        "decisions": len(delays),
        "per_second": len(delays) / took,
        "median": delays[len(delays) // 2],
        "p99": delays[int(0.99 * len(delays))],
        "cpu": (running.processor_time() - spent) / len(delays),
    }


BARE = """
import sys, asyncio, socket, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
import msgspec
answer = {"id": "0" * 32, "arm": "arm7", "probability": 0.5, "revealed": ["arm7", "arm8", "arm9"], "snapshot": "0" * 64}
async def decide(request):
    msgspec.json.decode(await request.body())
    return Response(msgspec.json.encode(answer), media_type="application/json")
bound = socket.socket(); bound.bind(("127.0.0.1", 0)); bound.listen(1024)
print(f"http://127.0.0.1:{bound.getsockname()[1]}", flush=True)
app = Starlette(routes=[Route("/v1/load/decide", decide, methods=["POST"])])
settings = uvicorn.Config(app, log_level="error", access_log=False, server_header=False, date_header=False)
uvicorn.Server(settings).run(sockets=[bound])
"""


def run(settings: Settings, progress: Progress) -> list[dict[str, Any]]:
    """Rows of kind "load" and "memory"."""
    clients, length = settings.service_clients, settings.service_seconds
    fewer = [n for n in (clients // 3, 2 * clients // 3) if n > 1]  # less load, shorter delays
    cases: list[tuple[str, str, list[str], float]] = [
        ("SQLite, AdaCB.G", ADACBG, [], 0.0),
        ("SQLite, AdaCB.G, with rewards", ADACBG, [], 1.0),
        ("SQLite, IDS.G", IDSG, [], 0.0),
        *((f"SQLite, AdaCB.G, {n} deciders", ADACBG, ["--workers", str(n)], 0.0) for n in settings.service_workers),
    ]
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="graphbandit-bench-") as name, postgres_server() as server:
        folder = Path(name)
        if server is not None:
            cases.append(("PostgreSQL, AdaCB.G", ADACBG, ["--database", server.database()], 0.0))
            for n in settings.service_workers:
                options = ["--workers", str(n), "--database", server.database()]
                cases.append((f"PostgreSQL, AdaCB.G, {n} deciders", ADACBG, options, 0.0))
        bare = Running([sys.executable, "-c", BARE], folder / "bare.txt")
        reference = load(bare, clients, length)
        bare.stop()
        rows.append({"kind": "load", "what": "bare server that decides nothing", "share": 1.0, **reference})
        for i, (what, learner, options, observe) in enumerate(cases):
            progress(what, i, len(cases) + 1)
            with served(folder / str(i), learner, options) as running:
                load(running, clients, min(length, 2.0), observe=1.0)  # warm, and something to learn from
                for n in (*(fewer if i == 0 else ()), clients):
                    found = load(running, n, length, observe=observe)
                    share = found["per_second"] / reference["per_second"]
                    rows.append({"kind": "load", "what": what, "share": share, **found})
        progress("memory", len(cases), len(cases) + 1)
        for what, count, observe in (
            (f"{settings.service_traffic:,} decisions with rewards", settings.service_traffic, 1.0),
            (f"{settings.service_open:,} decisions that stay open", settings.service_open, 0.0),
        ):
            if count:
                with served(folder / what.replace(",", "").replace(" ", "-"), ADACBG, []) as running:
                    load(running, clients, 2.0, observe=1.0)
                    before = running.memory()
                    done = fill(running, count, observe)
                    rows.append(
                        {"kind": "memory", "what": what, "before": before, "after": running.memory(), "rows": done}
                    )
    return rows


@contextmanager
def postgres_server() -> Iterator[Postgres | None]:
    """A PostgreSQL server, where one is installed."""
    if BINARIES is None or (os.getuid() == 0 and unprivileged() is None):
        yield None
        return
    with temporary_postgres() as server:
        yield server


@contextmanager
def served(folder: Path, learner: str, options: list[str]) -> Iterator[Running]:
    """The service in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bandits.toml").write_text(configuration(learner))
    command = [sys.executable, "-m", "graphbandit", "serve", str(folder / "bandits.toml"), "--port", "0", *options]
    running = Running(command, folder / "log.txt")
    try:
        yield running
    finally:
        running.stop()


def fill(running: Running, count: int, observe: float) -> int:
    """So many decisions, and as many sets of rewards if asked for, in batches; rows that the log has by them."""
    import httpx

    rng, rows = random.Random(1), 0
    with httpx.Client(base_url=f"http://127.0.0.1:{running.port}", timeout=60, trust_env=False) as client:
        for start in range(0, count, 500):
            batch = [{"context": context(rng)} for _ in range(min(500, count - start))]
            made = client.post("/v1/load/decide", json=batch).raise_for_status().json()
            rows += len(made)
            if observe:
                rewards = [{"id": d["id"], "rewards": dict.fromkeys(d["revealed"], rng.random())} for d in made]
                client.post("/v1/load/observe", json=rewards).raise_for_status()
                rows += sum(len(one["rewards"]) for one in rewards)
    return rows
