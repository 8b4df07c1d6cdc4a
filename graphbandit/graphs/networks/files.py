"""Networks from files of edges: SNAP, KONECT, Matrix Market, CSV and the like, plain or compressed.

One edge a line, the two nodes first; further columns (weights, times) are ignored. The first lines show what kind
of file it is. Files are read in blocks of a few megabytes, so memory goes to the edges and not to the text.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import os
import re
import reprlib
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from graphbandit.base.checks import setting_choice
from graphbandit.base.progress import OnProgress
from graphbandit.base.shapes import Int
from graphbandit.errors import NetworkFileError, SettingError
from graphbandit.graphs.networks.network import Network

IdType = Literal["auto", "numbers", "text"]

BLOCK = 2**22
"""Bytes of text held at once."""

_SAMPLE = 1000  # lines that are looked at to see what kind of file it is
_LONGEST = 2**16  # characters of a line with an edge
_MARK = b"\xef\xbb\xbf"  # some editors open UTF-8 files with it
_SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", " ": "a blank"}
_HEADINGS = re.compile(
    r"(source|target|src|dst|from|to|node|user|id|friend|follower|followee|trustor|trustee)[ _]?(id|\d)?"
)


@dataclass(frozen=True, kw_only=True)
class EdgeFormat:
    """How a file writes its edges: after `skip` lines two nodes a line, with a `separator` between.

    A blank stands for any blanks. Lines that start with `comment` are ignored ("": none are). `numbers` says whether
    nodes are whole numbers.
    """

    skip: int
    separator: str
    comment: str
    numbers: bool


def read_network(
    path: str | os.PathLike[str],
    *,
    id_type: IdType = "auto",
    header: bool | None = None,
    progress: OnProgress | None = None,
) -> Network:
    """The network whose edges are the lines of a file; a directed edge is read as a friendship in both directions.

    The format is recognised from the content: SNAP (``#`` comments), KONECT (``%`` comments, weights and times
    ignored), Matrix Market, or plain lines with commas, semicolons, tabs or blanks, with or without a line of headings.
    Gzip and bzip2 are recognised too, whatever the name. Self-loops and repeated edges are dropped and counted. Raises
    NetworkFileError with the file, the line and what was expected.

    - `path`: the file.
    - `id_type`: "numbers", "text", or "auto" (default): numbers if most of the first thousand lines have whole numbers.
    - `header`: whether the first line is one of headings; None (default): recognised.
    - `progress`: called with the bytes read and the size of the file; None (default): no calls.
    """
    setting_choice("id_type", id_type, get_args(IdType))
    if header is not None and not isinstance(header, bool):
        raise SettingError(f"header is {header!r}; expected True, False or None")
    with _blocks(Path(path), progress) as blocks:
        first = next(blocks, b"").removeprefix(_MARK)
        form = _format(os.fspath(path), first, id_type, header)
        read = _read_numbers if form.numbers else _read_text
        return read(os.fspath(path), form, first.split(b"\n", form.skip)[-1], blocks)


def edge_format(path: str | os.PathLike[str]) -> EdgeFormat:
    """What kind of file it is, from its first block; raises NetworkFileError if it has no edges."""
    with _blocks(Path(path), None) as blocks:
        return _format(os.fspath(path), next(blocks, b"").removeprefix(_MARK), "auto", None)


@contextmanager
def _blocks(path: Path, progress: OnProgress | None) -> Iterator[Iterator[bytes]]:
    """The text of a file, unpacked, in blocks of whole lines; errors of reading become NetworkFileError."""
    try:
        with open(path, "rb") as raw:
            magic = raw.read(512)
            raw.seek(0)
            _refuse_archive(path, magic)
            total = os.fstat(raw.fileno()).st_size
            stream: io.BufferedIOBase = raw
            if magic.startswith(b"\x1f\x8b"):
                stream = gzip.GzipFile(fileobj=raw)
            elif magic.startswith(b"BZh"):
                stream = bz2.BZ2File(raw)
            yield _whole_lines(stream, lambda: progress(raw.tell(), total) if progress is not None else None)
    except FileNotFoundError:
        raise NetworkFileError(f"file is {str(path)!r}, which does not exist; expected a file of edges") from None
    except (EOFError, zlib.error, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise NetworkFileError(f"file is {str(path)!r}, which cannot be read to its end: {reason}") from None


def _whole_lines(stream: io.BufferedIOBase, told: Callable[[], None]) -> Iterator[bytes]:
    rest = b""
    while block := stream.read(BLOCK):
        told()
        cut = block.rfind(b"\n") + 1
        if cut:
            yield rest + block[:cut]
            rest = block[cut:]
        else:
            rest += block
            if len(rest) > 4 * BLOCK:
                raise EOFError(f"a line has more than {4 * BLOCK:,} bytes")
    if rest:
        yield rest + b"\n"


def _refuse_archive(path: Path, magic: bytes) -> None:
    kinds = {"a zip archive": magic.startswith(b"PK\x03\x04"), "a tar archive": magic[257:262] == b"ustar"}
    for kind, found in kinds.items():
        if found:
            message = f"file is {str(path)!r}, which is {kind}; expected the file of edges in it: unpack it first"
            raise NetworkFileError(message)


def _format(path: str, block: bytes, ids: str, header: bool | None) -> EdgeFormat:
    """Recognise the format from the first lines."""
    if block[257:262] == b"ustar":  # inside gzip or bzip2
        _refuse_archive(Path(path), block[:512])
    lines = [(i, line.strip()) for i, line in enumerate(_sample(path, block)) if line.strip()]
    comment = lines[0][1][0] if lines and lines[0][1][0] in "#%" else ""
    data = [(i, line) for i, line in lines if not comment or not line.startswith(comment)]
    if lines and lines[0][1].startswith("%%MatrixMarket"):
        data = data[1:]  # the first line is the matrix's size
    if not data:
        raise NetworkFileError(f"file is {path!r}, which has no edges in it; expected two nodes a line")
    separator = next((mark for mark in ",;\t" if mark in data[0][1]), " ")
    rows = [_fields(line, separator) for _, line in data]
    # the majority decides: a broken line among numbers is an error, and does not turn all nodes into text
    numbers = ids == "numbers" or (ids == "auto" and 2 * sum(map(_are_numbers, rows)) >= len(rows))
    if header is None:
        opening = [field.strip().lower() for field in rows[0][:2]]
        named = not any(map(_is_number, opening)) if numbers else all(map(_HEADINGS.fullmatch, opening))
        header = len(opening) == 2 and named
    if header and len(data) == 1:
        raise NetworkFileError(f"file is {path!r}, which has only a line of headings; expected two nodes a line")
    columns = len(rows[int(header)])
    for (i, line), row in list(zip(data, rows, strict=True))[int(header) :]:
        if (len(row) < 2 or len(row) != columns) and not (numbers and line[0] in "#%"):
            wanted = "two nodes a line" if columns < 2 else f"{columns} columns as in the lines before"
            raise _bad_line(path, i + 1, line, wanted)
    return EdgeFormat(skip=data[int(header)][0], separator=separator, comment=comment, numbers=numbers)


def _sample(path: str, block: bytes) -> list[str]:
    """The first lines; refused if they are not text."""
    lines = block.split(b"\n", _SAMPLE)[:_SAMPLE]
    sample = b"\n".join(lines)
    expected = "expected text in UTF-8, two nodes a line"
    if b"\0" in sample:
        raise NetworkFileError(f"file is {path!r}, which is not text (it has a zero byte); {expected}")
    try:
        text = sample.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NetworkFileError(f"file is {path!r}, which is not text in UTF-8 ({error.reason}); {expected}") from None
    if len(lines) <= 2 and "\r" in text.rstrip("\r\n"):
        raise NetworkFileError(f"file is {path!r}, whose lines end only in carriage returns; expected newlines")
    return text.split("\n")


def _fields(line: str, separator: str) -> list[str]:
    if separator == " ":
        return line.split()
    if len(line) > _LONGEST:
        return []
    return next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])


def _are_numbers(row: list[str]) -> bool:
    """Whether the first two fields are whole numbers, as the compiled reader takes them."""
    return len(row) >= 2 and all(map(_is_number, row[:2]))


def _is_number(field: str) -> bool:
    digits = field.strip().removeprefix("-")
    return digits.isascii() and digits.isdigit()


def _bad_line(path: str, line: int, text: str, expected: str) -> NetworkFileError:
    return NetworkFileError(f"file is {path!r}, whose line {line} is {reprlib.repr(text)}; expected {expected}")


def _read_numbers(path: str, form: EdgeFormat, block: bytes, blocks: Iterator[bytes]) -> Network:
    from graphbandit.kernels.graphs.networks import read_pairs

    separator = " " if form.separator == "\t" else form.separator
    parts: list[Int[np.ndarray, "_ 2"]] = []
    lines = form.skip
    while block:
        n_lines = block.count(b"\n")
        pairs = np.empty((n_lines, 2), dtype=np.int64)
        n, wrong = read_pairs(np.frombuffer(block, dtype=np.uint8), ord(separator), pairs)
        if wrong >= 0:
            line = block[wrong : block.index(b"\n", wrong)].decode("utf-8", "replace").strip()
            expected = (
                f"two whole numbers with {_SEPARATORS[form.separator]} between (id_type='text' if nodes have names)"
            )
            raise _bad_line(path, lines + block.count(b"\n", 0, wrong) + 1, line, expected)
        lines += n_lines
        pairs = pairs[:n]
        small = n == 0 or (pairs.min() >= -(2**31) and pairs.max() < 2**31)
        parts.append(pairs.astype(np.int32) if small else pairs.copy())
        block = next(blocks, b"")
    return Network.of_numbers(parts)


def _read_text(path: str, form: EdgeFormat, block: bytes, blocks: Iterator[bytes]) -> Network:
    nodes: dict[str, int] = {}
    parts = []
    lines = form.skip
    while block:
        try:
            text = block.decode("utf-8").split("\n")[:-1]
        except UnicodeDecodeError as error:
            line = lines + block.count(b"\n", 0, error.start) + 1
            raise _bad_line(path, line, repr(block[error.start : error.end]), "text in UTF-8") from None
        pairs = []
        for i, edge in enumerate(text):
            if not edge.strip() or (form.comment and edge.startswith(form.comment)):
                continue
            row = _fields(edge, form.separator) if '"' in edge else edge.split(form.separator.strip(" ") or None)
            ends = [field.strip() for field in row[:2]]
            if len(ends) < 2 or not all(ends):
                expected = f"two nodes with {_SEPARATORS[form.separator]} between"
                raise _bad_line(path, lines + i + 1, edge.strip(), expected)
            pairs.append([nodes.setdefault(end, len(nodes)) for end in ends])
        parts.append(np.array(pairs, dtype=np.int32).reshape(-1, 2))
        lines += len(text)
        block = next(blocks, b"")
    pairs_of_all = np.concatenate(parts) if parts else np.zeros((0, 2), dtype=np.int32)
    return Network.of_nodes(pairs_of_all, len(nodes), node_ids=tuple(nodes))
