"""What a user waits for: `Bandit.decide` and `observe` with the everyday learners, few arms and many.

Two classes: 50 functions of a finite one, and linear functions of 10 features an arm, whose rows are new in each round;
with 5,000 arms and more, linear in 16. Graphs are stars, the same in every round. The bandit has learnt from the rounds
before, and no epoch ends in the rounds timed. Vowpal Wabbit's SquareCB predicts in between, on rounds of as many arms
and features that were parsed before; it gets no graph, and learns from one reward a round.
"""

from typing import Any

import numpy as np

import graphbandit as gb
from benchmarks import vowpal
from benchmarks.settings import Settings
from benchmarks.timing import Progress, no_collection, ratio, summary, timed

LEARNERS = {"IDS.G": gb.IDSG(), "AdaCB.G": gb.AdaCBG(), "greedy": gb.Greedy(), "LinUCB": gb.LinUCB()}
FUNCTIONS, DIMENSION, LARGE_DIMENSION, CLIQUE = 50, 10, 16, 50
BLOCK = 16
"""Rounds that one contender decides before the next has its turn."""


def run(settings: Settings, progress: Progress) -> list[dict[str, Any]]:
    """Rows of kind "decision", and of kind "many arms"."""
    cells = [(kind, n_arms) for n_arms in settings.everyday_arms for kind in ("finite", "linear")]
    total = len(cells) + len(settings.everyday_many_arms)
    rows: list[dict[str, Any]] = []
    for done, (kind, n_arms) in enumerate(cells):
        progress(f"{kind} {n_arms}", done, total)
        rows += few_arms(kind, n_arms, settings)
    for done, n_arms in enumerate(settings.everyday_many_arms):
        progress(f"linear {n_arms}", len(cells) + done, total)
        rows += many_arms(n_arms, settings)
    return rows


class Rounds:
    """Contexts, means and noise of a problem of one class."""

    def __init__(self, kind: str, n_arms: int, seed: int) -> None:
        self.rng = np.random.default_rng([seed, n_arms])
        self.kind, self.n_arms = kind, n_arms
        self.tables = self.rng.uniform(size=(FUNCTIONS, n_arms))
        self.theta = self.rng.normal(size=DIMENSION)

    def function_class(self) -> Any:
        """The class that holds the truth."""
        if self.kind == "linear":
            return gb.LinearClass(n_arms=self.n_arms, dimension=DIMENSION)
        tables = self.tables
        return gb.FiniteClass(lambda x: x[:, :1, None] * tables[None], n_functions=FUNCTIONS, n_arms=self.n_arms)

    def draw(self) -> tuple[np.ndarray, np.ndarray]:
        """The context of a round, and its rewards."""
        noise = 0.5 * self.rng.normal(size=self.n_arms)
        if self.kind == "linear":
            context = self.rng.normal(size=(self.n_arms, DIMENSION)) / DIMENSION**0.5
            return context, context @ self.theta + noise
        context = self.rng.uniform(size=1)
        return context, context[0] * self.tables[0] + noise


