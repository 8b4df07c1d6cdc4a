"""The figure of the sweep of eta."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from graphbandit.base.colours import INK
from graphbandit.plots.axes import panel_title, panels_for, plain_log_ticks, write_labels, write_legend
from graphbandit.plots.learner_looks import Look, looks
from graphbandit.plots.style import GREY, PALE
from graphbandit.studies.exploration.sweep import FACTOR, Choice, EtaCase, EtaSweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMS: dict[str, Any] = {"natural": "solid", "width": (0, (1.3, 1.3)), "paper": (0, (4, 1.6))}
"""The dash pattern of each form of gamma."""


def plot_sweep(sweep: EtaSweep) -> Figure:
    """A panel for each class: regret over that of the best choice against eta, a colour for each graph."""
    from matplotlib.lines import Line2D

    titles = list(dict.fromkeys(case.title for case in sweep.cases))
    figure, panels = panels_for(len(titles))
    look = looks(list(dict.fromkeys(case.graph for case in sweep.cases)))
    for axes, title in zip(panels, titles, strict=True):
        _draw_panel(axes, [case for case in sweep.cases if case.title == title], look, sweep.default)
        panel_title(axes, title)
    lines = {name: Line2D([], [], color=one.colour, linewidth=1.8) for name, one in look.items()}
    lines |= {
        f'gamma="{form}"': Line2D([], [], color=INK, linestyle=dash, linewidth=1.4) for form, dash in FORMS.items()
    }
    lines["the default"] = Line2D([], [], color=GREY, marker="o", linestyle="none")
    lines[f"{FACTOR:g} times the best"] = Line2D([], [], color=GREY, linestyle=":")
    write_legend(figure, lines, columns=5)
    return figure


def _draw_panel(axes: Axes, cases: Sequence[EtaCase], look: Mapping[str, Look], default: Choice) -> None:
    for case in cases:
        colour = look[case.graph].colour
        for form, dash in FORMS.items():
            doubt = default.doubt if form == default.gamma else 0.0
            curve = sorted(one for one in case.regrets if one.gamma == form and one.doubt == doubt)
            etas, ratios = [one.eta for one in curve], [case.ratio(one) for one in curve]
            axes.plot(etas, ratios, color=colour, linestyle=dash, linewidth=1.4)
        axes.plot([default.eta], [case.ratio(default)], color=colour, marker="o", markersize=5)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.axhline(FACTOR, color=GREY, linestyle=":", linewidth=1.0)
    axes.axvline(default.eta, color=PALE, linewidth=0.8, zorder=1)
    write_labels(axes, "eta", "regret / best")
    plain_log_ticks(axes.yaxis)
