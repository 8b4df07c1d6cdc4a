"""Databases for the tests: Debian's PostgreSQL, where it is installed."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks.postgres import BINARIES, Postgres, unprivileged


@contextmanager
def postgres() -> Iterator[Postgres]:
    if BINARIES is None:
        pytest.skip("no PostgreSQL here (Debian: apt install postgresql)")
    if os.getuid() == 0 and unprivileged() is None:
        pytest.skip("PostgreSQL does not run as root, and there is no other user")
    folder = Path(tempfile.mkdtemp(prefix="graphbandit-pg-"))
    server = Postgres(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)
