"""The paper's class: f_i(x, a) = (x - x_i)'(a - a_i), evaluated in its cheap form."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from graphbandit.base.array_types import ArmMasks, Contexts, PerRound
from graphbandit.base.checks import (
    BOOL,
    LARGEST,
    as_in_kernels,
    check_features,
    kernel_mask,
    setting_array,
    setting_number,
    within,
)
from graphbandit.base.direct_calls import DirectCall, kernels_of
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Bool, Float, Int
from graphbandit.errors import InputError, SettingError
from graphbandit.function_classes.base import Drawer, Prospector, Prospects
from graphbandit.function_classes.finite_base import AnyFiniteModel, FiniteFunctionClass, FiniteMixture, FiniteSpace
from graphbandit.rounds.observations import Observations

if TYPE_CHECKING:
    from graphbandit.kernels.function_classes.bilinear import Bilinear


MOST_KEPT = 2**22
"""Numbers x_i'a that are kept for the next rounds, at most: with many arms they take more memory than time."""

_bilinear_values = DirectCall("function_classes.bilinear", "bilinear_values")
_bilinear_candidates = DirectCall("function_classes.bilinear", "bilinear_candidates")


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class BilinearClass(FiniteFunctionClass):
    """f_i(x, a) = (x - x_i)'(a - a_i) / scale for i = 1 .. N, arms a in R^d (section 4 of the paper, scale 1).

    Multiplied out, f_i(x, a) = (x'a - x_i'a + x_i'a_i - x'a_i) / scale: two small matrix products for a whole batch,
    and one addition per (context, function, arm) after that, with no factor d.

    - `x0`: (N, d), the x_i.
    - `a0`: (N, d), the a_i.
    - `arms`: (K, d), the arms.
    - `scale`: what all values are divided by, 1 by default.

    >>> one = BilinearClass(x0=[[1.0, 0.0]], a0=[[0.0, 0.0]], arms=[[1.0, 0.0], [0.0, 1.0]])
    >>> one.values(np.array([[3.0, 5.0]]))
    array([[[2., 5.]]])
    """

    x0: Float[np.ndarray, "functions d"]
    a0: Float[np.ndarray, "functions d"]
    arms: Float[np.ndarray, "arms d"]
    scale: float
    offsets: Float[np.ndarray, "functions arms"] = field(repr=False, compare=False)
    constants: Float[np.ndarray, " functions"] = field(repr=False, compare=False)

    def __init__(self, *, x0: "npt.ArrayLike", a0: "npt.ArrayLike", arms: "npt.ArrayLike", scale: float = 1.0) -> None:
        x = setting_array("x0", x0, ("functions", "d"))
        a = setting_array("a0", a0, x.shape)
        arm_features = setting_array("arms", arms, ("arms", x.shape[1]))
        object.__setattr__(self, "x0", x)
        object.__setattr__(self, "a0", a)
        object.__setattr__(self, "arms", arm_features)
        object.__setattr__(self, "scale", setting_number("scale", scale, above=0.0))
        with np.errstate(over="ignore", invalid="ignore"):
            object.__setattr__(self, "offsets", np.einsum("id,ad->ia", x, arm_features))
            object.__setattr__(self, "constants", (x * a).sum(axis=1))
        if not max(np.abs(self.offsets).max(), np.abs(self.constants).max()) <= LARGEST * self.scale:
            raise SettingError(f"x0, a0 and arms make values beyond {LARGEST:g}; expected smaller ones")

    @property
    def n_arms(self) -> int:
        """K."""
        return len(self.arms)

    def grown(self, n_arms: int, arm_features: Float[np.ndarray, "arms d"] | None) -> "BilinearClass":
        """The same functions of more arms, which are known by their features: those of the problem's arms."""
        if arm_features is None or not np.array_equal(arm_features[: self.n_arms], self.arms):
            raise SettingError(
                "arms of the class are not the features of the problem's arms; expected Problem(arm_features=...) to "
                "have them, for functions of arms that join later"
            )
        return BilinearClass(x0=self.x0, a0=self.a0, arms=arm_features, scale=self.scale)

    @property
    def n_functions(self) -> int:
        """N = |F|."""
        return len(self.x0)

    def check_contexts(self, contexts: Contexts) -> None:
        """One vector in R^d a round, of numbers whose products with arms stay of a fair size."""
        self._check_shape(contexts)
        if not within(contexts, self._largest):
            check_features(contexts, largest=self._largest)

    @cached_property
    def _largest(self) -> float:
        """How large a number of a context may be: x'a and x'a_i are then at most a quarter of the largest value."""
        largest = max(float(np.abs(self.arms).max()), float(np.abs(self.a0).max()), LARGEST**-1.0)
        return float(min(LARGEST, LARGEST * self.scale / (4.0 * self.x0.shape[1] * largest)))

    def stays_within(self, model: AnyFiniteModel) -> bool:
        """Yes, unless x_i'a or x_i'a_i are huge themselves."""
        return type(self) is BilinearClass and self._is_small

    @cached_property
    def _is_small(self) -> bool:
        return bool(max(np.abs(self.offsets).max(), np.abs(self.constants).max()) <= LARGEST * self.scale / 4.0)

    def _check_shape(self, contexts: Contexts) -> None:
        """What the kernels rely on."""
        if contexts.ndim != 2 or contexts.shape[1] != self.x0.shape[1]:
            raise InputError(f"contexts have shape {contexts.shape}; expected (n, {self.x0.shape[1]})")

    def values(self, contexts: Contexts) -> Float[np.ndarray, "n functions arms"]:
        """f_i(x, a) for every context, function and arm."""
        return self.values_of(np.arange(self.n_functions), contexts)

    def values_of(self, members: Int[np.ndarray, " some"], contexts: Contexts) -> Float[np.ndarray, "n some arms"]:
        """f_i for these i alone."""
        return self._values(self._functions(members), contexts)

    def evaluator(self, members: Int[np.ndarray, " some"]) -> Drawer:
        """What these functions are made of is picked out once."""
        if type(self) is not BilinearClass:  # whoever extends it may have values of their own
            return super().evaluator(members)
        functions = self._picked_out(members)
        return lambda contexts: self._values(functions(), contexts)

    def _picked_out(self, members: Int[np.ndarray, " some"]) -> Callable[[], "Bilinear"]:
        """`_functions` of these members, made once unless they are large."""
        if len(members) * self.n_arms > MOST_KEPT:
            return partial(self._functions, members)
        functions = self._functions(members)
        return lambda: functions

    def _functions(self, members: Int[np.ndarray, " some"]) -> "Bilinear":
        """These functions as kernels take them."""
        everything = len(members) == self.n_functions and bool((members == np.arange(len(members))).all())
        offsets = self.offsets if everything else self.offsets[members]
        functions: Bilinear = kernels_of("function_classes.bilinear").Bilinear(
            self.arms, self.a0[members], offsets, self.constants[members], self.scale
        )
        return functions

    def _values(self, functions: "Bilinear", contexts: Contexts) -> Float[np.ndarray, "n some arms"]:
        self._check_shape(contexts)
        values = np.empty((len(contexts), len(functions.offsets), self.n_arms))
        _bilinear_values.call(as_in_kernels(contexts), functions, values)
        return values

    def add_losses(
        self, losses: Float[np.ndarray, " functions"], observations: Observations, roots: PerRound | None
    ) -> None:
        """Only the observed arms are evaluated, unless observations have weights."""
        if roots is not None:
            super().add_losses(losses, observations, roots)
            return
        self._check_shape(observations.contexts)
        seen, kernels = observations, kernels_of("function_classes.bilinear")
        functions = kernels.Bilinear(self.arms, self.a0, self.offsets, self.constants, self.scale)
        kernels.bilinear_losses(
            np.ascontiguousarray(seen.contexts), seen.rows, seen.arms, seen.rewards, functions, losses
        )

    def best_arms(
        self, members: Bool[np.ndarray, " functions"], contexts: Contexts, available: ArmMasks | None
    ) -> ArmMasks:
        """x'a_i and x_i'a_i are the same for all arms, so only x'a - x_i'a is compared."""
        return self._best_arms(self._functions(np.flatnonzero(members)), contexts, available)

    def prospector(self, model: AnyFiniteModel, space: FiniteSpace, noise: float | None) -> Prospector:
        """The functions of the model and of the space are picked out once."""
        if type(self) is not BilinearClass or isinstance(model, FiniteMixture):
            return super().prospector(model, space, noise)
        self.check_size("members", len(space.members))
        predict, plausible = self.predictor(model), self._picked_out(np.flatnonzero(space.members))

        def prospects(contexts: Contexts, available: ArmMasks | None) -> Prospects:
            self.check_contexts(contexts)
            return Prospects(predict(contexts), self._best_arms(plausible(), contexts, available))

        return prospects

    def _best_arms(self, functions: "Bilinear", contexts: Contexts, available: ArmMasks | None) -> ArmMasks:
        self._check_shape(contexts)
        chosen = np.zeros((len(contexts), self.n_arms), BOOL)
        mask = kernel_mask(available, len(contexts), self.n_arms)
        _bilinear_candidates.call(as_in_kernels(contexts), functions.arms, functions.offsets, mask, chosen)
        return chosen
