"""Where the log lives: one interface over SQL, with SQLite and PostgreSQL behind it.

Tables: `log` (see `rows`), `snapshots` (immutable, by hash), `leases` (who learns), `statistics` (what the page shows),
`schema_version`.
"""

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from graphbandit.errors import DatabaseError
from graphbandit.service.rows import Kind, Row

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE log (
            position BIGINT PRIMARY KEY, bandit TEXT NOT NULL, kind INTEGER NOT NULL, key TEXT NOT NULL,
            arm TEXT NOT NULL, part INTEGER NOT NULL, reward DOUBLE PRECISION, time DOUBLE PRECISION NOT NULL,
            body {bytes})""",
        "CREATE UNIQUE INDEX log_keys ON log (bandit, key, kind, arm, part)",
        """CREATE TABLE snapshots (
            hash TEXT PRIMARY KEY, bandit TEXT NOT NULL, position BIGINT NOT NULL, learnt BIGINT NOT NULL,
            rounds BIGINT NOT NULL, time DOUBLE PRECISION NOT NULL, facts TEXT NOT NULL, data {bytes})""",
        "CREATE INDEX snapshots_of ON snapshots (bandit, position)",
        "CREATE TABLE leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, until DOUBLE PRECISION NOT NULL)",
        "CREATE TABLE statistics (bandit TEXT PRIMARY KEY, position BIGINT NOT NULL, body {bytes} NOT NULL)",
    ),
    tuple(
        f"CREATE INDEX log_{kind.name.lower()} ON log (bandit, position) WHERE kind = {int(kind)}"
        for kind in (Kind.CONFIGURATION, Kind.DECISION, Kind.ACTIVATION)  # queries ask for their newest rows
    ),
)
"""The statements that bring a database from version i to version i + 1."""

VERSION = len(MIGRATIONS)
COLUMNS = "position, bandit, kind, key, arm, part, reward, time, body"
LEARNER = "learner"
"""The name of the one lease there is."""
LOOKUP = 300
"""Keys that one query asks for."""


class SnapshotRow(NamedTuple):
    """A snapshot's place in the log; `data` is None if it was not asked for or has been compacted away."""

    hash: str
    bandit: str
    position: int
    learnt: int
    rounds: int
    time: float
    facts: str
    data: bytes | None


