"""Rounds that are played only to compile kernels: a few for each way in which people play rounds."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from graphbandit.environments import Environment
    from graphbandit.learners import Learner

ARMS, DIMENSION, FUNCTIONS = 6, 3, 5
ROUNDS = 40
"""Enough rounds for programs to be solved: the first epochs have none."""


@dataclass(frozen=True)
class Rehearsal:
    """One kind of problem.

    - `name`: names the function class.
    - `function_class`: the functions that may be the truth.
    - `context`: the shape of a context.
    - `environment`: draws rounds with contexts of that shape.
    - `counts`: whether rewards are 0 or 1, like clicks; False by default.
    - `any_graph`: whether learners that take graphs without self-loops or edge probabilities also play those; False by
      default.
    """

    name: str
    function_class: Any
    context: tuple[int, ...]
    environment: Environment
    counts: bool = False
    any_graph: bool = False

    def play(self, kind: str) -> None:
        """Let a learner of this kind decide, explain and learn: one by one, in a batch, and in a simulation."""
        from graphbandit.errors import EstimatedNoiseWarning
        from graphbandit.experiments.describe.learner_kinds import LEARNER_KINDS, build_learner
        from graphbandit.learners import ExploreThenCommit
        from graphbandit.learners.every_round.arm_means import ArmMeansLearner
        from graphbandit.simulate import simulate

        bounded = "clip" in LEARNER_KINDS[kind].defaults({})
        learner = build_learner(kind, {"clip": True} if bounded else {})
        self._decide_and_observe(learner, self._graphs(learner)[0], horizon=2 * ROUNDS, noise=0.5)
        if not isinstance(learner, (ArmMeansLearner, ExploreThenCommit)):  # they need the noise or the horizon
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EstimatedNoiseWarning)
                for graph in self._graphs(learner):
                    self._decide_and_observe(learner, graph)
        simulate(learner, self.environment, rounds=ROUNDS)

    def _graphs(self, learner: Learner[Any]) -> list[Any]:
        """A graph with self-loops, then others that this learner also plans with."""
        import numpy as np

        from graphbandit import FeedbackGraph, ProbabilisticGraph, graphs

        usual = graphs.random_graph(ARMS, 0.2, rng=np.random.default_rng(0))
        if not self.any_graph:
            return [usual]
        weak = FeedbackGraph.from_dense(graphs.star(ARMS).to_dense() & ~np.eye(ARMS, dtype=bool), require_loops=False)
        probable = ProbabilisticGraph.from_graph(usual, 0.5)
        return [
            usual,
            *([] if learner.needs_loops else [weak]),
            *([probable] if learner.plans_with_probabilities else []),
        ]

    def _decide_and_observe(self, learner: Learner[Any], graph: Any, **told: Any) -> None:
        import numpy as np

        from graphbandit import Bandit, Problem

        rng = np.random.default_rng(0)
        bandit = Bandit(learner, Problem(n_arms=ARMS, function_class=self.function_class, **told))
        for t in range(ROUNDS):
            available = range(ARMS - 1) if t % 2 else None
            decision = bandit.decide(rng.normal(size=self.context), graph, available=available)
            rewards = rng.integers(2, size=ARMS) if self.counts else rng.normal(size=ARMS)
            bandit.observe(decision, {int(arm): float(rewards[arm]) for arm in decision.revealed})
        bandit.decide(rng.normal(size=self.context), graph).explain()
        bandit.decide_batch(rng.normal(size=(2, *self.context)), graph)


def rehearsals(everything: bool = False) -> list[Rehearsal]:
    """The usual kinds of problems, with a finite class and both kinds of linear classes; or all kinds."""
    from graphbandit import FiniteClass, GeneralizedLinearClass, KernelClass, LinearClass
    from graphbandit.environments import linear, paper

    sizes: dict[str, Any] = {"n_arms": ARMS, "dimension": DIMENSION}
    rounds: dict[str, Any] = {**sizes, "graph": "random", "noise": 0.5}
    listed = FiniteClass(_listed_functions, n_functions=FUNCTIONS, n_arms=ARMS)
    shared, own = LinearClass(**sizes), LinearClass(**sizes, parameters="per-arm")
    joint, alone = (ARMS, DIMENSION), (DIMENSION,)
    usual = [
        Rehearsal("finite class", listed, alone, paper(**rounds), any_graph=everything),
        Rehearsal("linear class, shared", shared, joint, linear(**rounds), any_graph=everything),
        Rehearsal("linear class, per arm", own, alone, linear(**rounds, arm_kind="per-arm"), any_graph=everything),
    ]
    if not everything:
        return usual
    found = [*usual, Rehearsal("kernel class", KernelClass(**sizes, n_features=20), joint, linear(**rounds))]
    for link in ("logistic", "poisson"):
        of_all, of_each = (
            GeneralizedLinearClass(**sizes, link=link, parameters=kind) for kind in ("shared", "per-arm")
        )
        clicks = {name: value for name, value in rounds.items() if name != "noise"} | {"link": link}
        found.append(Rehearsal(f"{link} class, shared", of_all, joint, linear(**clicks), counts=True))
        found.append(
            Rehearsal(f"{link} class, per arm", of_each, alone, linear(**clicks, arm_kind="per-arm"), counts=True)
        )
    return found


def _listed_functions(contexts: np.ndarray) -> np.ndarray:
    """f_k(x, a) = tanh(k (x_1 + a) / 5), shape (n, functions, arms)."""
    import numpy as np

    sums = contexts[:, :1] + np.arange(ARMS)
    return np.stack([np.tanh(k * sums / 5) for k in range(1, FUNCTIONS + 1)], axis=1)
