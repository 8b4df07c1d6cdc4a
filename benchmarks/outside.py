"""Twenty-two problems of strangers: what the defaults cost on problems that no default was chosen on.

    python -m benchmarks.outside                              # AdaCB.G's eta and doubt, and other everyday learners
    python -m benchmarks.outside --rounds 1000 --repeats 8 --seed 100

Nobody tells the noise. Problems are drawn here and are not those of the leaderboard: per-arm linear classes with a
constant feature, cents, heavy tails, unequal noise, sparse and curved truths, categories, arms without contexts, few
and many, clicks, finite classes; loops, stars, rings, cliques, directed graphs, stock levels. Printed is mean regret
over that of the best.
"""

import argparse
import sys
import warnings
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import graphbandit as gb
from graphbandit.base.printed_table import Table
from graphbandit.learners.base import Learner

CHOICES: dict[str, dict[str, float]] = {
    "AdaCB.G": {},
    **{f"eta {eta:,}": {"eta": float(eta)} for eta in (10_000, 1_000_000)},
    **{f"doubt {doubt:g}": {"doubt": doubt} for doubt in (0.0, 0.05, 0.1, 0.35, 0.5, 1.0)},
}
"""AdaCB.G with its defaults, and with one setting changed."""
CLUSTERS = 4


class Drawn(NamedTuple):
    """A problem of one repeat."""

    contexts: np.ndarray
    means: np.ndarray
    rewards: np.ndarray
    functions: Any
    linear: dict[str, Any] | None
    """settings of LinTS; None where rewards are not linear"""


class Problem(NamedTuple):
    """How a problem is drawn, its graph, and whether AdaCB.G is judged on it."""

    draw: Callable[[np.random.Generator, int], Drawn]
    graph: str
    judged: bool = True


def graph_of(kind: str, n_arms: int, rng: np.random.Generator) -> gb.FeedbackGraph:
    """The graph of all rounds."""
    if kind == "star":
        return gb.graphs.star(n_arms)
    edges = np.eye(n_arms, dtype=bool)
    if kind == "cliques":
        cluster = rng.integers(CLUSTERS, size=n_arms)
        edges |= cluster[:, None] == cluster[None]
    elif kind == "stock":
        edges = np.tril(np.ones((n_arms, n_arms), dtype=bool))
    elif kind == "ring":
        edges |= np.roll(edges, 1, axis=1) | np.roll(edges, -1, axis=1)
    elif kind == "directed":
        edges |= rng.random((n_arms, n_arms)) < 0.1
    return gb.FeedbackGraph.from_dense(edges)


def noise(rng: np.random.Generator, shape: tuple[int, ...], kind: str = "normal") -> np.ndarray:
    """Noise of deviation 0.5: normal, with heavy tails, or unequal, from 0.1 to 1 by arm."""
    if kind == "heavy":
        return 0.5 * rng.standard_t(3, shape) / 3**0.5
    by_arm = np.geomspace(0.2, 2.0, shape[1]) if kind == "unequal" else 1.0
    return 0.5 * by_arm * rng.standard_normal(shape)


def per_arm(
    n_arms: int, d: int, *, kind: str = "normal", cents: bool = False, sparse: bool = False, curve: float = 0.0
) -> Callable[[np.random.Generator, int], Drawn]:
    """A parameter for each arm; the first feature is 1."""

    def draw(rng: np.random.Generator, rounds: int) -> Drawn:
        theta = rng.standard_normal((n_arms, d)) / d**0.5
        if sparse:
            theta *= (np.arange(d) < 2) * (d / 2) ** 0.5
        x = rng.standard_normal((rounds, d))
        x[:, 0] = 1.0
        means = x @ theta.T
        means = means + curve * (means**2 - 1.0)
        rewards = means + noise(rng, means.shape, kind)
        zero, unit = (500.0, 80.0) if cents else (0.0, 1.0)
        functions = gb.LinearClass(n_arms=n_arms, dimension=d, parameters="per-arm")
        return Drawn(x, zero + unit * means, zero + unit * rewards, functions, {})

    return draw