class Store(ABC):
    """A connection to the log. Not to be shared between threads: `clone` makes another one.

    - `bytes_type`: what the database calls a column of bytes.
    - `find_schema`: a query that has a row if there is a table `schema_version`.
    """

    bytes_type: str
    find_schema: str

    def __init__(self, url: str) -> None:
        self.url = url

    def clone(self) -> "Store":
        """Another connection to the same database."""
        return type(self)(self.url)

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    @abstractmethod
    def writing(self) -> contextlib.AbstractContextManager[None]:
        """One transaction, durable when the block has ended, with no other writer meanwhile; undone by an exception."""

    @abstractmethod
    def relax(self) -> None:
        """Let what this connection commits be flushed to disk with the next commit of another one.

        This is for snapshots and figures, which can be made again from the log. A decision that names a snapshot is
        committed after it, and flushing the decision flushes the snapshot.
        """

    @abstractmethod
    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement with `?` for each value; DatabaseError if the database cannot."""

    @abstractmethod
    def execute_many(self, sql: str, values: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""

    def now(self) -> float:
        """The time by which leases run: this machine's clock."""
        return time.time()

    def vacuum(self) -> None:
        """Give the space of deleted rows back."""
        self.execute("VACUUM")

    def migrate(self) -> int:
        """Bring the schema up to date; returns the version it had. DatabaseError if it is newer than this package."""
        with self.writing():
            found = self.version()
            if found > VERSION:
                raise DatabaseError(
                    f"{self.url} has schema version {found}; expected at most {VERSION}: a newer graphbandit"
                )
            if found == 0:
                self.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")
            for step in MIGRATIONS[found:]:
                for statement in step:
                    self.execute(statement.replace("{bytes}", self.bytes_type))
            if found < VERSION:
                self.execute("DELETE FROM schema_version")
                self.execute("INSERT INTO schema_version VALUES (?)", (VERSION,))
        return found

    def version(self) -> int:
        """The schema's version; 0 for an empty database."""
        rows = self.execute("SELECT version FROM schema_version") if self.execute(self.find_schema) else []
        return int(rows[0][0]) if rows else 0

    # the log

    def last(self) -> tuple[int, float]:
        """The position and time of the last row; (0, 0.0) for an empty log."""
        rows = self.execute("SELECT position, time FROM log ORDER BY position DESC LIMIT 1")
        return (int(rows[0][0]), float(rows[0][1])) if rows else (0, 0.0)

    def append(self, rows: Sequence[Row]) -> None:
        """Add rows at the end; inside `writing`."""
        self.execute_many(f"INSERT INTO log ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def find(self, pairs: Iterable[tuple[str, str]]) -> list[Row]:
        """All rows about these (bandit, key), by position."""
        by_bandit: dict[str, list[str]] = {}
        for bandit, key in pairs:
            by_bandit.setdefault(bandit, []).append(key)
        found: list[Row] = []
        for bandit, keys in by_bandit.items():
            for start in range(0, len(keys), LOOKUP):
                part = keys[start : start + LOOKUP]
                marks = ", ".join("?" * len(part))
                sql = f"SELECT {COLUMNS} FROM log WHERE bandit = ? AND key IN ({marks})"
                found += self._rows(sql, (bandit, *part))
        return sorted(found)

    def read(self, after: int, *, limit: int, bandit: str | None = None, until: int | None = None) -> list[Row]:
        """Rows after a position, in order; of one bandit, ticks included, or of all."""
        conditions: list[str] = ["position > ?"]
        values: list[int | str] = [after]
        if bandit is not None:
            # an expression, so that the database does not use the index of keys, which would read all rows in each call
            conditions.append("bandit || '' IN (?, '')")
            values.append(bandit)
        if until is not None:
            conditions.append("position <= ?")
            values.append(until)
        where = " AND ".join(conditions)
        return self._rows(f"SELECT {COLUMNS} FROM log WHERE {where} ORDER BY position LIMIT {int(limit)}", values)

    def position_at(self, time: float) -> int:
        """The last position whose row has at most this time; 0 if there is none. Times grow with positions."""
        first = self.execute("SELECT MIN(position), MAX(position) FROM log")[0]
        if first[0] is None:
            return 0
        low, high = int(first[0]) - 1, int(first[1])
        while low < high:
            middle = (low + high + 1) // 2
            sql = "SELECT time FROM log WHERE position >= ? ORDER BY position LIMIT 1"
            if float(self.execute(sql, (middle,))[0][0]) <= time:
                low = middle
            else:
                high = middle - 1
        return low

    def configuration(self, bandit: str, at: int | None = None) -> Row | None:
        """The newest configuration of a bandit, up to a position if one is given."""
        rows = self.newest(bandit, Kind.CONFIGURATION, 1, until=at)
        return rows[0] if rows else None

    def newest(self, bandit: str, kind: Kind, limit: int, *, until: int | None = None) -> list[Row]:
        """The newest rows of a kind, newest first; up to a position if one is given."""
        # the kind is written out, so that the database can use the index of this kind
        where = f"bandit = ? AND kind = {int(kind)} AND position <= ?"
        sql = f"SELECT {COLUMNS} FROM log WHERE {where} ORDER BY position DESC LIMIT {int(limit)}"
        return self._rows(sql, (bandit, 2**62 if until is None else until))

    def _rows(self, sql: str, values: Sequence[Any]) -> list[Row]:
        return [Row(*row) for row in self.execute(sql, values)]

    # snapshots

    def publish(self, snapshot: SnapshotRow) -> None:
        """Add a snapshot; one that is there already gets its content anew. Inside `writing`."""
        columns = "hash, bandit, position, learnt, rounds, time, facts, data"
        sql = f"""INSERT INTO snapshots ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (hash) DO UPDATE SET data = excluded.data"""
        self.execute(sql, snapshot)

    def empty_snapshot(self, hash_: str) -> None:
        """Delete the content of a snapshot but keep its name. Inside `writing`."""
        self.execute("UPDATE snapshots SET data = NULL WHERE hash = ?", (hash_,))

    def newest_hash(self, bandit: str) -> str | None:
        """The name of the newest snapshot."""
        rows = self.snapshots(bandit, newest=1)
        return rows[0].hash if rows else None

    def snapshot(self, hash_: str) -> SnapshotRow | None:
        """The snapshot of this name, with its data."""
        found = self._snapshots("hash = ?", (hash_,), "data")
        return found[0] if found else None

    def snapshots(self, bandit: str, *, newest: int | None = None) -> list[SnapshotRow]:
        """A bandit's snapshots by position, without their data; the `newest` of them if asked for."""
        if newest is None:
            return self._snapshots("bandit = ? ORDER BY position, rounds", (bandit,), "NULL")
        order = f"bandit = ? ORDER BY position DESC, rounds DESC LIMIT {int(newest)}"
        return self._snapshots(order, (bandit,), "NULL")[::-1]

    def _snapshots(self, where: str, values: Sequence[Any], data: str) -> list[SnapshotRow]:
        sql = f"SELECT hash, bandit, position, learnt, rounds, time, facts, {data} FROM snapshots WHERE {where}"
        return [SnapshotRow(*row) for row in self.execute(sql, values)]

    # the learner's lease, and what it says to the page

    def take_lease(self, owner: str, length: float) -> bool:
        """Take or renew the learner's lease; False if somebody else has it. Inside `writing`."""
        now = self.now()
        rows = self.execute("SELECT owner, until FROM leases WHERE name = ?", (LEARNER,))
        if rows and rows[0][0] != owner and now < float(rows[0][1]) <= now + 10 * length:
            return False
        self.execute("DELETE FROM leases WHERE name = ?", (LEARNER,))
        self.execute("INSERT INTO leases VALUES (?, ?, ?)", (LEARNER, owner, now + length))
        return True

    def give_lease(self, owner: str) -> None:
        """Give the learner's lease back, if it is held. Inside `writing`."""
        self.execute("DELETE FROM leases WHERE name = ? AND owner = ?", (LEARNER, owner))

    def has_lease(self) -> bool:
        """Whether anybody has the learner's lease."""
        rows = self.execute("SELECT until FROM leases WHERE name = ?", (LEARNER,))
        return bool(rows) and self.now() < float(rows[0][0])

    def put_statistics(self, bandit: str, position: int, body: bytes) -> None:
        """Save the statistics up to a position. Inside `writing`."""
        sql = """INSERT INTO statistics VALUES (?, ?, ?)
            ON CONFLICT (bandit) DO UPDATE SET position = excluded.position, body = excluded.body"""
        self.execute(sql, (bandit, position, body))

    def statistics(self, bandit: str) -> tuple[int, bytes] | None:
        """The newest statistics and their position."""
        rows = self.execute("SELECT position, body FROM statistics WHERE bandit = ?", (bandit,))
        return (int(rows[0][0]), bytes(rows[0][1])) if rows else None


def open_store(url: str) -> Store:
    """The store behind a path of a SQLite file or a postgresql:// address; missing tables are not made yet."""
    if url.startswith(("postgresql://", "postgres://")):
        from graphbandit.service.postgres_store import PostgresStore

        return PostgresStore(url)
    from graphbandit.service.sqlite_store import SqliteStore

    return SqliteStore(url)
