"""An evaluation as one HTML page that needs no network: table, verdicts, figures, notes."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphbandit.base.saved_files import write_atomically
from graphbandit.evaluation.figures import plot_over_time, plot_segments, plot_values, plot_weights
from graphbandit.evaluation.table import Difference, EvaluationTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDS = (
    ("value", "what the policy would have earned a round, on average"),
    ("low, high", "the interval of the value"),
    ("s.e.", "the standard error of the value"),
    ("eff. rounds", "how many rounds of equal weight would count as much"),
    ("max weight", "the most that a single round counts; 1 is average"),
    ("support", "the share of the policy's play that the log can speak about"),
    ("worth", "by what factor rewards of arms that were not played narrowed the interval"),
)


@dataclass(frozen=True)
class Shown:
    """A figure with its words."""

    title: str
    caption: str
    source: str


def write_report(
    table: EvaluationTable, path: Path, *, name: str = "the log", differences: Sequence[Difference] = ()
) -> Path:
    """Write the page to `path`, whole or not at all."""
    content = report_html(table, name=name, differences=differences).encode()
    write_atomically(path, lambda file: _write(file, content))
    return path


def write_table(table: EvaluationTable, path: Path) -> Path:
    """Write the rows of the table as CSV."""
    file = io.StringIO()
    rows = table.rows()
    writer = csv.DictWriter(file, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, lambda target: _write(target, file.getvalue().encode()))
    return path


def report_html(table: EvaluationTable, *, name: str = "the log", differences: Sequence[Difference] = ()) -> str:
    """The page."""
    import jinja2

    environment = jinja2.Environment(autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(
        resources.files("graphbandit.evaluation").joinpath("page.html").read_text("utf-8")
    )
    heads, rows = table._cells()
    settings = table.settings
    rounds = table[next(iter(table))].rounds
    return template.render(
        title=f"What would other policies have earned? {name}",
        subtitle=f"{rounds:,} rounds, {settings.method}, {settings.interval} intervals at {settings.level:.0%}",
        verdicts=[str(difference) for difference in differences] or [_best(table)],
        heads=heads,
        rows=rows,
        figures=_figures(table),
        differences=[_difference(difference) for difference in differences],
        notes=table.notes,
        facts=_facts(table),
        words=WORDS,
    )


def _best(table: EvaluationTable) -> str:
    best = table[table.best]
    return f"The highest value is that of {best.name}: {best.value:.5g} [{best.low:.5g}, {best.high:.5g}]."


def _difference(found: Difference) -> list[str]:
    better = found.first if found.value > 0 else found.second
    figures = [f"{value:.5g}" for value in (found.value, found.low, found.high)]
    return [f"{found.first} - {found.second}", *figures, f"{better} is better" if found.decided else "undecided"]


def _facts(table: EvaluationTable) -> list[tuple[str, str]]:
    low, high = table.reward_range
    facts = [
        ("rounds", f"{len(table.log):,}"),
        ("arms", f"{table.log.n_arms:,}"),
        ("rewards", f"from {low:g} to {high:g}" + ("" if table.range_given else ", as found in the log")),
    ]
    if table.sums.times is not None:
        facts.append(("time", f"{str(table.sums.times[0])[:16]} to {str(table.sums.times[1])[:16]}"))
    if table.dropped:
        facts.append(("left out", f"{table.dropped:,} rounds with missing rewards"))
    return facts


def _figures(table: EvaluationTable) -> list[Shown]:
    narrower = " Thin lines: without side observations." if any(v.worth == v.worth for v in table.values()) else ""
    over = "holds at all times at once" if table.settings.any_size else "holds at each time for itself"
    found = [
        Shown(
            "Values with intervals",
            f"The dot is the value, the bar its interval.{narrower}",
            _source(plot_values(table)),
        ),
        Shown("Over time", f"The value after more and more rounds; the band {over}.", _source(plot_over_time(table))),
        Shown(
            "Weights",
            "How many rounds have which weight. Few rounds far to the right decide the value.",
            _source(plot_weights(table)),
        ),
    ]
    if table.by is not None:
        words = "Values within each segment, the largest segments first, with asymptotic intervals."
        found.append(Shown(f"By {table.by}", words, _source(plot_segments(table))))
    return found


def _source(figure: Figure) -> str:
    """The figure as a data address, so that the page is one file; the same figure gives the same bytes."""
    import matplotlib as mpl

    file = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "graphbandit", "svg.fonttype": "path"}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    return "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode()


def _write(file: Any, content: bytes) -> None:
    file.write(content)
