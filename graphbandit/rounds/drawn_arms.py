"""Drawing arms: probabilities and graphs in; the arm of each round and what it may reveal out."""

import numpy as np

from graphbandit.base.shapes import Bool, Float, Int
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.kernel_forms import kernel_batches
from graphbandit.graphs.probabilistic import ProbabilisticGraphs


def draw(
    probabilities: Float[np.ndarray, "n arms"],
    graphs: FeedbackGraphs | ProbabilisticGraphs,
    uniforms: Float[np.ndarray, " n"],
) -> tuple[Int[np.ndarray, " n"], Float[np.ndarray, "n arms"]]:
    """Draw the arm of every round by inverse transform, and work out its observation probabilities q.

    q(a) = sum of p(j) over the arms j that reveal a, each times the probability of its edge where edges have one.
    The arrays are trusted.
    """
    from graphbandit.kernels.planning import draw as kernels

    observed, actions = np.empty_like(probabilities), np.empty(len(graphs), dtype=np.int64)
    if isinstance(graphs, ProbabilisticGraphs):
        kernels.draw_weighted(graphs.stored, graphs.index, probabilities, uniforms, observed, actions)
    else:
        for part, stored in kernel_batches(graphs):
            kernels.draw_rounds(stored, probabilities[part], uniforms[part], observed[part], actions[part])
    return actions, observed


def uniform_over(mask: Bool[np.ndarray, "n arms"]) -> Float[np.ndarray, "n arms"]:
    """The same probability for every arm of the mask.

    >>> uniform_over(np.array([[True, False, True]]))
    array([[0.5, 0. , 0.5]])
    """
    return np.asarray(mask / mask.sum(axis=1, keepdims=True))
