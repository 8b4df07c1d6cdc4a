"""What people hand to a `Bandit` (contexts, arms on offer, rewards), as the package's own values."""

import reprlib
from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any

import numpy as np

from graphbandit.bandit.graph_inputs import Arms, Graph, several_graphs
from graphbandit.base.arm_names import known_arm, shown
from graphbandit.base.checks import FLOAT
from graphbandit.base.frames import is_frame
from graphbandit.base.shapes import Bool, Int, Shaped
from graphbandit.errors import InputError, ObservationError, SettingError
from graphbandit.features import Tally
from graphbandit.features.context_input import as_frame, is_series
from graphbandit.learners.problem import Problem
from graphbandit.rounds.shown import Graphs
from graphbandit.rounds.size import small_floats

_ROWS = (list, tuple, set, frozenset, np.ndarray)
_FINITE = 1e150
"""Numbers up to this size are finite, and so are their squares."""
_NO_FRAMES = (np.ndarray, dict, list, tuple)


def contexts_of(
    problem: Problem, contexts: object, *, many: bool, rounds: int = 1
) -> tuple[Shaped[np.ndarray, "n ..."], Tally]:
    """Contexts as the bandit's own array, and the tally of what was unknown or missing in them.

    None means no context. With `many` it means `rounds` rounds without one, and so does a list of None.
    """
    if many and isinstance(contexts, list | tuple) and contexts and all(one is None for one in contexts):
        rounds, contexts = len(contexts), None
    if contexts is None:
        columns = () if problem.features is None else problem.features.column_names
        if columns:
            raise InputError(f"the context is None; expected the columns {', '.join(map(repr, columns))}")
        dimension = getattr(problem.function_class, "dimension", None)
        if problem.features is None and isinstance(dimension, int) and dimension > 1:
            raise InputError(f"the context is None; expected {dimension} numbers, as the function class takes them")
        one, tally = problem.encode(None, many=False)
        return np.repeat(one, rounds, axis=0) if many else one, tally
    frame = not isinstance(contexts, _NO_FRAMES) and _is_frame(contexts)
    if frame and problem.features is None:
        contexts = as_frame(contexts).to_numpy()
    rows, tally = problem.encode(contexts, many=many or frame)
    if frame and not many and len(rows) != 1:
        raise InputError(f"the context is a frame of {len(rows)} rows; expected one, or several in decide_batch")
    return rows.copy(), tally  # whoever handed it in may change it


def _is_frame(contexts: object) -> bool:
    """Whether contexts are a data frame; a graph in their place is refused."""
    if isinstance(contexts, Graph | Graphs):
        raise InputError(
            f"the context is a {type(contexts).__name__}; expected decide(context, graph), or decide(graph=...) for "
            "rounds without a context"
        )
    return is_frame(contexts)


def one_context(problem: Problem, context: object) -> Shaped[np.ndarray, "1 ..."]:
    """`contexts_of` for one context of a problem without features; most are an array of small numbers."""
    if type(context) is np.ndarray and context.dtype == FLOAT:
        copied = context[None].copy()
        if small_floats(copied, _FINITE):
            return copied
    return contexts_of(problem, context, many=False)[0]


def rounds_told(*, graphs: object = None, available: object = None, columns: Iterable[object] = ()) -> int:
    """The number of rounds if contexts do not say it: that of graphs, masks or columns with one a round, else one."""
    several = several_graphs(graphs)
    if several is not None:
        return len(several)
    if isinstance(available, np.ndarray) and available.ndim == 2:
        return len(available)
    if isinstance(available, list | tuple) and any(isinstance(row, _ROWS) for row in available):
        return len(available)
    return next((len(column) for column in columns if isinstance(column, Sized)), 1)


def available_of(arms: Arms, available: object) -> Shaped[np.ndarray, "..."] | None:
    """The arms on offer as a mask: of one round, or of all, or a row a round.

    Each is a list of arms, by name or number, a mask over all arms, or a mapping or pandas Series from arms to
    booleans. Zeros and ones for every arm are refused, as they may be numbers or a mask.
    """
    if available is None:
        return None
    if is_series(available, "pandas") and all(isinstance(arm, str) for arm in available.index):  # type: ignore[attr-defined]
        values = available.to_dict()  # type: ignore[attr-defined]
        available = values if all(isinstance(value, bool) for value in values.values()) else list(values.values())
    if isinstance(available, Mapping):
        if not all(isinstance(value, bool | np.bool_) for value in available.values()):
            raise InputError(f"available is {reprlib.repr(available)}; expected true or false for each of its arms")
        offered = [arm for arm, value in available.items() if value]
        if not offered:
            raise InputError("available is true for no arm; expected at least one that is on offer")
        return _mask_of(arms, offered, "available")
    if isinstance(available, str):
        raise InputError(f"available is {available!r}; expected a list of arms, or a mask over all arms")
    if isinstance(available, np.ndarray) and (available.dtype == np.bool_ or not available.ndim):
        return np.array(available)  # a copy: whoever handed it in may change it
    if not isinstance(available, Iterable):
        return np.asarray(available)  # refused later
    listed = available.tolist() if isinstance(available, np.ndarray) else list(available)
    if not any(isinstance(row, _ROWS) for row in listed):
        return _offered(arms, listed, "available")
    if not all(isinstance(row, _ROWS) for row in listed):
        raise InputError("available has lists beside single values; expected one list of arms, or one a round")
    plain = [row.tolist() if isinstance(row, np.ndarray) else list(row) for row in listed]
    rows = [_offered(arms, row, f"available[{t}]") for t, row in enumerate(plain)]
    if len({len(row) for row in rows}) > 1:
        raise InputError("available has rows of different lengths; expected a mask over all arms, or arms, in each")
    return np.array(rows)


