"""bandits.toml: the template runs as it is, and what is wrong is named by its field."""

from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from graphbandit.errors import ConfigurationError
from graphbandit.service import configuration
from graphbandit.service.core import Core
from tests.service.house import PRICES, configured

WRONG: dict[str, dict[str, Any]] = {
    "bandits.prices.arms": {"arms": ["a", "a"]},
    "bandits.prices.capacity": {"capacity": 2},
    "bandits.prices.window": {"window": "soon"},
    "bandits.prices.default_reward": {"default_reward": 0.0},
    "bandits.prices.aggregation": {"aggregation": "sum"},
    "bandits.prices.retired": {"retired": ["12"]},
    "bandits.prices.baseline": {"baseline": "12"},
    "bandits.prices.noise": {"noise": 0},
    "bandits.prices.half_life": {"half_life": 0},
    "bandits.prices.longest_epoch": {"longest_epoch": 0},
    "bandits.prices.mode": {"mode": "boss"},
    "bandits.prices.colour": {"colour": "blue"},
    "bandits.prices.graph": {"graph": [["7.99", "12"]]},
    "bandits.prices.learner": {"learner": "IDSX"},
    "bandits.prices.features": {"features": {"age": "years"}},
    "bandits.prices.function_class": {"function_class": "quadratic"},
}


def test_a_half_life_is_refused_where_nothing_is_forgotten() -> None:
    with pytest.raises(ConfigurationError, match=r"bandits.prices.half_life: is 40, but LinUCB does not forget"):
        Core("prices", configured(half_life=40.0, learner={"kind": "LinUCB"}).bandits["prices"])


@pytest.mark.parametrize("field", WRONG)
def test_wrong_settings_are_named(field: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Core("prices", configured(**WRONG[field]).bandits["prices"])
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("tables", "field"),
    [
        ({}, "bandits"),
        ({"bandit": {}}, "bandit"),
        ({"bandits": {"a b": PRICES}}, "bandits.a b"),
        ({"service": {"port": "x"}, "bandits": {"prices": PRICES}}, "service.port"),
        ({"service": {"port": 70000}, "bandits": {"prices": PRICES}}, "service.port"),
        ({"service": {"limits": {"arms": 0}}, "bandits": {"prices": PRICES}}, "service.limits.arms"),
        ({"service": {"limits": {"seconds": 0.0}}, "bandits": {"prices": PRICES}}, "service.limits.seconds"),
        ({"bandits": {"prices": {**PRICES, "reward_range": [1.0, 1.0]}}}, "bandits.prices.reward_range"),
        ({"tokens": {"me": {"scopes": ["read"]}}, "bandits": {"prices": PRICES}}, "tokens.me"),
        ({"tokens": {"me": {"scopes": ["read"], "token": "short"}}, "bandits": {"prices": PRICES}}, "tokens.me.token"),
        ({"bandits": {"prices": {}}}, "bandits.prices.arms"),
    ],
)
def test_wrong_tables_are_named(tables: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        configuration.parse(tables, Path())
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        ({"basline": "7.99"}, "baseline"),
        ({"learner": "AdaCBGG"}, "AdaCBG"),
        ({"learner": {"kind": "AdaCBG", "flor": 0.1}}, "floor"),
        ({"function_class": {"kind": "linear", "rigde": 1.0}}, "ridge"),
    ],
)
def test_what_is_nearly_right_is_suggested(change: dict[str, Any], hint: str) -> None:
    with pytest.raises(ConfigurationError, match=f"did you mean '{hint}'"):
        Core("prices", configured(**change).bandits["prices"])


@pytest.mark.parametrize(
    ("given", "field", "can"),
    [
        ({"kind": "linear", "parameters": "shared"}, "parameters", "ridge"),
        ({"kind": "linear", "dimension": 3}, "dimension", "ridge"),
        ({"kind": "logistic", "n_arms": 7}, "n_arms", "norm_bound"),
        ({"kind": "logistic", "link": "poisson"}, "link", "norm_bound"),
    ],
)
def test_what_the_service_sets_itself_cannot_be_given(given: dict[str, Any], field: str, can: str) -> None:
    with pytest.raises(ConfigurationError, match=f"follows from the rest of .*; expected .*'{can}'") as caught:
        Core("prices", configured(function_class=given).bandits["prices"])
    assert caught.value.field == f"bandits.prices.function_class.{field}"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        configuration.read(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("[service")
    with pytest.raises(ConfigurationError, match="not TOML"):
        configuration.read(tmp_path / "bad.toml")


def test_the_template_runs_as_it_is() -> None:
    with resources.as_file(resources.files("graphbandit.service") / "template.toml") as path:
        found = configuration.read(path)
    for name, bandit in found.bandits.items():
        Core(name, bandit)
    assert set(found.bandits) == {"prices", "orders", "personalizer"}
