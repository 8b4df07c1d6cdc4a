"""Figures of an experiment, each a Matplotlib ``Figure`` of its own made from `Results`.

`graphbandit.plots.save_figure` writes one as .png, .svg or .pdf, with the same bytes each time.
"""

from graphbandit.experiments.figures.curves import plot_curves, plot_regret_versus_time
from graphbandit.experiments.figures.heatmap import plot_heatmap
from graphbandit.experiments.figures.pairs import plot_paired
from graphbandit.experiments.figures.ranks import plot_ranks

__all__ = ["plot_curves", "plot_heatmap", "plot_paired", "plot_ranks", "plot_regret_versus_time"]
