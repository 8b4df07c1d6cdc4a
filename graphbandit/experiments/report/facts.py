"""The sections of a report about the runs themselves: settings, failures, timings, how to run them again."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphbandit.base.tables import Table, number_cell, short_number
from graphbandit.experiments.analysis.statistics import FinalRegrets, mean_seconds
from graphbandit.experiments.figures import plot_regret_versus_time
from graphbandit.experiments.report.sections import texts
from graphbandit.experiments.results import files
from graphbandit.plots.pages.page import Section
from graphbandit.plots.pages.svg import page_picture

if TYPE_CHECKING:
    from graphbandit.experiments.results.reading import Results

FAILURES = 20
"""At most so many failed runs are shown with their traceback."""

VERSIONS = ("graphbandit", "python", "numpy")

CITATION = """\
@software{{graphbandit,
  title   = {{graphbandit: contextual bandits with graph feedback}},
  author  = {{The graphbandit developers}},
  version = {{{version}}}
}}"""


def settings_section(results: Results) -> Section:
    """What was run: the experiment, the versions, and the settings of every environment and learner."""
    told, finished, planned = results.experiment, results.runs.num_rows, results.n_planned
    rows = [
        ("experiment", told.name),
        ("rounds", f"{told.rounds}"),
        ("repeats", f"{told.repeats}"),
        ("seed", f"{told.seed}"),
        ("runs", f"{finished} of {planned} finished" if finished < planned else f"{finished}, all finished"),
        *version_rows([results]),
    ]
    return Section("run", "What was run", texts().run(rows, point_settings(results)))


def version_rows(several: Sequence[Results]) -> list[tuple[str, str]]:
    """The versions of this package, Python and NumPy that runs were made with."""
    known = [name for name in VERSIONS if all(name in results.timings.column_names for results in several)]
    return [(name, ", ".join(_versions(several, name))) for name in known]


def _versions(several: Sequence[Results], name: str) -> list[str]:
    return sorted({str(version) for each in several for version in each.timings.column(name).unique().to_pylist()})


def point_settings(results: Results) -> list[tuple[str, list[tuple[str, str]]]]:
    """Every environment and every learner with all its settings, where the results tell them."""
    if "settings" not in results.runs.column_names:
        return []
    found = []
    for kind, title in (("environment", "Environments"), ("learner", "Learners")):
        told: dict[str, str] = {}
        for label, text in zip(*(results.runs.column(name).to_pylist() for name in (kind, "settings")), strict=True):
            if label not in told:
                told[label] = _settings_text(json.loads(text)[kind])
        found.append((title, list(told.items())))
    return found


def _settings_text(settings: dict[str, Any]) -> str:
    given = ", ".join(f"{name} = {json.dumps(value)}" for name, value in settings.items() if name != "kind")
    return f"{settings.get('kind', '')}: {given}".strip(": ")


def failures_section(results: Results) -> Section | None:
    """The runs that ended in an error."""
    if not results.failures:
        return None
    shown = []
    for failure in results.failures[:FAILURES]:
        error = str(failure.get("error", "")).rstrip()
        shown.append(
            {
                "what": f"{failure['learner']} in {failure['environment']}, repeat {failure['repeat']}",
                "last": error.splitlines()[-1] if error else "",
                "settings": json.dumps(failure.get("settings", {}), indent=1, ensure_ascii=False),
                "error": error,
            }
        )
    return Section("failures", "Failures", texts().failures(len(results.failures), shown, FAILURES))


def timings_section(results: Results, regrets: FinalRegrets) -> Section | None:
    """Seconds of the runs; the one section that differs when the same experiment is run again."""
    if not results.timings.num_rows:
        return None
    seconds = mean_seconds(results)
    rows = []
    for name in regrets.learners:
        values = [seconds.get((place, name), math.nan) for place in regrets.environments]
        rows.append([name, *(number_cell(value, seconds_text(value)) for value in values)])
    table = Table("Mean seconds a run", ["learner", *regrets.environments], rows)
    picture = None
    if any(math.isfinite(value) and value > 0 for value in seconds.values()):
        alt = "Mean final regret against mean seconds a run, on logarithmic axes; the table above has the seconds."
        picture = page_picture(plot_regret_versus_time(results), "time", alt)
    body = texts().timings(seconds_text(computing_seconds(results)), table, picture)
    return Section("timings", "Timings", body, timings=True)


def computing_seconds(results: Results) -> float:
    """What all runs together took."""
    return float(sum(results.timings.column("seconds").to_pylist()))


def seconds_text(x: float) -> str:
    """Seconds, minutes or hours for readers; empty if not known."""
    if not math.isfinite(x):
        return ""
    if x >= 7200:
        return f"{x / 3600:.1f} h"
    return f"{x / 60:.1f} min" if x >= 120 else f"{short_number(x)} s"


def reproduce_section(results: Results) -> Section:
    """The commands and the file that give these results again, and what to cite."""
    versions = _versions([results], "graphbandit") if "graphbandit" in results.timings.column_names else []
    version = versions[0] if len(versions) == 1 else ""
    file = re.sub(r"[^A-Za-z0-9]+", "-", results.experiment.name).strip("-").lower() or "experiment"
    install = f"pip install graphbandit{'==' if version else ''}{version}"
    commands = f"{install}\ngraphbandit run {file}.toml --out {file}\ngraphbandit report {file}"
    path = results.folder / files.SETTINGS
    settings = path.read_text(encoding="utf-8").rstrip() if path.is_file() else ""
    citation = CITATION.format(version=version or ", ".join(versions))
    return Section("reproduce", "Reproduce and cite", texts().reproduce(commands, file, settings, citation))
