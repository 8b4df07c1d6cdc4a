"""Any scikit-learn regressor as the oracle: forests, boosting, pipelines, and all that follow the same interface."""

import copy
import re
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from graphbandit.base.array_types import PerObservation
from graphbandit.base.checks import optional_number, setting_array, setting_boolean, setting_choice
from graphbandit.base.extras import imported
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float, Int
from graphbandit.errors import SettingError
from graphbandit.function_classes.base import FIXED_NUMBER
from graphbandit.function_classes.ensemble import EnsembleFunctionClass
from graphbandit.function_classes.fits import FitReport, RefitData
from graphbandit.function_classes.from_scratch import BLOCK, PairArms, PairRows, PairValues, in_blocks
from graphbandit.function_classes.observation_columns import ObservationColumns

Resampling = Literal["bootstrap", "perturbed"]

Regressors = dict[int, Any]
"""Fitted regressors by arm; one for all arms is under ALL."""

ALL = -1


class RegressorClass(EnsembleFunctionClass[Regressors]):
    """The functions that a regressor can learn: ``RegressorClass(Ridge(), n_arms=3, dimension=5)``.

    The regressor is given the context and the arm as a one-hot vector, or the arm's row of `arm_features`. It is given
    the context alone with `arm_contexts`, where the vector is the arm's own, and with `per_arm`.

    - `regressor`: anything with scikit-learn's `fit(X, y)`, `predict(X)` and parameters. It is cloned, never fitted
      itself. The same data gives the same fits: every `random_state` in it is set; `n_jobs` is left alone.
    - `n_arms`: K.
    - `dimension`: the length of a context, or of an arm's row of it.
    - `arm_contexts`: whether a round has a context for each arm; False by default.
    - `arm_features`: (K, d_a) features of the arms, in place of the one-hot vector; None (default): none.
    - `per_arm`: whether each arm has its own regressor, fitted only to that arm's rewards; False by default.
    - `members`: how many refits the ensemble has, 20 by default (`TorchClass` has 5, as a neural network is costly to
      train).
    - `resampling`: what refits are fitted to. "bootstrap" (default): as many observations, drawn with replacement
      (within each arm if there is a regressor for each). "perturbed": rewards with Gaussian noise added.
    - `perturbation`: the standard deviation of that noise; None (default): the estimate's root mean square residual.
    - `low`, `high`: the range of mean rewards, widened to the rewards seen; None (default): that of the rewards seen,
      [0, 1] before any.
    - `entropy`: stands for log |F| in the learners' formulas and in the sharp radius; None (default): log(members + 1),
      see `log_size` and `sharp_radius`.
    - `seed`: sets, with the numbers of observations and of the refit, all that is random in a fit; 0 by default.
    - `on_fit`: is called with a `FitReport` after each fit; None (default): nothing is.
    - `fewest`: fewer observations (of an arm, if there is a regressor for each) are not fitted, and nothing is known
      then but the range; 2 by default.
    - `factors`: known numbers above 0, one for each arm, as in `GeneralizedLinearClass`; None (default): none.

    >>> from sklearn.linear_model import LinearRegression
    >>> functions = RegressorClass(LinearRegression(), n_arms=2, dimension=1, members=3)
    >>> functions.candidates(functions.version_space(functions.empty(), np.inf), np.zeros((1, 1)))
    array([[ True,  True]])
    """

    def __init__(
        self,
        regressor: Any,
        *,
        n_arms: int,
        dimension: int,
        arm_contexts: bool = False,
        arm_features: "npt.ArrayLike | None" = None,
        per_arm: bool = False,
        members: int = 20,
        resampling: Resampling = "bootstrap",
        perturbation: float | None = None,
        low: float | None = None,
        high: float | None = None,
        entropy: float | None = None,
        seed: int = 0,
        on_fit: Callable[[FitReport], None] | None = None,
        fewest: int = 2,
        factors: "npt.ArrayLike | None" = None,
    ) -> None:
        setting_boolean("per_arm", per_arm)
        shares_arms = not per_arm and (arm_contexts or arm_features is not None)
        # TorchClass hands over the same list: each class of fits shows all of its settings, with its own defaults
        super().__init__(
            n_arms=n_arms,
            dimension=dimension,
            arm_contexts=arm_contexts,
            members=members,
            low=low,
            high=high,
            entropy=entropy,
            seed=seed,
            on_fit=on_fit,
            fewest=fewest,
            fewest_of_arm=fewest if per_arm else 0 if shares_arms else 1,
            factors=factors,
        )
        setting_choice("resampling", resampling, get_args(Resampling))
        if arm_features is not None and (per_arm or arm_contexts):
            raise SettingError("arm_features came with per_arm or arm_contexts; expected one of the three at most")
        self._arm_features = (
            None if arm_features is None else setting_array("arm_features", arm_features, (n_arms, "d"))
        )
        self._per_arm = per_arm
        self._resampling = resampling
        self._perturbation = optional_number("perturbation", perturbation, at_least=0.0)
        self._regressor = _copy(regressor)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._regressor!r}, n_arms={self.n_arms}, dimension={self._dimension})"

    def __external__(self) -> dict[str, Any]:
        """Also the regressor and its own settings."""
        return super().__external__() | {
            "regressor": _described(self._regressor),
            "arm_features": None if self._arm_features is None else self._arm_features.tolist(),
            "per_arm": self._per_arm,
            "resampling": self._resampling,
            "perturbation": self._perturbation,
            "fewest": self._fewest,
        }

    def grown(self, n_arms: int, arm_features: Float[np.ndarray, "arms d"] | None) -> "RegressorClass":
        """The same regressor for more arms: known by their features, or new to it, like arms that were never seen."""
        if self._arm_contexts:
            raise SettingError(FIXED_NUMBER)
        if (self._arm_features is None) != (arm_features is None):
            raise SettingError("only the class has arm_features; expected Problem(arm_features=...) to have them")
        if (self._factors != 1.0).any():
            raise SettingError("factors are of the arms there were; expected none, for arms that join later")
        more = copy.copy(self)
        more._n_arms, more._factors, more._arm_features = n_arms, np.ones(n_arms), arm_features
        return more

    def grown_data(self, data: RefitData) -> RefitData:
        """The same observations, none of them of a new arm; all is fitted again."""
        return RefitData(columns=data.columns, half_life=data.half_life)

    def empty(self, half_life: float | None = None) -> RefitData:
        """No observation yet; with a half-life, the regressor must take weights."""
        if half_life is not None:
            weight_parameter(self._regressor)
        return super().empty(half_life)

    @property
    def name(self) -> str:
        """The regressor's."""
        return type(self._regressor).__name__

    def _features(self, rows: PairRows, arms: PairArms) -> Float[np.ndarray, "pairs features"]:
        """What the regressor is given of these pairs."""
        if self._per_arm or self._arm_contexts:
            return rows
        if self._arm_features is not None:
            return np.concatenate([rows, self._arm_features[arms]], axis=1)
        return np.concatenate([rows, arms[:, None] == np.arange(self.n_arms)], axis=1)

    def fit_number(self, data: RefitData, targets: PerObservation, number: int, rng: np.random.Generator) -> Regressors:
        """A clone fitted to all observations, or to disturbed ones; one for each arm seen with `per_arm`."""
        columns = data.columns
        if number > 0 and self._resampling == "perturbed":
            estimate = self.fits(data, 1)[0]
            scale = np.sqrt(estimate.loss / len(targets)) if self._perturbation is None else self._perturbation
            targets = targets + scale / estimate.function.unit * rng.standard_normal(len(targets))
        made: Regressors = {}
        for arm, index in self._parts(columns):
            if number > 0 and self._resampling == "bootstrap":
                index = np.sort(index[rng.integers(len(index), size=len(index))])
            weights = {} if data.half_life is None else {weight_parameter(self._regressor): data.weights[index]}
            made[arm] = self._fresh(data, number, arm).fit(
                self._features(columns.contexts[index], columns.arms[index]), targets[index], **weights
            )
        return made

    def _parts(self, columns: ObservationColumns) -> list[tuple[int, Int[np.ndarray, " some"]]]:
        """The observations that each regressor is fitted to."""
        if not self._per_arm:
            return [(ALL, np.arange(len(columns)))]
        known = np.flatnonzero(~self.unseen(columns))
        return [(int(arm), np.flatnonzero(columns.arms == arm)) for arm in known]

    def _fresh(self, data: RefitData, number: int, arm: int) -> Any:
        """A clone whose random states, including any inside it, are set by what it is for."""
        from sklearn.base import clone

        regressor = clone(self._regressor)
        names = [name for name in sorted(regressor.get_params()) if name.split("__")[-1] == "random_state"]
        states = stream(self._seed, "random_state", len(data), number, arm).integers(2**31 - 1, size=len(names))
        return regressor.set_params(**{name: int(state) for name, state in zip(names, states, strict=True)})

    def pair_values(self, function: Regressors, rows: PairRows, arms: PairArms, *, most: int = BLOCK) -> PairValues:
        """The regressor's predictions; 0 for an arm that has no regressor."""
        if not self._per_arm:
            return self._predictions(function[ALL], rows, arms, most)
        values = np.zeros(len(arms))
        for arm, regressor in function.items():
            index = np.flatnonzero(arms == arm)
            values[index] = self._predictions(regressor, rows[index], arms[index], most)
        return values

    def _predictions(self, regressor: Any, rows: PairRows, arms: PairArms, most: int) -> PairValues:
        def evaluate(index: Int[np.ndarray, " block"]) -> Any:
            return regressor.predict(self._features(rows[index], arms[index]))

        return in_blocks(len(arms), evaluate, most=most)


