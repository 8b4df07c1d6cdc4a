"""Function classes by name, built with the right sizes for a problem's arms and features."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.errors import SettingError
from graphbandit.function_classes.base import FunctionClass
from graphbandit.function_classes.generalized_linear import GeneralizedLinearClass
from graphbandit.function_classes.kernel import KernelClass
from graphbandit.function_classes.linear import LinearClass

ClassName = Literal["linear", "logistic", "poisson", "kernel"]

NAMED: dict[ClassName, Callable[..., FunctionClass[Any, Any, Any]]] = {
    "linear": LinearClass,
    "logistic": partial(GeneralizedLinearClass, link="logistic"),
    "poisson": partial(GeneralizedLinearClass, link="poisson"),
    "kernel": KernelClass,
}
"""The classes that a problem may name."""


def class_for(
    wanted: ClassName | Callable[..., FunctionClass[Any, Any, Any]],
    *,
    n_arms: int,
    dimension: int,
    arm_features: Float[np.ndarray, "arms d"] | None = None,
    own_arms: bool = False,
) -> FunctionClass[Any, Any, Any]:
    """The function class of this name, or that this callable makes, for contexts of this dimension.

    Without features of the arms, each arm has its own parameters. With them, all arms share their parameters, so
    that what is learnt of one arm tells about others like it.

    - `wanted`: "linear", "logistic", "poisson" or "kernel"; or a class, or a `functools.partial` of one with its
      settings.
    - `n_arms`: the number of arms.
    - `dimension`: the number of columns of a context.
    - `arm_features`: a row of features for each arm; None (default): arms have none.
    - `own_arms`: whether every round brings its own arms; a context then has a row of `dimension` numbers for each.
      False by default.

    >>> class_for("logistic", n_arms=3, dimension=2).link
    'logistic'
    """
    if isinstance(wanted, str):
        if wanted not in NAMED:
            raise SettingError(
                f"function_class is {wanted!r}; expected one of {', '.join(map(repr, NAMED))}, or a class"
            )
        make = NAMED[wanted]
    else:
        make = wanted
    given: dict[str, Any] = {"n_arms": n_arms, "dimension": dimension}
    if arm_features is not None:
        given["arm_features"] = arm_features
    accepted = inspect.signature(make).parameters
    if "parameters" in accepted and "parameters" not in getattr(make, "keywords", {}):
        given["parameters"] = "per-arm" if arm_features is None and not own_arms else "shared"
    if own_arms and "arm_contexts" in accepted and "arm_contexts" not in getattr(make, "keywords", {}):
        given["arm_contexts"] = True
    refused = [name for name in given if name not in accepted]
    if refused:
        raise SettingError(f"function_class is {wanted!r}, which takes no {refused[0]}; expected a class that does")
    try:
        made = make(**given)
    except SettingError:
        raise
    except Exception as error:  # whatever somebody else's callable may raise
        raise SettingError(
            f"function_class is {wanted!r}, which cannot be built from {', '.join(given)} alone: "
            f"{type(error).__name__}: {error}; expected a class with these settings, one that is built already, or a "
            "functools.partial of it with the others"
        ) from error
    if not isinstance(made, FunctionClass):
        raise SettingError(f"function_class makes a {type(made).__name__}; expected a FunctionClass")
    return made
