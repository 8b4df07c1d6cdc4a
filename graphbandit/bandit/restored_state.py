"""The check that a state from a file is of its learner's own kind, and its parts of the function class's."""

import warnings
from typing import Any

from graphbandit.function_classes.base import Draws, kinds_of
from graphbandit.function_classes.online import OnlineState
from graphbandit.learners.base import Learner
from graphbandit.learners.problem import Problem


def check_state(learner: Learner[Any], problem: Problem, state: Any) -> None:
    """Raise TypeError unless the state is such as this learner makes.

    Fields that hold anything, as the data of a function class, are compared with those of a state that knows nothing.
    Learners from outside the package are left alone.
    """
    if not learner._is_ours:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that noise is not told was said at the start
        fresh = learner.init(problem)
    functions = getattr(getattr(learner, "learner", learner), "function_class", None) or problem.function_class
    _check(fresh, state, functions)


def _check(fresh: Any, state: Any, functions: Any) -> None:
    if type(state) is not type(fresh):
        raise TypeError(f"its state is a {type(state).__name__}; expected a {type(fresh).__name__}")
    if hasattr(state, "inner"):
        _check(fresh.inner, state.inner, functions)
    if not hasattr(state, "data"):
        return
    _, model, space = (object, object, object) if functions is None else map(_or_any, kinds_of(type(functions)))
    expected = {
        "data": type(fresh.data),
        "model": OnlineState if fresh.data is None else model,
        "space": space,
        "plausible": (Draws, space),
    }
    for name, kind in expected.items():
        found = getattr(state, name, None)
        if found is None and name != "data":
            continue  # nothing is known yet
        if not isinstance(found, kind):
            raise TypeError(f"its state has a {type(found).__name__} for its {name}")


def _or_any(kind: Any) -> type:
    """The type that a class names; anything where it says Any or has a type variable."""
    return kind if isinstance(kind, type) and kind is not Any else object
