"""Saved files: one zip archive of a JSON manifest and NumPy arrays. No pickle, so loading a file runs no code.

`docs/file-format.md` describes the format. Files are written to a temporary name, flushed to disk and renamed, so a
file is there whole or not at all; the same content gives the same bytes.
"""

import contextlib
import errno
import inspect
import io
import json
import math
import os
import secrets
import stat
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from graphbandit.base.declared import check_declared
from graphbandit.errors import SavedFileError, SettingError

FORMAT = "graphbandit"
VERSION = 3
MOST_EMPTY = 2**32
"""The largest product of the other axes of an array that has an axis of length 0."""

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time a zip archive can hold; the real time would change the bytes

_Content = dict[tuple[str, tuple[int, ...], bytes], tuple[int, np.ndarray]]
Class = TypeVar("Class", bound=type)
_savable: dict[str, type] = {}


def savable(cls: Class) -> Class:
    """Let values of this dataclass be saved, as its name and the arguments of its constructor."""
    if not is_dataclass(cls):
        raise TypeError(f"{cls.__name__} is not a dataclass")
    other = _savable.setdefault(cls.__name__, cls)
    if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
        raise TypeError(
            f"{cls.__name__} is the name of two savable classes, in {other.__module__} and {cls.__module__}"
        )
    _savable[cls.__name__] = cls
    return cls


def write(path: str | os.PathLike[str], kind: str, content: dict[str, Any]) -> None:
    """Write `content` (dictionaries, lists, numbers, strings, arrays, savable values) to `path`, atomically."""
    write_atomically(_path(path), lambda file: _archive(file, kind, content))


def to_bytes(kind: str, content: dict[str, Any]) -> bytes:
    """What `write` would write, as bytes; the same content gives the same bytes."""
    buffer = io.BytesIO()
    _archive(buffer, kind, content)
    return buffer.getvalue()


def _archive(file: IO[bytes], kind: str, content: dict[str, Any]) -> None:
    arrays: _Content = {}
    tree = _encode(content, arrays)
    manifest = {"format": FORMAT, "version": VERSION, "kind": kind, "content": tree}
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(_entry("manifest.json"), json.dumps(manifest, allow_nan=False))
        for number, array in arrays.values():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            archive.writestr(_entry(f"arrays/{number}.npy"), buffer.getvalue())


def write_bytes(target: Path, content: bytes) -> None:
    """Write a whole file, or nothing."""
    write_atomically(target, lambda file: file.write(content))


