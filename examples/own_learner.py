"""A learner of one's own: fifteen lines, compared with others, saved and loaded."""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import graphbandit as gb


@dataclass(frozen=True, eq=False)
class Seen:
    """What it knows: the problem, the rounds learnt, and sums of rewards by arm."""

    problem: gb.Problem
    rounds: int
    sums: np.ndarray
    counts: np.ndarray


@dataclass(frozen=True)
class Softmax(gb.learners.Learner[Seen]):
    """p(a) in proportion to exp(mean reward / temperature), learning in every round."""

    temperature: float = 0.2

    def init(self, problem: gb.Problem) -> Seen:
        return Seen(problem, 0, np.zeros(problem.n_arms), np.ones(problem.n_arms))

    def rounds_until_update(self, state: Seen) -> int:
        return 1

    def choose(self, state: Seen, shown: gb.rounds.Shown, rng: np.random.Generator) -> gb.Decisions:
        heat = np.exp(state.sums / state.counts / self.temperature)
        p = np.broadcast_to(heat / heat.sum(), (len(shown), len(heat)))
        return gb.Decisions.from_probabilities(p, graphs=shown.graphs, rng=rng, epoch=state.rounds + 1)

    def update(self, state: Seen, seen: gb.Observations) -> Seen:
        sums = state.sums + np.bincount(seen.arms, seen.rewards, len(state.sums))
        counts = state.counts + np.bincount(seen.arms, minlength=len(state.sums))
        return replace(state, rounds=state.rounds + 1, sums=sums, counts=counts)


environment = gb.environments.paper(n_arms=10, graph="star")
runs = gb.simulate(
    {"mine": Softmax(), "UCB-N": gb.learners.UCBN(), "IDS.G": gb.IDSG()}, environment, rounds=200, repeats=3
)
print(runs)

bandit = gb.Bandit(Softmax(), gb.Problem(arms=["tea", "coffee"]), graph=gb.graphs.complete(2), seed=1)
for _ in range(50):
    bandit.observe(bandit.decide(), {"tea": 0.3, "coffee": 0.6})
path = Path(tempfile.mkdtemp()) / "mine.gb"
bandit.save(path)
loaded = gb.Bandit.load(path, classes=[Softmax, Seen])  # a file never imports code by itself
print(loaded.decide().explain())
