"""Saved files taken apart and put together, for tests that damage them."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

MANIFEST = "manifest.json"


def entries(data: bytes) -> dict[str, bytes]:
    """What is in a file with these bytes, by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(files: dict[str, Any], compression: int = zipfile.ZIP_STORED) -> bytes:
    """The bytes of a file with these entries."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def forged(data: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """The same file with another manifest, its checksums right."""
    files = entries(data)
    manifest = json.loads(files[MANIFEST])
    change(manifest)
    return packed({**files, MANIFEST: json.dumps(manifest)})


def npy(array: NDArray[Any]) -> bytes:
    """An array as an entry of a file."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=array.dtype.hasobject)
    return buffer.getvalue()


def places(tree: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of everything in a tree of dictionaries and lists."""
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [place, *(found for key, child in children for found in places(child, (*place, key)))]
