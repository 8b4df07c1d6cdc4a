"""The section of heat maps: regret over settings that vary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphbandit.experiments.figures.heatmap import grid_name, plot_heatmap
from graphbandit.experiments.report.sections.base import Reported, figures_section
from graphbandit.plots.pages.page import Section
from graphbandit.plots.pages.svg import page_picture

HEAT_MAPS = 6
"""The most heat maps in a report."""


def section(reported: Reported) -> Section | None:
    """Heat maps over two settings: of the environments for the best learner, and of each learner that has any."""
    results, regrets, found = reported
    rows = results.runs.to_pylist()
    best = found.learners[0] if found else regrets.learners[0]
    places = _varied(rows, "environment.")
    wanted = [(places[0], places[1], best)] if len(places) > 1 else []
    for name in dict.fromkeys(grid_name(label) for label in regrets.learners):
        own = _varied([row for row in rows if grid_name(row["learner"]) == name], "learner.")
        axes = [*own[:2], *places][:2] if own else []
        wanted += [(axes[0], axes[1], name)] if len(axes) == 2 else []
    pictures = []
    for i, (x, y, learner) in enumerate(wanted[:HEAT_MAPS]):
        alt = f"Heat map of the mean final regret of {learner} over {x} and {y}; the cells hold the figures."
        pictures.append(page_picture(plot_heatmap(results, x=x, y=y, learner=learner), f"heat{i}", alt))
    text = "Mean final regret over two settings: the darker, the more. A cross marks values that were not run together."
    if len(places) > 1:
        text += f" Settings of environments are shown for {best}{', which ranks best' if found else ''}."
    return figures_section("settings", "Settings", pictures, text=text) if pictures else None


def _varied(rows: Sequence[dict[str, Any]], start: str) -> list[str]:
    """The settings that have several values in these runs."""
    columns = [name for name in rows[0] if name.startswith(start) and not name.endswith(".kind")]
    return [name for name in columns if len({row[name] for row in rows} - {None}) > 1]
