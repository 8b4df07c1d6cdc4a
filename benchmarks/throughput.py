"""`simulate`: rounds a second against the literal reference of the tests, by two workers, and above the floor.

The reference is handed rounds drawn beforehand and only its run is timed; `simulate` draws its rounds as part of the
time. The floor is what no simulation can do without: drawing contexts, graphs and noise of all rounds, and one matrix
product for the means. Two workers can be twice as fast as one only where two cores are free, so a compiled loop that
does nothing but arithmetic is run by two threads and by one as well.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

import graphbandit as gb
from benchmarks.settings import Settings
from benchmarks.timing import Progress, no_collection, ratio, summary, timed
from tests.references import paper as reference

GRAPHS = ("star", "clique_group", "random")
REWARD_SCALE = 8.0

LEARNERS: dict[str, tuple[gb.learners.Learner[Any], reference.Learner]] = {
    "AdaCB.G paper": (gb.AdaCBG(radius="paper", coverage="paper", eta=1.0), reference.AdaCBG()),
    "AdaCB.G ours": (
        gb.AdaCBG(gamma="paper", eta=1e6, epoch_growth=2.0),
        reference.AdaCBG(radius="sharp", coverage="tight", eta=1e6),
    ),
    "FALCON": (gb.Falcon(), reference.Falcon()),
    "RegCB.G": (gb.RegCBG(), reference.RegCBG()),
}


def run(settings: Settings, progress: Progress) -> list[dict[str, Any]]:
    """Rows of kind "simulate" (with the share above the floor in them) and "workers"."""
    cells = [(graph, name) for graph in GRAPHS for name in LEARNERS]
    rows = []
    for done, (graph, name) in enumerate(cells):
        progress(f"simulate {name}", done, len(cells) + 2)
        rows.append(against_reference(graph, name, settings))
    for done, name in enumerate(list(LEARNERS)[:2]):
        progress(f"two workers {name}", len(cells) + done, len(cells) + 2)
        rows.append(against_one_worker(name, settings))
    return rows


def environment(graph: str, settings: Settings) -> gb.environments.SyntheticEnvironment:
    """The paper's, with more reward at stake than noise allows to learn at once."""
    return gb.environments.paper(n_arms=settings.throughput_arms, graph=graph, reward_scale=REWARD_SCALE)


def against_reference(graph: str, name: str, settings: Settings) -> dict[str, Any]:
    """The same learner, graphs and number of rounds in both builds; and the package alone for longer."""
    learner, literal = LEARNERS[name]
    where = environment(graph, settings)
    few, many = settings.reference_rounds, settings.throughput_rounds
    samples: dict[str, list[float]] = {"simulate, few rounds": [], "simulate": [], "floor": [], "reference": []}
    gb.simulate(learner, where, rounds=few)
    drawn, values, dense, uniforms = given(where, few)
    with no_collection():
        for i in range(max(settings.throughput_passes, settings.reference_passes)):
            for kind, rounds in (("simulate, few rounds", few), ("simulate", many)):
                spent, _ = timed(gb.simulate, learner, where, rounds=rounds, seed=i)
                samples[kind].append(spent)
            samples["floor"].append(timed(floor, where, many, i)[0])
            if i < settings.reference_passes:
                spent, records = timed(literal.run, values, dense, drawn.rewards, uniforms, T=few)
                samples["reference"].append(spent)
    times = {kind: summary(seconds) for kind, seconds in samples.items()}
    return {
        "kind": "simulate",
        "graph": graph,
        "learner": name,
        "n_arms": settings.throughput_arms,
        "rounds": many,
        "reference_rounds": few,
        "reference_program_share": float(np.mean([record.demand is not None for record in records])),
        "times": times,
        "rounds_per_second": many / times["simulate"]["median"],
        "reference_rounds_per_second": few / times["reference"]["median"],
        "ratios": {"reference": ratio(times["reference"], times["simulate, few rounds"])},
        "share_above_floor": 1.0 - times["floor"]["median"] / times["simulate"]["median"],
    }


def given(where: gb.environments.SyntheticEnvironment, rounds: int) -> tuple[Any, ...]:
    """Rounds as the reference takes them: values of all functions, dense graphs, uniform numbers."""
    instance = where.instance(seed=0)
    drawn = instance.rounds(0, rounds)
    dense = np.stack([graph.to_dense() for graph in drawn.graphs])
    return drawn, instance.functions.values(drawn.contexts), dense, np.random.default_rng(0).random(rounds)


def floor(where: gb.environments.SyntheticEnvironment, rounds: int, seed: int) -> float:
    """Draw all rounds, and multiply contexts by arms."""
    instance = where.instance(seed)
    drawn = instance.rounds(0, rounds)
    return float((drawn.contexts @ instance.functions.arms.T).max())


def against_one_worker(name: str, settings: Settings) -> dict[str, Any]:
    """Many repeats by two workers and by one, in turn, and the arithmetic loop between them.

    Rounds are doubled until one worker takes a few seconds; a second one is of no use for less.
    """
    learner, _ = LEARNERS[name]
    where = environment("random", settings)
    samples: dict[int, list[float]] = {1: [], 2: []}
    control: dict[int, list[float]] = {1: [], 2: []}
    sizes = {"rounds": settings.throughput_rounds, "repeats": settings.workers_repeats}
    arithmetic()(1)
    with no_collection():
        while timed(gb.simulate, learner, where, **sizes)[0] < settings.workers_seconds:
            sizes["rounds"] *= 2
        for _ in range(settings.workers_passes):
            for workers in samples:
                samples[workers].append(timed(gb.simulate, learner, where, **sizes, workers=workers)[0])
                control[workers].append(timed(by_threads, workers, settings.throughput_rounds)[0])
    times = {
        "one worker": summary(samples[1]),
        "two workers": summary(samples[2]),
        "one thread": summary(control[1]),
        "two threads": summary(control[2]),
    }
    return {
        "kind": "workers",
        "graph": "random",
        "learner": name,
        "n_arms": settings.throughput_arms,
        **sizes,
        "cores": os.cpu_count(),
        "times": times,
        "ratios": {
            "two_workers": ratio(times["one worker"], times["two workers"]),
            "two_threads": ratio(times["one thread"], times["two threads"]),
        },
    }


@cache
def arithmetic() -> Any:
    """A compiled loop that holds no lock."""
    import numba

    @numba.njit(nogil=True)
    def add_up(n: int) -> float:
        total = 0.0
        for i in range(n):
            total += np.sin(i)
        return total

    return add_up


def by_threads(workers: int, rounds: int) -> None:
    """The loop eight times, by this many threads."""
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(arithmetic(), [500 * rounds] * 8))
