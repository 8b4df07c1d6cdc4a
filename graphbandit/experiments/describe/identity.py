"""The identity of an environment or a learner: its kind and all its settings, including defaults and files."""

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from graphbandit.experiments.describe.kinds import CLASS, DATASET, Kind, Value, files_of
from graphbandit.experiments.describe.own_kinds import is_address, source_digest


def identity(kind: str, settings: Mapping[str, Value], kinds: Mapping[str, Kind]) -> str:
    """The kind and all settings as JSON; digests stand for the contents of files and for the user's own code."""
    complete = {name: _plain(value) for name, value in kinds[kind].complete(settings).items()}
    told = {name: value for name, value in complete.items() if value is not None}
    for name, path in files_of(settings).items():
        content = f"sha256:{_digest(path)}"
        told[name] = f"{told[name]} {content}" if name == DATASET else content  # one file may hold several data sets
    told["kind"] = kind
    for name in ("kind", CLASS):
        where = told.get(name)
        if isinstance(where, str) and is_address(where):
            told[name] = f"{where} sha256:{source_digest(where)}"
    return json.dumps(told, sort_keys=True, ensure_ascii=False)


def _plain(value: Value | None) -> Value | None:
    """Write 1.0 as 1, because they are the same setting."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _digest(path: Path) -> str:
    status = path.stat()
    return _digest_of(str(path), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _digest_of(file: str, changed: int, size: int) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
