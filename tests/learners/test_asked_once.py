"""A function class is asked once in a round, for values and candidates together, and not again to explain it."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit import learners
from tests.golden.learner_cases import LEARNERS

N_ARMS = 3
SETTINGS = {"LateGraph": {"learner": gb.IDSG()}, "SquareCB": {"oracle": "offline"}}
"""Of learners that need some, or that would not ask the function class."""


class Counted:
    """Two functions of the context, which count how often they are evaluated."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: np.ndarray) -> np.ndarray:
        self.calls += 1
        return np.stack([x, 1 - x], axis=1)


def learners_with_classes() -> list[str]:
    return sorted(name for name in LEARNERS if hasattr(getattr(learners, name), "function_class"))


@pytest.mark.parametrize("name", learners_with_classes())
def test_a_decision_asks_once_and_its_explanation_not_at_all(name: str) -> None:
    counted = Counted()
    functions = gb.FiniteClass(counted, n_functions=2, n_arms=N_ARMS)
    learner = getattr(learners, name)(**SETTINGS.get(name, {}))
    bandit = gb.Bandit(learner, gb.Problem(n_arms=N_ARMS, function_class=functions, noise=0.5, horizon=64))
    context, graph = np.array([0.1, 0.5, 0.4]), gb.graphs.complete(N_ARMS)
    asked = []
    for _ in range(40):
        epoch = getattr(bandit.state, "epoch", 0)
        before = counted.calls
        decision = bandit.decide(context, graph)
        if decision.epoch == epoch:  # it has not learnt in between
            asked.append(counted.calls - before)
        before = counted.calls
        decision.explain()
        assert counted.calls == before
        bandit.observe(decision, {arm: float(context[arm]) for arm in decision.revealed.tolist()})
    assert set(asked[1:]) == {1}
