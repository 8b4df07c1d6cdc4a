"""Rounds that bring their own arms: names, features and a graph of those arms, put into the problem's places.

A problem's capacity is its number of places. The arms of a round take the first places, in their order; the others are
never on offer and reveal nothing but themselves. The decision that a person gets has only the round's arms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from graphbandit.bandit.catalogue import graph_with_more_arms
from graphbandit.bandit.given_arms import available_of
from graphbandit.bandit.given_contexts import contexts_of, rounds_told
from graphbandit.bandit.given_graphs import Arms, Graph, given_batch, graph_of, graphs_of
from graphbandit.bandit.given_rewards import rewards_of
from graphbandit.base.arms import ArmNames, arm_index, known_arm
from graphbandit.base.checks import available_array
from graphbandit.base.shapes import Bool, Float, Int, Shaped
from graphbandit.errors import InputError, ObservationError, SettingError, UnknownArmError
from graphbandit.features import Encoder, Tally
from graphbandit.features.arms import read_arms
from graphbandit.graphs.generators.bandit import bandit
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.probabilistic import ProbabilisticGraph
from graphbandit.learners.base import Learner
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decision import Decision
from graphbandit.rounds.shown import Graphs


class RoundArms(NamedTuple):
    """The arms of one round: how many there are, and their names if they have any."""

    n_arms: int
    arms: ArmNames | None


class GivenRounds(NamedTuple):
    """Rounds as the package's own values; `arms` is None where they are those of the problem."""

    contexts: Shaped[np.ndarray, "n ..."]
    graphs: Graphs | None
    available: object
    arms: list[RoundArms] | None
    tally: Tally


def check_own_arms(learner: Learner[Any], problem: Problem, graph: object) -> None:
    """Raise SettingError unless this learner can take arms that differ from round to round, on this problem."""
    if problem.capacity is None:
        return
    if not learner.takes_own_arms:
        raise SettingError(
            f"{type(learner).__name__} knows arms by their numbers, but rounds bring their own; expected a learner of "
            "a function class, such as IDSG"
        )
    functions = getattr(learner, "function_class", None)
    if functions is not None:
        functions.check_own_arms()
    if graph is not None:
        raise SettingError("graph is of the bandit, but rounds bring their own arms; expected a graph with each round")


def own_rounds(
    problem: Problem,
    contexts: Shaped[np.ndarray, "n ..."],
    tables: Sequence[object],
    graphs: Sequence[object],
    available: Sequence[object],
    tally: Tally,
) -> GivenRounds:
    """Rounds with their own arms, in the problem's places.

    Each has an encoded context, a table of arms, a graph, and the arms on offer.
    """
    if problem.capacity is None:
        raise SettingError(
            "arms came with the round; expected Problem(capacity=...), whose rounds bring their own arms"
        )
    read, rows, total = [], [], tally
    for table in tables:
        one, values, seen = _arms_of_round(problem, table)
        read.append(one)
        rows.append(values)
        total = total + seen
    masks = [_mask(one, problem.capacity, given) for one, given in zip(read, available, strict=True)]
    return GivenRounds(
        contexts=problem.with_arms(contexts, rows),
        graphs=given_batch(
            [_graph(one, problem, given) for one, given in zip(read, graphs, strict=True)], problem.n_arms
        ),
        available=np.concatenate(masks) if masks else np.empty((0, problem.n_arms), dtype=np.bool_),
        arms=read,
        tally=total,
    )


def given_rounds(
    problem: Problem,
    own_graph: Graph | None,
    contexts: object,
    graphs: object,
    available: object,
    arms: object,
    keys: object = None,
) -> GivenRounds:
    """Many rounds as `Bandit.decide_batch` takes them; without `graphs`, all have the bandit's own graph."""
    if arms is not None or problem.capacity is not None:
        return own_batch(problem, contexts, arms, graphs, available)
    told = rounds_told(graphs=graphs, available=available, columns=[keys])
    rows, tally = contexts_of(problem, contexts, many=True, rounds=told)
    batch = graphs_of(problem, own_graph if graphs is None else graphs, len(rows))
    return GivenRounds(rows, batch, available, None, tally)


