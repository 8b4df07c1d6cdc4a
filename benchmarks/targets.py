"""What the package promises to reach, and what a run reached. Every figure comes from the rows of the same run."""

from collections.abc import Callable, Iterable
from typing import Any

Rows = list[dict[str, Any]]
NOT_MEASURED = "not measured"

LOAD, DELAY = 1500, 0.010
"""Decisions a second over HTTP, and the seconds within which 99 of 100 are answered."""

GIB = 2**30


def targets(parts: dict[str, Rows]) -> Rows:
    """One row a target: what is wanted, what was reached, and whether that is enough."""
    lp, decision, throughput, scaling = (parts.get(name, []) for name in ("lp", "decision", "throughput", "scaling"))
    middle = [row for row in lp if row["n_arms"] == 50 and row["coverage"] == "paper"]
    paper = [row for row in throughput if row["learner"] == "AdaCB.G paper" and row["graph"] == "random"]
    served = best_load([row for row in parts.get("service", []) if row.get("what") == "SQLite, AdaCB.G"])
    everyday, startup = parts.get("everyday", []), parts.get("startup", [])
    single = [row for row in everyday if row["kind"] == "decision"]
    many = [row for row in everyday if row["kind"] == "many arms"]
    ours = [row for row in throughput if row["learner"] == "AdaCB.G ours" and row["kind"] == "workers"]
    million = [row for row in scaling if row["kind"] == "arms" and row["n_arms"] == 10**6]
    return [
        at_least(
            "LP at K = 50, times faster than scipy.linprog: star, cliques",
            300,
            ratios(middle, "scipy", family=("star", "cliques")),
        ),
        at_least(
            "LP at K = 50, times faster than scipy.linprog: random, social, directed",
            50,
            ratios(middle, "scipy", family=("random", "social", "directed")),
        ),
        at_least(
            "LP up to K = 100, times faster than highspy's best mode, all families",
            8,
            ratios([row for row in lp if row["n_arms"] <= 100], "highspy"),
        ),
        at_most(
            "LP, largest infeasibility and relative gap of all answers",
            1e-9,
            [max(row["infeasibility"], row["gap"]) if not row["unsolved"] else float("inf") for row in lp],
            lambda x: f"{x:.1e}",
        ),
        at_most(
            "one decision at K = 50, median",
            150e-6,
            [row["times"]["decide"]["median"] for row in decision if row["n_arms"] == 50],
            lambda x: f"{x * 1e6:.0f} us",
        ),
        at_most(
            "one decision at K = 50, in VW --squarecb predictions",
            3,
            ratios([row for row in decision if row["n_arms"] == 50], "of_squarecb"),
        ),
        at_least(
            "one decision at K = 10, times faster than VW --graph_feedback",
            1000,
            ratios([row for row in decision if row["n_arms"] == 10], "graph_feedback"),
        ),
        *(
            at_most(
                f"Bandit.decide at K = {n_arms}, in VW --squarecb predictions: IDS.G, AdaCB.G, greedy, LinUCB",
                wanted,
                ratios([row for row in single if row["n_arms"] == n_arms], "of_squarecb"),
            )
            for n_arms, wanted in ((50, 1.5), (10, 3.0))
        ),
        at_most(
            "Bandit.observe at K = 50, median",
            20e-6,
            [row["times"]["observe"]["median"] for row in single if row["n_arms"] == 50],
            lambda x: f"{x * 1e6:.0f} us",
        ),
        at_least(
            "one Python call of solve_sampling_lp at K = 50, times faster than linprog: star, cliques",
            100,
            ratios(middle, "call_scipy", family=("star", "cliques")),
        ),
        *(
            at_most(
                f"linear class, K = {n_arms:,}, d = 16: a decision of IDS.G and AdaCB.G, median",
                wanted,
                [row["times"]["decide"]["median"] for row in many if row["n_arms"] == n_arms],
                lambda x: f"{x * 1e3:.3g} ms",
            )
            for n_arms, wanted in ((5_000, 0.010), (100_000, 0.200))
        ),
        *(
            at_most(
                f"first decisions of {learner}, nothing compiled",
                wanted,
                [
                    row["seconds"]
                    for row in startup
                    if row.get("learner") == learner and row["cache"] == "no kernels on disk" and "seconds" in row
                ],
                lambda x: f"{x:.1f} s",
            )
            for learner, wanted in (("AdaCB.G", 20.0), ("IDS.G", 5.0), ("greedy", 5.0))
        ),
        at_most(
            "first decisions, kernels on disk",
            0.5,
            [row["seconds"] for row in startup if row.get("cache") == "kernels on disk" and "seconds" in row],
            lambda x: f"{x:.2f} s",
        ),
        at_most(
            "import graphbandit, in imports of NumPy and SciPy",
            1.5,
            ratios([row for row in startup if row["kind"] == "import"], "of_numpy_scipy"),
        ),
        at_most(
            "SquareCB.G's program at K = 50, one call, median",
            1e-3,
            [row["times"]["call"]["median"] for row in parts.get("squarecb", []) if row["n_arms"] == 50],
            lambda x: f"{x * 1e3:.2f} ms",
        ),
        at_least("simulate in our form, two workers: times one", 1.7, ratios(ours, "two_workers")),
        at_least(
            "simulate, AdaCB.G paper, K = 50, random graphs: times the reference, one core",
            50,
            ratios([row for row in paper if row["kind"] == "simulate" and row["n_arms"] == 50], "reference"),
        ),
        at_least(
            "simulate, two workers: times one",
            1.7,
            ratios([row for row in paper if row["kind"] == "workers"], "two_workers"),
        ),
        *(
            at_most(
                f"one million arms, {name}: a decision, median",
                1.0,
                [row["times"]["decide"]["median"] for row in million if row["learner"] == name and "times" in row],
                lambda x: f"{x:.2g} s",
            )
            for name in ("ours", "paper", "all arms candidates")
        ),
        at_most(
            "one million arms, all arms candidates: the certified gap",
            0.25,
            [row["largest_gap"] for row in million if row["learner"] == "all arms candidates" and "times" in row],
            lambda x: f"{x:.0%}",
        ),
        at_most(
            "one million arms: peak memory of the process, graph included",
            4 * GIB,
            [row["peak_bytes"] for row in million if "times" in row],
            lambda x: f"{x / GIB:.2f} GiB",
        ),
        at_least(
            "Durable decisions a second over HTTP, K = 50, linear d = 20, one process",
            LOAD,
            [row["per_second"] for row in served],
            lambda x: f"{x:,.0f}",
        ),
        at_most(
            "The same: 99th percentile of the delay at that rate",
            DELAY,
            [row["p99"] for row in served],
            lambda x: f"{1e3 * x:.1f} ms",
        ),
    ]


