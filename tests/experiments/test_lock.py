"""The lock on a results folder: one run at a time, and an error of our own where it cannot be had."""

import errno
import importlib
import os
import types

import pytest

from graphbandit.errors import SavedFileError
from graphbandit.experiments.describe.planned_runs import planned_runs
from graphbandit.experiments.results import lock
from graphbandit.experiments.results.writing import Store
from tests.helpers.experiment_samples import SMALL, small_results


def test_two_runs_cannot_write_to_one_directory(tmp_path):
    with (
        Store.opened(tmp_path, SMALL, planned_runs(SMALL)),
        pytest.raises(SavedFileError, match="being written to by another run"),
    ):
        small_results(tmp_path)
    small_results(tmp_path)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EROFS, "Read-only file system"),
        (errno.ENOSPC, "No space left on device"),
        (errno.EACCES, "Permission denied"),
    ],
)
def test_a_folder_that_cannot_be_written_to_is_named(number, words, tmp_path, monkeypatch):
    opened = os.open

    def refuse(path, *arguments, **options):
        if str(path).endswith(lock.NAME):
            raise OSError(number, os.strerror(number))
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(SavedFileError, match=f"cannot be written to: {words}"):
        small_results(tmp_path)


def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch):
    import fcntl

    def refuse(*arguments):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(SavedFileError, match="cannot be locked: No locks available"):
        small_results(tmp_path)


def test_systems_without_fcntl_lock_too(tmp_path, monkeypatch):
    """Windows has msvcrt instead, whose locks this stand-in keeps by file."""
    held = set()

    def locking(descriptor, mode, count):
        assert (mode, count) == (2, 1)
        file = os.fstat(descriptor).st_ino
        if file in held:
            raise OSError(errno.EACCES, "Permission denied")
        held.add(file)

    windows = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
    load = importlib.import_module

    def load_as_on_windows(name):
        if name == "fcntl":
            raise ImportError
        return windows if name == "msvcrt" else load(name)

    monkeypatch.setattr(importlib, "import_module", load_as_on_windows)
    with lock.locked(tmp_path), pytest.raises(SavedFileError, match="being written to by another run"):
        small_results(tmp_path)
    assert len(held) == 1
