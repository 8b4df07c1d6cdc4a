"""The kinds of function class that a learner of an experiment may name; they are made to fit its contexts.

A learner without `function_class` uses the problem's own. To add a kind, write a function here and list it in
`CLASS_KINDS`.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbandit.base.extras import imported
from graphbandit.base.shapes import Float
from graphbandit.errors import SettingError
from graphbandit.experiments.describe.kinds import check_writable, hints_of
from graphbandit.experiments.describe.own_kinds import Kinds, found_at
from graphbandit.function_classes import (
    FunctionClass,
    GeneralizedLinearClass,
    KernelClass,
    LinearClass,
    RegressorClass,
    TorchClass,
)
from graphbandit.function_classes.kernel import Kernel
from graphbandit.learners.problem import Problem


@dataclass(frozen=True, kw_only=True)
class Contexts:
    """The contexts that a class must fit.

    - `n_arms`: K.
    - `shape`: the shape of one context.
    - `arm_features`: the features of the arms if they never change; None otherwise.
    """

    n_arms: int
    shape: tuple[int, ...]
    arm_features: Float[np.ndarray, "arms d"] | None

    @classmethod
    def of(cls, problem: Problem, shape: tuple[int, ...]) -> "Contexts":
        """The contexts of a problem; the features of the arms are those of its own class if that is linear."""
        own = problem.function_class
        features = own.arm_features if isinstance(own, LinearClass | GeneralizedLinearClass) else None
        return cls(n_arms=problem.n_arms, shape=shape, arm_features=features)

    @property
    def linear(self) -> dict[str, Any]:
        """The settings of linear classes: a parameter for each arm, unless the arms have features."""
        self._check_shape()
        shared = len(self.shape) == 2 or self.arm_features is not None
        return {
            "n_arms": self.n_arms,
            "dimension": self.shape[-1],
            "parameters": "shared" if shared else "per-arm",
            "arm_features": self.arm_features,
        }

    @property
    def regressor(self) -> dict[str, Any]:
        """The settings of classes of regressors."""
        self._check_shape()
        return {"n_arms": self.n_arms, "dimension": self.shape[-1], "arm_contexts": len(self.shape) == 2}

    def _check_shape(self) -> None:
        if len(self.shape) not in (1, 2):
            raise SettingError(f"contexts of function_class have shape {self.shape}; expected one or two axes")


def linear(*, contexts: Contexts, ridge: float | None = None, norm_bound: float | None = None) -> LinearClass:
    """Ridge regression, with an ellipsoid as its version space."""
    return LinearClass(**contexts.linear, ridge=ridge, norm_bound=norm_bound)


def logistic(*, contexts: Contexts, ridge: float | None = None, norm_bound: float = 1.0) -> GeneralizedLinearClass:
    """Logistic regression, for clicks."""
    return GeneralizedLinearClass(**contexts.linear, link="logistic", ridge=ridge, norm_bound=norm_bound)


def poisson(*, contexts: Contexts, ridge: float | None = None, norm_bound: float = 1.0) -> GeneralizedLinearClass:
    """Poisson regression, for counts."""
    return GeneralizedLinearClass(**contexts.linear, link="poisson", ridge=ridge, norm_bound=norm_bound)


def kernel(
    *,
    contexts: Contexts,
    kernel: Kernel = "rbf",
    n_features: int = 200,
    lengthscale: float | None = None,
    ridge: float | None = None,
    norm_bound: float | None = None,
) -> KernelClass:
    """Random Fourier features; the lengthscale is the square root of the contexts' dimension unless given."""
    return KernelClass(
        **contexts.linear,
        kernel=kernel,
        n_features=n_features,
        lengthscale=float(np.sqrt(contexts.shape[-1])) if lengthscale is None else lengthscale,
        ridge=ridge,
        norm_bound=norm_bound,
    )


def forest(*, contexts: Contexts, trees: int = 50, leaf: int = 5, members: int = 5) -> RegressorClass:
    """scikit-learn's random forest; `leaf` is the least number of observations in a leaf."""
    regressor = _sklearn("ensemble", "RandomForestRegressor")(n_estimators=trees, min_samples_leaf=leaf)
    return RegressorClass(regressor, **contexts.regressor, members=members)


def boosting(*, contexts: Contexts, trees: int = 50, leaves: int = 15, members: int = 5) -> RegressorClass:
    """scikit-learn's gradient boosting on histograms."""
    build = _sklearn("ensemble", "HistGradientBoostingRegressor")
    regressor = build(max_iter=trees, max_leaf_nodes=leaves, early_stopping=False)
    return RegressorClass(regressor, **contexts.regressor, members=members)


def neural_network(*, contexts: Contexts, hidden: int = 32, passes: int = 20, members: int = 3) -> TorchClass:
    """A neural network of PyTorch with two hidden layers of ReLU."""
    told = contexts.regressor
    outputs = 1 if told["arm_contexts"] else contexts.n_arms

    def make() -> Any:
        from torch import nn

        first = nn.Linear(contexts.shape[-1], hidden)
        return nn.Sequential(first, nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, outputs))

    return TorchClass(make, **told, passes=passes, members=members)


def _own(where: str) -> Callable[..., FunctionClass[Any, Any, Any]]:
    """Your own function class; it is called with `contexts` if it takes them, or with those of `SIZES` it takes."""
    build = found_at(where)
    taken = frozenset(inspect.signature(build).parameters)
    sizes = frozenset() if "contexts" in taken else SIZES & taken
    check_writable(where, build, without=sizes | {"contexts"})

    def fitting(*, contexts: Contexts, **options: Any) -> FunctionClass[Any, Any, Any]:
        told = {**contexts.linear, **contexts.regressor}
        given = {"contexts": contexts} if "contexts" in taken else {name: told[name] for name in sizes}
        made = build(**given, **options)
        if not isinstance(made, FunctionClass):
            raise SettingError(f"{where!r} makes a {type(made).__name__}; expected a FunctionClass")
        return made

    options = [p for p in inspect.signature(build).parameters.values() if p.name not in sizes | {"contexts"}]
    told = {name: hint for name, hint in hints_of(build).items() if name in {p.name for p in options}}
    fitting.__annotations__ = told
    fitting.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [p.replace(kind=p.KEYWORD_ONLY) for p in options if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    )
    return fitting


SIZES = frozenset({"n_arms", "dimension", "parameters", "arm_features", "arm_contexts"})
"""The facts about the contexts that your own function class may take as parameters."""

CLASS_KINDS: Kinds[Callable[..., FunctionClass[Any, Any, Any]]] = Kinds(
    {build.__name__: build for build in (linear, logistic, poisson, kernel, forest, boosting, neural_network)}, own=_own
)
"""Function classes by kind."""


def _sklearn(module: str, name: str) -> Any:
    return getattr(imported(f"sklearn.{module}", "sklearn", f"{name} needs scikit-learn"), name)
