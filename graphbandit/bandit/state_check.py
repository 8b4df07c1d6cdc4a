"""Check that a state from a file is of the kind its learner makes, with parts of its function class's kinds."""

from dataclasses import fields
from typing import Any, cast, get_args, get_origin

from graphbandit.function_classes.base import Draws, FunctionClass
from graphbandit.function_classes.online import OnlineState
from graphbandit.learners.base import Learner
from graphbandit.learners.problem import Problem


def check_state(learner: Learner[Any], problem: Problem, state: Any) -> None:
    """Raise TypeError unless the state is of the kind that this learner makes.

    Fields that may hold anything, such as the data of a function class, are checked against the class's own types.
    Learners from outside the package are left alone.
    """
    if not learner._is_ours:
        return
    own = _or_any(arguments_of(type(learner), Learner)[0])
    if type(state) is not own and own is not object:
        raise TypeError(f"its state is a {type(state).__name__}; expected a {own.__name__}")
    if isinstance(inner := getattr(learner, "learner", None), Learner):
        check_state(inner, problem, state.inner)
    if not hasattr(state, "data"):
        return
    functions = getattr(learner, "function_class", None) or problem.function_class
    if getattr(learner, "oracle", "offline") != "offline":
        expected: dict[str, Any] = {"data": type(None), "model": OnlineState}
    elif functions is not None and any(field.name == "function_class" for field in fields(cast(Any, learner))):
        data, model, space = map(_or_any, arguments_of(type(functions), FunctionClass))
        expected = {"data": data, "model": model, "space": space, "plausible": (Draws, space)}
    else:
        expected = {}
    for name, kind in expected.items():
        found = getattr(state, name, None)
        if not isinstance(found, kind) and (found is not None or name == "data"):  # None: nothing is known yet
            raise TypeError(f"its state has a {type(found).__name__} for its {name}")
    if functions is not None and "space" in expected:
        functions.check_data(state.data)
        if isinstance(drawn := getattr(state, "plausible", None), Draws):
            functions.check_draws(drawn)


def _or_any(kind: Any) -> type:
    """The type that a class names; anything where it says Any or has a type variable."""
    return kind if isinstance(kind, type) and kind is not Any else object


def arguments_of(cls: type, base: type) -> tuple[Any, ...]:
    """The arguments that `cls` gives to `base`, through any number of classes between them.

    A type variable without an argument stays as it is.

    >>> class Numbers(dict[str, int]): ...
    >>> class Few(Numbers): ...
    >>> arguments_of(Few, dict)
    (<class 'str'>, <class 'int'>)
    """
    for parent in cls.__dict__.get("__orig_bases__", cls.__bases__):
        made = get_origin(parent) or parent
        if made is base:
            return get_args(parent) or tuple(getattr(base, "__parameters__", ()))
        if isinstance(made, type) and issubclass(made, base):
            given = dict(zip(getattr(made, "__parameters__", ()), get_args(parent), strict=False))
            return tuple(given.get(kind, kind) for kind in arguments_of(made, base))
    return tuple(getattr(base, "__parameters__", ()))