def own_batch(problem: Problem, contexts: object, arms: object, graphs: object, available: object) -> GivenRounds:
    """Many rounds with their own arms; arms, graphs and what is on offer come as lists, or the same for all rounds."""
    told = len(arms) if isinstance(arms, list | tuple) else rounds_told(graphs=graphs, available=available)
    rows, tally = contexts_of(problem, contexts, many=True, rounds=told)
    n = len(rows)
    tables, given = _one_a_round("arms", arms, n), _one_a_round("graphs", graphs, n)
    return own_rounds(problem, rows, tables, given, _one_a_round("available", available, n), tally)


def _one_a_round(name: str, given: object, n: int) -> Sequence[Any]:
    """What rounds bring as a list: None, a frame, a mapping or a graph stands for the same in every round."""
    if isinstance(given, list | tuple | Graphs):
        if len(given) != n:
            raise InputError(f"{name} has {len(given)} entries for {n} rounds; expected one a round")
        return list(given)
    if isinstance(given, np.ndarray) and given.ndim == 3 and len(given) == n:
        return list(given)
    return [given] * n


def past_arms(
    read: Sequence[RoundArms], capacity: int, actions: object, rewards: object
) -> tuple[Int[np.ndarray, " n"] | None, Any]:
    """The arms played in past rounds by place, and the rewards, by place where they come by name."""
    played = None
    if actions is not None:
        given: Any = actions.to_list() if hasattr(actions, "to_list") else actions
        listed = list(given) if isinstance(given, Sequence | np.ndarray) else []
        if len(listed) != len(read):
            raise InputError(f"actions has {len(listed)} arms for {len(read)} contexts; expected one a round")
        places = [known_arm("actions", arm, one.n_arms, one.arms) for arm, one in zip(listed, read, strict=True)]
        played = np.array(places, dtype=np.int64)
    if not isinstance(rewards, list | tuple) or not any(isinstance(one, Mapping) for one in rewards):
        return played, rewards
    if len(rewards) != len(read):
        raise InputError(f"rewards has {len(rewards)} mappings for {len(read)} contexts; expected one a round")
    table = np.full((len(read), capacity), np.nan)
    for t, (one, told) in enumerate(zip(read, rewards, strict=True)):
        for arm, reward in rewards_of(one, told).items():
            try:
                table[t, arm_index(arm, one.n_arms)] = reward
            except (UnknownArmError, TypeError, ValueError):
                raise ObservationError(
                    f"rewards[{t}] has {reward!r} for arm {arm!r}; expected a number for one of the round's arms"
                ) from None
    return played, table


def with_own_arms(decision: Decision, own: RoundArms) -> Decision:
    """A decision of only the round's arms, by their names."""
    alone = decision.detached()
    return replace(alone, batch=alone.batch.first_arms(own.n_arms), arms=own.arms)


def _arms_of_round(problem: Problem, table: object) -> tuple[RoundArms, Float[np.ndarray, "arms e"], Tally]:
    assert isinstance(problem.arm_features, Encoder)  # a problem with a capacity has one
    if table is None:
        raise InputError("arms is None; expected the round's arms: a frame, a list of dictionaries, or a mapping")
    names, values, tally = read_arms(table, problem.arm_features)
    if len(values) > problem.n_arms:
        raise InputError(f"arms has {len(values)} arms; expected at most {problem.n_arms}, the problem's capacity")
    counted = Tally(
        unknown={f"arm {name}": count for name, count in tally.unknown.items()},
        missing={f"arm {name}": count for name, count in tally.missing.items()},
    )
    return RoundArms(len(values), None if names is None else ArmNames(names)), values, counted


def _graph(one: RoundArms, problem: Problem, given: object) -> Graph:
    """The round's graph on all places; without one, every arm reveals only itself."""
    made = bandit(one.n_arms) if given is None else graph_of(one, given)
    grown = graph_with_more_arms(made, problem)
    assert grown is not None  # `made` is a graph
    return grown.with_arms(None) if isinstance(grown, FeedbackGraph) else ProbabilisticGraph(grown.matrix)


def _mask(one: Arms, capacity: int, given: object) -> Bool[np.ndarray, "1 capacity"]:
    """The places that are on offer: those with an arm, or some of them."""
    mask = available_array(available_of(one, given), 1, one.n_arms)
    offered = np.ones((1, one.n_arms), dtype=np.bool_) if mask is None else mask
    return np.pad(offered, ((0, 0), (0, capacity - one.n_arms)))
