"""Figures: a graph, one decision on its graph, the paper's star example, regret over time, networks.

Every function returns a new Matplotlib ``Figure`` and neither shows nor saves it; `save_figure` writes it, with the
same bytes each time. The colours are those of Okabe and Ito, which colour-blind readers can tell apart.
"""

from graphbandit.base.public_names import listing
from graphbandit.plots.decisions import StarExample, plot_decision, plot_probabilities, plot_star_example, star_example
from graphbandit.plots.graphs import plot_graph
from graphbandit.plots.networks import plot_network
from graphbandit.plots.regret import plot_regret
from graphbandit.plots.style import save_figure

__all__ = [
    "StarExample",
    "plot_decision",
    "plot_graph",
    "plot_network",
    "plot_probabilities",
    "plot_regret",
    "plot_star_example",
    "save_figure",
    "star_example",
]

__dir__ = listing(globals())
