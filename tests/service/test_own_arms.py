"""Arms that come with the request, with declared features: the service sees what the library sees."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import ConfigurationError
from graphbandit.service import configuration
from graphbandit.service.core import Core, FieldError
from tests.service.house import House

FEATURES, ARMS = {"age": "number"}, {"price": "number", "kind": ["drink", "food"]}
MENU: dict[str, Any] = {"arms": "request", "capacity": 5, "features": FEATURES, "arm_features": ARMS, "learner": "IDSG"}


def bandits(**changes: Any) -> dict[str, configuration.BanditSettings]:
    return dict(configuration.parse({"bandits": {"menu": {**MENU, **changes}}}, Path()).bandits)


def offers(rng: random.Random) -> list[dict[str, Any]]:
    kinds = [rng.choice(["drink", "food"]) for _ in range(rng.randint(1, 5))]
    return [{"name": f"{kind} {i}", "features": {"price": rng.random(), "kind": kind}} for i, kind in enumerate(kinds)]


def test_contexts_are_those_of_a_bandit_whose_rounds_bring_their_arms() -> None:
    core = Core("menu", bandits()["menu"])
    arms = [("tea", {"price": 2.0, "kind": "drink"}), ("cake", {"price": 4.0, "kind": "food"})]
    asked = core.asked("key", {"age": 31}, arms, None, None)
    problem = gb.Problem(capacity=5, features=FEATURES, arm_features=ARMS, function_class="linear")
    assert problem.features is not None
    x = problem.features.encode({"age": 31})
    z = problem.arm_features.encode([features for _, features in arms])  # type: ignore[union-attr]
    np.testing.assert_array_equal(asked.context, problem.with_arms(x[None], [z])[0])
    assert asked.available is not None
    assert asked.available.tolist() == [True, True, False, False, False]


def test_what_is_unknown_or_missing_is_counted_of_contexts_and_arms() -> None:
    core = Core("menu", bandits()["menu"])
    arms = [("tea", {"price": None, "kind": "drink"}), ("hat", {"price": 4.0, "kind": "clothes"})]
    tally = core.asked("key", {}, arms, None, None).tally
    assert tally == gb.features.Tally(unknown={"kind": 1}, missing={"price": 1, "age": 1})


@pytest.mark.parametrize("changes", [{}, {"features": {}, "arm_features": {}, "hashed": 8}], ids=["declared", "hashed"])
def test_replay_equals_live(changes: dict[str, Any], tmp_path: Path) -> None:
    house, rng = House(str(tmp_path / "log.db"), bandits(**changes)), random.Random(0)
    for step in range(60):
        arms = offers(rng)
        graph = {"edges": [[arms[0]["name"], arms[-1]["name"]]]}
        answer = house.decide("menu", context={"age": rng.random()}, key=f"visit-{step}", arms=arms, graph=graph)
        price = {arm["name"]: arm["features"]["price"] for arm in arms}
        house.observe(f"visit-{step}", {arm: price[arm] for arm in answer.revealed}, bandit="menu")
        house.learn()
    outcome = house.replayed("menu")
    assert outcome.differing == []
    assert outcome.snapshots == outcome.equal > 3
    house.close()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"arms": ["a", "b"], "capacity": None}, "arm_features"),
        ({"hashed": 8}, "hashed"),
        ({"arm_features": {}}, "features"),
        ({"arm_features": {"price": "euros"}}, "arm_features"),
        ({"learner": "UCBN"}, "learner"),
        ({"learner": {"kind": "LinUCB", "arm_features": [[1.0]] * 5}}, "learner"),
        ({"retired": ["a"]}, "arms"),
        ({"function_class": {"kind": "linear", "parameters": "per-arm"}}, "function_class"),
    ],
)
def test_wrong_settings_are_named(changes: dict[str, Any], field: str) -> None:
    given = {name: value for name, value in {**MENU, **changes}.items() if value is not None}
    with pytest.raises(ConfigurationError) as caught:
        Core("menu", configuration.parse({"bandits": {"menu": given}}, Path()).bandits["menu"])
    assert caught.value.field == f"bandits.menu.{field}"


@pytest.mark.parametrize(
    ("context", "arms", "field"),
    [
        ({"age": 1}, None, "arms"),
        ({"age": 1}, [("tea", {"price": 1.0, "colour": "red"})], "arms"),
        ({"age": 1}, [("tea", "hot")], "arms"),
        ({"age": 1}, [("tea", {"price": "dear", "kind": "drink"})], "arms"),
        ([1], [("tea", {"price": 1.0, "kind": "drink"})], "context"),
        ({"years": 1}, [("tea", {"price": 1.0, "kind": "drink"})], "context"),
    ],
)
def test_wrong_requests_are_named(context: Any, arms: Any, field: str) -> None:
    with pytest.raises(FieldError) as caught:
        Core("menu", bandits()["menu"]).asked("key", context, arms, None, None)
    assert caught.value.field == field
