"""A lock on a results folder, so that one process writes at a time; the system frees it when the process ends."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from graphbandit.base.locks import take_lock
from graphbandit.errors import SavedFileError

NAME = ".lock"
TAKEN = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
"""The error numbers if another process holds the lock."""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; SavedFileError if another process holds it, or if it cannot be locked."""
    try:
        descriptor = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise SavedFileError(f"{folder} cannot be written to: {error.strerror or error}") from None
    try:
        try:
            take_lock(descriptor)
        except OSError as error:
            if error.errno in TAKEN:
                said = f"{folder} is being written to by another run; expected it to end first"
                raise SavedFileError(said) from None
            raise SavedFileError(f"{folder} cannot be locked: {error.strerror or error}") from None
        yield
    finally:
        os.close(descriptor)