def few_arms(kind: str, n_arms: int, settings: Settings) -> list[dict[str, Any]]:
    """A row for each learner, with Vowpal Wabbit's times on the same rounds."""
    rounds, graph = Rounds(kind, n_arms, 0), gb.graphs.star(n_arms)
    problem = gb.Problem(n_arms=n_arms, function_class=rounds.function_class(), noise=0.5)
    bandits = {
        name: gb.Bandit(learner, problem, seed=0)
        for name, learner in LEARNERS.items()
        if name != "LinUCB" or kind == "linear"
    }
    vw = trained(rounds, settings.everyday_learnt) if vowpal.version() != vowpal.NOT_INSTALLED else None
    for _ in range(settings.everyday_learnt):
        context, rewards = rounds.draw()
        for bandit in bandits.values():
            made = bandit.decide(context, graph)
            bandit.observe(made, {arm: float(rewards[arm]) for arm in made.revealed.tolist()})
    times: dict[str, dict[str, list[float]]] = {name: {"decide": [], "observe": []} for name in bandits}
    predict: list[float] = []
    reveals = np.eye(n_arms, dtype=bool)
    with no_collection():  # once: it walks over everything, and the rounds after it would find the caches empty
        for _ in range(settings.everyday_blocks):
            drawn = [rounds.draw() for _ in range(BLOCK)]
            for name, bandit in bandits.items():
                epoch = bandit.state.epoch if hasattr(bandit.state, "epoch") else 0
                for context, rewards in drawn:
                    spent, made = timed(bandit.decide, context, graph)
                    given = {arm: float(rewards[arm]) for arm in made.revealed.tolist()}
                    observing, _ = timed(bandit.observe, made, given)
                    if made.epoch == epoch or not epoch:  # a round in which it has just learnt does not count
                        times[name]["decide"].append(spent)
                        times[name]["observe"].append(observing)
                    epoch = made.epoch if epoch else 0
            if vw is not None:
                predict += [vw.predict(features(kind, context), reveals)[0] for context, _ in drawn]
    rows = []
    for name in bandits:
        row: dict[str, Any] = {
            "kind": "decision",
            "class": kind,
            "n_arms": n_arms,
            "learner": name,
            "times": {what: summary(samples) for what, samples in times[name].items()},
            "ratios": {},
            "squarecb": "measured" if vw is not None else vowpal.NOT_INSTALLED,
        }
        if predict:
            row["times"]["squarecb"] = summary(predict)
            row["ratios"]["of_squarecb"] = ratio(row["times"]["decide"], row["times"]["squarecb"])
        rows.append(row)
    if vw is not None:
        vw.close()
    return rows


def features(kind: str, context: np.ndarray) -> np.ndarray:
    """The shared features of a round as Vowpal Wabbit gets them: as many numbers as an arm has."""
    return context[0] if kind == "linear" else np.full(DIMENSION, context[0])


def trained(rounds: Rounds, n: int) -> vowpal.Vowpal:
    """A Vowpal Wabbit that has played n rounds, with 10 features an arm and all products with the context."""
    vw = vowpal.Vowpal(vowpal.SQUARECB, rounds.rng.normal(size=(rounds.n_arms, DIMENSION)), seed=0)
    for _ in range(n):
        context, rewards = rounds.draw()
        vw.learn(features(rounds.kind, context), np.eye(rounds.n_arms, dtype=bool), rewards)
    return vw


def many_arms(n_arms: int, settings: Settings) -> list[dict[str, Any]]:
    """IDS.G and AdaCB.G on cliques of 50 arms, linear in 16 features: times, and whether the answer is exact."""
    rng = np.random.default_rng(n_arms)
    theta = rng.normal(size=LARGE_DIMENSION)
    graph = gb.graphs.clique_group(n_arms, max(n_arms // CLIQUE, 1))
    rows = []
    # IDS.G as it is once arms are no longer new: until then it learns in every round, and these do not count
    learners = {"IDS.G": gb.IDSG(epoch_growth=1.1), "AdaCB.G": LEARNERS["AdaCB.G"]}
    for name, learner in learners.items():
        functions = gb.LinearClass(n_arms=n_arms, dimension=LARGE_DIMENSION)
        bandit = gb.Bandit(learner, gb.Problem(n_arms=n_arms, function_class=functions, noise=0.5), seed=0)
        samples, gaps, epoch = [], [], 0
        for t in range(3 * settings.everyday_many_rounds):
            context = rng.normal(size=(n_arms, LARGE_DIMENSION)) / LARGE_DIMENSION**0.5
            rewards = context @ theta + 0.5 * rng.normal(size=n_arms)
            spent, made = timed(bandit.decide, context, graph)
            bandit.observe(made, {arm: float(rewards[arm]) for arm in made.revealed.tolist()})
            if made.epoch == epoch and t >= settings.everyday_many_rounds:
                samples.append(spent)
                gaps.append(made.duality_gap)
            epoch = made.epoch
        rows.append(
            {
                "kind": "many arms",
                "n_arms": n_arms,
                "learner": name,
                "times": {"decide": summary(samples)},
                "ratios": {},
                "largest_gap": float(np.nanmax(gaps)) if np.isfinite(gaps).any() else None,
            }
        )
    return rows
