"""A log in a folder, read file by file and row group by row group: memory does not grow with the log."""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphbandit.base.shapes import Int
from graphbandit.errors import LogError
from graphbandit.logs.arrow_rows import integers, to_batch
from graphbandit.logs.batch import LogBatch
from graphbandit.logs.column_types import check_types, plain_type, to_format
from graphbandit.logs.format import (
    DECISION_COLUMNS,
    DECISIONS,
    GRAPHS,
    REWARDS,
    STAMP,
    TABLES,
    Layout,
    Stamp,
    check_columns,
)
from graphbandit.logs.graph_rows import GraphStore
from graphbandit.logs.storage import Storage, range_of
from graphbandit.logs.widening import widened

SEALED, OPEN = ".parquet", ".arrows"
ATTEMPTS = 10
KEPT_PIECES = 8
"""Row groups of rewards that are kept, as the next batch may need them again."""


@dataclass(frozen=True)
class Piece:
    """A row group of a Parquet file, or all rows of an unfinished file; `low` and `high` are its ids."""

    path: Path
    group: int | None
    rows: int
    first_row: int
    low: int
    high: int


class _Grown(Exception):  # noqa: N818
    """Arms have joined since log.json was read."""


class FolderStorage(Storage):
    """The rounds of a log in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stamp = read_stamp(folder)
        self._open: dict[Path, pa.Table] = {}
        self._arms: dict[Path, int] = {}
        self._pieces = self._scan_all()
        self._store = GraphStore(self._stamp.n_arms)
        for piece in self._pieces[GRAPHS]:
            self._store.add(self._read(piece), str(piece.path.relative_to(folder)))
        self._kept: OrderedDict[Piece, pa.Table] = OrderedDict()

    def __reduce__(self) -> tuple[type, tuple[Path]]:
        return FolderStorage, (self.folder,)

    def __len__(self) -> int:
        return sum(piece.rows for piece in self._pieces[DECISIONS])

    @property
    def n_unmatched(self) -> int:
        """Rewards of decisions after the last: a log that is being written may have them."""
        last = max((piece.high for piece in self._pieces[DECISIONS]), default=-1)
        later = [piece for piece in self._pieces[REWARDS] if piece.high > last]
        return sum(int((integers(self._read(piece), "decision", REWARDS) > last).sum()) for piece in later)

    def batches(self, first: int, stop: int, size: int) -> Iterator[LogBatch]:
        """The decisions in their order, each with its rewards, wherever those are."""
        after = np.iinfo(np.int64).min if first == 0 else None
        for start, decisions in self._decisions(first, stop, size):
            ids = integers(decisions, "id", DECISIONS, start)
            low = int(ids[0]) if after is None else after
            rewards, rows = self._rewards(low, int(ids[-1]))
            yield to_batch(decisions, rewards, rows, stamp=self._stamp, graphs=self._store, first_row=start)
            after = int(ids[-1]) + 1

    def tables(self) -> Iterator[tuple[str, pa.Table]]:
        """Row group by row group."""
        for table in TABLES:
            for piece in self._pieces[table]:
                yield table, self._read(piece)

    def reward_range(self) -> tuple[float, float]:
        """The lowest and the highest reward, from the statistics of the files where they have them."""
        found: list[float] = []
        for piece in self._pieces[REWARDS]:
            statistics = None
            if piece.group is not None:
                with _parquet(piece.path, self.folder) as file:
                    statistics = _statistics(file, piece.group, "reward")
            found += statistics or range_of(np.asarray(self._read(piece)["reward"].to_numpy(), dtype=np.float64))
        return range_of(np.array(found, dtype=np.float64))

    def _decisions(self, first: int, stop: int, size: int) -> Iterator[tuple[int, pa.Table]]:
        """Tables of `size` rows, as rows and not files count."""
        held: list[pa.Table] = []
        start, count = first, 0
        last = None
        for piece in self._pieces[DECISIONS]:
            begin, end = max(first - piece.first_row, 0), min(stop - piece.first_row, piece.rows)
            if begin >= end:
                continue
            if last is not None and piece.low <= last:
                raise LogError(
                    f"the id {piece.low} follows {last}; expected ids that grow from row to row",
                    table=DECISIONS,
                    row=piece.first_row,
                )
            last = piece.high
            rows = self._read(piece).slice(begin, end - begin)
            while count + rows.num_rows >= size:
                part = rows.slice(0, size - count)
                yield start, pa.concat_tables([*held, part], promote_options="default")
                start, held, count = start + size, [], 0
                rows = rows.slice(part.num_rows)
            if rows.num_rows:
                held.append(rows)
                count += rows.num_rows
        if count:
            yield start, pa.concat_tables(held, promote_options="default")

    def _rewards(self, low: int, high: int) -> tuple[pa.Table, Int[np.ndarray, " rewards"]]:
        """The rewards of decisions low .. high, and their rows in the table."""
        tables, rows = [Layout(stamp=self._stamp).schema(REWARDS).empty_table()], [np.empty(0, dtype=np.int64)]
        for piece in self._pieces[REWARDS]:
            if piece.high < low or piece.low > high:
                continue
            table = self._kept.pop(piece) if piece in self._kept else self._read(piece)
            self._kept[piece] = table
            if len(self._kept) > KEPT_PIECES:
                self._kept.popitem(last=False)
            of = integers(table, "decision", REWARDS, piece.first_row)
            chosen = np.flatnonzero((of >= low) & (of <= high))
            tables.append(table.take(pa.array(chosen)) if len(chosen) < len(of) else table)
            rows.append(chosen + piece.first_row)
        return pa.concat_tables(tables, promote_options="default"), np.concatenate(rows)

    def _scan_all(self) -> dict[str, list[Piece]]:
        """Rewards first, as decisions are written before their rewards and graphs before decisions."""
        for _ in range(ATTEMPTS):
            self.lost_bytes, self._open, self.layout = 0, {}, Layout(stamp=self._stamp)
            try:
                return {table: self._scan(table) for table in reversed(TABLES)}
            except FileNotFoundError:  # a writer has sealed a file since it was listed
                continue
            except _Grown:
                self._stamp = read_stamp(self.folder)
        raise LogError(f"{self.folder} changes faster than it can be read")

    def _scan(self, table: str) -> list[Piece]:
        """The pieces of a table in order, from the ends of the files alone where they are sealed."""
        pieces: list[Piece] = []
        row = 0
        for path in table_files(self.folder, table):
            if path.suffix == OPEN:
                rows, lost = read_stream(path)
                self.lost_bytes += lost
                if rows is None:
                    continue
                self._check_file(rows.schema, table, path)
                self._open[path] = rows
                groups: list[tuple[int | None, int, tuple[float, float] | None]] = [(None, rows.num_rows, None)]
            else:
                with _parquet(path, self.folder) as file:
                    self._check_file(file.schema_arrow, table, path)
                    sizes = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
                    groups = [(g, size, _statistics(file, g, _key(table))) for g, size in enumerate(sizes)]
            for group, count, known in groups:
                if not count:
                    continue
                piece = Piece(path, group, count, row, 0, 0)
                if known is None:
                    ids = integers(self._read(piece), _key(table), table, row)
                    known = ids.min(), ids.max()
                pieces.append(replace(piece, low=int(known[0]), high=int(known[1])))
                row += count
        return pieces

    def _check_file(self, schema: pa.Schema, table: str, path: Path) -> None:
        place = str(path.relative_to(self.folder))
        text = (schema.metadata or {}).get(STAMP)
        if text is None:
            raise LogError(f"{place} has no stamp of a log in its metadata; expected a file of this format")
        stamp = Stamp.from_json(text, place)
        if not self._stamp.extends(stamp):
            if stamp.extends(self._stamp) and read_stamp(self.folder) != self._stamp:
                raise _Grown
            for name in ("n_arms", "context_shape", "arms"):
                mine, theirs = getattr(stamp, name), getattr(self._stamp, name)
                if mine != theirs:
                    raise LogError(f"{place} has {name} {mine}; expected {theirs}, as log.json has")
        self._arms[path] = stamp.n_arms
        check_columns(table, schema, place)
        if table == DECISIONS:
            further = {field.name: plain_type(field.type) for field in schema if field.name not in DECISION_COLUMNS}
            self.layout = Layout(stamp=self._stamp, columns=further | self.layout.columns)
        check_types(table, schema, self.layout, place)

    def _read(self, piece: Piece) -> pa.Table:
        place, table = str(piece.path.relative_to(self.folder)), piece.path.parent.name
        if piece.group is None:
            rows = self._open[piece.path]
        else:
            with _parquet(piece.path, self.folder) as file:
                try:
                    rows = file.read_row_group(piece.group)
                except (pa.ArrowException, OSError) as error:
                    raise LogError(f"{place} is damaged: {error}", table=table, row=piece.first_row) from None
        rows = to_format(rows, table, self.layout, place=place, first_row=piece.first_row)
        return widened(rows, table, self._arms[piece.path], self._stamp.n_arms)


def log_folder(folder: str | os.PathLike[str]) -> Path:
    """The path of a log; LogError if it is not one."""
    if not isinstance(folder, str | os.PathLike) or not os.fspath(folder):
        raise LogError(f"the folder is {folder!r}; expected the path of a log")
    return Path(folder)


def read_stamp(folder: Path) -> Stamp:
    """What log.json says."""
    try:
        text = (folder / "log.json").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise LogError(f"{folder} is not a log: it has no log.json") from None
    except OSError as error:
        raise LogError(f"{folder / 'log.json'} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise LogError(f"{folder / 'log.json'} is not JSON: {error}") from None
    return Stamp.from_json(text, "log.json")


def table_files(folder: Path, table: str) -> list[Path]:
    """The files of a table in order; an unfinished file counts only if it was not sealed since."""
    found: dict[str, Path] = {}
    for path in sorted((folder / table).glob("*")):
        if path.suffix in (SEALED, OPEN) and re.fullmatch(r"\d{6,}", path.stem):
            old = found.setdefault(path.stem, path)
            if old.suffix == OPEN:
                found[path.stem] = path
    return [found[name] for name in sorted(found, key=int)]


def read_stream(path: Path) -> tuple[pa.Table | None, int]:
    """The whole batches of an unfinished file, and how many bytes after them are of no use."""
    whole, size = 0, path.stat().st_size
    batches: list[pa.RecordBatch] = []
    with pa.OSFile(str(path)) as file:
        try:
            reader = pa.ipc.open_stream(file)
            schema, whole = reader.schema, file.tell()
            while True:
                batches.append(reader.read_next_batch())
                whole = file.tell()
        except StopIteration:
            whole = file.tell()
        except (pa.ArrowException, OSError, EOFError):
            if not whole:
                return None, size
    return pa.Table.from_batches(batches, schema=schema), size - whole


def _parquet(path: Path, folder: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path, page_checksum_verification=True)
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise LogError(f"{path.relative_to(folder)} is truncated or damaged: {error}", table=path.parent.name) from None


def _key(table: str) -> str:
    return {DECISIONS: "id", REWARDS: "decision", GRAPHS: "graph"}[table]


def _statistics(file: pq.ParquetFile, group: int, name: str) -> tuple[float, float] | None:
    """The smallest and the largest value of a column in a row group, if the file tells and it holds numbers."""
    kind = file.schema_arrow.field(name).type
    if not (pa.types.is_integer(kind) or pa.types.is_float64(kind)):
        return None
    meta = file.metadata.row_group(group)
    for place in range(meta.num_columns):
        column = meta.column(place)
        if column.path_in_schema == name:
            found = column.statistics
            return (found.min, found.max) if found is not None and found.has_min_max else None
    return None
