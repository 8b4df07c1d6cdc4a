"""The log in a SQLite file: write-ahead log, every commit flushed to disk."""

import contextlib
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from graphbandit.errors import DatabaseError
from graphbandit.service.store import Store

PATIENCE = 30.0
"""Seconds to wait for another writer."""


class SqliteStore(Store):
    """One connection; `writing` takes the file's write lock at once."""

    bytes_type = "BLOB"
    find_schema = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'"

    def __init__(self, url: str) -> None:
        super().__init__(url)
        try:
            self._connection = sqlite3.connect(
                Path(url).absolute(), isolation_level=None, timeout=PATIENCE, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")
            # smaller logs are copied back in shorter pauses
            self._connection.execute("PRAGMA wal_autocheckpoint=2000")
            self._connection.execute("PRAGMA cache_size=-65536")
        except sqlite3.Error as error:
            raise DatabaseError(f"{url} cannot be opened: {error}") from error

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def relax(self) -> None:
        """Commits no longer flush the write-ahead log."""
        self.execute("PRAGMA synchronous=NORMAL")

    def _begin(self) -> None:
        """Take the write lock. SQLite itself would retry after 1, 2, 5, 10 ms and so on, and so wait too long."""
        deadline = time.monotonic() + PATIENCE
        self.execute("PRAGMA busy_timeout=0")
        try:
            while True:
                try:
                    self._connection.execute("BEGIN IMMEDIATE")
                    return
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                        raise DatabaseError(f"{self.url}: {error}") from error
                    time.sleep(0.0005)
        finally:
            self.execute(f"PRAGMA busy_timeout={int(1000 * PATIENCE)}")

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """BEGIN IMMEDIATE ... COMMIT, which flushes to disk."""
        self._begin()
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
            raise

    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except (sqlite3.Error, OverflowError) as error:
            raise DatabaseError(f"{self.url}: {error}") from error

    def execute_many(self, sql: str, values: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        try:
            self._connection.executemany(sql, values)
        except (sqlite3.Error, OverflowError) as error:
            raise DatabaseError(f"{self.url}: {error}") from error
