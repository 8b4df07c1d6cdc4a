"""The sections of the HTML report about the runs themselves: settings, failures, timings, how to run them again."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from graphbandit.experiments.analysis.statistics import FinalRegrets
from graphbandit.experiments.figures import curves as figures
from graphbandit.experiments.figures.parts import short_number
from graphbandit.experiments.report.html import Cell, figure_html, plain_table, section, sortable_table

if TYPE_CHECKING:
    from graphbandit.experiments.results.results import Results

FAILURES = 20
"""So many failed runs at most are shown with their traceback."""

VERSIONS = ("graphbandit", "python", "numpy")


def settings_section(results: Results) -> str:
    """What was run: the experiment, the versions, and the settings of every environment and learner."""
    told, finished, planned = results.experiment, results.runs.num_rows, results.n_planned
    rows = [
        ("experiment", told.name),
        ("rounds", f"{told.rounds}"),
        ("repeats", f"{told.repeats}"),
        ("seed", f"{told.seed}"),
        ("runs", f"{finished} of {planned} finished" if finished < planned else f"{finished}, all finished"),
        *((name, ", ".join(versions_of(results, name))) for name in VERSIONS if name in results.timings.column_names),
    ]
    return section("run", "What was run", plain_table(rows), *(points_table(results, kind) for kind in ROOMS))


ROOMS = {"environment": "Environments", "learner": "Learners"}


def versions_of(results: Results, name: str) -> list[str]:
    """The versions of a package that runs were made with."""
    return sorted({str(version) for version in results.timings.column(name).unique().to_pylist()})


def points_table(results: Results, kind: str) -> str:
    """Every environment or learner with all its settings, where the results tell them."""
    if "settings" not in results.runs.column_names:
        return ""
    runs = results.runs.select([kind, "settings"])
    told: dict[str, dict[str, Any]] = {}
    for label, text in zip(*(runs.column(name).to_pylist() for name in runs.column_names), strict=True):
        if label not in told:
            told[label] = json.loads(text)[kind]
    rows = [(label, _settings_text(settings)) for label, settings in told.items()]
    return f"<details><summary>{ROOMS[kind]} and their settings</summary>\n{plain_table(rows)}\n</details>"


def _settings_text(settings: dict[str, Any]) -> str:
    given = ", ".join(f"{name} = {json.dumps(value)}" for name, value in settings.items() if name != "kind")
    return f"{settings.get('kind', '')}: {given}".strip(": ")


def failures_section(results: Results) -> str:
    """The runs that ended in an error; nothing if none did."""
    failures: Sequence[dict[str, Any]] = results.failures
    if not failures:
        return ""
    parts = [
        f"<p>{len(failures)} run{'s' if len(failures) != 1 else ''} ended in an error and "
        f"{'are' if len(failures) != 1 else 'is'} in no figure here. Running the experiment again tries "
        f"{'them' if len(failures) != 1 else 'it'} again.</p>"
    ]
    for failure in failures[:FAILURES]:
        error = str(failure.get("error", "")).rstrip()
        what = f"{failure['learner']} in {failure['environment']}, repeat {failure['repeat']}"
        last = error.splitlines()[-1] if error else ""
        settings = json.dumps(failure.get("settings", {}), indent=1, ensure_ascii=False)
        parts.append(
            f"<details><summary>{escape(what)}: {escape(last)}</summary>\n<pre>{escape(settings)}</pre>\n"
            f"<pre>{escape(error)}</pre>\n</details>"
        )
    if len(failures) > FAILURES:
        parts.append(f'<p class="note">The first {FAILURES} are shown; all are in failures.json.</p>')
    return section("failures", "Failures", *parts)


def timings_section(results: Results, regrets: FinalRegrets) -> str:
    """Seconds of the runs; the one section that differs when the same experiment is run again."""
    if not results.timings.num_rows:
        return ""
    seconds = figures.mean_seconds(results)
    rows = []
    for name in regrets.learners:
        values = [seconds.get((place, name), math.nan) for place in regrets.environments]
        rows.append([Cell.text(name), *(Cell.number(seconds_text(value), value) for value in values)])
    table = sortable_table("Mean seconds a run", ["learner", *regrets.environments], rows)
    total = float(sum(results.timings.column("seconds").to_pylist()))
    text = f"<p>All runs together took {escape(seconds_text(total))} of computing.</p>"
    note = (
        '<p class="note">As measured on the machines that ran them; everything above this section is the same '
        "whenever the experiment is run again.</p>"
    )
    drawn = ""
    if any(math.isfinite(value) and value > 0 for value in seconds.values()):
        alt = "Mean final regret against mean seconds a run, on logarithmic axes; the table above has the seconds."
        picture = figures.plot_regret_versus_time(results)
        drawn = figure_html(picture, "time", alt)
    return section("timings", "Timings", text, table, drawn, note)


def seconds_text(x: float) -> str:
    """For readers; empty if it is not known."""
    if not math.isfinite(x):
        return ""
    if x >= 7200:
        return f"{x / 3600:.1f} h"
    return f"{x / 60:.1f} min" if x >= 120 else f"{short_number(x)} s"


def reproduce_section(results: Results) -> str:
    """The commands and the file that give these results again, and what to cite."""
    versions = versions_of(results, "graphbandit") if "graphbandit" in results.timings.column_names else []
    version = versions[0] if len(versions) == 1 else ""
    file = re.sub(r"[^A-Za-z0-9]+", "-", results.experiment.name).strip("-").lower() or "experiment"
    install = f"pip install graphbandit{'==' if version else ''}{version}"
    commands = f"{install}\ngraphbandit run {file}.toml --out {file}\ngraphbandit report {file}"
    settings = results.directory / "experiment.toml"
    parts = ["<p>The same seed gives the same figures, on any number of cores and on a cluster.</p>", _pre(commands)]
    if settings.is_file():
        text = settings.read_text(encoding="utf-8")
        parts.append(f"<details open><summary>{escape(file)}.toml</summary>\n{_pre(text.rstrip())}\n</details>")
    software = (
        "@software{graphbandit,\n  title   = {graphbandit: contextual bandits with graph feedback},\n"
        f"  author  = {{The graphbandit developers}},\n  version = {{{version or ', '.join(versions)}}}\n}}"
    )
    cite = "<p>To cite the software; cite the papers of the learners you use as well.</p>"
    return section("reproduce", "Reproduce and cite", *parts, cite, _pre(software))


def _pre(text: str) -> str:
    return f'<pre tabindex="0"><code>{escape(text)}</code></pre>'
