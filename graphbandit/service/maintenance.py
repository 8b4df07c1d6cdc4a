"""Commands for a log: check, replay, export, compact."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphbandit.errors import DatabaseError
from graphbandit.logs import Log
from graphbandit.service import configuration as settings
from graphbandit.service.core import Core
from graphbandit.service.export import Exported, export
from graphbandit.service.processes import check_fits
from graphbandit.service.relearning import Replayed, replay
from graphbandit.service.rows import Kind
from graphbandit.service.store import VERSION, Store, open_store


@contextmanager
def _opened(url: str) -> Iterator[Store]:
    """The log, which must exist and be of this version."""
    if "://" not in url and not Path(url).exists():
        raise DatabaseError(f"{url} does not exist; expected the log of a service")
    store = open_store(url)
    try:
        found = store.version()
        if found != VERSION:
            raise DatabaseError(
                f"{url} has schema version {found}; expected {VERSION}: start the service once to upgrade it"
            )
        yield store
    finally:
        store.close()


def check(path: Path, url: str) -> Iterator[str]:
    """Check a configuration and its log; yields a line for each finding."""
    found = settings.read(path)
    for name, bandit in found.bandits.items():
        core = Core(name, bandit)
        arms = "arms come with the request" if bandit.own_arms else f"{len(bandit.names)} arms"
        yield f"{name}: {type(core.learner).__name__}, {arms}, room for {core.slots}"
    if "://" not in url and not Path(url).exists():
        yield f"{url} is not there yet: the service makes it"
        return
    with _opened(url) as store:
        check_fits(store, found.bandits)
        yield f"{url}: schema version {VERSION}, {store.last()[0]} rows, fits"


def replay_all(path: Path, url: str) -> Iterator[Replayed]:
    """Replay every bandit of a configuration."""
    with _opened(url) as store:
        for name, bandit in settings.read(path).bandits.items():
            yield replay(store, name, bandit)


def export_all(path: Path, url: str, folder: Path) -> Iterator[tuple[str, Exported]]:
    """Write every bandit's rows to a folder of its own, in the log format."""
    with _opened(url) as store:
        for name, bandit in settings.read(path).bandits.items():
            yield name, export(store, name, bandit, folder / name)


def compact(path: Path, url: str, keep: float, archive: Path) -> Iterator[str]:
    """Move decisions older than `keep` seconds, with their rewards, to Parquet; yields a line for each bandit.

    It moves decisions that the newest snapshot has learnt from and that have no row after the cut. A later reward for
    one of them is refused, as its decision is unknown. Decisions that nobody has activated stay, because they may still
    be activated. Replays then begin at the newest snapshot.
    """
    with _opened(url) as store:
        last, now = store.last()
        cut = min(store.position_at(now - keep), last - 1)
        for name, bandit in settings.read(path).bandits.items():
            base = next(iter(store.snapshots(name, newest=1)), None)
            limit = min(cut, 0 if base is None else base.learnt)
            folder = archive / f"{name}-{limit:012d}"
            if base is None or not store.newest(name, Kind.DECISION, 1, until=limit):
                yield f"{name}: nothing to move"
                continue
            moved = export(store, name, bandit, folder, until=limit, finished=True)
            if not moved.decisions:
                shutil.rmtree(folder)
                yield f"{name}: nothing to move"
                continue
            with store.writing():
                _delete(store, name, folder, limit)
                store.execute("DELETE FROM log WHERE kind = ? AND position <= ?", (int(Kind.TICK), limit))
                store.execute(
                    "UPDATE snapshots SET data = NULL WHERE bandit = ? AND position < ?", (name, base.position)
                )
                store.put_statistics(f"{name}/base", base.position, base.hash.encode())
            yield f"{name}: {moved.decisions} decisions and {moved.rewards} rewards are in {folder}"
        store.vacuum()


def _delete(store: Store, name: str, folder: Path, limit: int) -> None:
    """Delete the rows about decisions that are in an archive, unless more have come since it was written."""
    kinds = ", ".join(str(int(kind)) for kind in (Kind.DECISION, Kind.REWARD, Kind.ACTIVATION, Kind.FINAL))
    later = "SELECT 1 FROM log AS later WHERE later.bandit = ? AND later.key = ? AND later.position > ?"
    sql = f"DELETE FROM log WHERE bandit = ? AND key = ? AND kind IN ({kinds}) AND NOT EXISTS ({later})"
    for batch in Log.read(folder).batches():
        store.execute_many(sql, [(name, key, name, key, limit) for key in batch.columns["key"].tolist()])
