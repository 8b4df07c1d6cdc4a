"""Do intervals hold as often as they promise? Coverage over graphs, policies, numbers of rounds, and adaptive logs.

Three quantities are covered: the value of a policy, the difference of two policies (the target and uniform play), and
the value at all numbers of rounds at once. What each interval promises is in `promised`.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from benchmarks.evaluation.problems import GRAPHS, ClickProblem
from graphbandit.base.choices import IntervalKind
from graphbandit.base.printed_table import Table
from graphbandit.base.seeds import stream
from graphbandit.evaluation import INTERVALS, compare, evaluate
from graphbandit.evaluation.estimator import Estimator
from graphbandit.evaluation.settings import ANY_SIZE
from graphbandit.logs import Log

Quantity = Literal["value", "difference", "all times"]
Scenario = Literal["mild", "heavy", "deterministic", "adaptive", "drift"]

ARMS, LEVEL, LOOKS = 10, 0.95, 20
SCENARIOS: tuple[Scenario, ...] = get_args(Scenario)
ROUNDS = (100, 1000)
COVERED_GRAPHS = ("loops", "star", "cliques of 4", "complete")
COVERED_METHODS = ("graph-ips", "graph-dr")
FEWER_GRAPHS = ("loops", "star")
"""The graphs on which differences and all times are measured, with graph-DR."""


class GridCell(NamedTuple):
    """One combination of the settings that are measured."""

    graph: str
    scenario: Scenario
    rounds: int
    method: str
    quantity: Quantity = "value"


def promised(cell: GridCell, interval: str) -> bool:
    """Whether the interval is guaranteed to hold in this cell, at any number of rounds."""
    if cell.quantity == "all times":
        return interval == "sequence"
    return interval == "bernstein" if cell.scenario == "drift" else interval in ANY_SIZE


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """How often an interval contained the true value in one cell of the grid."""

    cell: GridCell
    interval: str
    held: int
    repeats: int
    width: float

    @property
    def share(self) -> float:
        """The share of repeats in which the interval contained the true value."""
        return self.held / self.repeats

    @property
    def bounds(self) -> tuple[float, float]:
        """Clopper and Pearson's 95 % interval of the share."""
        from scipy.stats import beta

        low = float(beta.ppf(0.025, self.held, self.repeats - self.held + 1)) if self.held else 0.0
        missed = self.repeats - self.held
        high = float(beta.ppf(0.975, self.held + 1, missed)) if missed else 1.0
        return low, high


def problem_of(graph: str, scenario: Scenario) -> ClickProblem:
    """The problem of a scenario.

    In "heavy" the log rarely plays what the target plays; in "deterministic" the target always plays the same arm.
    """
    made = GRAPHS[graph](ARMS)
    settings: dict[str, Any] = {
        "mild": {"logging_share": 0.4, "steepness": 1.0},
        "heavy": {"logging_share": 0.05, "steepness": 3.0},
        "deterministic": {"logging_share": 0.2, "steepness": 1.0},
        "adaptive": {"logging_share": 0.2, "steepness": 1.0, "adaptive": True},
        "drift": {"logging_share": 0.4, "steepness": 1.0, "drift": 2.0},
    }[scenario]
    problem = ClickProblem(graph=made, **settings)
    return FixedArm(**problem.__dict__) if scenario == "deterministic" else problem


class FixedArm(ClickProblem):
    """A click problem whose target always plays the last arm."""

    def target(self, contexts: np.ndarray) -> np.ndarray:
        """Probability 1 for the last arm."""
        rows = np.zeros((len(contexts), self.n_arms))
        rows[:, -1] = 1.0
        return rows


def cells() -> Iterator[GridCell]:
    """All cells of the grid."""
    for place in product(COVERED_GRAPHS, SCENARIOS, ROUNDS, COVERED_METHODS):
        yield GridCell(*place)
    for graph, scenario, rounds in product(FEWER_GRAPHS, SCENARIOS, ROUNDS):
        yield GridCell(graph, scenario, rounds, "graph-dr", "difference")
    for graph, scenario in product(FEWER_GRAPHS, SCENARIOS):
        if scenario != "drift":  # under drift no single value holds at all times
            yield GridCell(graph, scenario, ROUNDS[-1], "graph-dr", "all times")


def coverage(cell: GridCell, repeats: int, draws: int = 200_000) -> list[Coverage]:
    """Measure every interval in a cell; the true value is the mean over `draws` contexts."""
    problem = problem_of(cell.graph, cell.scenario)
    truth, _ = problem.truth(draws)
    if cell.quantity == "difference":
        contexts = problem.contexts(draws, stream(0, "evaluation", "truth"))
        truth -= float(problem.means(contexts).mean())
    find = {"value": _of_value, "difference": _of_difference, "all times": _at_all_times}[cell.quantity]
    held: dict[str, int] = {}
    widths: dict[str, float] = {}
    for repeat in range(repeats):
        seed = stream(0, "evaluation", "coverage", cell.graph, cell.scenario, cell.rounds, repeat)
        log = problem.log(cell.rounds, seed)
        target = problem.target(log.to_batch().contexts)
        for name, low, high in find(cell, problem, log, target, repeat):
            held[name] = held.get(name, 0) + bool((low <= truth).all() and (truth <= high).all())
            widths[name] = widths.get(name, 0.0) + float(high[-1] - low[-1]) / repeats
    return [Coverage(cell=cell, interval=name, held=held[name], repeats=repeats, width=widths[name]) for name in held]


