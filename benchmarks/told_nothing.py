"""What it costs a learner to be told nothing: regret with the noise told, not told, and with rewards in cents.

    python benchmarks/told_nothing.py table --repeats 4            # IDS.G, four kinds of graph, per-arm linear class
    python benchmarks/told_nothing.py pairs --repeats 40           # IDS.G told and not, on two cells of the leaderboard
    python benchmarks/told_nothing.py change --repeats 4           # a sudden change, with and without a half-life

Problems are drawn here and not taken from the package, so that nothing is tuned to them; but for the pairs.
"""

import argparse
import warnings
from dataclasses import dataclass, replace

import numpy as np

import graphbandit as gb
from graphbandit.environments import Rounds
from graphbandit.learners.base import Learner
from graphbandit.learners.loop import Loop
from graphbandit.simulate import Run

GRAPHS = ("star", "cliques", "random", "loops")


@dataclass(frozen=True)
class World:
    """Contexts, mean rewards and noise of every round, and the function class that holds them."""

    functions: object
    contexts: np.ndarray
    means: np.ndarray
    noise: np.ndarray
    sigma: float


def per_arm(rng: np.random.Generator, rounds: int, n_arms: int = 24, d: int = 9, sigma: float = 0.5) -> World:
    """A parameter for each arm, one feature constant."""
    theta = rng.normal(size=(n_arms, d)) / np.sqrt(d)
    contexts = np.column_stack([rng.normal(size=(rounds, d - 1)), np.ones(rounds)])
    functions = gb.LinearClass(n_arms=n_arms, dimension=d, parameters="per-arm")
    return World(functions, contexts, contexts @ theta.T, sigma * rng.normal(size=(rounds, n_arms)), sigma)


def adjacency(kind: str, n_arms: int, rng: np.random.Generator) -> np.ndarray:
    """One graph with all self-loops."""
    loops = np.eye(n_arms, dtype=bool)
    if kind == "star":
        hub = rng.integers(n_arms)
        loops[hub] = loops[:, hub] = True
    elif kind == "cliques":
        group = rng.permutation(n_arms) % 5
        loops = group[:, None] == group
    elif kind == "random":
        more = rng.random((n_arms, n_arms)) < 0.05
        loops |= more | more.T
    return loops


def regret(
    learner: Learner,
    world: World,
    kind: str,
    seed: int,
    *,
    told: bool = False,
    offset: float = 0.0,
    factor: float = 1.0,
    **problem: object,
) -> tuple[np.ndarray, np.ndarray]:
    """Regret in the world's own units and the arm played, round by round; the learner sees offset + factor y."""
    rng = np.random.default_rng([seed, 1])
    n, n_arms = world.means.shape
    graphs = [gb.FeedbackGraph.from_dense(adjacency(kind, n_arms, rng)) for _ in range(8)]
    rounds = Rounds(
        contexts=world.contexts,
        graphs=gb.FeedbackGraphs.stack([graphs[i] for i in rng.integers(8, size=n)]),
        means=world.means,
        rewards=offset + factor * (world.means + world.noise),
    )
    noise = world.sigma * factor if told else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = gb.Problem(n_arms=n_arms, function_class=world.functions, noise=noise, **problem)  # type: ignore[arg-type]
        loop = Loop.start(learner, settings)
    run = Run(np.empty(n))
    run.play(loop, rounds, rng, keep_decisions=True)
    return run.regret, np.concatenate([decisions.action for decisions in run.decisions])


