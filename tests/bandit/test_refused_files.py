"""Damaged, forged and foreign files are refused, and no failed save touches the file that was there.

`tests/fuzz/damaged_files.py` changes bytes, manifests and arrays at random.
"""

import errno
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphbandit as gb
from graphbandit.errors import SavedFileError
from tests.helpers.archives import entries, forged, npy, packed
from tests.helpers.bandits import content
from tests.helpers.small_bandits import INSTANCE, PLAYED, D, Fickle, K, fickle_bandit, make, played


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """(a small file, a file with everything in it), as bytes."""
    folder = tmp_path_factory.mktemp("saved")
    small = gb.Bandit(gb.learners.Uniform(), gb.Problem(n_arms=2))
    small.decide([0.5], gb.graphs.complete(2))
    return content(small, folder), content(make(), folder)


def load(data, folder):
    """The bandit of a file with these bytes; any error but SavedFileError fails the test."""
    path = folder / "damaged.gb"
    path.write_bytes(data)
    try:
        return gb.Bandit.load(path)
    except SavedFileError:
        return None


def test_every_truncation_is_refused(saved, tmp_path):
    path = tmp_path / "cut.gb"
    path.write_bytes(saved[0])
    for length in reversed(range(len(saved[0]))):
        os.truncate(path, length)
        with pytest.raises(SavedFileError, match=r"cut\.gb is (truncated|damaged)"):
            gb.Bandit.load(path)


def test_every_flipped_byte_is_refused_or_harmless(saved, tmp_path):
    harmless = 0
    for place in range(len(saved[0])):
        data = bytearray(saved[0])
        data[place] ^= 0xFF
        bandit = load(bytes(data), tmp_path)
        if bandit is not None and (harmless := harmless + 1) % 8 == 0:  # dates, attributes: nothing we look at
            assert content(bandit, tmp_path) == saved[0]
    assert 8 <= harmless < len(saved[0]) / 4


@given(st.binary(max_size=300), st.booleans())
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)
def test_any_bytes_are_refused(saved, tmp_path, noise, at_the_end):
    assert load(noise, tmp_path) is None
    bandit = load(saved[0][:-22] + noise if at_the_end else noise + saved[0][30:], tmp_path)
    assert bandit is None or content(bandit, tmp_path) == saved[0]


def put(value, *way):
    """A change of a manifest."""

    def change(manifest):
        place = manifest
        for key in way[:-1]:
            place = place[key]
        place[way[-1]] = value

    return lambda data: forged(data, change)


def without(name):
    return lambda data: packed({key: value for key, value in entries(data).items() if key != name})


def instead(name, value):
    return lambda data: packed({**entries(data), name: value})


BIG = (
    b"\x93NUMPY\x01\x00v\x00"
    + b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000000,), }".ljust(117)
    + b"\n"
)
DEEP = '{"format": "graphbandit", "version": 3, "kind": "bandit", "content": ' + "[" * 100_000 + "]" * 100_000 + "}"
FILES = {
    "empty": (lambda data: b"", "truncated, damaged or not a file of graphbandit"),
    "text": (lambda data: b"id,reward\n0,1.0\n" * 99, "truncated, damaged or not a file of graphbandit"),
    "foreign archive": (lambda data: packed({"letter.txt": "Dear"}), "it has no manifest.json"),
    "no manifest": (without("manifest.json"), "it has no manifest.json"),
    "manifest of no JSON": (instead("manifest.json", "{"), "is damaged: JSONDecodeError"),
    "manifest of no text": (instead("manifest.json", b"\xff\xfe\xff"), "is damaged: Unicode"),
    "manifest a list": (instead("manifest.json", "[]"), "its manifest is of another format"),
    "manifest too deep": (instead("manifest.json", DEEP), "is damaged: RecursionError"),
    "other format": (put("gitbandit", "format"), "its manifest is of another format"),
    "other kind": (put("experiment", "kind"), "holds a 'experiment'; expected a 'bandit'"),
    "older version": (put(2, "version"), "has format version 2; expected 3"),
    "newer version": (put(4, "version"), "has format version 4; expected 3"),
    "no content": (put(None, "content"), "its content is not an object"),
    "unknown class": (put("Oracle", "content", "$object", "learner", "$class"), "holds a 'Oracle', which this version"),
    "dangerous class": (put("eval", "content", "$object", "learner", "$class"), "holds a 'eval', which this version"),
    "unknown setting": (put(1, "content", "$object", "learner", "fields", "zeta"), "is damaged: TypeError"),
    "setting out of range": (put(-1, "content", "$object", "learner", "fields", "eta"), "eta is -1; expected"),
    "unknown entry": (put({"$code": "1"}, "content", "$object", "rounds"), "unknown entry with keys ['$code']"),
    "class as learner": (put({"$object": {}}, "content", "$object", "learner"), "no learner and problem in it"),
    "other rounds": (put(12, "content", "$object", "rounds"), "its rounds and contexts do not fit each other"),
    "masks missing": (put([], "content", "$object", "available"), "its rounds and contexts do not fit each other"),
    "other state": (put(0, "content", "$object", "state", "fields", "rounds"), "is damaged"),
    "other generator": (put("MT19937", "content", "$object", "generator", "$object", "bit_generator"), "is damaged"),
    "array missing": (without("arrays/3.npy"), "is damaged: KeyError"),
    "array of objects": (instead("arrays/3.npy", npy(np.array([None]))), "does not fit into its"),
    "array cut short": (lambda data: instead("arrays/3.npy", entries(data)["arrays/3.npy"][:-1])(data), "is damaged"),
    "array of another kind": (instead("arrays/0.npy", npy(np.array(["x"]))), "x0 is not an array of numbers"),
    "array too large": (instead("arrays/0.npy", BIG), "is damaged"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "message"), FILES.values(), ids=FILES)
