"""How close do estimators come to the variance bound? The table of `docs/evaluation.md`, on five kinds of graph.

Variances measured from repeats are noisy: with 2,000 repeats the error is about 6 % either way. A control variate
reduces it. Graph-DR with the true f as its model has exactly the variance bound / n, so the error of its measured
variance s0^2 is known. The measured variance s^2 of another method errs by about b = (cov / s0^2)^2 times as much, and
is corrected to s^2 - b (s0^2 - bound / n).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.evaluation.problems import GRAPHS, HubProblem, LinearProblem
from graphbandit.base.printed_table import Table
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float
from graphbandit.evaluation import evaluate
from graphbandit.graphs import star

METHODS = ("ips", "graph-ips", "dr", "graph-balanced", "graph-dr")
ARMS, ROUNDS, RESAMPLES = 20, 2000, 1000
LIMIT = 1.15
"""The largest variance, relative to the bound, that counts as efficient."""

Ratio = tuple[float, float, float]
"""A ratio and the ends of its 95 % interval."""


@dataclass(frozen=True, kw_only=True)
class Efficiency:
    """The variance of each method on one graph.

    - `bound`: the variance bound times n.
    - `ratios`: the variance times n relative to the bound, by method.
    - `below_ips`: by what factor the variance of graph-DR is below that of IPS.
    - `bias`: the bias of each method, in standard errors of its mean.
    """

    graph: str
    bound: float
    ratios: dict[str, Ratio]
    below_ips: Ratio
    bias: dict[str, float]


def efficiency(
    problem: LinearProblem, name: str, repeats: int, progress: Callable[[], None], draws: int = 400_000
) -> Efficiency:
    """Evaluate the target on `repeats` logs by every method; truth and bound are means over `draws` contexts."""
    truth, bound = problem.truth(draws)
    values = np.empty((repeats, len(METHODS) + 1))
    for repeat in range(repeats):
        log = problem.log(ROUNDS, stream(0, "evaluation", "efficiency", name, repeat))
        target = problem.target(log.to_batch().contexts)
        models = [*((method, problem.model) for method in METHODS), ("graph-dr", problem.means)]
        for i, (method, model) in enumerate(models):
            settings: dict[str, Any] = {"method": method, "interval": "asymptotic", "worth": False}
            values[repeat, i] = evaluate(log, {"target": target}, model=model, **settings)["target"].value
        progress()
    rng = stream(0, "evaluation", "efficiency", "bootstrap")
    measured = variances(values, bound / ROUNDS)
    resampled = np.array(
        [variances(values[rng.integers(repeats, size=repeats)], bound / ROUNDS) for _ in range(RESAMPLES)]
    )
    scale = ROUNDS / bound
    ips, best = METHODS.index("ips"), METHODS.index("graph-dr")
    error = values.std(axis=0, ddof=1) / np.sqrt(repeats)
    return Efficiency(
        graph=name,
        bound=bound,
        ratios={m: _with_interval(measured[i] * scale, resampled[:, i] * scale) for i, m in enumerate(METHODS)},
        below_ips=_with_interval(measured[ips] / measured[best], resampled[:, ips] / resampled[:, best]),
        bias={method: float((values[:, i].mean() - truth) / error[i]) for i, method in enumerate(METHODS)},
    )


def variances(values: Float[np.ndarray, "repeats columns"], known: float) -> Float[np.ndarray, " methods"]:
    """The variance of each column but the last; the last has the `known` variance and is the control variate."""
    covariance = np.cov(values, rowvar=False)
    found: Float[np.ndarray, " columns"] = np.diag(covariance)
    factor = (covariance[-1] / covariance[-1, -1]) ** 2
    return np.asarray(found - factor * (found[-1] - known))[:-1]


def _with_interval(value: float, resampled: Float[np.ndarray, " resamples"]) -> Ratio:
    low, high = np.quantile(resampled, [0.025, 0.975])
    return float(value), float(low), float(high)


def all_graphs(repeats: int, progress: Callable[[], None] = lambda: None) -> list[Efficiency]:
    """Measure the five graphs, and the star on which graph-IPS is worse than IPS."""
    found = [efficiency(LinearProblem(graph=make(ARMS)), name, repeats, progress) for name, make in GRAPHS.items()]
    hub = HubProblem(graph=star(50, hub=0))
    return [*found, efficiency(hub, "star of 50, hub played 5 %, target = logging", repeats, progress)]


def markdown(found: list[Efficiency], repeats: int) -> str:
    """The table, and a verdict on graph-DR on the five graphs."""
    caption = (
        f"Variance relative to the bound, K = {ARMS}, n = {ROUNDS:,}, {repeats:,} repeats; 95 % intervals in brackets."
    )
    rows = []
    for row in found:
        ratios = [*row.ratios.values(), row.below_ips]
        cells = [f"{ratio:.2f} [{low:.2f}, {high:.2f}]" for ratio, low, high in ratios]
        rows.append([row.graph, f"{row.bound:.3f}", *cells])
    table = Table(caption, ["graph", "bound x n", *METHODS, "ips / graph-dr"], rows)
    five = found[: len(GRAPHS)]
    worst = max(five, key=lambda row: row.ratios["graph-dr"][2])
    ratio, low, high = worst.ratios["graph-dr"]
    within = "within" if high <= LIMIT else "not surely within" if low <= LIMIT else "beyond"
    factors = [row.below_ips[0] for row in five]
    verdict = (
        f"graph-DR is {within} {LIMIT} times the bound on the five kinds of graph: at most {ratio:.3f} "
        f"[{low:.3f}, {high:.3f}] ({worst.graph}). Its variance is {min(factors):.1f} to {max(factors):.1f} times "
        "below that of IPS."
    )
    return "\n\n".join([caption, table.to_markdown(), verdict]) + "\n"
