"""The seam between IDS.G and its kernels: from what an arm costs and teaches to the distribution to play."""

import numpy as np

from graphbandit.base.shapes import Bool, Float, Int
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.probabilistic import ProbabilisticGraphs
from graphbandit.planning.kernel_graphs import kernel_batches


def neighbourhood_information(
    graphs: FeedbackGraphs | ProbabilisticGraphs, information: Float[np.ndarray, "n arms"]
) -> Float[np.ndarray, "n arms"]:
    """g(j) = sum over the arms a that j reveals of v(a), each times its probability where edges have one.

    >>> from graphbandit import graphs
    >>> stars = FeedbackGraphs.repeat(graphs.star(3, hub=0), 1)
    >>> neighbourhood_information(stars, np.array([[1.0, 2.0, 4.0]]))
    array([[7., 3., 5.]])
    """
    from graphbandit.kernels.planning import information as kernels

    gains = np.empty_like(information)
    if isinstance(graphs, ProbabilisticGraphs):
        kernels.neighbourhoods_weighted(graphs.stored, graphs.index, information, gains)
    else:
        for part, stored in kernel_batches(graphs):
            kernels.neighbourhoods(stored, information[part], gains[part])
    return gains


def information_directed(
    regrets: Float[np.ndarray, "n arms"], gains: Float[np.ndarray, "n arms"], available: Bool[np.ndarray, "masks arms"]
) -> tuple[Float[np.ndarray, "n arms"], Int[np.ndarray, " n"]]:
    """The distribution of the smallest (sum p Delta)^2 / (sum p g), exactly, and the arm of the smallest Delta.

    At most two arms carry mass: the ends of one edge of the lower hull of the points (g, Delta). If some Delta is 0, or
    no arm has any gain, the arm of the smallest Delta is played; the lowest index on ties. One mask serves all
    rounds, or one each.

    >>> everyone = np.ones((1, 3), dtype=bool)
    >>> information_directed(np.array([[0.5, 0.5, 2.0]]), np.array([[0.0, 0.0, 0.5]]), everyone)[0].round(4)
    array([[0.6667, 0.    , 0.3333]])
    """
    from graphbandit.kernels.planning.information import directed_sampling

    probabilities, best = np.empty_like(regrets), np.empty(len(regrets), dtype=np.int64)
    directed_sampling(regrets, gains, available, probabilities, best)
    return probabilities, best
