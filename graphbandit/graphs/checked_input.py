"""Checks of what users give for a graph: each error names the wrong value and what is expected."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from graphbandit.base.arm_names import ArmNames
from graphbandit.base.frames import is_frame
from graphbandit.base.shapes import Bool, Int, Int64
from graphbandit.errors import GraphError
from graphbandit.graphs.frame_input import pairs_of_frame


def checked_n_arms(n_arms: object) -> int:
    """A number of arms: a whole number, at least one."""
    try:
        count = operator.index(n_arms)  # type: ignore[arg-type]
    except TypeError:
        count = 0
    if isinstance(n_arms, bool) or count < 1:
        raise GraphError(f"n_arms is {n_arms!r}; expected a whole number of at least 1")
    return count


def checked_names(arms: Iterable[str] | None, n_arms: int) -> ArmNames | None:
    """The names of this many arms, or None."""
    if arms is None:
        return None
    names = ArmNames.of(arms)
    if len(names) != n_arms:
        raise GraphError(f"arms has {len(names)} names; expected one for each of {n_arms} arms")
    return names


def checked_square(shape: tuple[int, ...]) -> int:
    """The number of arms of a matrix of this shape."""
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise GraphError(f"matrix has shape {shape}; expected a square, (arms, arms), with at least 1 arm")
    return shape[0]


def as_array(values: object, expected: str) -> npt.NDArray[Any]:
    """`values` as an array of booleans or numbers."""
    # like base.checks.numbers, but raises GraphError and does not convert to floats
    try:
        array = np.asarray(values)
    except ValueError:
        raise GraphError(f"rows have different lengths; expected {expected}") from None
    if array.dtype.kind not in "buif":
        raise GraphError(f"values have type {array.dtype}; expected {expected}")
    return array


def as_booleans(
    values: object, places: tuple[Int[np.ndarray, " entries"], ...] | None = None
) -> Bool[np.ndarray, "*shape"]:
    """Booleans, or numbers that are exactly 0 or 1; `places` has the coordinates of a flat array."""
    array = as_array(values, "booleans or zeros and ones")
    if array.dtype == np.bool_:
        return array
    wrong = np.argwhere((array != 0) & (array != 1))
    if len(wrong):
        at = tuple(wrong[0])
        place = at if places is None else tuple(axis[at] for axis in places)
        named = ", ".join(str(int(i)) for i in place)
        raise GraphError(f"entry [{named}] is {array[at]}; expected a boolean, 0 or 1")
    return array.astype(np.bool_)


def as_pairs(
    edges: npt.ArrayLike | Iterable[tuple[int | str, int | str]], n_arms: int, names: ArmNames | None = None
) -> Int64[np.ndarray, "edges 2"]:
    """Pairs of arms in range, given by number, or by name if the arms have names."""
    if not isinstance(edges, np.ndarray) and is_frame(edges):
        edges = pairs_of_frame(edges)
    if not isinstance(edges, Iterable):
        raise GraphError(f"edges is {edges!r}; expected pairs (j, a)")
    listed: Any = edges if isinstance(edges, np.ndarray) else list(edges)
    if names is not None and not isinstance(edges, np.ndarray):
        listed = [_numbers_of(i, pair, names) for i, pair in enumerate(listed)]
    elif any(isinstance(pair, list | tuple) and str in map(type, pair) for pair in listed[:1]):
        raise GraphError(f"edge 0 is {listed[0]!r}, but the arms have no names; expected arms=[...], their names")
    pairs = as_array(listed, "pairs of arms")
    if pairs.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise GraphError(f"edges have shape {pairs.shape}; expected pairs (j, a), that is (edges, 2)")
    if pairs.dtype.kind not in "ui":
        raise GraphError(f"edges have type {pairs.dtype}; expected whole numbers")
    if pairs.min() < 0 or pairs.max() >= n_arms:
        first = int(np.argmax(((pairs < 0) | (pairs >= n_arms)).any(axis=1)))
        pair = tuple(pairs[first].tolist())
        raise GraphError(f"edge {first} is {pair}; expected arms of 0 .. {n_arms - 1}")
    return pairs.astype(np.int64, copy=False)


def _numbers_of(i: int, pair: object, names: ArmNames) -> list[int]:
    """The numbers of a pair of arms."""
    if isinstance(pair, str) or not isinstance(pair, Iterable) or len(both := list(pair)) != 2:
        raise GraphError(f"edge {i} is {pair!r}; expected a pair (j, a)")
    try:
        return [names.index(arm) for arm in both]
    except GraphError as error:
        raise GraphError(f"edge {i}: {error}") from None


def check_nodes(graph: Any, order: Sequence[Any], *, ordered: bool) -> None:
    """Raise GraphError unless the nodes of a NetworkX graph are these, each once.

    - `ordered`: whether the caller gave their order; if not, they are 0 .. n_arms - 1.
    """
    if len(order) == len(graph) and set(order) == set(graph):
        return
    lacking = [arm for arm in order if arm not in graph]
    extra = [node for node in graph if node not in set(order)]
    if not ordered:
        raise GraphError(f"the graph has the node {extra[0]!r}; expected nodes 0 .. n_arms - 1, or arms=[...]")
    if lacking:
        raise GraphError(f"the graph lacks the arm {lacking[0]!r}; expected a node for each arm")
    if extra:
        raise GraphError(f"the graph has the node {extra[0]!r}, which is no arm; expected a node for each arm")
    raise GraphError(f"arms has {len(order)} nodes, and the graph {len(graph)}; expected each of them once")


def missing_loops_message(arms: Int[np.ndarray, " arms_found"], where: str = "") -> str:
    """The message when self-loops are required and these arms lack one; `where` may name a round."""
    named = ", ".join(str(int(a)) for a in arms[:5]) + (", ..." if len(arms) > 5 else "")
    return (
        f"{where}{len(arms)} arm(s) lack a self-loop: {named}. Playing such an arm does not reveal its own "
        "reward; pass require_loops=False if that is meant, or add the loops (add_loops=True, with_loops())"
    )
