"""Memory of the service over an hour of traffic: decisions at a steady rate, and the rewards of each a little later.

`python -m benchmarks.soak` runs for an hour and prints the memory of all processes as time goes on; `--write` puts the
table into docs/service.md. Somebody looks at the page all the time.
"""

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Any

from benchmarks.pages import DOCS, put
from benchmarks.service import ADACBG, Connection, Running, context, served
from graphbandit.base.printed_table import Table

OPEN = 500
"""Open decisions of a client at any time: rewards come once this many others were made after their decision."""


async def client(port: int, rate: float, until: float, made: list[int]) -> None:
    """Ask at the rate for decisions, and bring the rewards of earlier ones."""
    connection, rng = await Connection.to(port), random.Random(port)
    waiting: deque[dict[str, Any]] = deque()
    due = time.monotonic()
    while (now := time.monotonic()) < until:
        await asyncio.sleep(max(0.0, due - now))
        due = max(due, now - 1.0) + 1 / rate  # what a busy machine could not do in time is not made up for
        body = json.dumps({"context": context(rng)}).encode()
        waiting.append(json.loads(await connection.post("/v1/load/decide", body)))
        made[0] += 1
        if len(waiting) > OPEN:
            await connection.observe(waiting.popleft(), rng)
    connection.close()


async def viewer(port: int, until: float) -> None:
    """Somebody who looks at the page."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /v1/load/events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
    while time.monotonic() < until:
        await reader.read(2**20)
    writer.close()


async def traffic(running: Running, minutes: float, rate: float, clients: int, points: int) -> list[tuple[int, int]]:
    """Decisions so far and bytes in memory, at even times from the beginning to the end."""
    began, made, found = time.monotonic(), [0], [(0, running.memory())]
    until = began + 60 * minutes
    async with asyncio.TaskGroup() as group:
        group.create_task(viewer(running.port, until))
        for _ in range(clients):
            group.create_task(client(running.port, rate / clients, until, made))
        for point in range(1, points + 1):
            await asyncio.sleep(began + 60 * minutes * point / points - time.monotonic())
            found.append((made[0], running.memory()))
            print(f"{minutes * point / points:g} of {minutes:g} minutes: {made[0]:,} decisions", flush=True)
    return found


def table(found: list[tuple[int, int]], minutes: float, rate: float) -> str:
    """A row for each point in time."""
    rows = [
        [f"{minutes * point / (len(found) - 1):g}", f"{made:,}", f"{size / 2**20:,.0f} MiB"]
        for point, (made, size) in enumerate(found)
    ]
    lines = Table("", ["minutes", "decisions so far", "memory of all processes"], rows).to_markdown()
    return f"{lines}\n\n({rate:g} decisions a second, each with all its rewards; SQLite, one process.)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=300.0, help="decisions a second")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--points", type=int, default=12, help="lines of the table after the first")
    parser.add_argument("--write", action="store_true", help="put the table into docs/service.md")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="graphbandit-soak-") as name, served(Path(name), ADACBG, []) as running:
        found = asyncio.run(traffic(running, chosen.minutes, chosen.rate, chosen.clients, chosen.points))
    text = table(found, chosen.minutes, chosen.rate)
    print(text)
    if chosen.write:
        put(DOCS / "service.md", "hour", text)


if __name__ == "__main__":
    main()
