"""What classes with a parameter theta on features phi(x, a) share: contexts, size, and the ellipsoid's candidates."""

import inspect
import math
from typing import Any, NamedTuple, TypeVar

import numpy as np

from graphbandit.base.array_types import ArmMasks, Contexts, RoundsByArms
from graphbandit.base.checks import BOOL, INTEGER, as_in_kernels
from graphbandit.base.direct_calls import DirectCall
from graphbandit.base.shapes import Float
from graphbandit.errors import SettingError
from graphbandit.function_classes.base import (
    FIXED_NUMBER,
    Contest,
    Draws,
    FunctionClass,
    Predictor,
    Prospector,
    Prospects,
    some_choice,
)
from graphbandit.function_classes.ellipsoid import (
    EXACT_ARMS,
    Ellipsoid,
    LinearModel,
    check_parameters,
    linear_products,
    linear_values,
)
from graphbandit.function_classes.feature_maps import FeatureMap, Parameters

Data = TypeVar("Data")


_gap_norms = DirectCall("function_classes.linear", "gap_norms")


class Known(NamedTuple):
    """What a model says of some rounds."""

    rows: Float[np.ndarray, "n rows d"]
    """phi(x, a)"""
    predictors: RoundsByArms
    """c + theta'phi(x, a)"""
    means: RoundsByArms
    """mu of them"""


