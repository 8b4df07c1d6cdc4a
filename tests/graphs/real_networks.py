"""Real networks as graphs."""

import gzip
from functools import cache

import numpy as np

from graphbandit.graphs.graph import FeedbackGraph
from tests.helpers.real_data import real_data


@cache
def social_graph(name: str) -> FeedbackGraph:
    """The friendships of the network `name`, in both directions and with loops; nodes are numbered anew from 0."""
    with gzip.open(real_data(name, "edges.csv.gz"), "rt") as file:
        edges = np.loadtxt(file, delimiter=",", skiprows=1, usecols=(0, 1), dtype=np.int64)
    people, ends = np.unique(edges, return_inverse=True)
    return FeedbackGraph.from_edges(ends.reshape(-1, 2), len(people), directed=False, add_loops=True)
