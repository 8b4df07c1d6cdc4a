"""What looks after a log: check, replay, export, compact."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from graphbandit.errors import LogError
from graphbandit.service import configuration as settings
from graphbandit.service.configuration import Bandit
from graphbandit.service.core import Core
from graphbandit.service.processes import check_change
from graphbandit.service.replay import Replayed, replay
from graphbandit.service.store import VERSION, Store, open_store


def _opened(url: str) -> Store:
    """The log, which must be there and of this version."""
    if "://" not in url and not Path(url).exists():
        raise LogError(f"{url} does not exist; expected the log of a service")
    store = open_store(url)
    found = store.version()
    if found != VERSION:
        raise LogError(f"{url} has schema version {found}; expected {VERSION}: start the service once to bring it up")
    return store


def check(path: Path, url: str) -> Iterator[str]:
    """Check a configuration and its log; what was found, a line each."""
    found = settings.read(path)
    for name, bandit in found.bandits.items():
        core = Core(name, bandit)
        arms = "arms come with the request" if bandit.own_arms else f"{len(bandit.names)} arms"
        yield f"{name}: {type(core.learner).__name__}, {arms}, {core.slots} places"
    if "://" not in url and not Path(url).exists():
        yield f"{url} is not there yet: the service makes it"
        return
    store = _opened(url)
    for name, bandit in found.bandits.items():
        logged = store.configuration(name)
        if logged is not None and logged.body is not None:
            check_change(name, msgspec.json.decode(logged.body, type=Bandit), bandit)
    yield f"{url}: schema version {VERSION}, {store.last()[0]} rows, fits"
    store.close()


def replay_all(path: Path, url: str) -> Iterator[Replayed]:
    """Replay every bandit of a configuration."""
    store = _opened(url)
    for name, bandit in settings.read(path).bandits.items():
        yield replay(store, name, bandit)
    store.close()
