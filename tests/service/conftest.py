"""Fixtures: a fresh database of either kind, and a service without a network."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.databases import Postgres, postgres


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    with postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database: the same tests run on both."""
    if request.param == "sqlite":
        return str(tmp_path / "bandits.db")
    server: Postgres = request.getfixturevalue("postgres_server")
    return server.database()
