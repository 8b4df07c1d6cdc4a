"""Finite classes from a callable that evaluates all of their functions."""

from collections.abc import Callable

import numpy as np

from graphbandit.base.array_types import ArmMasks, Contexts, RoundsByArms
from graphbandit.base.checks import LARGEST, as_in_kernels, check_within, kernel_mask, kernel_numbers, setting_integer
from graphbandit.base.direct_calls import DirectCall
from graphbandit.base.shapes import Bool, Float, Int
from graphbandit.errors import InputError, SettingError
from graphbandit.function_classes.base import Drawer
from graphbandit.function_classes.finite_base import (
    AnyFiniteModel,
    FiniteFunctionClass,
    FiniteModel,
    FiniteSpace,
    blocks_of,
)
from graphbandit.rounds.small_numbers import small_array

_finite_candidates = DirectCall("function_classes.finite", "finite_candidates")


class FiniteClass(FiniteFunctionClass):
    """A finite class given by one callable that evaluates all its functions.

    - `function`: for contexts with n rows it returns the values of shape (n, n_functions, n_arms). It must be
      deterministic, and row i of its answer must depend on row i of the contexts only.

    - `n_functions`: |F|.
    - `n_arms`: K.

    >>> two = FiniteClass(lambda x: np.stack([x, 1 - x], axis=1), n_functions=2, n_arms=2)
    >>> two.values(np.array([[0.0, 1.0]]))
    array([[[0., 1.],
            [1., 0.]]])
    >>> everything = two.version_space(two.empty(), np.inf)
    >>> two.candidates(everything, np.array([[0.0, 1.0]]))
    array([[ True,  True]])
    """

    def __init__(
        self, function: Callable[[Contexts], Float[np.ndarray, "n functions arms"]], *, n_arms: int, n_functions: int
    ) -> None:
        if not callable(function):
            raise SettingError(f"function is {function!r}; expected a callable")
        self._function = function
        self._n_functions = setting_integer("n_functions", n_functions, at_least=1)
        self._n_arms = setting_integer("n_arms", n_arms, at_least=1)

    def __repr__(self) -> str:
        return f"FiniteClass({self._function!r}, n_functions={self._n_functions}, n_arms={self._n_arms})"

    @property
    def n_arms(self) -> int:
        """K."""
        return self._n_arms

    @property
    def n_functions(self) -> int:
        """N = |F|."""
        return self._n_functions

    def grown(self, n_arms: int, arm_features: Float[np.ndarray, "arms d"] | None) -> "FiniteClass":
        """No: the functions say nothing about a new arm."""
        raise SettingError(
            f"FiniteClass cannot take more arms: its functions fix a value for each of {self.n_arms} arms; expected a "
            "new bandit with functions of all arms, which learns from past rows"
        )

    def check_own_arms(self) -> None:
        """The functions are shown the features of a round's arms, and whoever wrote them knows what they mean."""

    def __external__(self) -> dict[str, int | str]:
        """How a saved file names this class, since it cannot hold a Python callable."""
        return {"class": "FiniteClass", "n_functions": self.n_functions, "n_arms": self.n_arms}

    def check_contexts(self, contexts: Contexts) -> None:
        """All contexts that the callable can evaluate are allowed."""

    def stays_within(self, model: AnyFiniteModel) -> bool:
        """Yes: `values` checks every answer of the callable."""
        return type(self) is FiniteClass

    def values(self, contexts: Contexts) -> Float[np.ndarray, "n functions arms"]:
        """The callable's answer, checked."""
        values = kernel_numbers("the answer of the function class", self._function(contexts))
        expected = (len(contexts), self._n_functions, self._n_arms)
        if values.shape != expected:
            raise InputError(f"the function class gave values of shape {values.shape}; expected {expected}")
        if not small_array(values, LARGEST):
            check_within("the function class gave", values, of="values")
        return values

    def evaluator(self, members: Int[np.ndarray, " some"]) -> Drawer:
        """Rows of the callable's answer, or all of it."""
        if type(self).values_of is FiniteClass.values_of and np.array_equal(members, np.arange(self._n_functions)):
            return self.values
        return super().evaluator(members)

    def best_arms(
        self, members: Bool[np.ndarray, " functions"], contexts: Contexts, available: ArmMasks | None
    ) -> ArmMasks:
        """The best arms of the members, found by evaluating every one of them."""
        return self._evaluate(0, members, contexts, available)[1]

    def outlook(
        self, model: AnyFiniteModel, space: FiniteSpace, contexts: Contexts, available: ArmMasks | None = None
    ) -> tuple[RoundsByArms, ArmMasks]:
        """Every function is evaluated once, for the model's row and for the best arms of all members."""
        if not isinstance(model, FiniteModel):
            return super().outlook(model, space, contexts, available)
        self.check_model(model)
        self.check_size("members", len(space.members))
        return self._evaluate(model.index, space.members, contexts, available)

    def _evaluate(
        self, index: int, members: Bool[np.ndarray, " functions"], contexts: Contexts, available: ArmMasks | None
    ) -> tuple[RoundsByArms, ArmMasks]:
        """The values of function `index`, and the arms that some member calls best."""
        chosen = np.zeros((len(contexts), self.n_arms), dtype=np.bool_)
        own = np.empty((len(contexts), self.n_arms))
        self.check_size("members", len(members))
        offered = kernel_mask(available, len(contexts), self.n_arms)
        for block in blocks_of(len(contexts)):
            mask = offered if available is None else offered[block]
            values = self.values(contexts[block])
            own[block] = values[:, index]
            _finite_candidates.call(
                as_in_kernels(values), as_in_kernels(members, np.bool_), as_in_kernels(mask, np.bool_), chosen[block]
            )
        return own, chosen
