"""Version spaces and models of the classes with a parameter theta: an ellipsoid, and a point."""

import math
import sys
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from graphbandit.base.array_types import ArmMasks, Contexts, RoundIndices, RoundsByArms
from graphbandit.base.checks import as_in_kernels, kernel_mask
from graphbandit.base.declared import Declared, limits
from graphbandit.base.direct_calls import DirectCall, kernels_of
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.errors import InputError
from graphbandit.function_classes.base import Drawer, Draws
from graphbandit.function_classes.feature_maps import FeatureMap

EXACT_ARMS = 300
"""The most arms for which the candidates of one shared parameter are exact; with more, that takes too long."""


_ellipsoid_candidates = DirectCall("function_classes.ellipsoid", "ellipsoid_candidates")
_drawn_values = DirectCall("function_classes.linear", "drawn_values")
linear_values = DirectCall("function_classes.linear", "linear_values")


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class LinearModel(Declared):
    """One linear function.

    - `parameters`: theta, one row for all arms or one an arm.
    - `offset`: what is added to theta'phi, 0 by default.
    """

    parameters: Float[np.ndarray, "blocks d"]
    offset: float = 0.0

    @cached_property
    def length(self) -> float:
        """|c| + sum of all |theta|: how large a value can be, in sizes of a feature or of 1."""
        return abs(self.offset) + float(np.abs(self.parameters).sum())


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class LinearDraws(Declared):
    """Linear functions that were drawn.

    - `parameters`: theta of each, one row for all arms or one an arm.
    - `offsets`: what each adds to theta'phi.
    """

    parameters: Float[np.ndarray, "draws blocks d"]
    offsets: Float[np.ndarray, " draws"]


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class Ellipsoid(Declared):
    """{ theta : |U (theta - center)|^2 <= radius }, over all blocks together; V = U'U in each.

    - `center`: thetahat, a row for each block (one, or one an arm).
    - `factors`: the upper Cholesky factors U.
    - `radius`: in units of the loss.
    - `offset`: what is added to every theta'phi, 0 by default.

    What the methods take:

    - `features`: how a context becomes phi.
    - `contexts`, `rows`: the rounds, and their phi.
    - `available`: the arms on offer; None: all.
    - `chosen`: an array in which arms are marked.
    - `model`, `best`: an estimate, and the arm of each round that others are compared with.
    """

    center: Float[np.ndarray, "blocks d"]
    factors: Float[np.ndarray, "blocks d d"] = field(metadata=limits(diagonal_above=0.0))
    radius: float = field(metadata=limits(at_least=0.0, at_most=sys.float_info.max))
    offset: float = 0.0

    @classmethod
    def ball(cls, features: FeatureMap, radius: float) -> "Ellipsoid":
        """{ theta : |theta| <= radius }.

        - `features`: they say how many blocks there are, and of what size.
        - `radius`: a length of theta, not its square.
        """
        shape = (features.blocks, features.size)
        identity = np.broadcast_to(np.eye(features.size), (*shape, features.size))
        return cls(center=np.zeros(shape), factors=np.array(identity), radius=radius * radius)

    @cached_property
    def only_block(self) -> tuple[Float[np.ndarray, " d"], Float[np.ndarray, "d d"], float]:
        """center, U and radius where there is one block, as kernels take them."""
        return as_in_kernels(self.center[0]), as_in_kernels(self.factors[0]), float(self.radius)

    def contains(self, parameters: Float[np.ndarray, "blocks d"]) -> bool:
        """Whether this theta is in it."""
        if parameters.shape != self.center.shape:
            raise InputError(f"the parameters have shape {parameters.shape}; expected {self.center.shape}")
        moved = np.einsum("bij,bj->bi", self.factors, parameters - self.center)
        return bool((moved * moved).sum() <= self.radius)

    def candidates(self, features: FeatureMap, contexts: Contexts, available: ArmMasks | None) -> ArmMasks:
        """The arms that win for some theta in it, see `kernels/function_classes/ellipsoid.py`.

        Exact up to EXACT_ARMS arms, or with a parameter for each arm; beyond, these arms and maybe some more.
        """
        check_parameters(features, self.center)
        chosen = np.zeros((len(contexts), features.n_arms), dtype=np.bool_)
        for part, rows in features.blocks_of(contexts):
            self.mark_candidates(features, rows, None if available is None else available[part], chosen[part])
        return chosen

    def mark_candidates(
        self, features: FeatureMap, rows: Float[np.ndarray, "n rows d"], available: ArmMasks | None, chosen: ArmMasks
    ) -> None:
        """Mark in `chosen` the arms that win for some theta, given the features of every round."""
        n_arms = features.n_arms
        mask = kernel_mask(available, len(rows), n_arms)
        if features.parameters == "shared":
            _ellipsoid_candidates.call(
                as_in_kernels(rows),
                kernels_of("function_classes.ellipsoid").Ellipsoid(*self.only_block),
                as_in_kernels(mask, np.bool_),
                n_arms <= EXACT_ARMS,
                chosen,
            )
        else:
            values, norms = linear_products(rows, self.center, n_arms), self._norms(rows, n_arms)
            kernels_of("function_classes.ellipsoid").separate_candidates(values, norms, self.radius, mask, chosen)

    def predictor_bounds(self, features: FeatureMap, contexts: Contexts) -> tuple[RoundsByArms, RoundsByArms]:
        """center'phi -+ sqrt(radius phi'V^-1 phi), the extremes of theta'phi."""
        check_parameters(features, self.center)
        lower = np.empty((len(contexts), features.n_arms))
        upper = np.empty_like(lower)
        for part, rows in features.blocks_of(contexts):
            lower[part], upper[part] = self.bounds_of_rows(features, rows)
        return lower, upper

    def bounds_of_rows(
        self, features: FeatureMap, rows: Float[np.ndarray, "n rows d"]
    ) -> tuple[RoundsByArms, RoundsByArms]:
        """`predictor_bounds`, given the features of every round."""
        values = linear_products(rows, self.center, features.n_arms) + self.offset
        reach = math.sqrt(self.radius) * self._norms(rows, features.n_arms)
        return values - reach, values + reach

    def predictor_widths(
        self, features: FeatureMap, model: LinearModel, contexts: Contexts, best: RoundIndices
    ) -> RoundsByArms:
        """|(center - thetahat)'v| + sqrt(radius v'V^-1 v), v = phi(x, a) - phi(x, best): sup |(theta - thetahat)'v|."""
        from graphbandit.kernels.function_classes.linear import gap_norms

        check_parameters(features, self.center)
        check_parameters(features, model.parameters)
        if best.shape != (len(contexts),) or not ((best >= 0) & (best < features.n_arms)).all():
            raise InputError(f"best is {best!r}; expected one of {features.n_arms} arms for each of {len(contexts)}")
        widths = np.empty((len(contexts), features.n_arms))
        apart = self.center - model.parameters
        for part, rows in features.blocks_of(contexts):
            moved, norms = linear_products(rows, apart, features.n_arms), np.empty((len(rows), features.n_arms))
            chosen, wanted = best[part][:, None], np.ones(norms.shape, dtype=np.bool_)
            gap_norms(rows, np.ascontiguousarray(best[part]), self.factors, wanted, 1.0, norms)
            moved = np.abs(moved - np.take_along_axis(moved, chosen, axis=1))
            widths[part] = moved + math.sqrt(self.radius) * norms
        return widths

    def _norms(self, rows: Float[np.ndarray, "n rows d"], n_arms: int) -> RoundsByArms:
        from graphbandit.kernels.function_classes.linear import linear_norms

        norms = np.empty((len(rows), n_arms))
        linear_norms(rows, self.factors, norms)
        return norms


