"""The coefficients of docs/scale.md: what a decision costs each part of the service, and what follows at more load.

`python -m benchmarks.scale` prints the tables, `--write` puts them into the page. A part's cost is the processor time
of its processes, divided by decisions: it depends little on what else the machine does, and not at all on waiting.
"""

import argparse
import contextlib
import socket
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.pages import DOCS, put
from benchmarks.postgres import Postgres
from benchmarks.service import ADACBG, Running, family, load, postgres_server, processor_seconds, served
from graphbandit.base.printed_table import Table
from graphbandit.service.rows import Kind
from graphbandit.service.store import open_store

PARTS = ("decider", "writer", "learner", "database")
CLIENTS, REVEALED = 12, 3
BASE = 500
"""Decisions a second that one process on two cores carries with ease."""
VIEWERS = 5
TURNS = 4
"""How often decisions alone and decisions with rewards take turns, so that a busy moment is not taken for a cost."""


@dataclass(frozen=True)
class Costs:
    """Seconds of processor time, and bytes of the log, on one database."""

    decision: dict[str, float]
    rewards: dict[str, float]
    decision_bytes: float
    reward_bytes: float
    viewer: float

    def both(self, part: str) -> float:
        """A decision and the request that brings its rewards."""
        return self.decision[part] + self.rewards[part]


def measured(folder: Path, seconds: float, server: Postgres | None) -> Costs:
    """Ask for decisions, then for decisions with rewards, then look at the page."""
    database = str(folder / "bandits.db") if server is None else server.database()
    with served(folder, ADACBG, ["--workers", "2", "--database", database]) as running:
        asked: list[int] = []

        def phase(length: float, observe: float) -> tuple[int, dict[str, float]]:
            """How many decisions were made, and what they have cost each part once the learner has read them."""
            before = spent(running, server)
            asked.append(load(running, CLIENTS, length, observe)["decisions"])
            wait_for_learner(running, sum(asked))
            after = spent(running, server)
            return asked[-1], {part: after[part] - before[part] for part in PARTS}

        def mean(phases: list[tuple[int, dict[str, float]]]) -> dict[str, float]:
            count = sum(made for made, _ in phases)
            return {part: sum(cost[part] for _, cost in phases) / count for part in PARTS}

        phase(3.0, 1.0)  # warm, and something to learn from
        turns = [(phase(seconds / TURNS, 0.0), phase(seconds / TURNS, 1.0)) for _ in range(TURNS)]
        decision, both = mean([alone for alone, _ in turns]), mean([rewarded for _, rewarded in turns])
        viewer = viewed(running, server)
    rewards = {part: max(0.0, both[part] - decision[part]) for part in PARTS}
    return Costs(decision, rewards, *bytes_of_rows(database), viewer)


def wait_for_learner(running: Running, decisions: int) -> None:
    """Wait until the learner has read this many decisions."""
    import httpx

    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        found = httpx.get(f"http://127.0.0.1:{running.port}/v1/load", trust_env=False).json()
        if found["decisions"] >= decisions:
            return
        time.sleep(0.1)
    raise RuntimeError("the learner is two minutes behind")


def spent(running: Running, server: Postgres | None) -> dict[str, float]:
    """Processor time of each part so far."""
    found = {**dict.fromkeys(PARTS, 0.0), **running.processor_times()}
    if server is not None:
        parent = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
        for entry in family(parent):
            with contextlib.suppress(OSError):
                found["database"] += processor_seconds(entry)
    return found


def bytes_of_rows(database: str) -> tuple[float, float]:
    """Bytes that a decision and a reward take in the log: rows of this one, written once more to a new file."""
    source = open_store(database)
    rows = source.read(0, limit=20_000)
    source.close()
    with tempfile.TemporaryDirectory(prefix="graphbandit-scale-") as name:
        path = Path(name) / "rows.db"
        store, sizes = open_store(str(path)), []
        store.migrate()
        parts = [[row for row in rows if row.kind == kind] for kind in (Kind.DECISION, Kind.REWARD)]
        for part in parts:
            before = path.stat().st_size
            with store.writing():
                store.append(part)
            store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            sizes.append((path.stat().st_size - before) / len(part))
        store.close()
    return sizes[0], sizes[1]


