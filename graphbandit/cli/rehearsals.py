"""Rounds that are played only to have kernels compiled: each way in which people play them, a few at a time."""

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
"""Enough for programs to be solved: the first epochs have none."""


@dataclass(frozen=True)
class Rehearsal:
    """One kind of problem.

    - `name`: what rewards are a function of.
    - `function_class`: the functions that may be the truth.
    - `context`: the shape of a context.
    - `environment`: draws rounds with contexts of that shape.
    """

    name: str
    function_class: Any
    context: tuple[int, ...]
    environment: Environment

    def play(self, kind: str) -> None:
        """Let a learner of this kind decide, explain and learn rounds one by one, in a batch, and in a simulation."""
        from graphbandit.errors import EstimatedNoiseWarning
        from graphbandit.experiments.describe.learner_kinds import LEARNER_KINDS, build_learner
        from graphbandit.learners import ExploreThenCommit
        from graphbandit.learners.every_round.arm_means import ArmMeansLearner
        from graphbandit.simulate import simulate

        bounded = "clip" in LEARNER_KINDS[kind].defaults({})
        learner = build_learner(kind, {"clip": True} if bounded else {})
        self._decide_and_observe(learner, horizon=2 * ROUNDS, noise=0.5)
        if not isinstance(learner, (ArmMeansLearner, ExploreThenCommit)):  # they must be told noise, or horizon
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EstimatedNoiseWarning)
                self._decide_and_observe(learner)
        simulate(learner, self.environment, rounds=ROUNDS)

    def _decide_and_observe(self, learner: Learner[Any], **told: Any) -> None:
        import numpy as np

        from graphbandit import Bandit, Problem, graphs

        rng = np.random.default_rng(0)
        graph = graphs.random_graph(ARMS, 0.2, rng=rng)
        bandit = Bandit(learner, Problem(n_arms=ARMS, function_class=self.function_class, **told))
        for t in range(ROUNDS):
            available = range(ARMS - 1) if t % 2 else None
            decision = bandit.decide(rng.normal(size=self.context), graph, available=available)
            bandit.observe(decision, {int(arm): rng.normal() for arm in decision.revealed_arms})
        bandit.decide(rng.normal(size=self.context), graph).explain()
        bandit.decide_batch(rng.normal(size=(2, *self.context)), graph)


def rehearsals() -> list[Rehearsal]:
    """All kinds of problems: of a finite class and of both kinds of linear ones."""
    from graphbandit import FiniteClass, LinearClass
    from graphbandit.environments import linear, paper

    sizes: dict[str, Any] = {"n_arms": ARMS, "dimension": DIMENSION}
    rounds: dict[str, Any] = {**sizes, "graph": "random", "noise": 0.5}
    listed = FiniteClass(_listed_functions, n_functions=FUNCTIONS, n_arms=ARMS)
    shared, own = LinearClass(**sizes), LinearClass(**sizes, parameters="per-arm")
    return [
        Rehearsal("finite class", listed, (DIMENSION,), paper(**rounds)),
        Rehearsal("linear class, shared", shared, (ARMS, DIMENSION), linear(**rounds)),
        Rehearsal("linear class, per arm", own, (DIMENSION,), linear(**rounds, arms="per-arm")),
    ]


def _listed_functions(contexts: np.ndarray) -> np.ndarray:
    """f_k(x, a) = tanh(k (x_1 + a) / 5), shape (n, functions, arms)."""
    import numpy as np

    sums = contexts[:, :1] + np.arange(ARMS)
    return np.stack([np.tanh(k * sums / 5) for k in range(1, FUNCTIONS + 1)], axis=1)
