"""Finite classes out of others: a grid of parameters, or draws of what is plausible."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from graphbandit.base.array_types import Contexts, RoundsByArms
from graphbandit.base.checks import numbers, setting_array
from graphbandit.base.shapes import Float, Shaped
from graphbandit.errors import SettingError
from graphbandit.function_classes.base import Draws, FunctionClass
from graphbandit.function_classes.finite import FiniteClass

Function = Callable[[Contexts, Shaped[np.ndarray, "..."]], RoundsByArms]


def finite_from_parameters(function: Function, parameters: "npt.ArrayLike", *, n_arms: int) -> FiniteClass:
    """The class of function(contexts, parameter) for every row of `parameters`.

    - `function`: takes contexts (n, ...) and one row of the parameters to values (n, K).
    - `parameters`: one row a function.
    - `n_arms`: K.

    >>> prices = np.array([0.2, 0.5])
    >>> demand = finite_from_parameters(lambda x, slope: prices * (1 - slope * prices) + 0 * x, [1, 2], n_arms=2)
    >>> demand.values(np.zeros((1, 1)))
    array([[[0.16, 0.25],
            [0.12, 0.  ]]])
    """
    if not callable(function):
        raise SettingError(f"function is {function!r}; expected a callable of contexts and a parameter")
    given = numbers("parameters", parameters, has="have")
    rows = setting_array("parameters", given, ("functions", *(f"d{i}" for i in range(1, given.ndim))))
    return FiniteClass(partial(_of_parameters, function, rows), n_functions=len(rows), n_arms=n_arms)


def finite_from_draws(function_class: FunctionClass[Any, Any, Any], draws: Draws) -> FiniteClass:
    """A finite class of functions that another class has drawn.

    It learns from all it sees after this. What the draws were made of is not counted again, and the weights of the
    draws are not kept.

    - `function_class`: the class that made the draws.
    - `draws`: its draws, which become the functions of the finite class.
    """
    if not isinstance(function_class, FunctionClass):
        raise SettingError(f"function_class is {function_class!r}; expected a FunctionClass")
    if not isinstance(draws, Draws):
        raise SettingError(f"draws is {draws!r}; expected the Draws of a function class")
    values = partial(function_class.draw_values, draws)
    return FiniteClass(values, n_functions=len(draws), n_arms=function_class.n_arms)


def _of_parameters(
    function: Function, parameters: Shaped[np.ndarray, "functions ..."], contexts: Contexts
) -> Float[np.ndarray, "n functions arms"]:
    return np.stack([function(contexts, parameter) for parameter in parameters], axis=1)