def _copy(regressor: Any) -> Any:
    """A clone that nobody else can change."""
    base = imported("sklearn.base", "sklearn", "RegressorClass needs scikit-learn")
    methods = ("fit", "predict", "get_params", "set_params")
    if isinstance(regressor, type) or not all(callable(getattr(regressor, name, None)) for name in methods):
        raise SettingError(f"regressor is {regressor!r}; expected a scikit-learn regressor, such as Ridge()")
    try:
        return base.clone(regressor)
    except (TypeError, RuntimeError) as error:
        raise SettingError(f"regressor is {regressor!r}, which cannot be cloned: {error}") from error


def weight_parameter(regressor: Any) -> str:
    """What `fit` calls the weights of observations; in a pipeline it is those of the last step."""
    from sklearn.utils.validation import has_fit_parameter

    step, last = regressor.steps[-1] if hasattr(regressor, "steps") else ("", regressor)
    if not has_fit_parameter(last, "sample_weight"):
        raise SettingError(
            f"regressor is {regressor!r}, which takes no sample_weight; "
            "expected one that does, for ReductionClass or a half-life"
        )
    return f"{step}__sample_weight" if step else "sample_weight"


def _described(regressor: Any) -> dict[str, str]:
    """The regressor's kind and parameters as text, the same in every process."""
    kind = type(regressor)
    parameters = {name: re.sub(r" at 0x[0-9a-f]+", "", repr(value)) for name, value in regressor.get_params().items()}
    return {"kind": f"{kind.__module__}.{kind.__qualname__}", **dict(sorted(parameters.items()))}
