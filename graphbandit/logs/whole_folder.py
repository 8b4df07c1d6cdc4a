"""A folder that is written as a whole or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphbandit.errors import LogError


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """An empty folder beside `target`, which takes its place when all went well, and is gone otherwise.

    Raises LogError if the target is there and not empty, or the disk refuses.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise LogError(f"{target} exists already; expected a folder that is new or empty")
    part = target.parent / f".{target.name}.{secrets.token_hex(4)}.part"
    try:
        part.mkdir(parents=True)
        yield part
        if target.exists():
            target.rmdir()
        os.replace(part, target)
    except OSError as error:
        raise LogError(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
