"""Databases for the tests: Debian's PostgreSQL, where it is installed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from benchmarks.postgres import BINARIES, Postgres, temporary_postgres, unprivileged


@contextmanager
def postgres() -> Iterator[Postgres]:
    if BINARIES is None:
        pytest.skip("no PostgreSQL here (Debian: apt install postgresql)")
    if os.getuid() == 0 and unprivileged() is None:
        pytest.skip("PostgreSQL does not run as root, and there is no other user")
    with temporary_postgres() as server:
        yield server
