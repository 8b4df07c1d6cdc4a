"""Files whose manifest was changed in single places: each was once loaded, or asked for gigabytes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import SavedFileError
from tests.helpers.archives import forged


def tampered(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The file with its manifest changed."""
    other = path.with_name("tampered.gb")
    other.write_bytes(forged(path.read_bytes(), lambda manifest: change(manifest["content"]["$object"])))
    return other


def refuse(path: Path, change: Callable[[dict[str, Any]], None], **given: Any) -> None:
    gb.Bandit.load(path, **given)
    with pytest.raises(SavedFileError):
        gb.Bandit.load(tampered(path, change), **given)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    functions = gb.LinearClass(n_arms=3, dimension=2, parameters="per-arm")
    bandit = gb.Bandit(gb.IDSG(), gb.Problem(n_arms=3, function_class=functions), graph=gb.graphs.star(3), seed=0)
    bandit.decide([1.0, 2.0], key="a")
    return bandit.save(tmp_path / "a.gb") or tmp_path / "a.gb"


def test_a_graph_of_billions_of_arms_is_not_made(saved: Path) -> None:
    def grow(content: dict[str, Any]) -> None:
        content["graph"]["$object"]["n_arms"] = 2**31 + 3

    refuse(saved, grow)


@pytest.mark.parametrize("limit", [-1, 0.5, "many", None])
def test_limits_of_keys_are_whole_numbers(saved: Path, limit: object) -> None:
    refuse(saved, lambda content: content.update(max_keys=limit))


@pytest.mark.parametrize(
    ("name", "limit"), [("max_open", 0), ("max_open", -3), ("forget_after", 0), ("forget_after", -1)]
)
def test_limits_of_open_decisions_are_positive(saved: Path, name: str, limit: int) -> None:
    refuse(saved, lambda content: content.update({name: limit}))


def test_draws_of_another_kind(tmp_path: Path) -> None:
    forest = pytest.importorskip("sklearn.tree").DecisionTreeRegressor(max_depth=2, random_state=0)
    functions = gb.RegressorClass(forest, n_arms=2, dimension=2, members=3)
    bandit = gb.Bandit(gb.IDSG(draws=3), gb.Problem(n_arms=2, function_class=functions), graph=gb.graphs.complete(2))
    rng = np.random.default_rng(0)
    for _ in range(30):
        bandit.observe(bandit.decide(rng.normal(size=2)), dict(enumerate(rng.normal(size=2).tolist())))
    bandit.save(tmp_path / "a.gb")

    def replace_members(content: dict[str, Any]) -> None:
        content["state"]["fields"]["plausible"]["fields"]["members"] = [1, 2, 3]

    refuse(tmp_path / "a.gb", replace_members, function_class=functions)
