"""All figures of the reproduction, by the names of their files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from graphbandit.errors import SavedFileError
from graphbandit.plots.decisions import plot_star_example
from graphbandit.plots.style import save_figure
from graphbandit.studies.paper.findings import Findings
from graphbandit.studies.paper.panels import plot_clique_curves, plot_kinds
from graphbandit.studies.paper.part_figures import plot_parts, plot_set_sizes
from graphbandit.studies.paper.star import plot_star_decision, star_decision
from graphbandit.studies.paper.sweeps import AXES, plot_sweeps, sweeps
from graphbandit.studies.paper.table_figure import plot_clique_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STAR = "star"
"""The experiment that is none: its figures come from single decisions."""


class Picture(NamedTuple):
    """A figure, which experiment it belongs to, and in words what it shows."""

    name: str
    experiment: str
    figure: Figure
    shows: str


class Drawn(NamedTuple):
    """The same once it is drawn."""

    name: str
    experiment: str
    svg: str
    shows: str


def all_figures(findings: Findings) -> Iterator[Picture]:
    """One after the other, of what was run."""
    if (study := findings.study("ablation")) is not None:
        yield Picture("ablation", "ablation", plot_kinds(study), "Regret over time on three kinds of graph.")
    if (study := findings.study("clique-table")) is not None:
        shows = "Regret against the number of arms in 5 cliques, beside the printed means."
        yield Picture("clique-table", "clique-table", plot_clique_table(study), shows)
        shows = "Regret over time on 5 cliques, a curve for each number of arms."
        yield Picture("clique-curves", "clique-table", plot_clique_curves(study), shows)
    if (study := findings.study("flixster")) is not None:
        yield Picture("flixster", "flixster", plot_kinds(study), "Regret over time on a social network.")
    if (study := findings.study("parts")) is not None:
        shows = "Regret of AdaCB.G whole (dotted line) and without each of its parts, with 95 % intervals."
        yield Picture("parts", "parts", plot_parts(study), shows)
    for name, axis in AXES.items():
        if panels := sweeps(findings, name):
            yield Picture(name, name, plot_sweeps(panels, axis.label), f"Regret against {axis.label}.")
    if findings.set_sizes is not None:
        shows = "The size of the exploration set of all arms against the independence number, a dot for each round."
        yield Picture("set-sizes", "directed", plot_set_sizes(findings.set_sizes), shows)
    star = star_decision(findings.asked.seed)
    shows = (
        f"A real decision of AdaCB.G, in epoch {star.decision.epoch} of a run on stars with {star.graph.n_arms} arms: "
        f"by its estimates a round costs {star.before:.3f} before the linear program and {star.after:.3f} after it."
    )
    yield Picture("star-decision", STAR, plot_star_decision(star), shows)
    shows = "The paper's star: before and after the linear program, at gamma = 10."
    yield Picture("star", STAR, plot_star_example(), shows)


def write_figures(findings: Findings, directory: Path) -> list[Drawn]:
    """Each as .png and .svg in the directory."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SavedFileError(f"{directory} cannot be made: {error.strerror or error}") from None
    drawn = []
    for name, experiment, figure, shows in all_figures(findings):
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # the layout is settled: not once more for each file
        for suffix in (".png", ".svg"):
            save_figure(figure, directory / f"{name}{suffix}")
        drawn.append(Drawn(name, experiment, (directory / f"{name}.svg").read_text(encoding="utf-8"), shows))
    return drawn
