"""Which arms can be revealed at all, by the arms on offer."""

import numpy as np

from graphbandit.base.arm_names import ArmNames, shown
from graphbandit.base.array_types import ArmMask, ArmMasks, ArmsByArms
from graphbandit.errors import GraphError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.probabilistic import ProbabilisticGraphs


def check_revealed(
    graphs: FeedbackGraphs | ProbabilisticGraphs, available: ArmMasks | None, names: ArmNames | None = None
) -> None:
    """Raise GraphError unless every arm on offer is revealed by an arm on offer; `names` are used in the message."""
    everyone = np.ones(graphs.n_arms, dtype=np.bool_)
    for t in range(len(graphs)):
        offered = everyone if available is None else available[t]
        graph = graphs[t] if isinstance(graphs, FeedbackGraphs) else graphs.matrix(t)
        hidden = np.flatnonzero(offered & ~revealed_by_some(graph, offered))
        if len(hidden):
            arms = shown(names, *hidden[:8].tolist())
            raise GraphError(
                f"in the graph of round {t} of the batch no arm on offer reveals {arms}; expected one that does, "
                "or AdaCBG(unrevealed='ignore'), which asks nothing of what cannot be learnt"
            )


def revealed_by_some(graph: FeedbackGraph | ArmsByArms, available: ArmMask) -> ArmMask:
    """The arms that some available arm reveals, or may reveal where edges have probabilities."""
    if isinstance(graph, np.ndarray):
        likely: ArmMask = (graph[available] > 0.0).any(axis=0)
        return likely
    out = graph.to_sparse().tocsr()[np.flatnonzero(available)]
    return np.bincount(out.indices, minlength=graph.n_arms) > 0