Found = Iterator[tuple[str, Any, Any]]
"""The name of an interval and its ends at each look; there is one look unless the quantity is "all times"."""


def _of_value(cell: GridCell, problem: ClickProblem, log: Log, target: Any, repeat: int) -> Found:
    for group in (tuple(name for name in INTERVALS if name not in ANY_SIZE), ANY_SIZE):
        settings: dict[str, Any] = {"method": cell.method, "interval": group[0], "level": LEVEL, "worth": False}
        table = evaluate(log, {"target": target}, model=problem.model, **settings)
        for name in group:  # one pass over the log serves all intervals of a group
            chosen = replace(table.settings, interval=name, seed=repeat)
            estimator = Estimator(settings=chosen, reward_range=(0.0, 1.0), counts=table.sums.counts)
            found = estimator.of_policy(table.sums.terms["target"])
            yield name, np.array([found.low]), np.array([found.high])


def _of_difference(cell: GridCell, problem: ClickProblem, log: Log, target: Any, repeat: int) -> Found:
    name: IntervalKind
    for name in INTERVALS:
        settings: dict[str, Any] = {"method": cell.method, "interval": name, "level": LEVEL, "reward_range": (0, 1)}
        found = compare(log, target, "uniform", model=problem.model, seed=repeat, **settings)
        yield name, np.array([found.low]), np.array([found.high])


def _at_all_times(cell: GridCell, problem: ClickProblem, log: Log, target: Any, repeat: int) -> Found:
    """The time-uniform sequence and, for contrast, the asymptotic interval of each look."""
    for name in ("asymptotic", "sequence"):
        settings: dict[str, Any] = {"method": cell.method, "interval": name, "level": LEVEL, "worth": False}
        table = evaluate(log, {"target": target}, model=problem.model, reward_range=(0, 1), **settings)
        path = table.over_time("target", LOOKS)
        yield name, path.low, path.high


def all_cells(repeats: int, progress: Callable[[], None] = lambda: None) -> list[Coverage]:
    """Measure the whole grid."""
    found: list[Coverage] = []
    for cell in cells():
        found += coverage(cell, repeats)
        progress()
    return found


def too_low(found: list[Coverage]) -> list[Coverage]:
    """Cells in which a guaranteed interval covers significantly less often than promised.

    The test of each cell is adjusted (Bonferroni), so that all of them together err with probability 5 % at most.
    """
    from scipy.stats import binom

    held = [one for one in found if promised(one.cell, one.interval)]
    limit = 0.05 / max(len(held), 1)
    return [one for one in held if float(binom.cdf(one.held, one.repeats, LEVEL)) < limit]


def markdown(found: list[Coverage]) -> str:
    """A table with a row for each cell: coverage with its interval, and the mean width."""
    caption = (
        f"Coverage at {LEVEL:.0%} in % [its 95 % interval] and mean width, {found[0].repeats} repeats, K = {ARMS}. "
        "A star marks what is promised at any number of rounds."
    )
    by_cell: dict[GridCell, dict[str, Coverage]] = {}
    for one in found:
        by_cell.setdefault(one.cell, {})[one.interval] = one
    rows = []
    for cell, row in by_cell.items():
        shown = [_shown(row[name]) if name in row else "" for name in INTERVALS]
        rows.append([cell.quantity, cell.graph, cell.scenario, cell.rounds, cell.method, *shown])
    heads = ["quantity", "graph", "log and target", "n", "method", *INTERVALS]
    lines = [caption, "", Table(caption, heads, rows).to_markdown()]
    kept = [one for one in found if promised(one.cell, one.interval)]
    others = [name for name in INTERVALS if name not in ANY_SIZE]
    lines += ["", f"Lowest where it is promised: {_lowest(kept, ANY_SIZE)}. Lowest of all: {_lowest(found, others)}."]
    bad = too_low(found)
    verdict = "Every interval holds as often as it promises, wherever it promises that."
    lines.append(verdict if not bad else f"{len(bad)} cells fall short of what they promise.")
    return "\n".join(lines) + "\n"


def _lowest(found: list[Coverage], intervals: Iterable[str]) -> str:
    """The lowest coverage of each of these intervals, in words."""
    lowest = {name: min((one.share for one in found if one.interval == name), default=math.nan) for name in intervals}
    return ", ".join(f"{name} {share:.3f}" for name, share in lowest.items())


def _shown(one: Coverage) -> str:
    low, high = one.bounds
    star = "*" if promised(one.cell, one.interval) else ""
    return f"{100 * one.share:.1f}{star} [{100 * low:.0f}, {100 * high:.0f}] {one.width:.3f}"


def as_csv(found: list[Coverage]) -> str:
    """All cells as CSV."""
    file = io.StringIO()
    writer = csv.writer(file)
    measured = ["interval", "promised", "coverage", "low", "high", "width", "repeats"]
    writer.writerow([*GridCell._fields, *measured])
    for one in found:
        figures = [one.share, *one.bounds, one.width, one.repeats]
        writer.writerow([*one.cell, one.interval, promised(one.cell, one.interval), *figures])
    return file.getvalue()
