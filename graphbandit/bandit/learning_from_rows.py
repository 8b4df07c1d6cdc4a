"""Rows of past data (logs of another system, a survey, last year's sales) as rounds that a learner can learn from."""

from typing import Any

import numpy as np

from graphbandit.bandit.given_arms import arms_of, available_of
from graphbandit.bandit.given_contexts import contexts_of, rounds_told
from graphbandit.bandit.given_graphs import graphs_of
from graphbandit.bandit.given_rounds import own_batch
from graphbandit.bandit.own_arms import past_arms
from graphbandit.base.arm_names import shown
from graphbandit.base.checks import LARGEST, available_array, first_not_finite, numbers
from graphbandit.base.shapes import Bool, Float, Int
from graphbandit.errors import InputError, ObservationError, SettingError
from graphbandit.features import Tally
from graphbandit.graphs.products import times_graphs
from graphbandit.learners.base import Learner
from graphbandit.learners.late_graphs import LateGraph
from graphbandit.learners.loop import Loop
from graphbandit.learners.played import News, Played
from graphbandit.learners.problem import Problem
from graphbandit.rounds.shown import Graphs


def learnt_from_rows(loop: Loop, contexts: object, **rows: object) -> tuple[Loop, Tally]:
    """The loop after past rows, fitted to what they teach, and what was unknown in their contexts.

    The arguments are those of `Bandit.learn`.
    """
    past, news, tally = past_rounds(loop.learner, loop.problem, loop.rounds, contexts, **rows)
    if not len(past.actions):
        return loop, tally
    after = loop.take(past, news)
    return (after.refit() if after.learner.refits and after.left > 0 else after), tally


def past_rounds(
    learner: Learner[Any],
    problem: Problem,
    first: int,
    contexts: object,
    *,
    actions: object,
    rewards: object,
    probabilities: object,
    graphs: object,
    available: object,
    arms: object,
) -> tuple[Played, News, Tally]:
    """Past rows as rounds numbered from `first` on, their rewards by round and arm, and what was unknown in them.

    The arguments are those of `Bandit.learn`. Everything is checked.
    """
    if arms is not None or problem.capacity is not None:
        rows, given, available, own, tally = own_batch(problem, contexts, arms, graphs, available)
        assert own is not None  # each has brought its arms
        actions, rewards = past_arms(own, problem.n_arms, actions, rewards)
        graphs = None if graphs is None else given
    else:
        told = rounds_told(columns=[actions, rewards])
        rows, tally = contexts_of(problem, contexts, many=True, rounds=told)
    functions = getattr(learner, "function_class", None) or problem.function_class
    if functions is not None and len(rows):
        functions.check_contexts(rows)
    batch = graphs_of(problem, graphs, len(rows))
    n, n_arms = len(rows), problem.n_arms
    if learner.n_notes:
        raise SettingError(
            f"{type(learner).__name__} needs its own notes for every round, which past rows do not have; "
            "expected a learner that learns only from rewards, such as IDSG, AdaCBG or LinUCB"
        )
    table, played = _rewards(problem, rewards, actions, n)
    if played is None:
        if isinstance(learner, LateGraph) or not learner._is_ours:
            raise InputError(f"actions is None; {type(learner).__name__} expects the arm that was played in each round")
        played = np.isfinite(table).argmax(axis=1).astype(np.int64)
    seen = np.isfinite(table)
    mask = available_array(available_of(problem, available), n, n_arms)
    if mask is not None and n and not mask[np.arange(n), played].all():
        t = int(np.argmin(mask[np.arange(n), played]))
        arm = shown(problem.arms, int(played[t]))
        raise InputError(f"actions[{t}] is {arm}, which was not available; expected an arm that was")
    _check_graphs(problem, batch, played, seen)
    q = _observation_probabilities(problem, probabilities, batch, played, seen)
    places = rounds, seen_arms = np.nonzero(seen)
    observed = table[places]
    learner.check_rewards(observed)
    news = News(rounds + first, seen_arms, observed, q[places])
    return Played(first, rows, played, np.empty((n, 0)), mask), news, tally