def write_atomically(target: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Let `write` fill a temporary file, flush it to disk and rename it: `target` is there whole or not at all.

    A file that is there already keeps its mode, and a symbolic link stays one: the file it points to is replaced.
    """
    try:
        target = target.resolve() if target.is_symlink() else target
        if target.is_symlink():  # links in a circle: Python 3.13 raises no error
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    except (OSError, RuntimeError, ValueError) as error:  # links in a circle, a name that no file can have
        raise SavedFileError(f"{target} cannot be written: {error}") from error
    name = target.parent / f".{target.name}.{secrets.token_hex(4)}.part"
    temporary = None
    try:
        with name.open("xb") as file:
            temporary = name
            if mode is not None:
                os.chmod(name, mode)
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
        temporary = None
        _sync_directory(target.parent)
    except (OSError, ValueError) as error:  # a ValueError: an array of objects, a name that no file can have
        if isinstance(error, FileNotFoundError) and not target.parent.exists():
            raise SavedFileError(f"{target} cannot be written: the folder {target.parent} does not exist") from None
        raise SavedFileError(f"{target} cannot be written: {error}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def make_folder(folder: str | os.PathLike[str], within: str = "") -> Path:
    """Make a folder and another one `within` it, unless they are there, and return the inner one."""
    made = Path(folder) / within
    try:
        made.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SavedFileError(f"{folder} cannot be made: {error.strerror or error}") from None
    return made


def read(
    path: str | os.PathLike[str], kind: str, replace: Callable[[dict[str, Any]], Any], classes: Sequence[type] = ()
) -> dict[str, Any]:
    """The content of a file of this kind.

    - `replace`: returns the value that a file cannot hold, such as a Python callable, from what `__external__` wrote.
    - `classes`: dataclasses from outside the package that may be in it. Nothing is imported that is not here.
    """
    source = _path(path)
    return _read(source, source, kind, replace, _by_name(classes))


def from_bytes(data: bytes, kind: str, replace: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """The content of the bytes that `to_bytes` gave; `replace` as for `read`."""
    return _read(f"the saved {kind}", io.BytesIO(data), kind, replace, {})


def _read(
    source: str | Path,
    file: Path | io.BytesIO,
    kind: str,
    replace: Callable[[dict[str, Any]], Any],
    own: dict[str, type],
) -> dict[str, Any]:
    try:
        if isinstance(file, Path) and file.exists() and not file.is_file():
            # reading a pipe might block, and a device might never end
            raise SavedFileError(f"{source} is not a file; expected one that a bandit was saved to")
        with zipfile.ZipFile(file) as archive:
            _check_entries(archive, source, file.stat().st_size if isinstance(file, Path) else len(file.getbuffer()))
            if "manifest.json" not in archive.namelist():
                raise SavedFileError(f"{source} is not a file of graphbandit: it has no manifest.json")
            manifest = json.loads(archive.read("manifest.json"))
            if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
                raise SavedFileError(f"{source} is not a file of graphbandit: its manifest is of another format")
            if manifest.get("version") != VERSION:
                raise SavedFileError(f"{source} has format version {manifest.get('version')!r}; expected {VERSION}")
            if manifest.get("kind") != kind:
                raise SavedFileError(f"{source} holds a {manifest.get('kind')!r}; expected a {kind!r}")
            content = _Reader(source, archive, replace, own).value(manifest["content"])
    except FileNotFoundError as error:
        raise SavedFileError(f"{source} does not exist") from error
    except OSError as error:
        raise SavedFileError(f"{source} cannot be read: {error}") from error
    except zipfile.BadZipFile as error:
        raise SavedFileError(f"{source} is truncated, damaged or not a file of graphbandit: {error}") from error
    except SavedFileError:
        raise
    except Exception as error:  # whatever zipfile, its decompressors, JSON, NumPy or a constructor make of damage
        raise SavedFileError(f"{source} is damaged: {type(error).__name__}: {error}") from error
    if not isinstance(content, dict):
        raise SavedFileError(f"{source} is damaged: its content is not an object")
    return content


def _path(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise SavedFileError(f"path is {path!r}; expected the name of a file, a string or a Path")
    return Path(path)


def _entry(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, date_time=_EPOCH)


def _sync_directory(directory: Path) -> None:
    """Make the rename durable, if the system lets a directory be flushed."""
    if hasattr(os, "O_DIRECTORY"):
        with contextlib.suppress(OSError):
            descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _encode(value: Any, arrays: _Content) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | np.floating):
        number = float(value)
        return number if math.isfinite(number) else {"$float": repr(number)}
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.ndarray):
        # by content, not by identity: equal arrays are written once, so a reloaded value gives the same file
        key = (value.dtype.str, value.shape, value.tobytes())
        return {"$array": arrays.setdefault(key, (len(arrays), value))[0]}
    if isinstance(value, list | tuple):
        return [_encode(item, arrays) for item in value]
    if isinstance(value, dict):
        return {"$object": {str(key): _encode(item, arrays) for key, item in value.items()}}
    name = type(value).__name__
    ours = _savable.get(name) is type(value)
    if not ours and hasattr(value, "__external__"):
        return {"$external": _encode(value.__external__(), arrays)}
    own = "__dataclass_fields__" in vars(type(value)) and type(value).__module__.partition(".")[0] != FORMAT
    if not ours and not own:
        raise SavedFileError(f"{value!r} of type {name} cannot be saved")
    fields = {key: _encode(getattr(value, key), arrays) for key in inspect.signature(type(value)).parameters}
    return {"$class" if ours else "$own": name, "fields": fields}


def _check_entries(archive: zipfile.ZipFile, source: str | Path, size: int) -> None:
    """Raise unless entries are stored as they are and fit into the file: a small file must not become a large one."""
    for entry in archive.infolist():
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
            raise SavedFileError(f"{source} has a compressed entry, {entry.filename!r}; expected none")
    held = sum(entry.file_size for entry in archive.infolist())
    if held > size:
        raise SavedFileError(f"{source} claims to hold {held} bytes; expected at most its size")


class _Reader:
    """Makes values from the tree that `_encode` made; each array is read once, however often it is referred to."""

    def __init__(
        self,
        source: str | Path,
        archive: zipfile.ZipFile,
        replace: Callable[[dict[str, Any]], Any],
        own: dict[str, type],
    ) -> None:
        self._source, self._replace, self._own = source, replace, own
        self._array = cache(lambda number: _array(archive.read(f"arrays/{number}.npy")))

    def value(self, tree: Any) -> Any:
        """The value of an entry and all that is in it."""
        if isinstance(tree, list):
            return [self.value(item) for item in tree]
        if not isinstance(tree, dict):
            return tree
        if "$float" in tree:
            return float(tree["$float"])
        if "$array" in tree:
            return self._array(int(tree["$array"]))
        if "$object" in tree:
            return {key: self.value(item) for key, item in tree["$object"].items()}
        if "$external" in tree:
            return self._replace(self.value(tree["$external"]))
        if "$own" in tree and tree["$own"] not in self._own:
            raise SavedFileError(
                f"{self._source} holds a {tree['$own']!r}, a class from outside the package; "
                f"expected it to be handed in, as load(path, classes=[{tree['$own']}])"
            )
        if "$class" in tree and tree["$class"] not in _savable:
            raise SavedFileError(f"{self._source} holds a {tree['$class']!r}, which this version does not know")
        if "$own" in tree or "$class" in tree:
            made = self._own[tree["$own"]] if "$own" in tree else _savable[tree["$class"]]
            value = made(**{key: self.value(item) for key, item in tree["fields"].items()})
            check_declared(value)
            return value
        raise ValueError(f"unknown entry with keys {sorted(tree)}")


def _array(data: bytes) -> np.ndarray:
    """The array of an entry, if its header promises just what the entry holds."""
    buffer = io.BytesIO(data)
    version = np.lib.format.read_magic(buffer)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(buffer)
    size = math.prod(shape) * dtype.itemsize
    most = math.prod(max(length, 1) for length in shape)  # an axis of length 0 must not hide one of any length
    if dtype.hasobject or dtype.itemsize == 0 or size != len(data) - buffer.tell() or (not size and most > MOST_EMPTY):
        raise ValueError(f"an array of type {dtype} and shape {shape} does not fit into its entry")
    buffer.seek(0)
    return np.lib.format.read_array(buffer, allow_pickle=False)


def _by_name(classes: Sequence[type]) -> dict[str, type]:
    """Dataclasses from outside the package by their names."""
    found: dict[str, type] = {}
    for one in classes:
        if not isinstance(one, type) or not is_dataclass(one):
            raise SettingError(f"classes has {one!r}; expected dataclasses, such as [MyLearner, MyState]")
        if found.setdefault(one.__name__, one) is not one:
            raise SettingError(f"classes has two classes of the name {one.__name__!r}; expected each name once")
    return found
