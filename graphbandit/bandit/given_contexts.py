"""Contexts as people hand them to a `Bandit`: arrays, dictionaries and frames, one or one a round."""

from collections.abc import Iterable, Sized

import numpy as np

from graphbandit.bandit.given_arms import ROWS
from graphbandit.bandit.given_graphs import Graph, several_graphs
from graphbandit.base.checks import FLOAT
from graphbandit.base.frames import is_frame
from graphbandit.base.shapes import Shaped
from graphbandit.errors import InputError
from graphbandit.features import NOTHING, Tally
from graphbandit.features.context_input import as_frame
from graphbandit.learners.problem import Problem
from graphbandit.rounds.shown import Graphs
from graphbandit.rounds.small_numbers import small_floats

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


def one_context(problem: Problem, context: object) -> tuple[Shaped[np.ndarray, "1 ..."], Tally]:
    """`contexts_of` for one context; most are an array of small numbers, for a problem without features."""
    if type(context) is np.ndarray and context.dtype == FLOAT and problem.features is None:
        copied = context.copy()
        if small_floats(copied, _FINITE):
            return copied[None], NOTHING
    return contexts_of(problem, context, many=False)


def rounds_told(*, graphs: object = None, available: object = None, columns: Iterable[object] = ()) -> int:
    """The number of rounds if contexts do not say it: that of graphs, masks or columns with one a round, else one."""
    several = several_graphs(graphs)
    if several is not None:
        return len(several)
    if isinstance(available, np.ndarray) and available.ndim == 2:
        return len(available)
    if isinstance(available, list | tuple) and any(isinstance(row, ROWS) for row in available):
        return len(available)
    return next((len(column) for column in columns if isinstance(column, Sized)), 1)
