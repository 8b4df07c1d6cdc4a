"""Graphs as configurations and requests write them, between names of arms.

| JSON | the graph |
| --- | --- |
| "loops", "complete", or the name of one of the bandit's graphs | that graph |
| {"edges": [[played, revealed], ...], "loops": true} | these edges; each arm reveals itself unless `loops` is false |
| {"probabilities": [[1, 0.5], [0, 1]]} | playing arm j reveals arm a with probability P[j, a], in the arms' order |

A configuration may also write a plain list of edges.
"""

from typing import Any

import msgspec
import numpy as np

from graphbandit.bandit.given_graphs import Graph
from graphbandit.errors import ConfigurationError, GraphBanditError, InputError
from graphbandit.graphs import FeedbackGraph, ProbabilisticGraph
from graphbandit.service.configuration import BanditSettings
from graphbandit.service.messages import some

CACHED = 256
"""The number of graphs of edges that are kept."""
SHAPES = '{"edges": [[arm, arm], ...], "loops": true} or {"probabilities": [[1, 0.5], [0, 1]]}'


class BanditGraphs:
    """The graphs of one bandit, on all its slots. ConfigurationError or InputError says what is wrong with one."""

    def __init__(self, name: str, settings: BanditSettings, *, plans_with_probabilities: bool) -> None:
        self._settings, self._takes_probabilities = settings, plans_with_probabilities
        self._built: dict[bytes, FeedbackGraph] = {}
        self._configured: dict[str | None, Graph] = {}
        for label, graph in ((None, settings.graph), *settings.graphs.items()):
            setting = "graph" if label is None else f"graphs.{label}"
            try:
                built = self._build(graph, settings.names)
            except GraphBanditError as error:
                raise ConfigurationError(f"bandits.{name}.{setting}", str(error)) from None
            if not settings.own_arms:  # otherwise each request has a graph on its own arms
                self._configured[label] = built

    def asked(self, graph: Any, names: tuple[str, ...]) -> Graph:
        """The graph that a request asks for: its own, a named one, or, without any, the bandit's."""
        if graph is None or isinstance(graph, str):
            found = self._configured.get(graph)
            if found is not None:
                return found
        if graph is None:
            return self._build(self._settings.graph, names)
        if isinstance(graph, str) and graph not in ("loops", "complete"):
            known = ", ".join(["loops", "complete", *self._settings.graphs])
            raise InputError(f"is {graph!r}; expected one of {known}, or an object: {SHAPES}")
        return self._build(graph, names)

    def _build(self, chosen: Any, names: tuple[str, ...]) -> Graph:
        if isinstance(chosen, dict):
            if set(chosen) == {"probabilities"}:
                return self._probabilities(chosen["probabilities"], names)
            if "edges" not in chosen or not set(chosen) <= {"edges", "loops"}:
                raise InputError(f"has the keys {', '.join(map(repr, chosen)) or 'none'}; expected {SHAPES}")
            if not isinstance(chosen.get("loops", True), bool):
                raise InputError(f"has loops = {chosen['loops']!r}; expected true or false")
            return self._edges(chosen["edges"], names, chosen.get("loops", True))
        return self._edges(chosen, names, True)

    def _edges(self, chosen: Any, names: tuple[str, ...], loops: bool) -> FeedbackGraph:
        """The graph of edges between names; built once."""
        edges = chosen if isinstance(chosen, list) else []
        key = msgspec.json.encode((chosen, names if edges else len(names), loops))
        found = self._built.get(key)
        if found is not None:
            return found
        place = {arm: i for i, arm in enumerate(names)}
        pairs: list[tuple[int, int]] = []
        if chosen == "complete":
            pairs = [(i, j) for i in range(len(names)) for j in range(len(names))]
        elif chosen != "loops" and not isinstance(chosen, list):
            raise InputError(f'is {chosen!r}; expected "loops", "complete", or pairs of arms')
        for edge in edges:
            if not isinstance(edge, list) or len(edge) != 2:
                raise InputError(f"has the edge {edge!r}; expected a pair of arms")
            for arm in edge:
                if not isinstance(arm, str) or arm not in place:
                    raise InputError(f"has the arm {arm!r}; expected some of {some(names)}")
            pairs.append((place[edge[0]], place[edge[1]]))
        slots = self._settings.slots
        graph = FeedbackGraph.from_edges(
            np.array(pairs, dtype=np.int64).reshape(-1, 2), slots, add_loops=loops, require_loops=False
        )
        if len(self._built) > CACHED:
            self._built.clear()
        self._built[key] = graph
        return graph

    def _probabilities(self, rows: Any, names: tuple[str, ...]) -> ProbabilisticGraph:
        """The graph of these probabilities; slots without an arm reveal themselves."""
        if not self._takes_probabilities:
            raise InputError(
                "has probabilities, with which this bandit's learner cannot plan; expected edges, or the learner IDSG"
            )
        n = len(names)
        if not isinstance(rows, list) or len(rows) != n or not all(isinstance(r, list) and len(r) == n for r in rows):
            raise InputError(f"has probabilities of another shape; expected {n} lists of {n} numbers, one for each arm")
        for j, row in enumerate(rows):
            for a, value in enumerate(row):
                if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                    raise InputError(
                        f"has the probability {value!r} that {names[j]!r} reveals {names[a]!r}; expected 0 to 1"
                    )
        matrix = np.eye(self._settings.slots)
        matrix[:n, :n] = rows
        self._check_defaults(matrix, names)
        return ProbabilisticGraph(matrix)

    def _check_defaults(self, matrix: np.ndarray, names: tuple[str, ...]) -> None:
        """Refuse edge probabilities beside a default reward, which counts for every reward that does not come."""
        if self._settings.default_reward is None:
            return
        unsure = (matrix > 0.0) & (matrix < 1.0)
        if self._settings.default_for == "played":
            unsure &= np.eye(len(matrix), dtype=np.bool_)
        if unsure.any():
            j, a = np.argwhere(unsure)[0].tolist()
            raise InputError(
                f"has the probability {matrix[j, a]:g} that {names[j]!r} reveals {names[a]!r}; expected 0 or 1, "
                "as a default reward stands for each reward that does not come"
            )


def edge_probabilities(graph: Graph, action: int) -> np.ndarray:
    """The probability that playing this arm reveals each arm."""
    if isinstance(graph, ProbabilisticGraph):
        return np.asarray(graph.matrix[action])
    row = np.zeros(graph.n_arms)
    row[graph.reveals(action)] = 1.0
    return row
