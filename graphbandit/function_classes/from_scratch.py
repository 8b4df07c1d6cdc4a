"""Function classes that are fitted from scratch: their settings, their data, their fits, and what these predict."""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from graphbandit.base.array_types import ArmMask, Contexts, PerArm, PerObservation, RoundsByArms
from graphbandit.base.checks import check_features, check_within, optional_number, setting_boolean, setting_integer
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float, Int
from graphbandit.errors import FitError, InputError, SettingError
from graphbandit.function_classes.base import FunctionClass
from graphbandit.function_classes.feature_maps import arm_factors
from graphbandit.function_classes.fits import Fit, FitReport, RefitData, RefitModel, fit_up_to
from graphbandit.function_classes.observation_columns import ObservationColumns
from graphbandit.function_classes.scale import NoiseLaw, Scale
from graphbandit.rounds.observations import Observations

BLOCK = 256
"""Rows that are evaluated at a time, no more and no fewer, so that the last bits never depend on the batch."""

PAIRS = 2**15
"""Pairs of context and arm whose features are held at a time."""

TARGET_STEPS = 2.0**30
"""Targets of unit variance are multiples of 1 / TARGET_STEPS, so that rewards y and a + b y have the same targets."""

Function = TypeVar("Function")

PairRows = Float[np.ndarray, "pairs d"]
PairArms = Int[np.ndarray, " pairs"]
PairValues = Float[np.ndarray, " pairs"]
"""Pairs of a context (of that arm) and an arm, and the values of a function at them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Member(Generic[Function]):
    """One fit: a function of the class's own kind, its units, and the values of arms that were never seen.

    The function is fitted to (y - center) / unit, so that it does not matter in which units rewards come.
    """

    function: Function
    center: float
    unit: float
    unseen: ArmMask
    guesses: PerArm


class RefittedClass(FunctionClass[RefitData, RefitModel, Any], Generic[Function]):
    """What function classes that fit from scratch share; each fits and evaluates one function in its own way.

    Fit 0 is the estimate, the least-squares fit of all data; fits 1 .. `members` are refits to data that was disturbed
    at random. Rewards are centred and scaled to unit variance before they are fitted, so units do not matter.

    Where nothing is known, mean rewards are anywhere in [low, high], widened to the rewards seen. That goes for all
    arms before there are `fewest` observations, and for an arm that was seen fewer than `fewest_of_arm` times. The
    estimate of such an arm is the mean of all rewards, a refit's is some reward that was seen, and its own rewards
    count in no loss.
    """

    def __init__(
        self,
        *,
        n_arms: int,
        dimension: int,
        arm_contexts: bool,
        members: int,
        low: float | None,
        high: float | None,
        entropy: float | None,
        seed: int,
        on_fit: Callable[[FitReport], None] | None,
        fewest: int,
        fewest_of_arm: int,
        factors: npt.ArrayLike | None,
    ) -> None:
        setting_boolean("arm_contexts", arm_contexts)
        self._n_arms = setting_integer("n_arms", n_arms, at_least=1)
        self._dimension = setting_integer("dimension", dimension, at_least=1)
        self._arm_contexts = arm_contexts
        self._members = setting_integer("members", members, at_least=1)
        self._low = optional_number("low", low)
        self._high = optional_number("high", high)
        if self._low is not None and self._high is not None and self._high <= self._low:
            raise SettingError(f"high is {high!r}; expected a number above low, {low!r}")
        self._entropy = optional_number("entropy", entropy, at_least=0.0)
        self._seed = setting_integer("seed", seed, at_least=0)
        if on_fit is not None and not callable(on_fit):
            raise SettingError(f"on_fit is {on_fit!r}; expected a callable that takes a FitReport")
        self._on_fit = on_fit
        self._fewest = setting_integer("fewest", fewest, at_least=1)
        self._fewest_of_arm = fewest_of_arm
        given = arm_factors(factors, self._n_arms)
        self._factors = np.ones(self._n_arms) if given is None else given

    def __external__(self) -> dict[str, Any]:
        """How a saved file names this class, since it cannot hold what is fitted."""
        return {
            "class": type(self).__name__,
            "n_arms": self.n_arms,
            "dimension": self._dimension,
            "arm_contexts": self._arm_contexts,
            "members": self._members,
            "low": self._low,
            "high": self._high,
            "entropy": self._entropy,
            "seed": self._seed,
            "factors": self._factors.tolist(),
        }

    @property
    @abstractmethod
    def name(self) -> str:
        """What is fitted, as messages call it."""

    @abstractmethod
    def fit_number(self, data: RefitData, targets: PerObservation, number: int, rng: np.random.Generator) -> Function:
        """Fit `number` of at least `fewest` observations: the estimate if 0, else a refit to disturbed data.

        - `data`: the observations.
        - `targets`: the rewards, centred and of unit variance, in multiples of 2^-30.
        - `number`: which fit it is.
        - `rng`: draws what is random in it.
        """

    def fit_numbers(
        self, data: RefitData, targets: PerObservation, numbers: tuple[int, ...], rngs: list[np.random.Generator]
    ) -> list[Function]:
        """The fits of one group, one after the other.

        - `data`, `targets`: as in `fit_number`.
        - `numbers`, `rngs`: which fits they are, and what draws for each.
        """
        return [self.fit_number(data, targets, number, rng) for number, rng in zip(numbers, rngs, strict=True)]

    @abstractmethod
    def pair_values(self, function: Function, rows: PairRows, arms: PairArms, *, most: int = BLOCK) -> PairValues:
        """The function at these pairs of a context (of that arm) and an arm, by `in_blocks`.

        - `function`: a fit.
        - `rows`, `arms`: the pairs.
        - `most`: the largest number of pairs that are evaluated at a time, 256 by default.
        """

    @property
    def n_arms(self) -> int:
        """K."""
        return self._n_arms

    @property
    def dimension(self) -> int:
        """d, the length of a context (of an arm's row of it)."""
        return self._dimension

    @property
    def arm_contexts(self) -> bool:
        """Whether every arm has its own context."""
        return self._arm_contexts

    def check_own_arms(self) -> None:
        """Raise SettingError unless a round has a context for each arm, and one function is fitted for all of them."""
        if not self._arm_contexts or self._fewest_of_arm or (self._factors != 1.0).any():
            raise SettingError(
                f"{type(self).__name__} knows arms by their numbers, but rounds bring their own; expected "
                "arm_contexts=True, and neither per_arm nor factors"
            )

    @property
    def log_size(self) -> float:
        """`entropy`, or log(members + 1), the size of the sample: a stand-in, as |F| is infinite."""
        return math.log(self._members + 1) if self._entropy is None else self._entropy

    def check_contexts(self, contexts: Contexts) -> None:
        """One vector a round, or one for each arm, of numbers that single precision can hold."""
        self._check_shape(contexts)
        check_features(contexts)

    def _check_shape(self, contexts: Contexts) -> None:
        expected = (self.n_arms, self._dimension) if self._arm_contexts else (self._dimension,)
        if contexts.shape[1:] != expected:
            raise InputError(f"contexts have shape {contexts.shape}; expected (n, {', '.join(map(str, expected))})")

    def _rows(self, contexts: Contexts, rounds: PairArms, arms: PairArms) -> PairRows:
        """The context of each pair: the round's, or the arm's own in that round."""
        rows: PairRows = contexts[rounds, arms] if self._arm_contexts else contexts[rounds]
        return rows

    def empty(self, half_life: float | None = None) -> RefitData:
        """No observation yet."""
        return RefitData(columns=ObservationColumns.empty((self._dimension,)), half_life=half_life)

    def add(self, data: RefitData, observations: Observations) -> RefitData:
        """All observations are kept: one row an observation, behind those that are there."""
        if not observations.n_observed:
            return data
        self.check_contexts(observations.contexts)
        observations.check(self.n_arms)
        rows = self._rows(observations.contexts, observations.rows, observations.arms)
        rows = rows.astype(np.float64, copy=False)
        rounds = observations.rounds[observations.rows]
        columns = data.columns.append(rows, observations.arms, observations.rewards, rounds)
        return RefitData(columns=columns, half_life=data.half_life)

    def n_observed(self, data: RefitData) -> int:
        """How many rewards the data holds."""
        return len(data)

    def fit(self, data: RefitData) -> RefitModel:
        """The estimate, fitted now if it is not yet."""
        self.fits(data, 1)
        return RefitModel(data=data)

    def fits(self, data: RefitData, count: int) -> list[Fit]:
        """Fits 0 .. count - 1 of this data, each made once; none of too few observations."""
        if not self.enough(data):
            return []
        return fit_up_to(
            self,
            data,
            count,
            partial(self._fitted, data),
            partial(self._at_data, data.columns),
            name=self.name,
            groups=self._groups(),
            on_fit=self._on_fit,
        )

    def enough(self, data: RefitData) -> bool:
        """Whether there are enough observations for a fit."""
        return len(data) >= self._fewest

    def _groups(self) -> list[tuple[int, ...]]:
        """The numbers of the fits that are made together; the order in which they are asked for never matters."""
        return [(number,) for number in range(self._members + 1)]

    def _fitted(self, data: RefitData, numbers: tuple[int, ...]) -> list[Member[Function]]:
        """The fits of one group."""
        outcomes = data.columns.rewards / self._factors[data.columns.arms]
        center, unit = units_of(outcomes, data.weights)
        unseen = self.unseen(data.columns)
        rngs = [stream(self._seed, "fit", len(outcomes), number) for number in numbers]
        guesses = [
            np.full(self.n_arms, center) if number == 0 else outcomes[rng.integers(len(outcomes), size=self.n_arms)]
            for number, rng in zip(numbers, rngs, strict=True)
        ]
        # the last bits of a + b y must not decide which of two equal splits a tree makes
        targets = np.round((outcomes - center) / unit * TARGET_STEPS) / TARGET_STEPS
        functions = self.fit_numbers(data, targets, numbers, rngs)
        return [
            Member(function=function, center=center, unit=unit, unseen=unseen, guesses=guess * self._factors)
            for function, guess in zip(functions, guesses, strict=True)
        ]

    def _at_data(self, columns: ObservationColumns, member: Member[Function]) -> PerObservation:
        """The values at the observations; the rewards themselves where the arm is not known."""
        values = self.pair_values(member.function, columns.contexts, columns.arms, most=PAIRS)
        values = self._factors[columns.arms] * (member.center + member.unit * values)
        return np.where(member.unseen[columns.arms], columns.rewards, values)

    def unseen(self, columns: ObservationColumns) -> ArmMask:
        """The arms of which nothing is known, because they were seen too rarely."""
        return np.bincount(columns.arms, minlength=self.n_arms) < self._fewest_of_arm

    def range_of(self, data: RefitData) -> tuple[float, float]:
        """[low, high], widened to the rewards seen; theirs alone where no range is told, and [0, 1] before any.

        With factors, this is the range of the outcomes that they multiply.
        """
        rewards = data.columns.rewards / self._factors[data.columns.arms]
        low = self._low if self._low is not None else 0.0 if not len(rewards) else math.inf
        high = self._high if self._high is not None else low + 1.0 if not len(rewards) else -math.inf
        return float(rewards.min(initial=low)), float(rewards.max(initial=high))

    def values(self, fit: Fit, contexts: Contexts) -> RoundsByArms:
        """The fitted function at every context and arm."""
        return self.values_of([fit], contexts)[:, 0]

    def values_of(self, fits: list[Fit], contexts: Contexts) -> Float[np.ndarray, "n fits arms"]:
        """The fitted functions at every context and arm."""
        self._check_shape(contexts)
        members: list[Member[Function]] = [fit.function for fit in fits]
        values = self.arm_values([member.function for member in members], contexts)
        for i, member in enumerate(members):
            values[:, i] = self._factors * (member.center + member.unit * values[:, i])
            values[:, i, member.unseen] = member.guesses[member.unseen]
        check_within(f"{self.name} predicts", values, of="values", error=FitError)
        return values

    def arm_values(self, functions: list[Function], contexts: Contexts) -> Float[np.ndarray, "n functions arms"]:
        """The functions at every context and arm, by their pairs.

        - `functions`: some fits.
        - `contexts`: one row a round.
        """
        values = np.empty((len(contexts), len(functions), self.n_arms))
        chunk = max(1, PAIRS // self.n_arms)
        for start in range(0, len(contexts), chunk):
            part = contexts[start : start + chunk]
            rounds = np.repeat(np.arange(len(part)), self.n_arms)
            arms = np.tile(np.arange(self.n_arms), len(part))
            rows = self._rows(part, rounds, arms)
            for i, function in enumerate(functions):
                pairs = self.pair_values(function, rows, arms)
                values[start : start + chunk, i] = pairs.reshape(len(part), self.n_arms)
        return values

    def predict(self, model: RefitModel, contexts: Contexts) -> RoundsByArms:
        """The estimate; before there is one, the mean of all rewards, or the middle of the range if there are none."""
        self._check_shape(contexts)
        for fit in self.fits(model.data, 1):
            return self.values(fit, contexts)
        columns = model.data.columns
        known = len(columns) > 0
        mean = (columns.rewards / self._factors[columns.arms]).mean() if known else sum(self.range_of(model.data)) / 2.0
        return np.tile(self._factors * mean, (len(contexts), 1))

    def smallest_loss(self, data: RefitData) -> float:
        """The least loss of all fits."""
        return min((fit.loss for fit in self.fits(data, self._members + 1)), default=0.0)

    def natural_scale(self, data: RefitData) -> Scale:
        """sigma by its posterior at the estimate's loss, and `log_size`."""
        rewards, fits = data.columns.rewards, self.fits(data, 1)
        span = float(np.ptp(rewards)) if len(rewards) else 0.0
        if not fits or span == 0.0:
            return Scale(noise=0.0, complexity=max(self.log_size, 1.0))
        law = NoiseLaw.given(span=span, count=float(data.weights.sum()), residual=fits[0].loss)
        return Scale(noise=law.estimate, complexity=max(self.log_size, 1.0))

    def unit(self, data: RefitData) -> float:
        """The span of the rewards seen; 1 where a range is told."""
        rewards = data.columns.rewards
        told = self._low is not None or self._high is not None
        return 1.0 if told or not len(rewards) else float(np.ptp(rewards)) or 1.0


def units_of(rewards: PerObservation, weights: PerObservation) -> tuple[float, float]:
    """The weighted mean of the rewards and their standard deviation; 1 if they are all the same.

    >>> units_of(np.array([3.0, 5.0]), np.ones(2))
    (4.0, 1.0)
    """
    center = float(np.average(rewards, weights=weights))
    return center, float(np.sqrt(np.average(np.square(rewards - center), weights=weights))) or 1.0


def in_blocks(
    n: int,
    evaluate: Callable[[Int[np.ndarray, " block"]], Any],
    size: tuple[int, ...] = (),
    *,
    least: int = BLOCK,
    most: int = BLOCK,
) -> Float[np.ndarray, "n ..."]:
    """evaluate(index) for the indices 0 .. n - 1, always `least` of them: the last is repeated to fill a block.

    Matrix products sum in an order that depends on the number of rows, so a regressor may predict other last bits for
    one row than for the same row among many. With equal blocks it predicts the same. `size` is that of one answer.
    With `most` above `least`, blocks grow with n up to that: faster, for what is always evaluated as a whole.
    """
    block = max(least, min(n, most))
    values = np.empty((n, *size))
    for start in range(0, n, block):
        index = np.minimum(np.arange(start, start + block), n - 1)
        found = np.asarray(evaluate(index), dtype=np.float64)
        if found.shape != (block, *size):
            raise InputError(f"{block} predictions have shape {found.shape}; expected {(block, *size)}")
        values[start : start + block] = found[: n - start]
    return values
