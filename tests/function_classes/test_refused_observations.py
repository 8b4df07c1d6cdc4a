"""Observations with arms or rows out of range are refused before a kernel reads memory at them."""

from typing import Any

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import InputError
from graphbandit.function_classes import BilinearClass, OnlineLinear

POINTS = np.eye(2)

CLASSES: dict[str, Any] = {
    "finite": gb.FiniteClass(lambda x: np.stack([x, -x], axis=1), n_functions=2, n_arms=2),
    "bilinear": BilinearClass(x0=POINTS, a0=POINTS, arms=POINTS),
    "linear": gb.LinearClass(n_arms=2, dimension=2, parameters="per-arm"),
    "logistic": gb.GeneralizedLinearClass(n_arms=2, dimension=2, parameters="per-arm", link="logistic"),
    "kernel": gb.KernelClass(n_arms=2, dimension=2, parameters="per-arm", n_features=4),
}


def observations(rows: list[int], arms: list[int]) -> gb.Observations:
    return gb.Observations(
        contexts=np.ones((2, 2)),
        rounds=np.arange(2),
        rows=np.array(rows),
        arms=np.array(arms),
        rewards=np.zeros(len(rows)),
    )


@pytest.mark.parametrize(("rows", "arms"), [([0, 1], [0, 10**9]), ([0, 10**9], [0, 1]), ([-1, 0], [0, 1])])
def test_out_of_range(rows: list[int], arms: list[int]) -> None:
    for functions in CLASSES.values():
        with pytest.raises(InputError, match="the observations have"):
            functions.add(functions.empty(), observations(rows, arms))
    for method in ("ridge", "vaw", "ogd"):
        with pytest.raises(InputError, match="the observations have"):
            OnlineLinear(oracle=method, n_arms=2).update(None, observations(rows, arms))


def test_an_online_oracle_refuses_contexts_that_would_ruin_it() -> None:
    """One context of 1e155 made every later prediction fail."""
    bandit = gb.Bandit(gb.learners.SquareCB(), gb.Problem(n_arms=2), seed=0)
    with pytest.raises(InputError, match="context"):
        bandit.decide([1e155, 1e155], gb.graphs.complete(2))
    bandit.decide([1.0, 1.0], gb.graphs.complete(2))


def test_values_and_candidates_are_asked_for_once() -> None:
    calls = []

    def values(x: np.ndarray) -> np.ndarray:
        calls.append(len(x))
        return np.stack([x, -x], axis=1)

    functions = gb.FiniteClass(values, n_functions=2, n_arms=2)
    space = functions.version_space(functions.empty(), np.inf)
    model, contexts = functions.fit(functions.empty()), np.array([[1.0, 2.0], [3.0, 0.0]])
    together = functions.outlook(model, space, contexts)
    assert calls == [2]
    np.testing.assert_array_equal(together[0], functions.predict(model, contexts))
    np.testing.assert_array_equal(together[1], functions.candidates(space, contexts))
