"""What people hand to a `Bandit` (contexts, graphs, arms on offer, rewards), as the package's own values."""

import reprlib
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from graphbandit.base.arms import ArmNames, arm_index
from graphbandit.base.shapes import Bool, Int, Shaped
from graphbandit.errors import GraphError, InputError, ObservationError, SettingError, UnknownArmError
from graphbandit.features import Tally
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.probabilistic import ProbabilisticGraph, ProbabilisticGraphs
from graphbandit.learners.problem import Problem
from graphbandit.rounds.shown import Graphs

Graph = FeedbackGraph | ProbabilisticGraph
"""The graph of one round."""


@runtime_checkable
class Arms(Protocol):
    """Arms that may have names: those of a problem, or of one round."""

    @property
    def n_arms(self) -> int:
        """How many there are."""

    @property
    def arms(self) -> ArmNames | None:
        """Their names, if they have any."""


def contexts_of(
    problem: Problem, contexts: object, *, many: bool, graphs: object = None
) -> tuple[Shaped[np.ndarray, "n ..."], Tally]:
    """Contexts as the bandit's own array, and the tally of what was unknown or missing in them.

    With `many`, None stands for the empty contexts of as many rounds as there are `graphs`.
    """
    if contexts is None and many:
        if not isinstance(graphs, FeedbackGraphs | ProbabilisticGraphs):
            raise InputError("contexts is None; expected contexts, or a batch of graphs that says how many rounds")
        one, tally = problem.encode(None, many=False)
        return np.repeat(one, len(graphs), axis=0), tally
    rows, tally = problem.encode(contexts, many=many)
    return np.array(rows), tally  # a copy: whoever handed it in may change it


def graph_of(arms: Arms, graph: object) -> Graph | None:
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
        nodes = None if arms.arms is None else arms.arms.names
        made = FeedbackGraph.from_networkx(graph, nodes=nodes, require_loops=False)
    else:
        raise GraphError(
            f"graph is a {type(graph).__name__}; expected a FeedbackGraph, a ProbabilisticGraph, an array, "
            "a NetworkX graph, or None"
        )
    if made.n_arms != arms.n_arms:
        raise GraphError(f"the graphs have {made.n_arms} arms; expected {arms.n_arms}")
    if made.arms is not None:
        check_names(arms, made.arms)
    return made


def graphs_of(arms: Arms, graphs: object, n: int) -> Graphs | None:
    """The graphs of n rounds: a batch, a list of graphs, an array (n, arms, arms), or one graph for all of them."""
    if graphs is None or isinstance(graphs, FeedbackGraphs | ProbabilisticGraphs):
        return graphs
    if isinstance(graphs, list | tuple) and graphs and all(isinstance(graph, FeedbackGraph) for graph in graphs):
        return FeedbackGraphs.stack(graphs)
    if isinstance(graphs, np.ndarray) and graphs.ndim == 3:
        return FeedbackGraphs.from_dense(graphs, require_loops=False)
    one = graph_of(arms, graphs)
    if isinstance(one, ProbabilisticGraph):
        return ProbabilisticGraphs.repeat(one, n)
    return None if one is None else FeedbackGraphs.repeat(one, n)


def check_names(arms: Arms, found: ArmNames) -> None:
    """Raise GraphError unless a graph names as many arms as there are, in the same way."""
    if arms.arms is None:
        raise GraphError(f"the graph names its arms, {found!r}, but they have no names; expected Problem(arms=...)")
    if found is arms.arms or found == arms.arms:
        return
    place = next(i for i, (name, wanted) in enumerate(zip(found, arms.arms, strict=True)) if name != wanted)
    raise GraphError(
        f"the graph's arm {place} is {found[place]!r}; expected {arms.arms[place]!r}: the names of the arms, in their "
        "order"
    )


def available_of(arms: Arms, available: object) -> Shaped[np.ndarray, "..."] | None:
    """The arms on offer as a mask: a mask over all arms, a mask a round, or names of arms, the same for all rounds."""
    if available is None:
        return None
    if isinstance(available, str):
        raise InputError(f"available is {available!r}; expected a list of names, or a mask over all arms")
    if isinstance(available, Iterable) and not hasattr(available, "dtype"):
        listed: list[Any] = list(available)
        if any(isinstance(arm, str) for arm in listed):
            mask: Bool[np.ndarray, " arms"] = np.zeros(arms.n_arms, dtype=np.bool_)
            for arm in listed:
                if not isinstance(arm, str):
                    raise InputError(f"available has {reprlib.repr(arm)} among names; expected names alone, or a mask")
                try:
                    mask[arm_index(arm, arms.n_arms, arms.arms)] = True
                except UnknownArmError as error:
                    raise InputError(f"available: {error}") from None
            return mask
        available = listed
    try:
        return np.array(available)  # a copy: whoever handed it in may change it
    except ValueError:
        raise InputError("available has rows of different lengths; expected an array of booleans") from None


def on_offer(available: Shaped[np.ndarray, "..."] | None, retired: Bool[np.ndarray, " arms"] | None) -> Any:
    """The mask without the arms that are retired."""
    if retired is None:
        return available
    if available is None:
        return ~retired
    if available.dtype != np.bool_ or available.shape[-1:] != retired.shape:
        return available  # is refused as it is
    return available & ~retired


def rewards_of(arms: Arms, rewards: object) -> Mapping[Any, Any]:
    """Rewards by number of arm: a mapping or a pandas Series from names or numbers of arms to rewards."""
    if not isinstance(rewards, Mapping):
        if type(rewards).__name__ != "Series" or not hasattr(rewards, "to_dict"):
            raise ObservationError(f"rewards is a {type(rewards).__name__}; expected a mapping from arm to reward")
        if not rewards.index.is_unique:  # type: ignore[attr-defined]
            raise ObservationError("rewards has an arm twice in its index; expected each arm once")
        rewards = rewards.to_dict()
        assert isinstance(rewards, Mapping)
    if not any(isinstance(arm, str) for arm in rewards):
        return rewards
    found: dict[Any, Any] = {}
    for arm, reward in rewards.items():
        try:
            number = arm_index(arm, arms.n_arms, arms.arms)
        except UnknownArmError as error:
            raise ObservationError(f"rewards: {error}") from None
        if number in found:
            raise ObservationError(f"rewards has arm {arm!r} twice, by its name and its number; expected it once")
        found[number] = reward
    return found


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
    found = np.empty(len(array), dtype=np.int64)
    for i, arm in enumerate(array.tolist()):
        try:
            found[i] = arm_index(arm, problem.n_arms, problem.arms)
        except UnknownArmError as error:
            raise InputError(f"{name}[{i}]: {error}") from None
    return found


def check_key(key: object) -> str:
    """A caller's name of a decision: text that is not empty."""
    if not isinstance(key, str) or not key:
        raise SettingError(f"key is {reprlib.repr(key)}; expected text that names the decision, or None")
    return key
