"""What every run of the benchmarks reached, a line each, so that a figure that gets worse is seen.

`graphbandit bench --history` appends to `benchmarks/history.jsonl` and says what got worse since the last run like it:
the same processor, settings and parts. The targets in `docs/benchmarks.md` and the figures of `docs/speed.md` and
the README come from the last whole run of that file:

    python -m benchmarks.history          write them again
"""

import datetime
import json
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.documents import figures, readme_sentence, speed_table, stamp
from benchmarks.pages import DOCS, ROOT, marked, put
from benchmarks.report import target_table
from benchmarks.settings import FULL, PARTS

HISTORY = Path(__file__).with_name("history.jsonl")
WORSE = 1.2
"""A figure that is worse by more than this factor is named; these machines are noisy."""


def line_of(results: dict[str, Any]) -> dict[str, Any]:
    """A run in short: when, what, where, every target with what was reached, and the figures that documents show."""
    return {
        **identity(results),
        "cpu": results["machine"]["cpu"],
        "load_before": results["machine"]["load_before"][0],
        "settings": results["settings"]["name"],
        "parts": sorted(results["parts"]),
        "targets": results["targets"],
        "figures": figures(results["parts"]),
    }


def identity(results: dict[str, Any]) -> dict[str, str]:
    """Which run it is: the day, the version and the revision."""
    return {
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "version": results["versions"]["graphbandit"],
        "revision": revision(),
    }


def revision() -> str:
    """The commit that was measured, with a plus sign if there were changes on top."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        found = subprocess.run(command, cwd=HISTORY.parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()


def read(path: Path = HISTORY) -> list[dict[str, Any]]:
    """All runs, oldest first."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def last_whole() -> dict[str, Any]:
    """The last run with the full settings and all parts: the one that documents show."""
    return [run for run in read() if run["settings"] == FULL.name and run["parts"] == sorted(PARTS)][-1]


def append(line: dict[str, Any], path: Path = HISTORY) -> list[str]:
    """Add a run; returns what got worse, in words, since the best of all runs like it: so small steps add up."""
    before = [run for run in read(path) if alike(run, line)]
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")
    return worse({"targets": best_rows(before)}, line)


def best_rows(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The row of every target in the run that reached most."""
    best: dict[str, dict[str, Any]] = {}
    for row in (row for run in runs for row in run["targets"] if row["reached"]):
        known = best.setdefault(row["target"], row)
        if (row["reached"] > known["reached"]) == row["wanted"].startswith(">="):
            best[row["target"]] = row
    return list(best.values())


def alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two runs can be compared."""
    return all(one[name] == other[name] for name in ("cpu", "settings", "parts"))


def worse(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The targets where `after` is much worse than `before`."""
    old = {row["target"]: row for row in before["targets"]}
    found = []
    for row in after["targets"]:
        was, now = old.get(row["target"], {}).get("reached"), row["reached"]
        if not was or not now:
            continue
        factor = was / now if row["wanted"].startswith(">=") else now / was
        if factor > WORSE:
            found.append(f"{row['target']}: {old[row['target']]['shown']} -> {row['shown']}")
    return found


def table(line: dict[str, Any]) -> str:
    """The targets of a run, for a document."""
    said = f"Of {stamp(line)}; settings: {line['settings']}, {line['cpu']}, load before {line['load_before']:.2f}."
    return f"{said}\n\n{target_table(line['targets']).table.to_markdown()}"


PLACES = {
    DOCS / "benchmarks.md": ("targets", table, False),
    DOCS / "speed.md": ("speed", speed_table, False),
    ROOT / "README.md": ("speed", readme_sentence, True),
}
"""Where the last run is shown: the name of the marks, what is between them, and whether that is on one line."""


def shown(line: dict[str, Any]) -> dict[Path, str]:
    """What each page holds of a run, with the marks."""
    return {page: marked(name, text(line), inline=inline) for page, (name, text, inline) in PLACES.items()}


if __name__ == "__main__":
    last = last_whole()
    for page, (name, text, inline) in PLACES.items():
        put(page, name, text(last), inline=inline)
        print(f"Written: {page}")
