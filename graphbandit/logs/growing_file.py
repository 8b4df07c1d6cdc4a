"""The files of a log that is being written: rows are appended to an Arrow stream, which ends as a Parquet file."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from graphbandit.base.locks import take_lock
from graphbandit.base.saved_files import write_atomically
from graphbandit.errors import LogError
from graphbandit.logs.folder import OPEN, SEALED, read_stream

ROWS_PER_GROUP = 1 << 16
APPENDS_PER_FILE = 1 << 12
BYTES_PER_FILE = 1 << 28
"""An unfinished file is also sealed after this many appends or bytes: sealing takes time an append, and memory."""


class GrowingFile:
    """The unfinished file of one table; `done` has its bytes, rows and appends that count."""

    def __init__(self, folder: Path, number: int, schema: pa.Schema, rows_per_file: int, sync: bool) -> None:
        self._folder, self._number, self.schema = folder, number, schema
        self._limit, self._sync = rows_per_file, sync
        self._file: io.FileIO | None = None
        self.done = (0, 0, 0)

    def stage(self, rows: pa.Table) -> tuple[int, int, int]:
        """Write rows behind those that count; returns what `done` is to be. On failure the file is as before."""
        if self._file is None:
            self.seal()  # nothing to do, unless that was interrupted
            self._file = io.FileIO(self._path, "w")
        end, count, appends = self.done
        try:
            if self._file.tell() != end:
                self._cut(end)
            if not end:
                write_all(self._file, memoryview(self.schema.serialize()))
            for batch in rows.combine_chunks().to_batches(max_chunksize=ROWS_PER_GROUP):
                write_all(self._file, memoryview(batch.serialize()))
            if self._sync:
                os.fsync(self._file.fileno())
        except OSError as error:
            with contextlib.suppress(OSError):
                self._cut(end)
            raise LogError(f"{self._path} cannot be written: {error.strerror or error}") from error
        return self._file.tell(), count + rows.num_rows, appends + 1

    @property
    def full(self) -> bool:
        """Whether it is to be sealed before more rows come."""
        end, rows, appends = self.done
        return rows >= self._limit or appends >= APPENDS_PER_FILE or end >= BYTES_PER_FILE

    def sync(self) -> None:
        """Flush it to disk."""
        if self._file is not None:
            os.fsync(self._file.fileno())

    def release(self) -> None:
        """Close it as it is."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._cut(self.done[0])
            self._file.close()
            self._file = None

    def seal(self) -> None:
        """Make the file a finished one; the next rows begin another. If it was interrupted, it can be done again."""
        self.release()
        if self.done[0] and self._path.exists():
            rows, _ = read_stream(self._path)
            assert rows is not None  # it has a schema, as some of it counts
            seal(self._path, rows)
        elif not self.done[0]:
            self._path.unlink(missing_ok=True)  # what is in it was never committed
            return
        self._number += 1
        self.done = (0, 0, 0)

    def _cut(self, end: int) -> None:
        assert self._file is not None
        self._file.truncate(end)
        self._file.seek(end)

    @property
    def _path(self) -> Path:
        return self._folder / f"{self._number:06d}{OPEN}"


def seal(path: Path, rows: pa.Table) -> None:
    """Write the rows of an unfinished file as Parquet beside it, and remove it."""

    def write(file: IO[bytes]) -> None:
        with parquet_writer(file, rows.schema) as writer:
            writer.write_table(rows.combine_chunks(), row_group_size=ROWS_PER_GROUP)

    write_atomically(path.with_suffix(SEALED), write)
    path.unlink()


def parquet_writer(file: Any, schema: pa.Schema) -> pq.ParquetWriter:
    """A Parquet file of this format, with statistics and checksums."""
    return pq.ParquetWriter(file, schema, compression="zstd", use_dictionary=False, write_page_checksum=True)


def write_all(file: Any, data: Any) -> None:
    """Write all of it, however many calls it takes."""
    view = memoryview(data)
    while len(view):
        view = view[file.write(view) :]


def lock_file(path: Path) -> IO[bytes]:
    """Hold a lock on a file until it is closed or the process ends, however it ends."""
    file = path.open("ab")
    try:
        take_lock(file.fileno())
    except OSError:
        file.close()
        raise LogError(f"{path.parent} is being written by another process or object") from None
    return file
