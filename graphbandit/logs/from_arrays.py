"""Logged rounds from the arrays that people have, checked and brought to one form."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import available_array, numbers, setting_integer, within
from graphbandit.base.shapes import Float, Int, Shaped
from graphbandit.errors import InputError, LogError, SettingError
from graphbandit.graphs import FeedbackGraph, FeedbackGraphs
from graphbandit.logs.batch import LogBatch
from graphbandit.logs.format import DECISION_COLUMNS, DECISIONS, Stamp
from graphbandit.rounds.shown import Graphs


def log_stamp(
    n_arms: Any,
    context_shape: tuple[int, ...],
    arms: Sequence[str] | None = None,
    context_names: Sequence[str] | None = None,
) -> Stamp:
    """What the files of a new log say."""
    size = setting_integer("n_arms", n_arms, at_least=1, at_most=2**31 - 1)
    shape = tuple(setting_integer("context_shape", axis, at_least=0) for axis in context_shape)
    if arms is not None:
        check_names(arms)
    names = None if arms is None else tuple(map(str, arms))
    if names is not None and (len(names) != size or len(set(names)) != size):
        raise SettingError(f"arms has {len(names)} names, {len(set(names))} different ones; expected {size}")
    return Stamp(
        n_arms=size,
        context_shape=shape,
        arms=names,
        context_names=None if context_names is None else tuple(map(str, context_names)),
    )


def check_names(arms: object) -> None:
    """Raise SettingError unless these may be the names of arms."""
    if isinstance(arms, str) or not isinstance(arms, Iterable):
        raise SettingError(f"arms is {arms!r}; expected the names of the arms")


def told_n_arms(n_arms: int | None, arms: Sequence[str] | None, graphs: object) -> int | None:
    """The number of arms as the caller tells it, by itself, by names or by graphs; None: not at all."""
    if n_arms is not None:
        return n_arms
    if arms is not None:
        return len(arms)
    return graphs.n_arms if isinstance(graphs, FeedbackGraph | Graphs) else None


def numbered(actions: npt.ArrayLike, arms: Sequence[str]) -> npt.ArrayLike:
    """Actions by number; they may be names of arms."""
    check_names(arms)
    given = np.asarray(actions, dtype=object)
    if given.ndim != 1 or not any(isinstance(one, str) for one in given):
        return actions
    known = {name: i for i, name in enumerate(map(str, arms))}
    for row, one in enumerate(given):
        if one not in known:
            raise LogError(f"the action is {one!r}; expected one of the names in arms", table=DECISIONS, row=row)
    return np.array([known[one] for one in given], dtype=np.int64)


def log_batch(
    stamp: Stamp,
    *,
    ids: npt.ArrayLike | None,
    contexts: npt.ArrayLike | None,
    graphs: FeedbackGraph | Graphs | None,
    actions: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    rewards: npt.ArrayLike | None,
    observation_probabilities: npt.ArrayLike | None = None,
    available: npt.ArrayLike | None = None,
    epochs: npt.ArrayLike | None = None,
    times: npt.ArrayLike | None = None,
    columns: Mapping[str, Any] | None = None,
) -> LogBatch:
    """Rounds as a checked batch."""
    if columns is not None and not isinstance(columns, Mapping):
        raise LogError(f"columns is a {type(columns).__name__}; expected a mapping from names to values")
    played = integer_array("actions", actions)
    n, n_arms = len(played), stamp.n_arms
    p, each = _probabilities(probabilities, played, n_arms)
    y = _rewards(rewards, played, n_arms)
    q = (
        None
        if observation_probabilities is None
        else number_array("observation_probabilities", observation_probabilities)
    )
    if q is not None and q.shape != (n, n_arms):
        raise LogError(f"observation_probabilities has shape {q.shape}; expected ({n}, {n_arms})")
    batch = LogBatch(
        first_row=0,
        ids=np.arange(n) if ids is None else integer_array("ids", ids),
        contexts=_contexts(contexts, n, stamp.context_shape),
        graphs=_graphs(graphs, n, n_arms),
        actions=played,
        probability=p,
        probabilities=each,
        rewards=y,
        observation_probabilities=q,
        available=available_array(available, n, n_arms),
        epochs=None if epochs is None else integer_array("epochs", epochs),
        times=None if times is None else _times(times),
        columns={name: _column(name, values, n) for name, values in (columns or {}).items()},
    )
    for name in ("ids", "epochs", "times"):
        values = getattr(batch, name)
        if values is not None and len(values) != n:
            raise LogError(f"{name} has {len(values)} entries; expected {n}, one a round")
    batch.check()
    return batch


def number_array(name: str, value: npt.ArrayLike) -> Float[np.ndarray, "..."]:
    """Numbers of any shape."""
    try:
        return numbers(name, value)
    except InputError as error:
        raise LogError(str(error)) from None


def integer_array(name: str, value: npt.ArrayLike) -> Int[np.ndarray, " n"]:
    """Whole numbers, one a round."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise LogError(f"{name} has rows of different lengths; expected whole numbers, one a round") from None
    if array.dtype.kind == "f" and (array == np.floor(array)).all() and within(array, 2**53):
        array = array.astype(np.int64)  # of a frame with gaps elsewhere
    if array.ndim != 1 or (array.size and array.dtype.kind not in "ui"):
        raise LogError(f"{name} has type {array.dtype} and shape {array.shape}; expected whole numbers, one a round")
    return array.astype(np.int64)


