"""Environments from a .npz file of arrays, so that an experiment can name the file."""

from pathlib import Path

import numpy as np

from graphbandit.environments import ArrayEnvironment, from_arrays
from graphbandit.environments.data_files import reading
from graphbandit.errors import InputError
from graphbandit.function_classes import FiniteClass
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.graph import FeedbackGraph

REQUIRED, OPTIONAL = ("contexts", "graph", "rewards"), ("means", "available", "functions")


def read_arrays(*, file: str, noise: float | None = None, shuffle: bool = False) -> ArrayEnvironment:
    """Make the environment whose rounds are the rows of the arrays in `file`.

    The file must have `contexts` (n, d), `rewards` (n, K), and `graph`: (K, K) for all rounds, or (n, K, K). It may
    have `means` and `available` (n, K), and `functions` (F, K, d): the function class f(x, a) = functions[f, a] . x,
    which every learner but Uniform needs.
    """
    path = Path(file)
    with (
        reading(path, "a .npz file of arrays"),
        path.open("rb") as opened,  # NumPy would leave a broken file open
        np.load(opened, allow_pickle=False) as stored,
    ):
        arrays = {name: stored[name] for name in stored.files}
    missing = [name for name in REQUIRED if name not in arrays]
    unknown = [name for name in arrays if name not in (*REQUIRED, *OPTIONAL)]
    if missing or unknown:
        wrong = f"lacks the array {missing[0]!r}" if missing else f"has an unknown array {unknown[0]!r}"
        raise InputError(f"file is {file!r}, which {wrong}; expected {', '.join(REQUIRED)}, and any of {OPTIONAL}")
    graph = arrays["graph"]
    return from_arrays(
        contexts=arrays["contexts"],
        graphs=FeedbackGraph.from_dense(graph) if graph.ndim == 2 else FeedbackGraphs.from_dense(graph),
        rewards=arrays["rewards"],
        means=arrays.get("means"),
        available=arrays.get("available"),
        function_class=_functions(file, arrays.get("functions")),
        noise=noise,
        shuffle=shuffle,
    )


def _functions(file: str, weights: np.ndarray | None) -> FiniteClass | None:
    if weights is None:
        return None
    if weights.ndim != 3:
        raise InputError(f"file is {file!r}, whose functions have shape {weights.shape}; expected (functions, arms, d)")
    n_functions, n_arms, _ = weights.shape
    return FiniteClass(
        lambda contexts: np.einsum("td,fkd->tfk", contexts, weights), n_functions=n_functions, n_arms=n_arms
    )
