"""Fixtures: a fresh database of either kind, and a service without a network."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.postgres import BINARIES, Postgres, temporary_postgres, unprivileged


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """Debian's PostgreSQL, where it is installed."""
    if BINARIES is None:
        pytest.skip("no PostgreSQL here (Debian: apt install postgresql)")
    if os.getuid() == 0 and unprivileged() is None:
        pytest.skip("PostgreSQL does not run as root, and there is no other user")
    with temporary_postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database: the same tests run on both."""
    if request.param == "sqlite":
        return str(tmp_path / "bandits.db")
    server: Postgres = request.getfixturevalue("postgres_server")
    return server.database()
