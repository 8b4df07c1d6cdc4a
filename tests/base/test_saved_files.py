"""Saved files: modes and links are kept, and a small file never becomes a large one in memory."""

import json
import os
import stat
import zipfile

import numpy as np
import pytest

from graphbandit.base import saved_files
from graphbandit.errors import SavedFileError
from tests.helpers.archives import npy


def refused(description):
    raise AssertionError(description)


def manifest(content):
    return json.dumps(
        {"format": saved_files.FORMAT, "version": saved_files.VERSION, "kind": "test", "content": content}
    )


def forged(path, content, entry, **options):
    """An archive with a manifest of this content and one array."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", manifest(content))
        archive.writestr("arrays/0.npy", entry, **options)
    return path


def test_a_file_keeps_its_mode(tmp_path):
    path = tmp_path / "a.gb"
    saved_files.write(path, "test", {"x": 1})
    path.chmod(0o600)
    saved_files.write(path, "test", {"x": 2})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert saved_files.read(path, "test", refused) == {"x": 2}


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "a.gb", tmp_path / "link.gb"
    saved_files.write(target, "test", {"x": 1})
    link.symlink_to(target)
    saved_files.write(link, "test", {"x": 2})
    assert link.is_symlink()
    assert saved_files.read(target, "test", refused) == {"x": 2}
    assert sorted(os.listdir(tmp_path / "real")) == ["a.gb"]


def test_links_in_a_circle_are_an_error(tmp_path):
    (tmp_path / "a.gb").symlink_to(tmp_path / "b.gb")
    (tmp_path / "b.gb").symlink_to(tmp_path / "a.gb")
    with pytest.raises(SavedFileError, match="cannot be written"):
        saved_files.write(tmp_path / "a.gb", "test", {"x": 1})


def test_compressed_entries_are_refused(tmp_path):
    zeros, content = npy(np.zeros(100_000)), {"$object": {"x": {"$array": 0}}}
    path = forged(tmp_path / "bomb.gb", content, zeros, compress_type=zipfile.ZIP_DEFLATED)
    with pytest.raises(SavedFileError, match=r"has a compressed entry, 'arrays/0\.npy'; expected none"):
        saved_files.read(path, "test", refused)


def test_an_array_is_read_once_however_often_it_is_named(tmp_path, monkeypatch):
    path = forged(tmp_path / "many.gb", {"$object": {"x": [{"$array": 0}] * 2000}}, npy(np.arange(1000.0)))
    reads = []
    whole = zipfile.ZipFile.read

    def counted(self, name, *rest):
        reads.append(name)
        return whole(self, name, *rest)

    monkeypatch.setattr(zipfile.ZipFile, "read", counted)
    content = saved_files.read(path, "test", refused)
    assert len(content["x"]) == 2000
    assert reads.count("arrays/0.npy") == 1


def test_entries_that_claim_more_than_the_file_holds_are_refused(tmp_path):
    path = tmp_path / "liar.gb"
    saved_files.write(path, "test", {"x": np.zeros(10)})
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\x01\x02")  # the last entry of the central directory
    for offset in (20, 24):  # compressed and uncompressed size
        data[place + offset : place + offset + 4] = (2**31).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(SavedFileError, match=r"claims to hold \d+ bytes; expected at most its size"):
        saved_files.read(path, "test", refused)


@pytest.mark.parametrize(
    ("shape", "descr"), [("(1000000000000,)", "<f8"), ("(1000000000000000000,)", "|S0"), ("(3,)", "|O")]
)
def test_a_header_that_promises_more_than_its_entry_holds_is_refused(tmp_path, shape, descr):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    entry = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    path = forged(tmp_path / "huge.gb", {"$object": {"x": {"$array": 0}}}, entry)
    with pytest.raises(SavedFileError, match="does not fit into its entry"):
        saved_files.read(path, "test", refused)


def test_what_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.gb")
    for path in (tmp_path / "pipe.gb", tmp_path, "/dev/zero"):
        with pytest.raises(SavedFileError, match="is not a file; expected one"):
            saved_files.read(path, "test", refused)
