"""What people hand to a `Bandit` (graphs, arms on offer, rewards), as the package's own values."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from graphbandit.base.arms import ArmNames, arm_index
from graphbandit.base.shapes import Bool, Shaped
from graphbandit.errors import GraphError, InputError, ObservationError, UnknownArmError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.probabilistic import ProbabilisticGraph, ProbabilisticGraphs
from graphbandit.learners.problem import Problem
from graphbandit.rounds.shown import Graphs

Graph = FeedbackGraph | ProbabilisticGraph
"""The graph of one round."""


def graph_of(problem: Problem, graph: object) -> Graph | None:
    """One graph: a graph of the package, a square array of 0 and 1, a NetworkX graph, or None.

    An array or a NetworkX graph may lack self-loops, as the learner says whether it needs them.
    """
    if graph is None:
        return None
    if isinstance(graph, FeedbackGraph | ProbabilisticGraph):
        made: Graph = graph
    elif isinstance(graph, np.ndarray | list | tuple):
        made = FeedbackGraph.from_dense(graph, require_loops=False)
    elif type(graph).__module__.partition(".")[0] == "networkx":
        nodes = None if problem.arms is None else problem.arms.names
        made = FeedbackGraph.from_networkx(graph, nodes=nodes, require_loops=False)
    else:
        raise GraphError(
            f"graph is a {type(graph).__name__}; expected a FeedbackGraph, a ProbabilisticGraph, an array, "
            "a NetworkX graph, or None"
        )
    if made.n_arms != problem.n_arms:
        raise GraphError(f"the graph has {made.n_arms} arms; expected {problem.n_arms}")
    check_names(problem, made.arms)
    return made


def graphs_of(problem: Problem, graphs: object, n: int) -> Graphs | None:
    """The graphs of n rounds: a batch, or one graph for all of them."""
    if graphs is None or isinstance(graphs, FeedbackGraphs | ProbabilisticGraphs):
        return graphs
    if isinstance(graphs, np.ndarray) and graphs.ndim == 3:
        return FeedbackGraphs.from_dense(graphs, require_loops=False)
    one = graph_of(problem, graphs)
    return ProbabilisticGraphs.repeat(one, n) if isinstance(one, ProbabilisticGraph) else FeedbackGraphs.repeat(one, n)  # type: ignore[arg-type]


def check_names(problem: Problem, arms: ArmNames | None) -> None:
    """Raise GraphError if a graph names its arms, and not as the problem does."""
    if arms is None or arms == problem.arms:
        return
    if problem.arms is None:
        raise GraphError(f"the graph names its arms, {arms!r}, but the problem does not; expected Problem(arms=...)")
    place = next(i for i, (found, wanted) in enumerate(zip(arms, problem.arms, strict=True)) if found != wanted)
    raise GraphError(
        f"the graph's arm {place} is {arms[place]!r}; expected {problem.arms[place]!r}: the names and the order of "
        "the problem's arms"
    )


def available_of(problem: Problem, available: object, n: int) -> Bool[np.ndarray, "..."] | None:
    """The arms on offer: a mask over all arms, a mask a round, or the names of the arms, the same for all rounds."""
    if available is None:
        return None
    if isinstance(available, str):
        raise InputError(f"available is {available!r}; expected a list of names, or a mask over all arms")
    if isinstance(available, Iterable) and not isinstance(available, np.ndarray):
        listed: list[Any] = list(available)
        if any(isinstance(arm, str) for arm in listed):
            mask = np.zeros(problem.n_arms, dtype=np.bool_)
            mask[[arm_index(arm, problem.n_arms, problem.arms) for arm in listed]] = True
            return mask
        available = listed
    mask_array: Shaped[np.ndarray, ...] = np.array(available)  # a copy: whoever handed it in may change it
    return mask_array


def rewards_of(problem: Problem, rewards: object) -> Mapping[int, Any]:
    """Rewards by arm: a mapping or a pandas Series from names or numbers of arms to rewards."""
    if not isinstance(rewards, Mapping):
        if type(rewards).__name__ != "Series" or not hasattr(rewards, "to_dict"):
            raise ObservationError(f"rewards is a {type(rewards).__name__}; expected a mapping from arm to reward")
        if not rewards.index.is_unique:  # type: ignore[attr-defined]
            raise ObservationError("rewards has an arm twice in its index; expected each arm once")
        rewards = rewards.to_dict()
    if not any(isinstance(arm, str) for arm in rewards):
        return rewards
    found: dict[int, Any] = {}
    for arm, reward in rewards.items():
        try:
            number = arm_index(arm, problem.n_arms, problem.arms)
        except UnknownArmError as error:
            raise ObservationError(f"rewards: {error}") from None
        if number in found:
            raise ObservationError(f"rewards has arm {arm!r} twice, by its name and its number; expected it once")
        found[number] = reward
    return found