def _offered(arms: Arms, listed: list[Any], name: str) -> Bool[np.ndarray, " arms"]:
    """The arms on offer in one round, a list of arms or a mask, as a mask."""
    if not listed:
        raise InputError(f"{name} is empty; expected at least one arm")
    if all(isinstance(value, bool | np.bool_) for value in listed):
        return np.array(listed)
    if len(listed) == arms.n_arms and all(not isinstance(value, str) and value in (0, 1) for value in listed):
        raise InputError(
            f"{name} is {reprlib.repr(listed)}, which may be numbers of arms or a mask; expected names, or a mask of "
            "booleans (numpy.array(..., dtype=bool))"
        )
    return _mask_of(arms, listed, name)


def _mask_of(arms: Arms, listed: Iterable[Any], name: str) -> Bool[np.ndarray, " arms"]:
    """These arms, by name or number, as a mask."""
    mask: Bool[np.ndarray, " arms"] = np.zeros(arms.n_arms, dtype=np.bool_)
    for arm in listed:
        place = known_arm(name, arm, arms.n_arms, arms.arms)
        if mask[place]:
            raise InputError(f"{name} has {shown(arms.arms, place)} twice; expected each arm once")
        mask[place] = True
    return mask


def stacked_masks(masks: Sequence[Bool[np.ndarray, "..."] | None], n_arms: int) -> Bool[np.ndarray, "n arms"] | None:
    """The arms on offer in some rounds, one row a round; None if all are in every round."""
    if all(mask is None for mask in masks):
        return None
    everything = np.ones(n_arms, dtype=np.bool_)
    return np.vstack([everything if mask is None else mask for mask in masks])


def on_offer(available: Shaped[np.ndarray, "..."] | None, retired: Bool[np.ndarray, " arms"] | None) -> Any:
    """The mask without the retired arms; at least one other arm must be on offer."""
    if retired is None:
        return available
    if available is None:
        return ~retired
    if available.dtype != np.bool_ or available.shape[-1:] != retired.shape:
        return available  # refused later
    left = available & ~retired
    if (available.any(axis=-1) & ~left.any(axis=-1)).any():
        raise InputError("available lists only retired arms; expected at least one that is not retired")
    return left


def rewards_of(arms: Arms, rewards: object) -> Mapping[Any, Any]:
    """Rewards by number of arm: a mapping or a pandas Series from names or numbers of arms to rewards."""
    if not isinstance(rewards, dict | Mapping):  # most are a dictionary, which is faster to check
        if not is_series(rewards, "pandas"):
            raise ObservationError(
                f"rewards is a {type(rewards).__name__}; expected a mapping from arm to reward, such as "
                "{decision.arm: 1.0}"
            )
        if not rewards.index.is_unique:  # type: ignore[attr-defined]
            raise ObservationError("rewards has an arm twice in its index; expected each arm once")
        rewards = rewards.to_dict()  # type: ignore[attr-defined]
        assert isinstance(rewards, Mapping)
    kinds = set(map(type, rewards))
    if kinds == {int} or not any(issubclass(kind, str) for kind in kinds):
        return rewards
    found: dict[Any, Any] = {}
    for arm, reward in rewards.items():
        number = known_arm("rewards", arm, arms.n_arms, arms.arms, ObservationError)
        if number in found:
            raise ObservationError(f"rewards has arm {arm!r} twice, by its name and its number; expected it once")
        found[number] = reward
    return found


def rewards_in_order(rewards: Any, revealed: Int[np.ndarray, " revealed"]) -> Mapping[int, Any]:
    """Rewards of the arms that a decision reveals, one each in their order, null where none has come."""
    if len(rewards) != len(revealed):
        raise ObservationError(
            f"rewards is a Series of {len(rewards)}, which has no index; expected {len(revealed)}, one for each of "
            "revealed_arms in their order, or a mapping from arm to reward"
        )
    pairs = zip(revealed.tolist(), rewards.to_list(), strict=True)
    return {arm: reward for arm, reward in pairs if reward is not None}


def arms_of(problem: Arms, name: str, arms: object) -> Int[np.ndarray, " n"]:
    """Arms by number: an array or list of names or of numbers."""
    values = arms.to_list() if hasattr(arms, "to_list") else arms
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{name} has rows of different lengths; expected one arm a round") from None
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; expected one arm a round")
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind in "iu":
        wrong = (array < 0) | (array >= problem.n_arms)
        if wrong.any():
            place = int(np.argmax(wrong))
            raise InputError(f"{name}[{place}] is {array[place]}; expected one of 0 .. {problem.n_arms - 1}")
        return array.astype(np.int64)
    places = [known_arm(f"{name}[{i}]", arm, problem.n_arms, problem.arms) for i, arm in enumerate(array.tolist())]
    return np.array(places, dtype=np.int64)


def check_keys(keys: object, n: int) -> list[Any]:
    """One key a round."""
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise SettingError(f"keys is {reprlib.repr(keys)}; expected a list of texts, one a round")
    given = list(keys)
    if len(given) != n:
        raise InputError(f"keys has {len(given)} keys for {n} rounds; expected one a round")
    return given


def check_key(key: object) -> str:
    """A caller's name of a decision: text that is not empty."""
    if not isinstance(key, str) or not key:
        raise SettingError(f"key is {reprlib.repr(key)}; expected text that names the decision, or None")
    return key
