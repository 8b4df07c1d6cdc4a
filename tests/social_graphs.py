"""Real social graphs for the tests, read from the data folder next to the project; skipped where it is absent."""

import gzip
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from graphbandit.graphs.graph import FeedbackGraph

DATA = Path(__file__).parents[2] / "shared" / "data"


@cache
def social_graph(name: str) -> FeedbackGraph:
    """The friendships of data set `name`, in both directions and with loops; nodes are numbered anew from 0."""
    path = DATA / name / "edges.csv.gz"
    if not path.exists():
        pytest.skip(f"the data set {name} is not at hand")
    with gzip.open(path, "rt") as file:
        edges = np.loadtxt(file, delimiter=",", skiprows=1, usecols=(0, 1), dtype=np.int64)
    people, ends = np.unique(edges, return_inverse=True)
    return FeedbackGraph.from_edges(ends.reshape(-1, 2), len(people), directed=False, add_loops=True)
