"""Arms that join and leave: which are new, which are retired, and the graph that has room for them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from graphbandit.bandit.given_graphs import Graph, graph_of
from graphbandit.base.arm_names import MOST_ARMS, ArmNames, known_arm
from graphbandit.base.checks import setting_integer
from graphbandit.base.shapes import Bool
from graphbandit.errors import SettingError
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.probabilistic import ProbabilisticGraph
from graphbandit.learners.loop import Loop
from graphbandit.learners.played import Played
from graphbandit.learners.problem import Problem


class GraphAndRetired(NamedTuple):
    """The graph of rounds that bring none, and the mask of the arms that are retired; each None if there is none."""

    graph: Graph | None
    retired: Bool[np.ndarray, " arms"] | None


def with_more_arms(
    loop: Loop,
    graph_and_retired: GraphAndRetired,
    arms: Sequence[str] | int,
    *,
    arm_features: object,
    graph: object,
    opened: Iterable[Played],
) -> tuple[Loop, GraphAndRetired]:
    """The loop, the graph and the retired arms once these arms joined; the arguments are those of `Bandit.add_arms`.

    - `opened`: the rounds whose rewards are still awaited.
    """
    check_same_arms(loop.problem)
    joining, retired = _joining(loop.problem, arms, graph_and_retired.retired)
    if joining:
        if any(one.contexts.ndim > 2 for one in (*loop.waiting, *loop.late, *opened)):
            raise SettingError(  # the contexts of open rounds would be too short
                "contexts have a row for each arm; expected as many arms as may ever come, and available= for those "
                "that are there"
            )
        loop = loop.grown(loop.problem.grown(joining, arm_features))
    elif arm_features is not None:
        raise SettingError("arm_features came without new arms; expected None for arms that come back")
    before = graph_and_retired.graph
    after = graph_with_more_arms(before, loop.problem) if graph is None else graph_of(loop.problem, graph)
    return loop, GraphAndRetired(after, retired)


def check_same_arms(problem: Problem) -> None:
    """Raise SettingError where rounds bring their own arms, so that none can join or leave."""
    if problem.capacity is not None:
        raise SettingError("rounds bring their own arms (capacity=...), so arms cannot be added or retired")


def _joining(
    problem: Problem, arms: Sequence[str] | int, retired: Bool[np.ndarray, " arms"] | None
) -> tuple[list[str] | int, Bool[np.ndarray, " arms"] | None]:
    """The arms that are not there yet, and the mask of retired arms once they joined and others came back."""
    before = np.zeros(problem.n_arms, dtype=np.bool_) if retired is None else retired
    if problem.arms is None or isinstance(arms, int):
        if problem.arms is not None or not isinstance(arms, int):
            expected = "the number of new arms, as arms have no names" if problem.arms is None else "their names"
            raise SettingError(f"the new arms are {arms!r}; expected {expected}")
        count = setting_integer("the number of new arms", arms, at_least=1, at_most=MOST_ARMS - problem.n_arms)
        return count, _mask(np.pad(before, (0, count)))
    names = ArmNames.of(arms)
    known = {name: place for place, name in enumerate(problem.arms)}
    after = before.copy()
    for name in names:
        if name in known and not before[known[name]]:
            raise SettingError(f"arm {name!r} is there already; expected new arms, or retired ones that come back")
        if name in known:
            after[known[name]] = False
    joining = [name for name in names if name not in known]
    return joining, _mask(np.pad(after, (0, len(joining))))


def retired_arms(
    problem: Problem, arms: Sequence[str | int], retired: Bool[np.ndarray, " arms"] | None
) -> Bool[np.ndarray, " arms"] | None:
    """The mask of retired arms with these among them; at least one arm is left."""
    check_same_arms(problem)
    if isinstance(arms, str) or not isinstance(arms, Sequence):
        raise SettingError(f"arms is {arms!r}; expected a list of arms")
    mask = np.zeros(problem.n_arms, dtype=np.bool_) if retired is None else retired.copy()
    for arm in arms:
        place = known_arm("arms", arm, problem.n_arms, problem.arms, SettingError)
        if mask[place]:
            raise SettingError(f"arm {arm!r} is retired already; expected arms that are not")
        mask[place] = True
    if mask.all():
        raise SettingError("no arm would be left; expected at least one that is not retired")
    return _mask(mask)


def graph_with_more_arms(graph: Graph | None, problem: Problem) -> Graph | None:
    """The graph with room for all arms; arms new to it reveal only themselves."""
    if graph is None or graph.n_arms == problem.n_arms:
        return graph
    names = None if graph.arms is None else problem.arms
    new = np.arange(graph.n_arms, problem.n_arms)
    if isinstance(graph, FeedbackGraph):
        edges = np.concatenate([graph.edges(), np.stack([new, new], axis=1)])
        return FeedbackGraph.from_edges(edges, problem.n_arms, require_loops=False).with_arms(names)
    matrix = np.pad(graph.matrix, (0, len(new)))
    matrix[new, new] = 1.0
    return ProbabilisticGraph(matrix, arms=names)


def _mask(mask: Bool[np.ndarray, " arms"]) -> Bool[np.ndarray, " arms"] | None:
    return mask if mask.any() else None