def best_load(rows: Rows) -> Rows:
    """The number of clients with the most decisions of those that keep both targets; if none does, the least delay."""
    good = [row for row in rows if row["per_second"] >= LOAD and row["p99"] <= DELAY]
    if good:
        return [max(good, key=lambda row: float(row["per_second"]))]
    return [min(rows, key=lambda row: float(row["p99"]))] if rows else []


def ratios(rows: Rows, rival: str, family: Iterable[str] | None = None) -> list[float]:
    """The ratios of medians to that rival in these rows."""
    kept = [row for row in rows if family is None or row["family"] in family]
    return [row["ratios"][rival]["median"] for row in kept if rival in row["ratios"]]


def plain(x: float) -> str:
    """Three digits."""
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def at_least(name: str, wanted: float, found: list[float], show: Callable[[float], str] = plain) -> dict[str, Any]:
    """The smallest figure counts."""
    reached = min(found, default=None)
    return _row(name, f">= {show(wanted)}", reached, reached is not None and reached >= wanted, show)


def at_most(name: str, wanted: float, found: list[float], show: Callable[[float], str] = plain) -> dict[str, Any]:
    """The largest figure counts."""
    reached = max(found, default=None)
    return _row(name, f"<= {show(wanted)}", reached, reached is not None and reached <= wanted, show)


def _row(name: str, wanted: str, reached: float | None, met: bool, show: Callable[[float], str]) -> dict[str, Any]:
    if reached is None:
        return {"target": name, "wanted": wanted, "reached": None, "shown": NOT_MEASURED, "met": NOT_MEASURED}
    return {"target": name, "wanted": wanted, "reached": reached, "shown": show(reached), "met": "yes" if met else "no"}
