"""Saved values are checked against what their classes declare, by one check, before a kernel sees them."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.base.declared import check_declared, limits
from graphbandit.base.saved_files import _savable
from graphbandit.base.shapes import Bool, Float, Int, array_shape
from graphbandit.errors import InputError, SavedFileError
from graphbandit.function_classes.online import OnlineState
from tests.helpers.archives import entries, npy, packed


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One field of each kind."""

    n_arms: int = 3
    matrices: Float[np.ndarray, "blocks d d"] = field(metadata=limits(diagonal_above=0.0))
    moments: Float[np.ndarray, "blocks d"]
    counts: Int[np.ndarray, " arms"] = field(metadata=limits(at_least=0))
    offered: Bool[np.ndarray, " arms"] | None = None
    scales: Float[np.ndarray, " arms_or_one"]
    link: Literal["identity", "logistic"] = "identity"
    radius: float = 1.0


def sample() -> Sample:
    return Sample(
        matrices=np.stack([np.eye(2)] * 4),
        moments=np.zeros((4, 2)),
        counts=np.zeros(3, dtype=np.int64),
        scales=np.ones(1),
    )


def test_what_is_declared_passes() -> None:
    check_declared(sample())
    check_declared(replace(sample(), scales=np.ones(3), offered=np.ones(3, dtype=np.bool_)))


@pytest.mark.parametrize(
    ("field_name", "value", "expected"),
    [
        ("matrices", np.zeros((4, 2, 3)), "expected 2 along the axis d"),
        ("matrices", np.stack([np.eye(2)] * 3), "along the axis blocks"),
        ("matrices", np.zeros((4, 2, 2)), "on a diagonal; expected above 0"),
        ("matrices", [1.0], "is a list; expected an array"),
        ("moments", np.zeros(2), r"expected the axes \(blocks, d\)"),
        ("moments", np.zeros((4, 2), dtype=np.float32), "has type float32; expected float64"),
        ("moments", np.full((4, 2), np.nan), "expected finite numbers"),
        ("counts", np.zeros(4, dtype=np.int64), "expected 3 along the axis arms"),
        ("counts", np.array([0, -1, 0]), "has -1; expected at least 0"),
        ("offered", np.zeros(3), "has type float64; expected bool"),
        ("scales", np.ones(2), "along the axis arms_or_one"),
        ("link", "probit", "expected 'identity' or 'logistic'"),
        ("radius", "wide", "expected float"),
        ("radius", float("nan"), "is nan"),
        ("n_arms", True, "expected int"),
    ],
)
def test_what_is_not_declared_is_refused(field_name: str, value: object, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        check_declared(replace(sample(), **{field_name: value}))  # type: ignore[arg-type]


def test_every_array_of_every_savable_class_is_declared() -> None:
    """A field that holds an array says its axes, so that no class is left out of the check."""
    silent = [
        f"{name}.{field_name}"
        for name, cls in _savable.items()
        for field_name, annotation in getattr(cls, "__annotations__", {}).items()
        if annotation is np.ndarray
    ]
    assert silent == []
    assert array_shape(OnlineState.__annotations__["inverses"]) is not None


def saved(path: Path) -> Path:
    """SquareCB with an online oracle after three rounds, in a file."""
    bandit = gb.Bandit(gb.learners.SquareCB(), gb.Problem(n_arms=4), seed=0)
    for _ in range(3):
        decision = bandit.decide([1.0, 2.0], gb.graphs.complete(4))
        bandit.observe(decision, dict.fromkeys(range(4), 0.5))
    bandit.save(path)
    return path


@pytest.mark.parametrize("shape", [(1, 1, 1), (4, 1, 1), (4, 2, 1), (4, 2)])
def test_a_tampered_inverse_is_refused_at_the_door(tmp_path: Path, shape: tuple[int, ...]) -> None:
    """`decide` would read memory beyond the array."""
    path = saved(tmp_path / "bandit.gb")
    gb.Bandit.load(path)
    files = entries(path.read_bytes())
    number = find(json.loads(files["manifest.json"]), "inverses")["$array"]
    path.write_bytes(packed({**files, f"arrays/{number}.npy": npy(np.zeros(shape))}))
    with pytest.raises(SavedFileError, match=r"OnlineState\.inverses has shape"):
        gb.Bandit.load(path)


def find(tree: object, name: str) -> dict[str, int]:
    """The entry of this name, wherever it stands."""
    children = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    if isinstance(tree, dict) and name in tree:
        found: dict[str, int] = tree[name]
        return found
    return next((found for child in children if (found := find(child, name))), {})