def categories(n_arms: int) -> Callable[[np.random.Generator, int], Drawn]:
    """Five kinds of context, four features of an arm."""

    def draw(rng: np.random.Generator, rounds: int) -> Drawn:
        arms, weights = rng.standard_normal((n_arms, 4)), rng.standard_normal((5, 4)) / 2
        x = np.eye(5)[rng.integers(5, size=rounds)]
        means = x @ weights @ arms.T
        functions = gb.LinearClass(n_arms=n_arms, dimension=5, arm_features=arms)
        return Drawn(x, means, means + noise(rng, means.shape), functions, {"arm_features": arms})

    return draw


def without_contexts(n_arms: int, kind: str) -> Callable[[np.random.Generator, int], Drawn]:
    """Arms that never change."""

    def draw(rng: np.random.Generator, rounds: int) -> Drawn:
        if kind == "gauss":
            means = rng.standard_normal(n_arms)
        elif kind in ("small gaps", "uniform"):
            means = rng.uniform(0.0, 0.2 if kind == "small gaps" else 1.0, n_arms)
        elif kind == "few good":
            means = np.isin(np.arange(n_arms), rng.choice(n_arms, 3, replace=False)).astype(float)
        else:
            means = rng.beta(2, 5, n_arms)
        means = np.tile(means, (rounds, 1))
        clicks = (rng.random(means.shape) < means).astype(float) if kind == "bernoulli" else None
        rewards = means + noise(rng, means.shape) if clicks is None else clicks
        functions = gb.LinearClass(n_arms=n_arms, dimension=1, parameters="per-arm")
        return Drawn(np.ones((rounds, 1)), means, rewards, functions, {})

    return draw


def clicks(n_arms: int, d: int) -> Callable[[np.random.Generator, int], Drawn]:
    """A logistic class with a parameter for each arm."""

    def draw(rng: np.random.Generator, rounds: int) -> Drawn:
        theta = rng.standard_normal((n_arms, d))
        x = rng.standard_normal((rounds, d)) / d**0.5
        x[:, 0] = 1.0
        means = 1.0 / (1.0 + np.exp(1.5 - x @ theta.T))
        functions = gb.GeneralizedLinearClass(n_arms=n_arms, dimension=d, parameters="per-arm", link="logistic")
        return Drawn(x, means, (rng.random(means.shape) < means).astype(float), functions, {})

    return draw


def finite(n_functions: int, n_arms: int, scale: float) -> Callable[[np.random.Generator, int], Drawn]:
    """Tables of eight contexts; the first is the truth."""

    def draw(rng: np.random.Generator, rounds: int) -> Drawn:
        tables = scale * rng.uniform(size=(n_functions, 8, n_arms))
        x = rng.integers(8, size=rounds)
        means = tables[0, x]

        def values(contexts: np.ndarray) -> np.ndarray:
            return tables[:, contexts[:, 0].astype(int)].transpose(1, 0, 2)

        functions = gb.FiniteClass(values, n_functions=n_functions, n_arms=n_arms)
        return Drawn(x[:, None].astype(float), means, means + noise(rng, means.shape), functions, None)

    return draw


PROBLEMS = {
    "per arm, 24 x 9, loops": Problem(per_arm(24, 9), "loops"),
    "per arm, 24 x 9, cliques": Problem(per_arm(24, 9), "cliques"),
    "cents, 24 x 9, directed": Problem(per_arm(24, 9, cents=True), "directed"),
    "unequal noise, 12 x 5, stock": Problem(per_arm(12, 5, kind="unequal"), "stock"),
    "heavy tails, 8 x 4, loops": Problem(per_arm(8, 4, kind="heavy"), "loops"),
    "sparse, 10 x 15, directed": Problem(per_arm(10, 15, sparse=True), "directed"),
    "curved truth, 10 x 4, loops": Problem(per_arm(10, 4, curve=0.5), "loops"),
    "categories, 15 arms, loops": Problem(categories(15), "loops"),
    "categories, 15 arms, star": Problem(categories(15), "star"),
    "no contexts, 10 Gaussian, loops": Problem(without_contexts(10, "gauss"), "loops", judged=False),
    "no contexts, 30 Gaussian, cliques": Problem(without_contexts(30, "gauss"), "cliques"),
    "no contexts, small gaps, 10, star": Problem(without_contexts(10, "small gaps"), "star"),
    "no contexts, 3 good of 40, loops": Problem(without_contexts(40, "few good"), "loops", judged=False),
    "no contexts, 15 Bernoulli, loops": Problem(without_contexts(15, "bernoulli"), "loops", judged=False),
    "no contexts, 15 Bernoulli, directed": Problem(without_contexts(15, "bernoulli"), "directed"),
    "no contexts, 100 Gaussian, loops": Problem(without_contexts(100, "gauss"), "loops", judged=False),
    "no contexts, 100 Gaussian, ring": Problem(without_contexts(100, "gauss"), "ring"),
    "no contexts, 200 uniform, ring": Problem(without_contexts(200, "uniform"), "ring"),
    "clicks, 6 x 4, loops": Problem(clicks(6, 4), "loops"),
    "50 functions, big gaps, loops": Problem(finite(50, 15, 2.0), "loops"),
    "200 functions, small gaps, directed": Problem(finite(200, 15, 0.3), "directed"),
    "20 functions, star": Problem(finite(20, 10, 1.0), "star"),
}


