"""Feedback graphs: which rewards does playing an arm reveal?

One graph, a batch, graphs whose edges have probabilities; generators, parameters, and networks of millions of nodes.
"""

from graphbandit.graphs import generators, parameters, sources
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.generators import (
    bandit,
    clique_group,
    complete,
    erdos_renyi,
    preferential_attachment,
    random_graph,
    star,
)
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.networks import Network, NetworkSource, read_network, sample_subgraphs, social_network
from graphbandit.graphs.parameters import (
    Bounds,
    DegreeStatistics,
    degree_statistics,
    density,
    independence_number,
    observability,
    observable_arms,
    strongly_observable_arms,
    weak_domination_number_bound,
)
from graphbandit.graphs.probabilistic import ProbabilisticGraph, ProbabilisticGraphs

__all__ = [
    "Bounds",
    "DegreeStatistics",
    "FeedbackGraph",
    "FeedbackGraphs",
    "Network",
    "NetworkSource",
    "ProbabilisticGraph",
    "ProbabilisticGraphs",
    "bandit",
    "clique_group",
    "complete",
    "degree_statistics",
    "density",
    "erdos_renyi",
    "generators",
    "independence_number",
    "observability",
    "observable_arms",
    "parameters",
    "preferential_attachment",
    "random_graph",
    "read_network",
    "sample_subgraphs",
    "social_network",
    "sources",
    "star",
    "strongly_observable_arms",
    "weak_domination_number_bound",
]
