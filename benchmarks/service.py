"""The service under load: durable decisions a second and their delay, beside a bare server that decides nothing.

Everything stays on the loopback of this machine; rounds and time are bounded. The load generator speaks HTTP/1.1 over
plain asyncio sockets, because it shares the machine with the service.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

K, D = 50, 20


def configuration(learner: str) -> str:
    features = ", ".join(f'x{i} = {{ kind = "number", missing = "fill" }}' for i in range(D))
    arms = ", ".join(f'"arm{i}"' for i in range(K))
    edges = ", ".join(f'["arm{i}", "arm{(i + j) % K}"]' for i in range(K) for j in (1, 2))
    return f"[bandits.load]\narms = [{arms}]\ngraph = [{edges}]\nlearner = {learner}\nfeatures = {{ {features} }}\n"


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

    def memory(self) -> float:
        """Resident memory of it and its children, in MB."""
        total = 0
        for pid in os.listdir("/proc"):
            if pid.isdigit():
                try:
                    stat = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                    if int(pid) == self.process.pid or int(stat[1]) == self.process.pid:
                        total += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
                except OSError:
                    continue
        return total * os.sysconf("SC_PAGE_SIZE") / 1e6


async def one_client(
    port: int, path: str, bodies: list[bytes], stop_at: float, delays: list[float], observe: float
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    rng = random.Random(id(reader))

    async def post(where: str, body: bytes) -> bytes:
        head = f"POST {where} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(answer.decode())
        at = answer.index(b"content-length: ") + 16
        return await reader.readexactly(int(answer[at : answer.index(b"\r", at)]))

    while (started := time.perf_counter()) < stop_at:
        answer = await post(path, rng.choice(bodies))
        delays.append(time.perf_counter() - started)
        if observe and rng.random() < observe:
            decision = json.loads(answer)
            rewards = {arm: rng.random() for arm in decision["revealed"]}
            await post("/v1/load/observe", json.dumps({"id": decision["id"], "rewards": rewards}).encode())
    writer.close()


def load(port: int, path: str, clients: int, seconds: float, observe: float = 0.0) -> dict[str, float]:
    rng = random.Random(0)
    bodies = [
        json.dumps({"context": {f"x{i}": round(rng.gauss(0, 1), 4) for i in range(D)}}).encode() for _ in range(500)
    ]

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
        "per second": len(delays) / took,
        "median ms": 1e3 * delays[len(delays) // 2],
        "p99 ms": 1e3 * delays[int(0.99 * len(delays))],
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


def measure(
    folder: Path, learner: str, extra: list[str], clients: int, seconds: float, observe: float
) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bandits.toml").write_text(configuration(learner))
    command = [sys.executable, "-m", "graphbandit", "serve", str(folder / "bandits.toml"), "--port", "0", *extra]
    server = Running(command, folder / "log.txt")
    try:
        load(server.port, "/v1/load/decide", clients, min(seconds, 2.0), 1.0)  # warm, and something to learn from
        before = server.memory()
        found: dict[str, Any] = load(server.port, "/v1/load/decide", clients, seconds, observe)
        found["MB before"], found["MB after"] = before, server.memory()
    finally:
        server.stop()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--learner", default='"AdaCBG"')
    parser.add_argument("--observe", type=float, default=0.0)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--database")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bare = Running([sys.executable, "-c", BARE], Path(name) / "bare.txt")
        reference = load(bare.port, "/v1/load/decide", arguments.clients, arguments.seconds)
        bare.stop()
        extra = ["--workers", str(arguments.workers)] if arguments.workers else []
        extra += ["--database", arguments.database] if arguments.database else []
        found = measure(
            Path(name) / "service", arguments.learner, extra, arguments.clients, arguments.seconds, arguments.observe
        )
    found["share of bare"] = found["per second"] / reference["per second"]
    print(json.dumps({"bare": reference, "service": found}, indent=1))


if __name__ == "__main__":
    main()
