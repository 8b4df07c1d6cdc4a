"""SquareCB.G's convex program: ours against cvxpy with Clarabel, and against Vowpal Wabbit's graph feedback.

Ours is timed as one Python call with its checks and certificate, and as a batch, per program. cvxpy is timed from
its expressions to the answer, as each round has its own graph, and Clarabel alone by its own clock. Vowpal Wabbit
solves the program of its own estimates inside `predict`, the only public implementation of the method; it takes
seconds from some arms on, so it is asked at 5 and 10 arms only. All objectives are compared in the units of 1 / gamma.
"""

import time
import warnings
from typing import Any

import numpy as np

import graphbandit as gb
from benchmarks import vowpal
from benchmarks.settings import Settings
from benchmarks.timing import Progress, no_collection, ratio, summary, timed
from tests.helpers.lp_instances import FAMILIES, random_graph

BATCH = 16
CONTEXT_SIZE = 5


def run(settings: Settings, progress: Progress) -> list[dict[str, Any]]:
    """One row for each family of graphs and number of arms."""
    cells = [(family, n_arms) for n_arms in settings.squarecb_arms for family in FAMILIES]
    rows = []
    for done, (family, n_arms) in enumerate(cells):
        progress(f"SquareCB.G {family} {n_arms}", done, len(cells))
        rows.append(measure(family, n_arms, settings))
    return rows


def measure(family: str, n_arms: int, settings: Settings) -> dict[str, Any]:
    """One row: the contenders take turns, program by program."""
    rng = np.random.default_rng([n_arms, FAMILIES.index(family)])
    samples: dict[str, list[float]] = {name: [] for name in ("call", "batch", "cvxpy", "clarabel", "graph_feedback")}
    worst = {"gap": 0.0, "above_clarabel": -np.inf, "steps": 0.0}
    warm_up = gb.graphs.bandit(2)
    gb.planning.solve_squarecb_program(warm_up, [0.0, 1.0], 1.0)
    gb.planning.solve_squarecb_programs(gb.FeedbackGraphs.repeat(warm_up, 1), [[0.0, 1.0]], [1.0])
    with no_collection():
        for _ in range(settings.squarecb_instances):
            revealed = random_graph(family, n_arms, rng)
            graph, losses = gb.FeedbackGraph.from_dense(revealed), rng.random(n_arms)
            gamma = float(10 ** rng.uniform(0, 3))
            spent, answer = timed(gb.planning.solve_squarecb_program, graph, losses, gamma)
            samples["call"].append(spent)
            batch = gb.FeedbackGraphs.repeat(graph, BATCH)
            spent, _ = timed(
                gb.planning.solve_squarecb_programs, batch, np.tile(losses, (BATCH, 1)), np.full(BATCH, gamma)
            )
            samples["batch"].append(spent / BATCH)
            worst["gap"] = max(worst["gap"], answer.duality_gap)
            worst["steps"] = max(worst["steps"], answer.iterations)
            theirs = by_cvxpy(losses, revealed, gamma)
            if theirs is not None:
                samples["cvxpy"].append(theirs[0])
                samples["clarabel"].append(theirs[1])
                worst["above_clarabel"] = max(worst["above_clarabel"], gamma * (answer.objective - theirs[2]))
    if n_arms in settings.vowpal_graph_arms and vowpal.version() != vowpal.NOT_INSTALLED:
        samples["graph_feedback"] = by_vowpal(family, n_arms, settings.vowpal_graph_rounds, rng)
    times = {name: summary(values) for name, values in samples.items() if values}
    rivals = [name for name in ("cvxpy", "clarabel", "graph_feedback") if name in times]
    return {
        "family": family,
        "n_arms": n_arms,
        "times": times,
        "ratios": {name: ratio(times[name], times["call"]) for name in rivals},
        "cvxpy": "cvxpy" if samples["cvxpy"] else vowpal.NOT_INSTALLED,
        **worst,
    }


def by_cvxpy(losses: np.ndarray, revealed: np.ndarray, gamma: float) -> tuple[float, float, float] | None:
    """(seconds in all, seconds of Clarabel, value) of the program; None without cvxpy.

    Each square over q has a variable of its own: stated once for every constraint, cvxpy takes seconds at 20 arms.
    """
    try:
        import cvxpy
    except ImportError:
        return None
    n = len(losses)
    start = time.perf_counter()
    p, z = cvxpy.Variable(n, nonneg=True), cvxpy.Variable()
    q = revealed.T.astype(float) @ p
    inner, outer = cvxpy.Variable(n), cvxpy.Variable(n)
    rules = [cvxpy.quad_over_lin(p[b], q[b]) <= inner[b] for b in range(n)]
    rules += [cvxpy.quad_over_lin(1 - p[b], q[b]) <= outer[b] for b in range(n)]
    rules += [cvxpy.sum(inner) - inner + outer <= gamma * (losses + z), cvxpy.sum(p) == 1]
    problem = cvxpy.Problem(cvxpy.Minimize(losses @ p + z), rules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of accuracy, which is measured here
        value = problem.solve(solver=cvxpy.CLARABEL)
    return time.perf_counter() - start, float(problem.solver_stats.solve_time), float(value)


def by_vowpal(family: str, n_arms: int, rounds: int, rng: np.random.Generator) -> list[float]:
    """Seconds of `predict`, program included, after a few rounds of learning."""
    rival = vowpal.Vowpal(vowpal.GRAPH_FEEDBACK, rng.standard_normal((n_arms, CONTEXT_SIZE)), seed=0)
    spent = []
    for _ in range(rounds):
        context, revealed = rng.standard_normal(CONTEXT_SIZE), random_graph(family, n_arms, rng)
        rival.learn(context, revealed, rng.random(n_arms))
        spent.append(rival.predict(context, revealed)[0])
    rival.close()
    return spent
