"""What is measured in a process of its own: `python -m benchmarks.child '{"task": ..., ...}'` prints JSON."""

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

KIB = 1024


def reset_peak() -> bool:
    """Forget the peak of memory so far; not every system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def memory() -> dict[str, int]:
    """Bytes in memory now, and at the peak since the last reset."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else KIB)
        return {"now": peak, "peak": peak}
    found = {line.split(":")[0]: int(line.split()[1]) * KIB for line in lines if line.startswith(("VmRSS", "VmHWM"))}
    return {"now": found["VmRSS"], "peak": found["VmHWM"]}


def decisions(n_arms: int, learner: dict[str, Any], count: int, edges_per_arm: int) -> dict[str, Any]:
    """Time and memory of single decisions on one large social graph, after it and the functions are there.

    The rounds are those of epoch 4, rounds 9 to 16; its first one, in which the learner learns, counts apart.
    """
    import graphbandit as gb

    rng = np.random.default_rng(0)
    small = gb.graphs.preferential_attachment(min(n_arms, 5000), edges_per_arm, rng=rng)
    play(learner, small, 10, rng)  # loads the kernels
    start = time.perf_counter()
    graph = gb.graphs.preferential_attachment(n_arms, edges_per_arm, rng=rng)
    graph_seconds = time.perf_counter() - start
    made, bytes_before, peak, was_reset = play(learner, graph, 9 + count, rng)
    timed = made[9:]
    return {
        "seconds": [each["seconds"] for each in timed],
        "first_of_epoch": made[8]["seconds"],
        "solvers": sorted({each["solver"] for each in timed}),
        "largest_gap": max(each["gap"] for each in timed),
        "mean_candidates": float(np.mean([each["candidates"] for each in timed])),
        "mean_explored": float(np.mean([each["explored"] for each in timed])),
        "n_edges": graph.n_edges,
        "graph_seconds": graph_seconds,
        "bytes_before": bytes_before,
        "peak_bytes": peak,
        "peak_was_reset": was_reset,
    }


def play(
    learner: dict[str, Any], graph: Any, n: int, rng: np.random.Generator
) -> tuple[list[dict[str, Any]], int, int, bool]:
    """Decide n rounds and observe all that is revealed: what was decided, memory before and at the peak."""
    import graphbandit as gb

    environment = gb.environments.paper(n_arms=graph.n_arms, graph=graph, reward_scale=32.0)
    instance = environment.instance(seed=0)
    bandit = gb.Bandit(gb.AdaCBG(**learner), instance.problem(None), seed=0)
    made = []
    was_reset = reset_peak()
    before = memory()["now"]
    for context in rng.standard_normal((n, environment.dimension)):
        start = time.perf_counter()
        decision = bandit.decide(context, graph)
        seconds = time.perf_counter() - start
        means = instance.means(context[None])[0]
        rewards = means[decision.revealed] + rng.standard_normal(len(decision.revealed))
        bandit.observe(decision, dict(zip(decision.revealed.tolist(), rewards.tolist(), strict=True)))
        made.append(
            {
                "seconds": seconds,
                "solver": decision.solver,
                "gap": float(np.nan_to_num(decision.duality_gap)),
                "candidates": len(decision.candidates),
                "explored": len(decision.exploration_set),
            }
        )
    return made, before, memory()["peak"], was_reset


def simulation(rounds: int, n_arms: int) -> dict[str, Any]:
    """Time and memory of one simulation."""
    import graphbandit as gb

    learner = gb.AdaCBG(radius="paper", coverage="paper", eta=1.0)
    environment = gb.environments.paper(n_arms=n_arms, graph="random", reward_scale=8.0)
    gb.simulate(learner, environment, rounds=64)
    reset = reset_peak()
    before = memory()
    start = time.perf_counter()
    gb.simulate(learner, environment, rounds=rounds)
    seconds = time.perf_counter() - start
    return {
        "seconds": [seconds],
        "bytes_before": before["now"],
        "peak_bytes": memory()["peak"],
        "peak_was_reset": reset,
    }


def first_decision(learner: str) -> dict[str, Any]:
    """Seconds of the very first rounds, the second epoch's included; the import is not among them.

    AdaCB.G has a finite class, as in the paper, and its last round solves a program; the others a linear one.
    """
    import graphbandit as gb

    rng = np.random.default_rng(0)
    graph = gb.graphs.random_graph(20, 0.05, rng=rng)
    start = time.perf_counter()
    if learner == "AdaCB.G":
        made, _, _, _ = play({"radius": "paper", "coverage": "paper"}, graph, 3, rng)
        return {"seconds": time.perf_counter() - start, "solver": made[-1]["solver"]}
    problem = gb.Problem(n_arms=20, function_class=gb.LinearClass(n_arms=20, dimension=5))
    others = {"IDS.G": gb.IDSG(), "greedy": gb.Greedy(), "LinUCB": gb.LinUCB()}
    bandit = gb.Bandit(others[learner], problem, graph=graph)
    for _ in range(3):
        decision = bandit.decide(rng.normal(size=(20, 5)))
        bandit.observe(decision, {arm: float(rng.normal()) for arm in decision.revealed.tolist()})
    return {"seconds": time.perf_counter() - start, "solver": decision.solver}


TASKS = {"decisions": decisions, "simulation": simulation, "first_decision": first_decision}


def main() -> None:
    """Do the task in the argument."""
    task = json.loads(sys.argv[1])
    print(json.dumps(TASKS[task.pop("task")](**task)))


if __name__ == "__main__":
    main()