def _probabilities(
    value: npt.ArrayLike, played: Int[np.ndarray, " n"], n_arms: int
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n arms"] | None]:
    array, n = number_array("probabilities", value), len(played)
    if array.shape == (n,):
        return array, None
    if array.shape != (n, n_arms):
        raise LogError(f"probabilities has shape {array.shape}; expected ({n}, {n_arms}) or ({n},)")
    inside = np.clip(played, 0, n_arms - 1)  # an action outside is refused by name later
    return array[np.arange(n), inside], array


def _rewards(value: npt.ArrayLike | None, played: Int[np.ndarray, " n"], n_arms: int) -> Float[np.ndarray, "n arms"]:
    n = len(played)
    if value is None:
        return np.full((n, n_arms), np.nan)
    array = number_array("rewards", value)
    if array.shape == (n, n_arms):
        return array
    if array.shape != (n,):
        raise LogError(f"rewards has shape {array.shape}; expected ({n}, {n_arms}), or ({n},) for the arms played")
    y = np.full((n, n_arms), np.nan)
    y[np.arange(n), np.clip(played, 0, n_arms - 1)] = array
    return y


def _contexts(value: npt.ArrayLike | None, n: int, shape: tuple[int, ...]) -> Float[np.ndarray, "n ..."]:
    if value is None:
        value = np.empty((n, 0))
    array = number_array("contexts", value)
    if array.shape != (n, *shape):
        raise LogError(f"contexts has shape {array.shape}; expected {(n, *shape)}")
    return array


def _graphs(value: FeedbackGraph | Graphs | None, n: int, n_arms: int) -> Graphs | None:
    if isinstance(value, FeedbackGraph):
        value = FeedbackGraphs.repeat(value, n)
    if value is None:
        return None
    if not isinstance(value, Graphs):
        raise LogError(
            f"graphs is a {type(value).__name__}; expected a FeedbackGraph, as FeedbackGraph.from_dense(matrix) makes "
            "it, or a batch of graphs"
        )
    if (len(value), value.n_arms) != (n, n_arms):
        raise LogError(f"there are {len(value)} graphs of {value.n_arms} arms; expected {n} of {n_arms}")
    return value


def _times(value: npt.ArrayLike) -> Shaped[np.ndarray, " n"]:
    try:
        return np.asarray(value, dtype="datetime64[us]")
    except (TypeError, ValueError) as error:
        raise LogError(f"times are not points in time: {error}") from None


def _column(name: str, values: Any, n: int) -> Shaped[np.ndarray, "n ..."]:
    if name in DECISION_COLUMNS:
        raise LogError(f"columns has {name!r}; expected a name other than {', '.join(DECISION_COLUMNS)}")
    array = np.asarray(values)
    if array.ndim == 0 or len(array) != n:
        raise LogError(f"the column {name!r} has shape {array.shape}; expected {n} entries")
    return array
