"""Debian's PostgreSQL in a temporary folder, started as an unprivileged user, on a Unix socket only."""

import glob
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BINARIES = next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)), None) or (
    os.path.dirname(shutil.which("initdb") or "") or None
)


def unprivileged() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in names), None)


class Postgres:
    """A server of its own in a temporary folder, on a Unix socket only."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.user = folder, unprivileged()
        shutil.chown(folder, self.user or os.getuid())
        self._run("initdb", "-D", str(folder / "data"), "-U", "tester", "-A", "trust", "--no-sync")
        self._count = 0

    @property
    def admin(self) -> str:
        return f"postgresql://tester@/postgres?host={self.folder}"

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}'"
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", "immediate", "stop")

    def database(self) -> str:
        """The address of a new, empty database."""
        self._count += 1
        name = f"test{self._count}_{time.time_ns()}"
        import psycopg

        with psycopg.connect(self.admin, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return f"postgresql://tester@/{name}?host={self.folder}"

    def _run(self, program: str, *arguments: str) -> None:
        assert BINARIES is not None
        command = [os.path.join(BINARIES, program), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, user=self.user, timeout=60)


@contextmanager
def temporary_postgres() -> Iterator[Postgres]:
    """A server in a temporary folder, which goes with it."""
    folder = Path(tempfile.mkdtemp(prefix="graphbandit-pg-"))
    server = Postgres(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)
