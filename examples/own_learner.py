"""A learner of one's own: fifteen lines; then a file of experiments, the leaderboard, a figure, saved and loaded."""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import graphbandit as gb
from graphbandit.studies import Plan, run_study


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
        heat = np.exp(state.sums / state.counts / self.temperature) * shown.offered(len(state.sums))
        p = heat / heat.sum(axis=1, keepdims=True)
        return gb.Decisions.from_probabilities(
            p, graphs=shown.graphs, rng=rng, epoch=state.rounds + 1, available=shown.available
        )

    def update(self, state: Seen, seen: gb.Observations) -> Seen:
        sums = state.sums + np.bincount(seen.arms, seen.rewards, len(state.sums))
        counts = state.counts + np.bincount(seen.arms, minlength=len(state.sums))
        return replace(state, rounds=state.rounds + 1, sums=sums, counts=counts)


def main() -> None:
    here, out = Path(__file__).parent, Path(tempfile.mkdtemp())
    # from a file, which names it by module and class: graphbandit run examples/own_learner.toml
    results = gb.experiments.run(
        gb.experiments.load(here / "own_learner.toml"), out=out / "own", engine=gb.experiments.InProcess()
    )
    for learner in results.learners:
        print(f"{learner:<24} {results.regret('star', learner).mean():8.2f}")
    # on the leaderboard, beside all others: graphbandit leaderboard --learner own_learner:Softmax
    plan = Plan(study="leaderboard", only=("linear_still",), rounds=32, repeats=2, learners=("own_learner:Softmax",))
    board = run_study(plan, out=out / "board", workers=1)
    print(board.table.to_markdown())
    # as a figure
    gb.plots.save_figure(gb.experiments.plot_curves(results), out / "regret.png")
    print("figures:", sorted(path.name for path in out.rglob("*.png")))
    # in a bandit, saved and loaded
    bandit = gb.Bandit(Softmax(), gb.Problem(arms=["tea", "coffee"]), graph=gb.graphs.complete(2), seed=1)
    for _ in range(50):
        bandit.observe(bandit.decide(), {"tea": 0.3, "coffee": 0.6})
    bandit.save(out / "mine.gb")
    loaded = gb.Bandit.load(out / "mine.gb", classes=[Softmax, Seen])  # a file never imports code by itself
    print(loaded.decide().explain())


if __name__ == "__main__":
    main()