def test_refused_files(change, message, saved, tmp_path):
    (tmp_path / "changed.gb").write_bytes(change(saved[1]))
    with pytest.raises(SavedFileError) as caught:
        gb.Bandit.load(tmp_path / "changed.gb")
    assert "changed.gb" in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nothing.gb", "nothing.gb does not exist"),
        (".", "is not a file; expected one"),
        ("a\0b", "embedded null"),
        (5, "path is 5"),
    ],
)
def test_paths_that_are_no_files_are_refused(path, message, tmp_path):
    with pytest.raises(SavedFileError, match=re.escape(message)):
        gb.Bandit.load(path if path == 5 else tmp_path / path)


@pytest.mark.parametrize(
    ("handed_in", "message"),
    [
        (None, "expected the same one again as load(path, function_class=...)"),
        (gb.FiniteClass(Fickle(), n_functions=3, n_arms=3), "'n_functions': 3"),
        (INSTANCE.functions, "function_class is BilinearClass"),
        ("the same", "function_class is 'the same'; expected the one saved in"),
    ],
    ids=["none", "other size", "other kind", "text"],
)
def test_other_function_classes_than_the_saved_one_are_refused(handed_in, message, tmp_path):
    _, bandit = fickle_bandit(gb.AdaCBG())
    bandit.save(tmp_path / "saved.gb")
    with pytest.raises(SavedFileError, match=re.escape(message)):
        gb.Bandit.load(tmp_path / "saved.gb", function_class=handed_in)


class Own(gb.function_classes.BilinearClass):
    """A class of the user's own, which files do not know."""


def test_a_class_that_cannot_be_saved_is_refused_and_the_old_file_stays(tmp_path):
    functions = Own(x0=np.ones((2, D)), a0=np.ones((2, D)), arms=np.ones((K, D)))
    bandit = gb.Bandit(gb.AdaCBG(), gb.Problem(n_arms=K, function_class=functions, noise=1.0))
    (tmp_path / "old.gb").write_text("old")
    with pytest.raises(SavedFileError, match="of type Own cannot be saved"):
        bandit.save(tmp_path / "old.gb")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("old.gb", "old")]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_a_save_that_fails_half_way_is_refused_and_the_old_file_stays(step, error, tmp_path, monkeypatch):
    bandit = make()
    before = content(bandit, tmp_path)
    played(bandit, PLAYED, PLAYED + 1)

    def fail(*_):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(os, step, fail)
        with pytest.raises(SavedFileError if isinstance(error, OSError) else KeyboardInterrupt) as caught:
            bandit.save(tmp_path / "content.gb")
    assert isinstance(error, KeyboardInterrupt) or "cannot be written: [Errno 28] No space left" in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["content.gb"]
    assert (tmp_path / "content.gb").read_bytes() == before
    assert content(bandit, tmp_path) != before


KILLED = """
import os, signal, sys, zipfile
import graphbandit as gb

path = sys.argv[1]
bandit = gb.Bandit.load(path)
bandit.decide([0.5], gb.graphs.complete(2))
old = open(path, "rb").read()

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def write_some_and_die(self, *_, **__):
    self.fp.write(b"PK half an entry"), self.fp.flush()
    die()

places = [(zipfile.ZipFile, "writestr", write_some_and_die), (zipfile.ZipFile, "close", die), (os, "fsync", die),
          (os, "replace", die)]
for holder, name, act in places:
    child = os.fork()
    if child == 0:
        setattr(holder, name, act)
        bandit.save(path)
        os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert open(path, "rb").read() == old, name
    assert gb.Bandit.load(path).rounds == 1
bandit.save(path)
assert gb.Bandit.load(path).rounds == 2
print("survived")
"""


def test_a_killed_save_leaves_the_old_file(saved, tmp_path):
    path = tmp_path / "saved.gb"
    path.write_bytes(saved[0])
    answer = subprocess.run([sys.executable, "-c", KILLED, str(path)], capture_output=True, text=True)
    assert answer.stdout == "survived\n", answer.stderr
