"""Do intervals hold as often as they promise? Coverage over graphs, policies, numbers of rounds, and adaptive logs."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphbandit.base.seeds import stream
from graphbandit.evaluation import INTERVALS, evaluate
from graphbandit.evaluation.settings import ANY_SIZE
from graphbandit.evaluation.values import Estimator
from graphbandit.studies.evaluation.problems import GRAPHS, ClickProblem

ARMS, LEVEL = 10, 0.95
SCENARIOS = ("mild", "heavy", "deterministic", "adaptive")
ROUNDS = (100, 1000)
COVERED_GRAPHS = ("loops", "star", "cliques of 4", "complete")
COVERED_METHODS = ("graph-ips", "graph-dr")


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """How often an interval held the true value in one cell of the grid."""

    graph: str
    scenario: str
    rounds: int
    method: str
    interval: str
    held: int
    repeats: int
    width: float

    @property
    def share(self) -> float:
        """Of the repeats."""
        return self.held / self.repeats

    @property
    def bounds(self) -> tuple[float, float]:
        """Clopper and Pearson's 95 % interval of the share."""
        from scipy.stats import beta

        low = float(beta.ppf(0.025, self.held, self.repeats - self.held + 1)) if self.held else 0.0
        missed = self.repeats - self.held
        high = float(beta.ppf(0.975, self.held + 1, missed)) if missed else 1.0
        return low, high


def problem_of(graph: str, scenario: str) -> ClickProblem:
    """Heavy: the log hardly plays what the target plays. Deterministic: the target always plays the same arm."""
    made = GRAPHS[graph](ARMS)
    settings = {
        "mild": {"logging_share": 0.4, "steepness": 1.0},
        "heavy": {"logging_share": 0.05, "steepness": 3.0},
        "deterministic": {"logging_share": 0.2, "steepness": 1.0},
        "adaptive": {"logging_share": 0.2, "steepness": 1.0, "adaptive": True},
    }[scenario]
    problem = ClickProblem(graph=made, **settings)  # type: ignore[arg-type]
    return FixedArm(**problem.__dict__) if scenario == "deterministic" else problem


class FixedArm(ClickProblem):
    """The target plays the last arm."""

    def target(self, contexts: np.ndarray) -> np.ndarray:
        """All mass on it."""
        rows = np.zeros((len(contexts), self.n_arms))
        rows[:, -1] = 1.0
        return rows


def cells() -> Iterator[tuple[str, str, int, str]]:
    """The grid."""
    for graph in COVERED_GRAPHS:
        for scenario in SCENARIOS:
            for rounds in ROUNDS:
                for method in COVERED_METHODS:
                    yield graph, scenario, rounds, method


def coverage(graph: str, scenario: str, rounds: int, method: str, repeats: int, draws: int = 200_000) -> list[Coverage]:
    """Every interval in one cell; the truth is the mean over `draws` contexts."""
    problem = problem_of(graph, scenario)
    truth, _ = problem.truth(draws)
    held = dict.fromkeys(INTERVALS, 0)
    widths = dict.fromkeys(INTERVALS, 0.0)
    for repeat in range(repeats):
        log = problem.log(rounds, stream(0, "evaluation", "coverage", graph, scenario, rounds, repeat))
        target = problem.target(log.to_batch().contexts)
        for group in (ANY_SIZE, tuple(name for name in INTERVALS if name not in ANY_SIZE)):
            chosen: dict[str, Any] = {"method": method, "interval": group[0], "level": LEVEL, "worth": False}
            table = evaluate(log, {"target": target}, model=problem.model, **chosen)
            for name in group:  # one pass over the log does for all intervals of a kind
                settings = replace(table.settings, interval=name, seed=repeat)
                estimator = Estimator(settings=settings, reward_range=(0.0, 1.0), counts=table.sums.counts)
                found = estimator.of_policy(table.sums.terms["target"])
                held[name] += found.low <= truth <= found.high
                widths[name] += found.width / repeats
    return [
        Coverage(
            graph=graph,
            scenario=scenario,
            rounds=rounds,
            method=method,
            interval=name,
            held=held[name],
            repeats=repeats,
            width=widths[name],
        )
        for name in INTERVALS
    ]


def all_cells(repeats: int, on_cell: Callable[[], None] = lambda: None) -> list[Coverage]:
    """The whole grid."""
    found: list[Coverage] = []
    for cell in cells():
        found += coverage(*cell, repeats)
        on_cell()
    return found


def too_low(found: list[Coverage]) -> list[Coverage]:
    """Cells in which an interval that promises coverage at any number of rounds has less, beyond chance.

    The interval of each share is widened so that all of them hold together with 95 %.
    """
    from scipy.stats import binom

    promised = [cell for cell in found if cell.interval in ANY_SIZE]
    limit = 0.05 / max(len(promised), 1)
    return [cell for cell in promised if float(binom.cdf(cell.held, cell.repeats, LEVEL)) < limit]


def markdown(found: list[Coverage]) -> str:
    """Coverage with its interval, and the mean width, a row a cell of the grid."""
    lines = [
        f"Coverage at {LEVEL:.0%} in % [its 95 % interval] and mean width, {found[0].repeats} repeats, K = {ARMS}.",
        "",
        "| graph | log and target | n | method | " + " | ".join(INTERVALS) + " |",
        "| " + " | ".join("---" for _ in range(4 + len(INTERVALS))) + " |",
    ]
    for place in range(0, len(found), len(INTERVALS)):
        row = found[place : place + len(INTERVALS)]
        shown = []
        for cell in row:
            low, high = cell.bounds
            shown.append(f"{100 * cell.share:.1f} [{100 * low:.0f}, {100 * high:.0f}] {cell.width:.3f}")
        first = row[0]
        lines.append(
            f"| {first.graph} | {first.scenario} | {first.rounds} | {first.method} | " + " | ".join(shown) + " |"
        )
    worst = {name: min((c.share for c in found if c.interval == name), default=math.nan) for name in INTERVALS}
    lines += ["", "Lowest: " + ", ".join(f"{name} {share:.3f}" for name, share in worst.items()) + "."]
    bad = too_low(found)
    verdict = "Every interval that promises coverage at any number of rounds has it."
    lines.append(verdict if not bad else f"{len(bad)} cells fall short of what they promise.")
    return "\n".join(lines) + "\n"


def as_csv(found: list[Coverage]) -> str:
    """All cells, for further work."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(
        ["graph", "scenario", "rounds", "method", "interval", "coverage", "low", "high", "width", "repeats"]
    )
    for cell in found:
        low, high = cell.bounds
        row = [cell.graph, cell.scenario, cell.rounds, cell.method, cell.interval]
        writer.writerow([*row, cell.share, low, high, cell.width, cell.repeats])
    return file.getvalue()
