"""Is it better than before? The comparison with the baseline, from the rows of a log."""

import random
from pathlib import Path
from typing import Any

import pytest

from graphbandit.errors import ConfigurationError
from graphbandit.service.comparison import INTERVAL
from tests.service.house import House, configured, housed, purchase, visitor


def played(url: str, rounds: int, scale: float = 1.0, **settings: Any) -> dict[str, Any]:
    house, rng = House(url, configured(baseline="7.99", **settings).bandits), random.Random(3)
    for i in range(rounds):
        chosen = {"arm": rng.choice(["8.99", "9.99"]), "probability": 0.5} if "mode" in settings else {}
        decision = house.decide(key=f"k{i}", context=visitor(rng), **chosen)
        house.observe(decision.id, {arm: scale * purchase(rng, arm) for arm in decision.revealed})
    house.learn()
    house.learning._told_at = 0.0  # save the figures now, not when their second has passed
    house.learning._publish()
    found = house.summary()
    house.close()
    return found


def test_the_gain_and_the_mean_reward_have_intervals_of_the_library(tmp_path: Path) -> None:
    found = played(str(tmp_path / "a.db"), 120)
    gain, mean = found["gain"], found["mean_reward_interval"]
    assert (gain["rounds"], gain["of_rounds"]) == (120, 120)
    assert gain["low"] <= gain["mean"] <= gain["high"]
    assert mean["low"] < found["mean_reward"] < mean["high"]
    assert {gain["interval"], mean["interval"]} == {INTERVAL}
    assert gain["low"] >= -1
    assert gain["high"] <= 1


def test_rewards_outside_of_the_range_have_no_interval(tmp_path: Path) -> None:
    found = played(str(tmp_path / "a.db"), 40, scale=10.0)
    assert found["rewards_outside_range"] > 0
    assert found["gain"]["low"] is None
    found = played(str(tmp_path / "b.db"), 40, scale=10.0, reward_range=[0, 10])
    assert found["rewards_outside_range"] == 0
    assert found["gain"]["low"] is not None
    with pytest.raises(ConfigurationError, match="reward_range"):
        configured(reward_range=[1, 0])


def test_default_rewards_count_as_they_are_learnt(tmp_path: Path) -> None:
    """For all revealed arms where the configuration says so: each is then a reward of 0.25, played or not."""
    house = housed(tmp_path, window=5, default_reward=0.25, default_for="revealed", graph="complete")
    for i in range(12):
        house.decide(key=f"k{i}", context={})
    house.clock.time += 6
    house.tick()
    house.learn()
    found = house.summary()
    house.close()
    assert found["mean_reward"] == 0.25
    assert found["gain"]["mean"] == pytest.approx(0.0), "the baseline would have earned the same"


def test_another_baseline_begins_anew(tmp_path: Path) -> None:
    url = str(tmp_path / "a.db")
    found = played(url, 20)
    assert found["gain"]["rounds"] == 20
    other = House(url, configured(baseline="9.99").bandits)
    found = other.summary()
    other.close()
    assert (found["decisions"], found["gain"]["rounds"]) == (20, 0)


def test_an_apprentice_is_compared_with_its_caller(tmp_path: Path) -> None:
    found = played(str(tmp_path / "a.db"), 60, mode="apprentice")
    assert found["gain"]["rounds"] == 60
    assert found["gain"]["low"] <= found["gain"]["high"]


def test_a_default_reward_is_for_arms_that_were_revealed(tmp_path: Path) -> None:
    """An arm that does not reveal itself has no reward to compare, and so none by default."""
    ring = {"edges": [["7.99", "8.99"], ["8.99", "9.99"], ["9.99", "7.99"]], "loops": False}
    house = housed(tmp_path, window=5, default_reward=0.25, graph=ring)
    for i in range(12):
        answer = house.decide(key=f"k{i}", context={})
        assert answer.arm not in answer.revealed
    house.clock.time += 6
    house.tick()
    house.learn()
    found = house.summary()
    house.close()
    assert (found["decisions"], found["open"], found["mean_reward"]) == (12, 0, None)