def viewed(running: Running, server: Postgres | None, seconds: float = 5.0) -> float:
    """Processor time a second of one who looks at the page."""

    def over(action: Callable[[], None]) -> float:
        before = sum(spent(running, server).values())
        action()
        return sum(spent(running, server).values()) - before

    def look() -> None:
        request = b"GET /v1/load/events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
        viewers = [socket.create_connection(("127.0.0.1", running.port), timeout=10) for _ in range(VIEWERS)]
        end = time.monotonic() + seconds
        for viewer in viewers:
            viewer.sendall(request)
        while time.monotonic() < end:
            for viewer in viewers:
                viewer.recv(2**20)
        for viewer in viewers:
            viewer.close()

    idle = over(lambda: time.sleep(seconds))
    return max(0.0, over(look) - idle) / seconds / VIEWERS


def coefficients(costs: dict[str, Costs]) -> str:
    """The first table, and what one core of each part carries."""
    rows: list[list[str]] = []

    def row(what: str, value: Callable[[Costs], str], grows: str) -> None:
        rows.append([what, *map(value, costs.values()), grows])

    for part, more in zip(PARTS, ("K and d", "rows", "rows", "rows"), strict=True):
        name = part if part != "database" else "the database's own processes"
        for what, of in (("a decision", "decision"), (f"a request with {REVEALED} rewards", "rewards")):
            row(f"{name}, {what}", lambda c, part=part, of=of: micro(getattr(c, of)[part]), more)  # type: ignore[misc]
    row("the page, a viewer, each second", lambda c: f"{1e3 * c.viewer:.1f} ms", "viewers")
    row("the log (in SQLite), a decision", lambda c: f"{c.decision_bytes / 1e3:.1f} kB", "K")
    row("the log (in SQLite), a reward", lambda c: f"{c.reward_bytes / 1e3:.2f} kB", "rewards")
    return Table("", ["part", *costs, "grows with"], rows).to_markdown()


def micro(seconds: float) -> str:
    """Microseconds; a dash for nothing."""
    return f"{1e6 * seconds:,.0f} us" if seconds >= 0.5e-6 else "-"


def consequences(costs: dict[str, Costs]) -> str:
    """The second table: cores of each part, and bytes a day, at 1 to 1,000 times the load."""
    name, found = next(iter(costs.items()))
    limits = ", ".join(f"{1 / found.both(part):,.0f} ({part})" for part in PARTS[:3])
    rows = []
    for times in (1, 10, 100, 1000):
        rate = BASE * times
        cores = [f"{rate * found.both(part):,.1f}" for part in PARTS[:3]]
        daily = rate * 86400 * (found.decision_bytes + REVEALED * found.reward_bytes)
        shown = f"{daily / 1e12:,.1f} TB" if daily >= 1e12 else f"{daily / 1e9:,.0f} GB"
        rows.append([f"{times:,} x", f"{rate:,}", *cores, f"{shown} a day"])
    heads = ["load", "decisions a second", "cores of deciders", "of the writer", "of the learner", "the log grows by"]
    said = f"Decisions with rewards that one core carries in a second, on {name}: {limits}. So:"
    return f"{said}\n\n{Table('', heads, rows).to_markdown()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="of load, for each of the phases")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/scale.md")
    chosen = parser.parse_args()
    costs: dict[str, Costs] = {}
    with tempfile.TemporaryDirectory(prefix="graphbandit-scale-") as name, postgres_server() as server:
        costs["SQLite"] = measured(Path(name) / "sqlite", chosen.seconds, None)
        if server is not None:
            costs["PostgreSQL"] = measured(Path(name) / "postgresql", chosen.seconds, server)
    print(coefficients(costs), consequences(costs), sep="\n\n")
    if chosen.write:
        put(DOCS / "scale.md", "coefficients", coefficients(costs))
        put(DOCS / "scale.md", "consequences", consequences(costs))


if __name__ == "__main__":
    main()
