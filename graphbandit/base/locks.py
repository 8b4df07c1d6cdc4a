"""Locks on files; the system frees one when the file is closed or the process ends, however it ends."""

import importlib


def take_lock(descriptor: int) -> None:
    """Lock an open file, or raise OSError at once."""
    try:
        fcntl = importlib.import_module("fcntl")
    except ImportError:  # Windows
        msvcrt = importlib.import_module("msvcrt")
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