def table(repeats: int, rounds: int) -> None:
    """IDS.G told, not told, and in cents."""
    for kind in GRAPHS:
        totals: dict[str, list[float]] = {}
        same = True
        for repeat in range(repeats):
            world = per_arm(np.random.default_rng([repeat, 0]), rounds)
            arms = {}
            for name, told, offset, factor in (
                ("told", True, 0.0, 1.0),
                ("not told", False, 0.0, 1.0),
                ("cents", False, 500.0, 80.0),
                ("cents, told", True, 500.0, 80.0),
            ):
                lost, arms[name] = regret(gb.IDSG(), world, kind, repeat, told=told, offset=offset, factor=factor)
                totals.setdefault(name, []).append(float(lost.sum()))
            same &= bool((arms["not told"] == arms["cents"]).all())
        means = {name: float(np.mean(values)) for name, values in totals.items()}
        ratio = means["not told"] / means["told"]
        print(
            f"{kind:8} {'  '.join(f'{n} {v:.1f}' for n, v in means.items())}  ratio {ratio:.3f}  same in cents {same}"
        )


PAIRS: dict[str, dict[str, object]] = {
    "one context, star": {"arms": "per-arm", "diversity": 0.0, "graph": "star"},
    "new arms, bandit": {"arms": "new", "graph": "bandit"},
}
"""Cells of the leaderboard in which IDS.G told nothing seemed worse than told, with 20 repeats and one seed."""


def pairs(repeats: int, rounds: int) -> None:
    """IDS.G told and not told on the same draws, each repeat with a seed of its own: the ratio and the difference."""
    for name, settings in PAIRS.items():
        found: dict[bool, list[float]] = {True: [], False: []}
        for repeat in range(repeats):
            for told, totals in found.items():
                drawn = gb.environments.linear(n_arms=20, dimension=5, **settings)  # type: ignore[arg-type]
                environment = gb.environments.units(drawn, tell_noise=told, tell_bound=told)
                runs = gb.simulate({"IDS.G": gb.IDSG(seed=repeat)}, environment, rounds=rounds, seed=repeat)
                totals.append(float(runs.regret["IDS.G"][0, -1]))
        known, unknown = np.array(found[True]), np.array(found[False])
        apart, ratio = unknown - known, unknown.mean() / known.mean()
        print(
            f"{name:18} told {known.mean():.2f}  not told {unknown.mean():.2f}  ratio {ratio:.3f}"
            f"  difference {apart.mean():.2f} +- {apart.std() / np.sqrt(repeats):.2f}",
            flush=True,
        )


def change(repeats: int, rounds: int, half_life: float) -> None:
    """All parameters are drawn anew half-way: regret of the second half, with and without a half-life."""
    for name, learner in (("IDS.G", gb.IDSG()), ("AdaCB.G", gb.AdaCBG()), ("greedy", gb.Greedy(epoch_growth=1.2))):
        halves: dict[str, list[tuple[float, float]]] = {}
        for repeat in range(repeats):
            first, second = (per_arm(np.random.default_rng([repeat, i]), rounds // 2) for i in (0, 7))
            steady = per_arm(np.random.default_rng([repeat, 0]), rounds)
            both = {
                name: np.concatenate([getattr(first, name), getattr(second, name)])
                for name in ("contexts", "means", "noise")
            }
            changing = replace(first, **both)
            for world, where in ((changing, "change"), (steady, "steady")):
                for title, settings in (
                    ("for ever", {}),
                    ("half-life", {"half_life": half_life, "longest_epoch": max(1, int(half_life / 4))}),
                ):
                    lost, _ = regret(learner, world, "cliques", repeat, **settings)
                    halves.setdefault(f"{where}, {title}", []).append(
                        (float(lost[: rounds // 2].sum()), float(lost[rounds // 2 :].sum()))
                    )
        row = "  ".join(f"{key}: {np.mean([h[1] for h in runs]):.0f}" for key, runs in halves.items())
        print(f"{name:8} regret of the second half: {row}", flush=True)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["table", "pairs", "change"])
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=None)
    parser.add_argument("--half-life", type=float, default=200.0)
    asked = parser.parse_args()
    if asked.what == "table":
        table(asked.repeats, asked.rounds or 2000)
    elif asked.what == "pairs":
        pairs(asked.repeats, asked.rounds or 2048)
    else:
        change(asked.repeats, asked.rounds or 4000, asked.half_life)


if __name__ == "__main__":
    main()
