"""The log in PostgreSQL: the same tables, and one writer at a time by an advisory lock."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from graphbandit.base.extras import imported
from graphbandit.errors import DatabaseError
from graphbandit.service.store import Store

LOCK = 0x6772617068
"""The advisory lock that every append takes, so that positions follow the order of commits even with many writers."""


class PostgresStore(Store):
    """One connection, opened when it is first used and again after it was lost."""

    bytes_type = "BYTEA"
    find_schema = "SELECT 1 WHERE to_regclass('schema_version') IS NOT NULL"

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._psycopg = imported("psycopg", "service", "PostgreSQL needs psycopg")
        self._connection: Any = None
        self._inside = False
        self._relaxed = False

    def relax(self) -> None:
        """Commits no longer wait for the disk."""
        self._relaxed = True
        self.close()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> Any:
        if self._connection is None or self._connection.closed:
            try:
                self._connection = self._psycopg.connect(self.url, autocommit=True, connect_timeout=5)
                # a commit is durable when it is answered, whatever the server's default is
                self._connection.execute(f"SET synchronous_commit = {'off' if self._relaxed else 'on'}")
            except self._psycopg.Error as error:
                self._connection = None
                raise DatabaseError(f"the database cannot be reached: {error}") from error
        return self._connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction that holds the advisory lock until it ends."""
        connection = self._connected()
        try:
            with connection.transaction():
                self._inside = True
                self.execute("SELECT pg_advisory_xact_lock(?)", (LOCK,))
                yield
        except self._psycopg.Error as error:
            self.close()
            raise DatabaseError(f"the database failed: {error}") from error
        finally:
            self._inside = False

    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement."""
        try:
            cursor = self._connected().execute(sql.replace("?", "%s"), values, prepare=True)
            return [] if cursor.description is None else cursor.fetchall()
        except self._psycopg.Error as error:
            if not self._inside:
                self.close()
            raise DatabaseError(f"the database failed: {error}") from error

    def execute_many(self, sql: str, values: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of values, in one go."""
        try:
            with self._connected().cursor() as cursor:
                cursor.executemany(sql.replace("?", "%s"), values)
        except self._psycopg.Error as error:
            if not self._inside:
                self.close()
            raise DatabaseError(f"the database failed: {error}") from error

    def now(self) -> float:
        """The server's clock, which all machines share."""
        return float(self.execute("SELECT EXTRACT(EPOCH FROM clock_timestamp())")[0][0])
