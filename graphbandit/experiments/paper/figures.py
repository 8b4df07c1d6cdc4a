"""All figures of the reproduction, by the names of their files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from graphbandit.experiments.paper.findings import Findings
from graphbandit.experiments.paper.panels import plot_clique_curves, plot_kinds
from graphbandit.experiments.paper.part_figures import plot_parts, plot_set_sizes
from graphbandit.experiments.paper.star import plot_star_decision, star_decision
from graphbandit.experiments.paper.sweeps import AXES, plot_sweeps, sweeps
from graphbandit.experiments.paper.table_figure import plot_clique_table
from graphbandit.plots.decisions import plot_star_example
from graphbandit.plots.style import save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STAR = "star"
"""The experiment that is none: its figures come from single decisions."""


class Drawn(NamedTuple):
    """A figure, which experiment it belongs to, and in words what it shows."""

    name: str
    experiment: str
    figure: Figure
    shows: str


def all_figures(findings: Findings) -> Iterator[Drawn]:
    """One after the other, of what was run."""
    if (study := findings.study("ablation")) is not None:
        yield Drawn("ablation", "ablation", plot_kinds(study), "Regret over time on three kinds of graph.")
    if (study := findings.study("clique-table")) is not None:
        shows = "Regret against the number of arms in 5 cliques, beside the printed means."
        yield Drawn("clique-table", "clique-table", plot_clique_table(study), shows)
        shows = "Regret over time on 5 cliques, a curve for each number of arms."
        yield Drawn("clique-curves", "clique-table", plot_clique_curves(study), shows)
    if (study := findings.study("flixster")) is not None:
        yield Drawn("flixster", "flixster", plot_kinds(study), "Regret over time on a social network.")
    if (study := findings.study("parts")) is not None:
        shows = "Regret of AdaCB.G whole (dotted line) and without each of its parts, with 95 % intervals."
        yield Drawn("parts", "parts", plot_parts(study), shows)
    for name, axis in AXES.items():
        if panels := sweeps(findings, name):
            yield Drawn(name, name, plot_sweeps(panels, axis.label), f"Regret against {axis.label}.")
    if findings.set_sizes is not None:
        shows = "The size of the exploration set of all arms against the independence number, a dot for each round."
        yield Drawn("set-sizes", "directed", plot_set_sizes(findings.set_sizes), shows)
    star = star_decision(findings.asked.seed)
    shows = (
        f"A real decision of AdaCB.G, in epoch {star.decision.epoch} of a run on stars with {star.graph.n_arms} arms: "
        f"by its estimates a round costs {star.before:.3f} before the linear program and {star.after:.3f} after it."
    )
    yield Drawn("star-decision", STAR, plot_star_decision(star), shows)
    shows = "The paper's star: before and after the linear program, at gamma = 10."
    yield Drawn("star", STAR, plot_star_example(), shows)


def write_figures(drawn: list[Drawn], directory: Path) -> list[Path]:
    """Each as .png and .svg; the paths."""
    directory.mkdir(exist_ok=True)
    paths = [directory / f"{each.name}{suffix}" for each in drawn for suffix in (".png", ".svg")]
    for each in drawn:
        for suffix in (".png", ".svg"):
            save_figure(each.figure, directory / f"{each.name}{suffix}")
    return paths
