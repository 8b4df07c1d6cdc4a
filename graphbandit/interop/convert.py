"""Logs from and to files of other programs, by the names of the files: what ``graphbandit convert`` does."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from graphbandit.base.checks import setting_choice
from graphbandit.base.choices import ContextForm, LogFormat, WrittenFormat
from graphbandit.base.progress import OnProgress
from graphbandit.errors import LogError, SettingError
from graphbandit.interop import frames, obp
from graphbandit.interop.vw import VwReader, dsjson, text, write_dsjson, write_text
from graphbandit.logs import Log, LogWriter
from graphbandit.logs.whole_folder import whole_folder

ENDINGS: dict[str, LogFormat] = {
    ".dsjson": "vw-dsjson",
    ".dsjson.gz": "vw-dsjson",
    ".json": "vw-dsjson",
    ".json.gz": "vw-dsjson",
    ".vw": "vw-text",
    ".dat": "vw-text",
    ".txt": "vw-text",
    ".txt.gz": "vw-text",
    ".npz": "obp",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".parquet": "parquet",
}
WRITERS: dict[WrittenFormat, Callable[[Log, Path], None]] = {
    "log": Log.write,
    "vw-dsjson": write_dsjson,
    "vw-text": write_text,
    "obp": obp.write,
}
"""What writes a log, by the format."""
PICKLES = (".pkl", ".pickle", ".joblib")


@dataclass
class Converted:
    """What was converted: the rounds, and the lines that were left out, by the reason."""

    rounds: int
    skipped: dict[str, int] = field(default_factory=dict)


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    source_format: LogFormat | None = None,
    target_format: WrittenFormat | None = None,
    context_form: ContextForm = "auto",
    features: Sequence[str] | None = None,
    progress: OnProgress | None = None,
    **settings: Any,
) -> Converted:
    """Write what is in `source` as a log to the new folder `target`, or a log to a file of another program.

    Files of Vowpal Wabbit are read in batches, so memory does not grow with them; others are read as a whole.

    - `source_format`, `target_format`: "vw-dsjson", "vw-text", "obp", "csv", "parquet" or "log"; None
      (default): by the end of the name.
    - `context_form`, `features`: of files of Vowpal Wabbit, as `read_dsjson` has them.
    - `progress`: called with the rounds done and to do.
    - `settings`: of CSV and Parquet files, as `frames.read` has them.
    """
    begin, end = Path(source), Path(target)
    if not begin.exists():
        raise LogError(f"{begin} does not exist; expected a file or the folder of a log")
    one = _format(begin, source_format, "source_format")
    other = _format(end, target_format, "target_format")
    if "log" not in (one, other):
        raise SettingError(f"neither {begin.name} nor {end.name} is a log; expected the folder of a log as one of them")
    given = {name: value for name, value in settings.items() if value is not None}
    if given and one not in ("csv", "parquet"):
        raise SettingError(f"{', '.join(given)} came with a file of {one}; expected a .csv or .parquet file")
    if one in ("vw-dsjson", "vw-text"):
        parse = dsjson.rounds if one == "vw-dsjson" else text.rounds
        return _streamed(VwReader(begin, parse, context_form, features), end, progress)
    readers: dict[LogFormat, Callable[[Path], Log]] = {"log": Log.read, "obp": obp.read}
    log = readers[one](begin) if one in readers else frames.read(begin, **given)
    if other not in WRITERS:
        raise SettingError(f"a log cannot be written as {other}; expected .dsjson, .txt or .npz, or a folder")
    if progress is not None:
        progress(0, len(log))
    WRITERS[other](log, end)
    if progress is not None:
        progress(len(log), len(log))
    return Converted(len(log))


def _format(path: Path, given: LogFormat | None, name: str) -> LogFormat:
    if given is not None:
        setting_choice(name, given, get_args(LogFormat))
        return given
    if path.is_dir():
        return "log"
    if path.name.endswith(PICKLES):
        raise SettingError(f"{path.name} is a pickle, which may run any code when it is read; expected .npz")
    endings = [end for end in ENDINGS if path.name.endswith(end)]
    if endings:
        return ENDINGS[max(endings, key=len)]
    if not path.suffix:
        return "log"
    raise SettingError(f"{path.name} ends in {path.suffix!r}; expected {', '.join(ENDINGS)}, or a format")


def _streamed(reader: VwReader, target: Path, progress: OnProgress | None) -> Converted:
    """Batch by batch into a new folder: all of it, or nothing."""
    rounds, stamp = reader.outline.rounds, reader.layout.stamp
    with whole_folder(target) as part:
        with LogWriter(
            part,
            n_arms=stamp.n_arms,
            context_shape=stamp.context_shape,
            arms=stamp.arms,
            context_names=stamp.context_names,
            columns=reader.layout.columns,
        ) as writer:
            for batch in reader.batches():
                writer.append(batch)
                if progress is not None:
                    progress(writer.next_id, rounds)
        (part / "writer.lock").unlink(missing_ok=True)
    return Converted(rounds, dict(reader.outline.skipped))
