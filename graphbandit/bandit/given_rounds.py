"""Rounds as people hand them to a `Bandit`, one or many, as the package's own values.

Rounds may bring their own arms: names, features and a graph of those arms, which are put into the problem's places. A
problem's capacity is its number of places. The arms of a round take the first places, in their order; the others are
never on offer and reveal nothing but themselves. The decision that a person gets has only the round's arms.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from graphbandit.bandit.arm_changes import graph_with_more_arms
from graphbandit.bandit.given_arms import available_of
from graphbandit.bandit.given_contexts import contexts_of, one_context, rounds_told
from graphbandit.bandit.given_graphs import Arms, Graph, given_batch, graph_of, graphs_of
from graphbandit.bandit.own_arms import RoundArms
from graphbandit.base.arm_names import ArmNames
from graphbandit.base.checks import available_array
from graphbandit.base.shapes import Bool, Float, Shaped
from graphbandit.errors import InputError, SettingError
from graphbandit.features import Encoder, Tally
from graphbandit.features.arm_features import read_arms
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.generators.bandit import bandit
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.probabilistic import ProbabilisticGraph
from graphbandit.learners.problem import Problem
from graphbandit.rounds.shown import Graphs


class GivenRounds(NamedTuple):
    """Rounds as the package's own values.

    - `contexts`: one row a round.
    - `graphs`: one graph a round, or None.
    - `available`: the arms on offer as a mask, of all rounds or a row a round; None: all.
    - `arms`: the arms of each round; None where they are those of the problem.
    - `tally`: what was unknown or missing in the contexts.
    """

    contexts: Shaped[np.ndarray, "n ..."]
    graphs: Graphs | None
    available: Shaped[np.ndarray, "..."] | None
    arms: list[RoundArms] | None
    tally: Tally

    def chosen(self, rows: list[int]) -> "GivenRounds":
        """Some of the rounds."""
        if len(rows) == len(self.contexts):
            return self
        mask = self.available
        return GivenRounds(
            contexts=self.contexts[rows],
            graphs=None if self.graphs is None else self.graphs[np.array(rows, dtype=np.int64)],
            available=mask[rows] if mask is not None and mask.ndim == 2 else mask,
            arms=None if self.arms is None else [self.arms[row] for row in rows],
            tally=self.tally if len(rows) else Tally(),
        )


class _Kept(NamedTuple):
    """A graph that was found to fit a problem, as a batch of one round.

    `plain`: whether it is packed, and contexts come without features.
    """

    problem: Problem
    graph: FeedbackGraph
    batch: FeedbackGraphs
    plain: bool


class RoundReader:
    """Reads single rounds as `Bandit.decide` takes them; many have the same graph, so it keeps the last one."""

    def __init__(self) -> None:
        self._kept: _Kept | None = None

    def plain_graph(self, problem: Problem, graph: object) -> FeedbackGraphs | None:
        """The graph as a batch if it is packed and contexts come without features; otherwise None."""
        kept = self._kept
        if kept is None or kept.graph is not graph or kept.problem is not problem:
            if not isinstance(graph, FeedbackGraph) or problem.capacity is not None:
                return None
            self._batch(problem, graph_of(problem, graph))
            kept = self._kept
        return kept.batch if kept is not None and kept.plain else None

    def read(
        self,
        problem: Problem,
        default_graph: Graph | None,
        context: object,
        graph: object,
        available: object,
        arms: object,
    ) -> GivenRounds:
        """One round; without a graph, it has the bandit's own."""
        contexts, tally = one_context(problem, context)
        if arms is not None or problem.capacity is not None:
            return own_rounds(problem, contexts, [arms], [graph], [available], tally)
        kept = self._kept
        batch: Graphs | None
        if kept is not None and kept.graph is (default_graph if graph is None else graph) and kept.problem is problem:
            batch = kept.batch
        else:
            batch = self._batch(problem, default_graph if graph is None else graph_of(problem, graph))
        mask = None if available is None else available_of(problem, available)
        return GivenRounds(contexts, batch, mask, None, tally)

    def _batch(self, problem: Problem, graph: Graph | None) -> Graphs | None:
        if not isinstance(graph, FeedbackGraph):
            return graphs_of(problem, graph, 1)
        batch = FeedbackGraphs.repeat(graph, 1)
        self._kept = _Kept(problem, graph, batch, batch.is_packed and problem.features is None)
        return batch


def given_rounds(
    problem: Problem,
    default_graph: Graph | None,
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
    batch = graphs_of(problem, default_graph if graphs is None else graphs, len(rows))
    return GivenRounds(rows, batch, available_of(problem, available), None, tally)


def own_batch(problem: Problem, contexts: object, arms: object, graphs: object, available: object) -> GivenRounds:
    """Many rounds with their own arms; arms, graphs and what is on offer come as lists, or the same for all rounds."""
    told = len(arms) if isinstance(arms, list | tuple) else rounds_told(graphs=graphs, available=available)
    rows, tally = contexts_of(problem, contexts, many=True, rounds=told)
    n = len(rows)
    tables, given = _one_a_round("arms", arms, n), _one_a_round("graphs", graphs, n)
    return own_rounds(problem, rows, tables, given, _one_a_round("available", available, n), tally)


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


def _one_a_round(name: str, given: object, n: int) -> Sequence[Any]:
    """What rounds bring as a list: None, a frame, a mapping or a graph stands for the same in every round."""
    if isinstance(given, list | tuple | Graphs):
        if len(given) != n:
            raise InputError(f"{name} has {len(given)} entries for {n} rounds; expected one a round")
        return list(given)
    if isinstance(given, np.ndarray) and given.ndim == 3 and len(given) == n:
        return list(given)
    return [given] * n


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
