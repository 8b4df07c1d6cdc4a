"""The outcome of a study: verdicts, tables, figures, and an HTML page with all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graphbandit.base.printed_table import Table, counted, number_cell
from graphbandit.base.saved_files import make_folder
from graphbandit.experiments.report.facts import computing_seconds, seconds_text, version_rows
from graphbandit.plots.pages.page import Section, page_html, templates, write_text
from graphbandit.plots.pages.svg import PagePicture, page_picture
from graphbandit.plots.style import save_figure
from graphbandit.studies.findings import Findings, family

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOM = "graphbandit.studies"
PAGE, TABLES, FIGURES = "report.html", "tables.md", "figures"
"""The files that every study writes beside its runs."""


class Picture(NamedTuple):
    """A figure, the name of its file, a caption, and the experiment it belongs to, if any."""

    name: str
    figure: Figure
    shows: str
    experiment: str = ""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a study has found.

    - `title`: the title of the page.
    - `lead`: a sentence below the title.
    - `verdicts`: the findings in words.
    - `table`: the table that the console shows, if any.
    - `tables`: all tables as Markdown.
    - `pictures`: all figures.
    - `sections`: a function from the drawn figures, by name, to the sections of the page.
    - `files`: from names of further files to the functions that write them; none by default.
    - `closing`: lines that the console shows last; none by default.
    """

    title: str
    lead: str
    verdicts: Sequence[str]
    table: Table | None
    tables: str
    pictures: Sequence[Picture]
    sections: Callable[[Mapping[str, PagePicture]], Sequence[Section]]
    files: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)
    closing: Sequence[str] = ()


def texts() -> Any:
    """The template that the pages of all studies share."""
    return templates(ROOM, "study.html")


def write_outcome(outcome: Outcome, findings: Findings, out: Path, *, seconds: Callable[[], float]) -> None:
    """Write page, tables and figures; `seconds()` returns the time that everything has taken so far."""
    drawn = _write_figures(outcome.pictures, out / FIGURES)
    for name, write in outcome.files.items():
        write(out / name)
    write_text(out / TABLES, outcome.tables)
    sections = [*outcome.sections(drawn), run_section(findings), _timings_section(findings, seconds())]
    write_text(out / PAGE, page_html(outcome.title, outcome.lead, sections))


def lead_of(findings: Findings, what: str) -> str:
    """A sentence below the title: what was run, how often, and with which seed."""
    repeats = sorted({finding.experiment.repeats for finding in findings.experiments.values()})
    plan, counts = findings.plan, " or ".join(map(str, repeats))
    return (
        f"{what}, {plan.preset} preset: {counts} repeat{'' if repeats == [1] else 's'}, seed {plan.seed}. "
        "Learners of one repeat share all draws; intervals are at 95 %."
    )


def plain_sections(
    verdicts: Sequence[str], tables: Sequence[Table]
) -> Callable[[Mapping[str, PagePicture]], list[Section]]:
    """The sections of a page with a verdict, tables and figures."""

    def sections(drawn: Mapping[str, PagePicture]) -> list[Section]:
        return [verdict_section(verdicts), tables_section("tables", "Tables", tables), figures_section(drawn)]

    return sections


def verdict_section(lines: Sequence[str], behind: Sequence[str] = ()) -> Section:
    """The findings in words, and where ours are behind."""
    return Section("verdict", "Verdict", texts().verdict(lines, behind))


def tables_section(name: str, title: str, tables: Sequence[Table], key: str = "") -> Section:
    """Tables, and what their marks mean."""
    return Section(name, title, texts().tables(tables, key))


def figures_section(drawn: Mapping[str, PagePicture]) -> Section:
    """All figures."""
    return Section("figures", "Figures", texts().figures(list(drawn.values())))


def run_section(findings: Findings) -> Section:
    """The command, the sizes and the versions."""
    plan = findings.plan
    sizes = []
    for name, finding in findings.experiments.items():
        title, told = plan.described.experiments.get(family(name), name), finding.experiment
        sizes.append((title, f"{counted(told.repeats, 'repeat')} of {told.rounds} rounds"))
    runs = sum(results.runs.num_rows for results in findings.results)
    rows = [("command", plan.command), ("seed", str(plan.seed)), ("runs", str(runs)), *sizes]
    return Section("run", "What was run", texts().run([*rows, *version_rows(findings.results)]))


def _timings_section(findings: Findings, seconds: float) -> Section:
    computing = {name: computing_seconds(finding.results) for name, finding in findings.experiments.items()}
    rows = []
    for name, finding in findings.experiments.items():
        runs = finding.results.runs.num_rows
        rows.append([name, number_cell(runs, str(runs)), number_cell(computing[name], seconds_text(computing[name]))])
    table = Table("Computing of the learners", ["experiment", "runs", "processor seconds"], rows)
    body = texts().timings(seconds_text(seconds), seconds_text(sum(computing.values())), table)
    return Section("timings", "Timings", body, timings=True)


def _write_figures(pictures: Sequence[Picture], folder: Path) -> dict[str, PagePicture]:
    """Write each figure as .png and .svg, and return the figures for the page."""
    make_folder(folder)
    drawn = {}
    for picture in pictures:
        picture.figure.draw_without_rendering()
        picture.figure.set_layout_engine("none")  # the layout is settled, so do not compute it again for each file
        for suffix in (".png", ".svg"):
            save_figure(picture.figure, folder / f"{picture.name}{suffix}")
        svg = (folder / f"{picture.name}.svg").read_text(encoding="utf-8")
        drawn[picture.name] = page_picture(svg, picture.name, picture.shows, picture.shows)
    return drawn