def linear_predictor(
    features: FeatureMap, parameters: Float[np.ndarray, "blocks d"], contexts: Contexts
) -> RoundsByArms:
    """theta'phi(x, a) for every context and arm."""
    values = np.empty((len(contexts), features.n_arms))
    for part, rows in features.blocks_of(contexts):
        values[part] = linear_products(rows, parameters, features.n_arms)
    return values


def linear_products(
    rows: Float[np.ndarray, "n rows d"], parameters: Float[np.ndarray, "blocks d"], n_arms: int, offset: float = 0.0
) -> RoundsByArms:
    """c + theta'phi(x, a), given the features of every round."""
    values = np.empty((len(rows), n_arms))
    linear_values.call(as_in_kernels(rows), math.inf, as_in_kernels(parameters), offset, values)
    return values


def gaussian_draws(
    center: Float[np.ndarray, "blocks d"],
    factors: Float[np.ndarray, "blocks d d"],
    *,
    scales: Float[np.ndarray, " draws"],
    rng: np.random.Generator,
) -> Float[np.ndarray, "draws blocks d"]:
    """Draw b of N(center, scales[b]^2 V^-1), V = U'U: center + scale U^-1 z with z standard normal."""
    from graphbandit.kernels.function_classes.linear import add_solutions

    draws: Float[np.ndarray, "draws blocks d"] = rng.standard_normal((len(scales), *center.shape))
    draws *= scales[:, None, None]
    add_solutions(factors, center, draws)
    return draws


def predictor_of_draws(features: FeatureMap, draws: Draws) -> Drawer:
    """c_b + theta_b'phi(x, a) as a function of the contexts, for every one of them, draw and arm."""
    members, count, n_arms = draws.members, len(draws.weights), features.n_arms
    if not isinstance(members, LinearDraws):
        raise InputError(f"the draws are a {type(members).__name__}; expected LinearDraws")
    expected = (count, features.blocks, features.size)
    if members.parameters.shape != expected:
        raise InputError(f"the draws have parameters of shape {members.parameters.shape}; expected {expected}")
    if features.blocks > 1:
        kernels = kernels_of("function_classes.linear")

        def values_per_arm(contexts: Contexts) -> Float[np.ndarray, "n draws arms"]:
            values = np.empty((len(contexts), count, n_arms))
            for part, rows in features.blocks_of(contexts):
                kernels.drawn_values_per_arm(rows, members.parameters, members.offsets, values[part])
            return values

        return values_per_arm
    parameters, offsets = as_in_kernels(members.parameters[:, 0]), as_in_kernels(members.offsets)
    at_a_time = features.at_a_time

    def values_of(contexts: Contexts) -> Float[np.ndarray, "n draws arms"]:
        if len(contexts) > at_a_time:
            return np.concatenate([values_of(part) for part in features.portions(contexts)])
        rows, limit = features.rows_and_limit(contexts)
        values = np.empty((len(contexts), count, n_arms))
        if not _drawn_values.call(rows, limit, parameters, offsets, values):
            features.check_contexts(contexts)
            _drawn_values.call(rows, math.inf, parameters, offsets, values)
        return values

    return values_of


def check_parameters(features: FeatureMap, parameters: Float[np.ndarray, "blocks d"]) -> None:
    """Raise InputError unless the parameters are of this map; kernels trust them."""
    expected = (features.blocks, features.size)
    if parameters.shape != expected:
        raise InputError(f"the parameters have shape {parameters.shape}; expected {expected}")
