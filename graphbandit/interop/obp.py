"""The `bandit_feedback` of Open Bandit Pipeline, in and out. The package itself is not needed.

A dictionary of n_rounds, n_actions, context, action, reward, pscore, pi_b of shape (n, K, positions), position,
action_context and expected_reward. Ours adds what side observations need: `revealed` and `rewards`, both (n, K), and
`observation_pscore`, the probability with which the reward of each arm was going to be revealed.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import numbers
from graphbandit.base.public_names import listing
from graphbandit.base.saved_files import write_atomically
from graphbandit.base.shapes import Float, Shaped
from graphbandit.errors import InputError, LogError
from graphbandit.graphs import FeedbackGraph, FeedbackGraphs, ProbabilisticGraphs
from graphbandit.logs import Log

__all__ = ["from_log", "read", "to_log", "write"]


def to_log(
    bandit_feedback: Mapping[str, Any],
    *,
    graphs: FeedbackGraph | FeedbackGraphs | ProbabilisticGraphs | None = None,
) -> Log:
    """A log from a `bandit_feedback` dictionary.

    Where pi_b has several positions, `position` says which one a round was at; it becomes a column of the log.
    `action_context` is not in the log: hand it to a function class as `arm_features`.

    - `bandit_feedback`: the dictionary.
    - `graphs`: which rewards each play reveals; None (default): that of the arm played, and those that the dictionary
      has as `revealed`.

    >>> feedback = {"n_rounds": 2, "n_actions": 2, "context": np.zeros((2, 1)), "action": np.array([0, 1]),
    ...             "reward": np.array([1.0, 0.0]), "pscore": np.array([0.5, 0.8]), "position": None,
    ...             "pi_b": np.array([[[0.5], [0.5]], [[0.2], [0.8]]])}
    >>> to_log(feedback)
    Log(2 rounds, n_arms=2)
    """
    if not isinstance(bandit_feedback, Mapping):
        raise InputError(f"bandit_feedback is a {type(bandit_feedback).__name__}; expected a dictionary")
    feedback = bandit_feedback
    missing = [name for name in ("action", "reward", "n_actions") if feedback.get(name) is None]
    if missing:
        raise LogError(f"bandit_feedback has no {', '.join(missing)}; expected action, reward, n_actions and pscore")
    action, k = np.asarray(feedback["action"]), int(feedback["n_actions"])
    n = len(action)
    if feedback.get("n_rounds") not in (None, n):
        raise LogError(f"n_rounds is {feedback['n_rounds']}, but there are {n} actions; expected the same number")
    rewards, q = _rewards(feedback, n, k)
    position = feedback.get("position")
    columns = {} if position is None else {"position": _column("position", position, n)}
    if feedback.get("expected_reward") is not None:
        columns["expected_reward"] = _expected(feedback["expected_reward"], position, n, k)
    return Log.from_arrays(
        contexts=feedback.get("context"),
        actions=action,
        probabilities=_probabilities(feedback, position, n, k),
        rewards=rewards,
        graphs=graphs if graphs is not None else feedback.get("graphs"),
        observation_probabilities=q,
        columns=columns,
        n_arms=k,
    )


def from_log(log: Log, *, action_context: npt.ArrayLike | None = None) -> dict[str, Any]:
    """A log as a `bandit_feedback` dictionary, in memory.

    Rounds in which the arm played has no reward are refused: the dictionary has no place for them.

    - `log`: the log.
    - `action_context`: the features of arms, as they are; None (default): a row of the identity for each arm, as Open
      Bandit Pipeline has it.
    """
    batch = log.to_batch()
    n, rows = len(batch), np.arange(len(batch))
    reward = batch.rewards[rows, batch.actions]
    if np.isnan(reward).any():
        row = int(np.argmax(np.isnan(reward)))
        raise LogError("the arm played has no reward; expected one in every round", table="decisions", row=row)
    p = batch.probabilities if batch.all_known.all() else None
    position = batch.columns.get("position")
    expected = batch.columns.get("expected_reward")
    feedback: dict[str, Any] = {
        "n_rounds": n,
        "n_actions": log.n_arms,
        "context": batch.contexts,
        "action_context": np.eye(log.n_arms, dtype=int) if action_context is None else np.asarray(action_context),
        "action": batch.actions,
        "position": None if position is None else np.asarray(position, dtype=np.int64),
        "reward": reward,
        "expected_reward": None if expected is None else np.asarray(expected, dtype=np.float64),
        "pi_b": None if p is None else _at_positions(p, position),
        "pscore": batch.probability,
    }
    if not batch.loops_only:
        feedback |= {
            "revealed": batch.revealed,
            "rewards": batch.rewards,
            "observation_pscore": batch.q,
            "graphs": batch.graphs,
        }
    return feedback


def read(path: str | os.PathLike[str]) -> Log:
    """A log from a .npz file of the dictionary's arrays, as `write` and ``numpy.savez(path, **bandit_feedback)`` make.

    Files with pickled objects are refused: reading one may run any code.

    - `path`: the file.
    """
    try:
        with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            feedback: dict[str, Any] = {}
            for name in file.files:
                value = file[name]
                feedback[name] = value.item() if value.ndim == 0 else value
    except ValueError as error:
        raise LogError(
            f"{Path(path).name} has an array that cannot be read without pickle; expected only arrays of numbers: "
            f"leave out what is None ({error})"
        ) from None
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error, AttributeError) as error:  # no .npz: an array, or noise
        raise LogError(f"{Path(path).name} cannot be read as .npz: {error}") from None
    edges = feedback.pop("edges", None)
    if edges is not None:
        feedback["graphs"] = FeedbackGraphs.from_dense(edges, require_loops=False)[feedback.pop("edges_index")]
    return to_log(feedback)


def write(log: Log, path: str | os.PathLike[str]) -> None:
    """Write a log as a .npz file of the dictionary's arrays; what is None is left out, graphs are `edges`.

    - `log`: the log.
    - `path`: the file.
    """
    feedback = {name: value for name, value in from_log(log).items() if value is not None}
    graphs = feedback.pop("graphs", None)
    if isinstance(graphs, FeedbackGraphs):
        stored = [graph.to_dense() for graph in graphs.stored_graphs()]
        feedback |= {"edges": np.stack(stored), "edges_index": graphs.index}
    write_atomically(Path(path), lambda file: np.savez_compressed(file, **feedback))


def _rewards(
    feedback: Mapping[str, Any], n: int, k: int
) -> tuple[Float[np.ndarray, ...], Float[np.ndarray, "n arms"] | None]:
    """Rewards of all revealed arms, nan elsewhere, or of the arms played, and with which probabilities."""
    every = feedback.get("rewards")
    if every is None:
        return numbers("reward", feedback["reward"]), None
    rewards = numbers("rewards", every)
    revealed = feedback.get("revealed")
    if rewards.shape != (n, k):
        raise LogError(f"rewards has shape {rewards.shape}; expected ({n}, {k})")
    if revealed is not None:
        mask = np.asarray(revealed, dtype=np.bool_)
        if mask.shape != (n, k):
            raise LogError(f"revealed has shape {mask.shape}; expected ({n}, {k})")
        rewards = np.where(mask, rewards, np.nan)
    q = feedback.get("observation_pscore")
    if q is None:
        return rewards, None
    return rewards, np.where(np.isnan(rewards), np.nan, numbers("observation_pscore", q))


def _probabilities(feedback: Mapping[str, Any], position: Any, n: int, k: int) -> Float[np.ndarray, ...]:
    """The probabilities of all arms at the round's position, or that of the arm played."""
    pi_b = feedback.get("pi_b")
    if pi_b is None:
        if feedback.get("pscore") is None:
            raise LogError("bandit_feedback has no pscore and no pi_b; expected one of them")
        return numbers("pscore", feedback["pscore"])
    each = numbers("pi_b", pi_b)
    if each.ndim == 2:
        each = each[:, :, None]
    if each.ndim != 3 or each.shape[:2] != (n, k):
        raise LogError(f"pi_b has shape {each.shape}; expected ({n}, {k}, positions)")
    if each.shape[2] == 1:
        return each[:, :, 0]
    if position is None:
        raise LogError(f"pi_b has {each.shape[2]} positions and position is None; expected the position of each round")
    places = _column("position", position, n)
    if not ((places >= 0) & (places < each.shape[2])).all():
        row = int(np.argmax((places < 0) | (places >= each.shape[2])))
        raise LogError(f"position[{row}] is {places[row]}; expected one of 0 .. {each.shape[2] - 1}")
    return each[np.arange(n), :, places]


def _expected(value: Any, position: Any, n: int, k: int) -> Float[np.ndarray, "n arms"]:
    """The expected rewards of all arms, at the round's position where there are several."""
    each = numbers("expected_reward", value)
    if each.shape == (n, k):
        return each
    if each.ndim == 3 and each.shape[:2] == (n, k):
        places = np.zeros(n, dtype=np.int64) if position is None else _column("position", position, n)
        return each[np.arange(n), :, np.minimum(places, each.shape[2] - 1)]
    raise LogError(f"expected_reward has shape {each.shape}; expected ({n}, {k})")


def _at_positions(p: Float[np.ndarray, "n arms"], position: Any) -> Float[np.ndarray, "n arms positions"]:
    """pi_b: the probabilities at the round's position, repeated at all others, as the log says nothing about those."""
    positions = 1 if position is None else int(np.max(position)) + 1
    return np.repeat(p[:, :, None], positions, axis=2)


def _column(name: str, value: Any, n: int) -> Shaped[np.ndarray, " n"]:
    column = np.asarray(value)
    if column.shape != (n,) or column.dtype.kind not in "iu":
        raise LogError(f"{name} has type {column.dtype} and shape {column.shape}; expected {n} whole numbers")
    return column


__dir__ = listing(globals())
