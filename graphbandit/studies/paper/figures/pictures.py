"""All figures of the reproduction, by the names of their files."""

from __future__ import annotations

from collections.abc import Iterator

from graphbandit.plots.decisions import plot_decision, plot_star_example
from graphbandit.studies.findings import Findings
from graphbandit.studies.outcome import Picture
from graphbandit.studies.paper.figures.clique_table import plot_clique_table
from graphbandit.studies.paper.figures.over_time import plot_clique_curves, plot_kinds
from graphbandit.studies.paper.figures.trends import plot_trends
from graphbandit.studies.paper.figures.without_parts import plot_parts, plot_set_sizes
from graphbandit.studies.paper.set_sizes import SetSizes
from graphbandit.studies.paper.star import star_decision
from graphbandit.studies.paper.trends import AXES, trends

STAR = "star"
"""The experiment that the figures of single decisions are listed under."""


def pictures(findings: Findings, sizes: SetSizes | None) -> Iterator[Picture]:
    """All figures of what was run."""
    if (finding := findings.get("ablation")) is not None:
        yield Picture("ablation", plot_kinds(finding), "Regret over time on three kinds of graph.", "ablation")
    if (finding := findings.get("clique-table")) is not None:
        shows = "Regret against the number of arms in 5 cliques, beside the printed means."
        yield Picture("clique-table", plot_clique_table(finding), shows, "clique-table")
        shows = "Regret over time on 5 cliques, a curve for each number of arms."
        yield Picture("clique-curves", plot_clique_curves(finding), shows, "clique-table")
    if (finding := findings.get("flixster")) is not None:
        yield Picture("flixster", plot_kinds(finding), "Regret over time on a social network.", "flixster")
    if (finding := findings.get("parts")) is not None:
        shows = "Regret of AdaCB.G whole (dotted line) and without each of its parts, with 95 % intervals."
        yield Picture("parts", plot_parts(finding), shows, "parts")
    for name, axis in AXES.items():
        if panels := trends(findings, name):
            yield Picture(name, plot_trends(panels, axis.label), f"Regret against {axis.label}.", name)
    if sizes is not None:
        shows = (
            "The size of the exploration set of all arms against the independence number. Each dot is a pair of sizes; "
            "the larger it is, the more rounds had them."
        )
        yield Picture("set-sizes", plot_set_sizes(sizes), shows, "directed")
    star = star_decision(findings.plan.seed)
    shows = (
        f"A real decision of AdaCB.G, in epoch {star.decision.epoch} of a run on stars with {star.graph.n_arms} arms: "
        f"by its estimates a round costs {star.before:.3f} before the linear program and {star.after:.3f} after it."
    )
    yield Picture("star-decision", plot_decision(star.decision, star.graph, values=star.values), shows, STAR)
    shows = "The paper's star: before and after the linear program, at gamma = 10."
    yield Picture("star", plot_star_example(), shows, STAR)
