"""How close do estimators come to the variance bound? The table of `docs/evaluation.md`, on five kinds of graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float
from graphbandit.evaluation import evaluate
from graphbandit.graphs import star
from graphbandit.studies.evaluation.problems import GRAPHS, HubProblem, LinearProblem

METHODS = ("ips", "graph-ips", "dr", "graph-balanced", "graph-dr")
ARMS, ROUNDS = 20, 2000


@dataclass(frozen=True, kw_only=True)
class Efficiency:
    """The variance of each method on one graph, times n, relative to `bound`; with the interval of each ratio."""

    graph: str
    bound: float
    ratios: dict[str, tuple[float, float, float]]
    bias: dict[str, float]


def efficiency(
    problem: LinearProblem, name: str, repeats: int, progress: Callable[[], None], draws: int = 400_000
) -> Efficiency:
    """Evaluate the target on `repeats` logs by every method; truth and bound are means over `draws` contexts."""
    truth, bound = problem.truth(draws)
    values = np.empty((repeats, len(METHODS)))
    for repeat in range(repeats):
        log = problem.log(ROUNDS, stream(0, "evaluation", "efficiency", name, repeat))
        target = problem.target(log.to_batch().contexts)
        for i, method in enumerate(METHODS):
            settings: dict[str, Any] = {"method": method, "interval": "asymptotic", "worth": False}
            table = evaluate(log, {"target": target}, model=problem.model, **settings)
            values[repeat, i] = table["target"].value
        progress()
    scale = ROUNDS / bound
    return Efficiency(
        graph=name,
        bound=bound,
        ratios={method: _variance(values[:, i], scale) for i, method in enumerate(METHODS)},
        bias={
            method: float((values[:, i].mean() - truth) / (values[:, i].std(ddof=1) / np.sqrt(repeats)))
            for i, method in enumerate(METHODS)
        },
    )


def _variance(values: Float[np.ndarray, " repeats"], scale: float) -> tuple[float, float, float]:
    """The variance times `scale`, with the 95 % interval of the bootstrap."""
    rng = stream(0, "evaluation", "efficiency", "bootstrap")
    drawn = values[rng.integers(len(values), size=(2000, len(values)))].var(axis=1, ddof=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(values.var(ddof=1) * scale), float(low * scale), float(high * scale)


def all_graphs(repeats: int, progress: Callable[[], None] = lambda: None) -> list[Efficiency]:
    """The five graphs, and the star on which graph-IPS is worse than IPS."""
    found = [efficiency(LinearProblem(graph=make(ARMS)), name, repeats, progress) for name, make in GRAPHS.items()]
    hub = HubProblem(graph=star(50, hub=0))
    return [*found, efficiency(hub, "star of 50, hub played 5 %, target = logging", repeats, progress)]


def markdown(found: list[Efficiency], repeats: int) -> str:
    """The table."""
    heads = ["graph", "bound x n", *METHODS]
    lines = [
        f"Variance relative to the bound, K = {ARMS}, n = {ROUNDS:,}, {repeats} repeats; 95 % intervals in brackets.",
        "",
        "| " + " | ".join(heads) + " |",
        "| " + " | ".join("---" for _ in heads) + " |",
    ]
    for row in found:
        cells = [f"{ratio:.2f} [{low:.2f}, {high:.2f}]" for ratio, low, high in row.ratios.values()]
        lines.append("| " + " | ".join([row.graph, f"{row.bound:.3f}", *cells]) + " |")
    return "\n".join(lines) + "\n"