def _rewards(
    problem: Problem, rewards: object, actions: object, n: int
) -> tuple[Float[np.ndarray, "n arms"], Int[np.ndarray, " n"] | None]:
    """Rewards of all arms, not a number where none was seen, and the arms played, if they are told."""
    n_arms = problem.n_arms
    played = None if actions is None else arms_of(problem, "actions", actions)
    if played is not None and len(played) != n:
        raise InputError(f"actions has {len(played)} arms for {n} contexts; expected one a round")
    columns = list(getattr(rewards, "columns", []))
    if columns and hasattr(rewards, "to_numpy"):
        places = arms_of(problem, "the columns of rewards", columns)
        if len(set(places.tolist())) < len(places):
            raise InputError("the columns of rewards have an arm twice; expected each arm once")
        values = numbers("rewards", rewards.to_numpy(), has="have")
        table = np.full((len(values), n_arms), np.nan)
        table[:, places] = values
    else:
        table = numbers("rewards", rewards, has="have")  # type: ignore[arg-type]
    if table.ndim == 1 and len(table) == n:
        if played is None:
            raise InputError("actions is None; expected the arm of each reward, as there is one reward a round")
        values, table = table, np.full((n, n_arms), np.nan)
        table[np.arange(n), played] = values
    if table.shape != (n, n_arms):
        raise InputError(f"rewards have shape {table.shape}; expected ({n},) or ({n}, {n_arms})")
    if not (np.isnan(table) | (np.abs(table) <= LARGEST)).all():
        where = first_not_finite(np.where(np.isnan(table), 0.0, table), largest=LARGEST)
        raise ObservationError(f"rewards have {where}; expected numbers up to {LARGEST:g} in size, nan for none")
    return table, played


def _check_graphs(
    problem: Problem, graphs: Graphs | None, played: Int[np.ndarray, " n"], seen: Bool[np.ndarray, "n arms"]
) -> None:
    """Raise unless the arms played may have revealed what was seen."""
    if graphs is None:
        return
    n, n_arms = seen.shape
    if len(graphs) != n or graphs.n_arms != n_arms:
        raise InputError(
            f"there are {len(graphs)} graphs of {graphs.n_arms} arms; expected {n} of {n_arms}, one graph a round"
        )
    wrong = seen & ~graphs._revealed(played)
    if wrong.any():
        t, arm = np.argwhere(wrong)[0].tolist()
        seen_arm, by = shown(problem.arms, arm), shown(problem.arms, int(played[t]))
        raise ObservationError(f"rewards[{t}] has {seen_arm}, which {by} does not reveal in that graph")


def _observation_probabilities(
    problem: Problem,
    given: object,
    graphs: Graphs | None,
    played: Int[np.ndarray, " n"],
    seen: Bool[np.ndarray, "n arms"],
) -> Float[np.ndarray, "n arms"]:
    """q: the probability with which each reward was revealed; 1 where it is not known."""
    n, rounds, n_arms = len(played), np.arange(len(played)), problem.n_arms
    if given is None:
        return np.ones((n, n_arms))
    p = numbers("probabilities", given, has="have")  # type: ignore[arg-type]
    if p.shape not in ((n,), (n, n_arms)):
        raise InputError(f"probabilities have shape {p.shape}; expected ({n},) or ({n}, {n_arms})")
    if not ((p >= 0) & (p <= 1 + 1e-6)).all():
        raise InputError(f"probabilities have {p[~((p >= 0) & (p <= 1 + 1e-6))][0]}; expected numbers from 0 to 1")
    others = seen.copy()
    others[rounds, played] = False
    if others.any() and (graphs is None or p.ndim == 1):
        t = int(np.argmax(others.any(axis=1)))
        raise InputError(
            f"rewards[{t}] has arms beside the one played; expected graphs, and the probabilities of all arms, "
            f"({n}, {n_arms}), so that it is known how likely they were to be revealed"
        )
    if p.ndim == 1:
        q = np.zeros((n, n_arms))
        q[rounds, played] = p
    else:
        if not (np.abs(p.sum(axis=1) - 1.0) <= 1e-6).all():
            t = int(np.argmax(np.abs(p.sum(axis=1) - 1.0)))
            raise InputError(f"probabilities[{t}] sum to {p[t].sum():g}; expected 1")
        q = p if graphs is None else times_graphs(p, graphs)
    if not (q[seen] > 0).all():
        t, arm = np.argwhere(seen & (q <= 0))[0].tolist()
        which = shown(problem.arms, arm)
        raise InputError(f"rewards[{t}] has {which}, which was revealed with probability 0; expected more than 0")
    return np.minimum(q, 1.0)
