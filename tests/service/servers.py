"""A real server in a process of its own."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from typer.testing import Result

from tests.helpers.commands import invoke

ROOT = Path(__file__).parents[2]


class Server:
    """`graphbandit serve`, started and stopped at will, on the same port and log."""

    def __init__(self, folder: Path, toml: str, *options: str) -> None:
        self.folder, self.options = folder, options
        self.path = folder / "bandits.toml"
        self.path.write_text(toml)
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None
        self.errors = folder / "errors.txt"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> "Server":
        command = [sys.executable, "-m", "graphbandit", "serve", str(self.path), "--port", str(self.port)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                [*command, *self.options],
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
                start_new_session=True,
            )
        assert self.process.stdout is not None
        guard = threading.Timer(240, self.process.kill)
        guard.start()
        line = self.process.stdout.readline().decode()
        guard.cancel()
        assert "http://" in line, f"not started: {line!r} {self.errors.read_text()[-3000:]}"
        self.port = int(line.strip().rsplit(":", 1)[1])
        return self

    def stop(self, number: int = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        code = self.process.wait(60)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code

    def children(self) -> dict[str, int]:
        """The processes of a service with workers, by role."""
        assert self.process is not None
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if parent == self.process.pid and b"graphbandit.service.processes" in words:
                    role = words[words.index(b"graphbandit.service.processes") + 1].decode()
                    found[role] = int(entry.name)
        return found

    def replay(self) -> Result:
        at = self.options.index("--database") if "--database" in self.options else len(self.options)
        return invoke("service", "replay", self.path, *self.options[at : at + 2])

    def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        return httpx.post(f"{self.url}{path}", json=body, headers=headers, timeout=30, trust_env=False)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return httpx.get(f"{self.url}{path}", headers=headers, timeout=30, trust_env=False)


@contextmanager
def serving(toml: str, *options: str) -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="graphbandit-") as name:
        server = Server(Path(name), toml, *options).start()
        try:
            yield server
        finally:
            if server.process is not None and server.process.poll() is None:
                server.stop()


PERSONALIZER = """
[bandits.personalizer]
arms = "request"
capacity = 4
hashed = 16
window = 600
default_reward = 0.0
aggregation = "sum"
"""
"""A bandit as the routes of Personalizer need it; the last table, to which lines may be added."""

PRICES = """
[bandits.prices]
arms = ["7.99", "8.99", "9.99"]
graph = [["9.99", "8.99"], ["9.99", "7.99"], ["8.99", "7.99"]]
learner = { kind = "AdaCBG" }
features = { country = ["DE", "FR"], basket = "number" }
baseline = "8.99"
"""