class ParametricClass(FunctionClass[Data, LinearModel, Ellipsoid]):
    """f(x, a) is a monotone function of theta'phi(x, a): which arm is best depends on that alone."""

    features: FeatureMap
    norm_bound: float | None
    resolution: float

    evaluates_all = True
    """Yes: sums of products of numbers of a fair size."""

    predict_checks = True
    """Yes: contexts are checked when features are made of them."""

    draws_fit = True
    """Yes: a kernel fills them."""

    @property
    def n_arms(self) -> int:
        """K."""
        return self.features.n_arms

    def grown(self, n_arms: int, arm_features: Float[np.ndarray, "arms d"] | None) -> "FunctionClass[Any, Any, Any]":
        """This class with more arms: a shared theta stays what it is, and a theta of each arm is new for new arms."""
        features = self.features
        if features.parameters == "shared" and features.arm_features is None:
            raise SettingError(FIXED_NUMBER)
        if (features.arm_features is None) != (arm_features is None):
            raise SettingError("only the class has arm_features; expected Problem(arm_features=...) to have them")
        settings = {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}
        settings |= {"n_arms": n_arms, "arm_features": arm_features}
        return type(self)(**settings)

    def check_own_arms(self) -> None:
        """Raise SettingError unless there is one theta, and rounds show the features of their arms."""
        features = self.features
        if features.parameters != "shared" or features.arm_features is not None:
            has = "parameters='per-arm'" if features.parameters != "shared" else "arm_features"
            raise SettingError(
                f"function_class has {has}; expected parameters='shared' without arm_features, as every round brings "
                "its own arms"
            )
        if getattr(self, "factors", None) is not None:
            raise SettingError("function_class has factors of its arms; expected none, as rounds bring their own arms")

    @property
    def dimension(self) -> int:
        """d, the length of a context (of an arm's row of it)."""
        return self.features.dimension

    @property
    def parameters(self) -> Parameters:
        """Whether all arms share one parameter."""
        return self.features.parameters

    @property
    def arm_features(self) -> Float[np.ndarray, "arms d"] | None:
        """z, if arms have features of their own."""
        return self.features.arm_features

    @property
    def intercept(self) -> bool:
        """Whether a 1 is put behind the features."""
        return self.features.intercept

    @property
    def total_bound(self) -> float:
        """S: the bound on the norm of all parameters together; `norm_bound` counts as 1 if it is not told."""
        return (1.0 if self.norm_bound is None else self.norm_bound) * math.sqrt(self.features.blocks)

    @property
    def log_size(self) -> float:
        """p log(1 + 2 S / resolution), p the number of parameters.

        The ball |theta| <= S is covered by that many balls of radius `resolution` (volumes), so for |phi| <= 1 every
        theta'phi is within `resolution` of one of theirs.
        """
        number = self.features.blocks * self.features.size
        return number * math.log1p(2.0 * self.total_bound / self.resolution)

    @property
    def exact_candidates(self) -> bool:
        """Whether `candidates` marks no arm too many: not with one parameter for more than EXACT_ARMS arms."""
        return self.parameters == "per-arm" or self.n_arms <= EXACT_ARMS

    def check_contexts(self, contexts: Contexts) -> None:
        """One of the shapes of `FeatureMap`, of numbers whose squares stay finite."""
        self.features.check_contexts(contexts)

    def candidates(self, space: Ellipsoid, contexts: Contexts, available: ArmMasks | None = None) -> ArmMasks:
        """The arms that win for some theta of the ellipsoid, among those available; see `exact_candidates`."""
        return space.candidates(self.features, contexts, available)

    def prospector(self, model: LinearModel, space: Ellipsoid, noise: float | None) -> Prospector:
        """Parameters are checked once. Features and predictors are made once for all that is said of a round."""
        check_parameters(self.features, space.center)
        check_parameters(self.features, model.parameters)
        n_arms = self.features.n_arms

        def prospects(contexts: Contexts, available: ArmMasks | None) -> Prospects:
            n = len(contexts)
            values, chosen = np.empty((n, n_arms)), np.zeros((n, n_arms), BOOL)
            deviations = None
            for part, rows in self.features.blocks_of(contexts):
                known = self._known(model, rows)
                values[part] = known.means
                mask = None if available is None else available[part]
                self._mark_candidates(space, rows, mask, chosen[part])
                if noise is not None and some_choice(chosen[part]):
                    deviations = np.zeros((n, n_arms)) if deviations is None else deviations
                    offered = known.means if mask is None else np.where(mask, known.means, -np.inf)
                    contest = Contest(offered.argmax(axis=1), chosen[part], noise, space.radius)
                    self._find_deviations(space, known, contest, deviations[part])
            return Prospects(values, chosen, None, deviations)

        return prospects

    def _known(self, model: LinearModel, rows: Float[np.ndarray, "n rows d"]) -> Known:
        """What a model says of rounds with these features."""
        predictors = linear_products(rows, model.parameters, self.features.n_arms, float(model.offset))
        return Known(rows, predictors, self.means(predictors.copy()))

    def _mark_candidates(
        self, space: Ellipsoid, rows: Float[np.ndarray, "n rows d"], available: ArmMasks | None, chosen: ArmMasks
    ) -> None:
        """`candidates`, given the features of every round."""
        space.mark_candidates(self.features, rows, available, chosen)

    def deviations(self, space: Ellipsoid, model: LinearModel, contexts: Contexts, contest: Contest) -> RoundsByArms:
        """sigma sqrt(v'V^-1 v), v = s(a) phi(x, a) - s(best) phi(x, best), for candidates; 0 elsewhere.

        s(a) is the slope of the mean reward at thetahat'phi(x, a).
        """
        check_parameters(self.features, model.parameters)
        found = np.empty((len(contexts), self.features.n_arms))
        for part, rows in self.features.blocks_of(contexts):
            some = contest._replace(best=contest.best[part], candidates=contest.candidates[part])
            self._find_deviations(space, self._known(model, rows), some, found[part])
        return found

    def _find_deviations(self, space: Ellipsoid, known: Known, contest: Contest, found: RoundsByArms) -> None:
        """`deviations`, given what the model says."""
        slopes = self._slopes_of(known)
        rows = known.rows if slopes is None else known.rows * slopes[:, :, None]
        _gap_norms.call(
            as_in_kernels(rows),
            as_in_kernels(contest.best, INTEGER),
            as_in_kernels(space.factors),
            as_in_kernels(contest.candidates, BOOL),
            float(contest.noise),
            found,
        )

    def predict(self, model: LinearModel, contexts: Contexts) -> RoundsByArms:
        """mu(thetahat'phi(x, a))."""
        return self.predictor(model)(contexts)

    def predictor(self, model: LinearModel) -> Predictor:
        """The parameters are checked once."""
        features, parameters, offset = self.features, as_in_kernels(model.parameters), float(model.offset)
        check_parameters(features, parameters)
        n_arms, at_a_time, means = features.n_arms, features.at_a_time, self.means

        def predict(contexts: Contexts) -> RoundsByArms:
            if len(contexts) > at_a_time:
                return np.concatenate([predict(part) for part in features.portions(contexts)])
            rows, limit = features.rows_and_limit(contexts)
            values = np.empty((len(contexts), n_arms))
            if not linear_values.call(rows, limit, parameters, offset, values):
                features.check_contexts(contexts)
                linear_values.call(rows, math.inf, parameters, offset, values)
            return means(values)

        return predict

    def bounds(self, space: Ellipsoid, contexts: Contexts) -> tuple[RoundsByArms, RoundsByArms]:
        """mu(c + center'phi -+ sqrt(radius phi'V^-1 phi)); exact."""
        lower, upper = space.predictor_bounds(self.features, contexts)
        return self.means(lower), self.means(upper)

    def draw_values(self, draws: Draws, contexts: Contexts) -> Float[np.ndarray, "n draws arms"]:
        """mu(c_b + theta_b'phi(x, a))."""
        return self.drawer(draws)(contexts)

    def _slopes_of(self, known: Known) -> RoundsByArms | None:
        """The derivative of the mean reward by theta'phi, at the model's; None: 1."""
        return None

    def means(self, predictors: RoundsByArms) -> RoundsByArms:
        """mu of every predictor theta'phi, which may be overwritten; the predictor itself in a linear class."""
        return predictors
