"""What makes two environments or learners the same: their kind and all settings, defaults and files included."""

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from graphbandit.experiments.describe.kinds import DATASET, Kind, Value, files_of


def identity(kind: str, settings: Mapping[str, Value], kinds: Mapping[str, Kind]) -> str:
    """The kind and all settings as JSON, with the content of files in place of their names."""
    complete = {name: _plain(value) for name, value in kinds[kind].complete(settings).items()}
    told = {name: value for name, value in complete.items() if value is not None}
    for name, path in files_of(settings).items():
        content = f"sha256:{_digest(path)}"
        told[name] = f"{told[name]} {content}" if name == DATASET else content  # one file may hold several data sets
    return json.dumps({"kind": kind, **told}, sort_keys=True, ensure_ascii=False)


def _plain(value: Value | None) -> Value | None:
    """1 and 1.0 are the same setting."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _digest(path: Path) -> str:
    status = path.stat()
    return _digest_of(str(path), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _digest_of(file: str, changed: int, size: int) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