def regrets(name: str, choices: list[str], rounds: int, repeats: int, seed: int) -> dict[str, float]:
    """Mean regret of every learner on one problem."""
    totals: dict[str, list[float]] = {}
    for repeat in range(seed, seed + repeats):
        rng = np.random.default_rng([zlib.crc32(name.encode()), repeat])
        drawn = PROBLEMS[name].draw(rng, rounds)
        environment = gb.environments.from_arrays(
            contexts=drawn.contexts,
            graphs=graph_of(PROBLEMS[name].graph, drawn.means.shape[1], rng),
            rewards=drawn.rewards,
            means=drawn.means,
            function_class=drawn.functions,
        )
        found = gb.simulate(learners(drawn, choices, repeat), environment, rounds=rounds, repeats=1, seed=repeat)
        for learner, curves in found.regret.items():
            totals.setdefault(learner, []).append(float(curves[0, -1]))
    return {learner: float(np.mean(values)) for learner, values in totals.items()}


def learners(drawn: Drawn, choices: list[str], seed: int) -> dict[str, Learner[Any]]:
    """AdaCB.G with these choices, and what it is compared with."""
    chosen: dict[str, Learner[Any]] = {name: gb.AdaCBG(**CHOICES[name]) for name in choices}
    chosen |= {"greedy": gb.Greedy(epoch_growth=1.2), "IDS.G": gb.IDSG(seed=seed)}
    chosen["Thompson"] = gb.learners.BootstrappedThompson(seed=seed)
    if drawn.linear is not None:
        chosen["LinTS"] = gb.LinTS(seed=seed, **drawn.linear)
    return chosen


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2000, help="rounds of every run (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=12, help="runs of every learner (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=300, help="the first repeat's (default: %(default)s)")
    parser.add_argument(
        "--choices", nargs="+", choices=list(CHOICES), default=list(CHOICES), help="forms of AdaCB.G (default: all)"
    )
    settings = parser.parse_args()
    warnings.simplefilter("ignore")
    columns = [*settings.choices, "greedy", "IDS.G", "Thompson"]
    rows, ratios = [], []
    for number, name in enumerate(PROBLEMS, 1):
        print(f"\r{number} of {len(PROBLEMS)}: {name:40}", end="", file=sys.stderr, flush=True)
        found = regrets(name, settings.choices, settings.rounds, settings.repeats, settings.seed)
        best = min(found.values())
        ratios.append([found[column] / best for column in columns])
        title = name if PROBLEMS[name].judged else f"{name} (not judged)"
        rows.append([title, f"{best:.3g}", *(f"{ratio:.2f}" for ratio in ratios[-1])])
    print(file=sys.stderr)
    whole, judged = np.array(ratios), np.array([problem.judged for problem in PROBLEMS.values()])
    for title, kept in (("all", np.ones(len(judged), dtype=bool)), ("judged", judged)):
        some = whole[kept]
        rows.append([f"geometric mean, {title}", "", *(f"{x:.2f}" for x in np.exp(np.log(some).mean(axis=0)))])
        rows.append([f"worst, {title}", "", *(f"{x:.2f}" for x in some.max(axis=0))])
    rows.append(["judged above 2.5", "", *(str(n) for n in (whole[judged] > 2.5).sum(axis=0))])
    print(Table("Regret over that of the best", ["problem", "regret of the best", *columns], rows).to_markdown())


if __name__ == "__main__":
    main()
