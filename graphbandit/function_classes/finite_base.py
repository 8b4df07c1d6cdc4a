"""Finite classes F = {f_1, .., f_N}: loss, version space and candidates are exact, by enumeration."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from graphbandit.base.array_types import ArmMasks, Contexts, PerRound, RoundIndices, RoundsByArms
from graphbandit.base.checks import BOOL, as_in_kernels, kernel_mask, optional_number
from graphbandit.base.declared import Declared, limits
from graphbandit.base.direct_calls import DirectCall
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Bool, Float, Int
from graphbandit.base.trusted import trusted, tuple_of
from graphbandit.errors import InputError
from graphbandit.function_classes.base import Drawer, Draws, FunctionClass, Predictor, Prospector, Prospects
from graphbandit.function_classes.discount import added, now, root_weights, shrinkage
from graphbandit.function_classes.scale import NoiseLaw, RewardsSeen, Scale
from graphbandit.rounds.observations import Observations

BLOCK = 256
"""Contexts evaluated at a time, so that values of shape (n, N, K) never grow with the batch."""


_finite_prospects = DirectCall("function_classes.finite", "finite_prospects")

SLACK = 1e-12
"""Rounding allowance of the version space: without any noise, f* must not lose to itself by a last bit."""


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class FiniteData(RewardsSeen):
    """All that a finite class keeps of its data.

    - `losses`: L(f_i) = sum w (f_i(x, a) - y)^2 over the observations. The weights w are 1, or less the older an
      observation is if there is a half-life.
    - `count`, `weight`: the number of observations, and the sum of their weights.
    - `lowest`, `highest`: the smallest and the largest reward seen, inf and -inf by default, before any.
    - `half_life`: the number of rounds after which an observation counts half as much; None (default): all count the
      same.
    - `newest`: the last round that was seen, -1 (default) before any.
    """

    losses: Float[np.ndarray, " functions"] = field(metadata=limits(at_least=0.0))
    count: int = field(metadata=limits(at_least=0))
    weight: float = field(metadata=limits(at_least=0.0))
    lowest: float = math.inf
    highest: float = -math.inf
    half_life: float | None = field(default=None, metadata=limits(above=0.0))
    newest: int = field(default=-1, metadata=limits(at_least=-1))

    @cached_property
    def losses_now(self) -> Float[np.ndarray, " functions"]:
        """The losses with the newest round at weight 1."""
        return self.losses * now(self.newest, self.half_life) if self.half_life is not None else self.losses

    @property
    def weight_now(self) -> float:
        """The sum of weights with the newest round at weight 1: how many rewards the data is worth."""
        return self.weight * now(self.newest, self.half_life)


@savable
@dataclass(frozen=True, kw_only=True)
class FiniteModel(Declared):
    """One function of the class.

    - `index`: its number.
    """

    index: int = field(metadata=limits(at_least=0))


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class FiniteMixture(Declared):
    """The mean of all functions of the class.

    - `weights`: of the functions; they sum to one.
    """

    weights: Float[np.ndarray, " functions"] = field(metadata=limits(at_least=0.0, at_most=1.0))


AnyFiniteModel = FiniteModel | FiniteMixture


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class FiniteSpace(Declared):
    """A subset of the class.

    - `members`: whether each function belongs to it.
    """

    members: Bool[np.ndarray, " functions"]

    @property
    def size(self) -> int:
        """How many functions are still plausible."""
        return int(self.members.sum())


class FiniteFunctionClass(FunctionClass[FiniteData, AnyFiniteModel, FiniteSpace]):
    """What all finite classes share; each class evaluates its functions in its own way.

    What its methods take besides those of `FunctionClass`:

    - `members`: some functions, as a mask or by their numbers.
    - `losses`: the sum of squared errors of each function, which is added to.
    - `roots`: the roots of the rounds' weights w; None: all are 1.
    """

    weighs = True

    @property
    @abstractmethod
    def n_functions(self) -> int:
        """N = |F|."""

    @abstractmethod
    def values(self, contexts: Contexts) -> Float[np.ndarray, "n functions arms"]:
        """f_i(x, a) for every context, function and arm."""

    def add_losses(
        self, losses: Float[np.ndarray, " functions"], observations: Observations, roots: PerRound | None
    ) -> None:
        """Add w (f_i(x, a) - y)^2 of every observation to `losses`, block by block and in their order."""
        from graphbandit.kernels.function_classes.finite import finite_losses

        for block in blocks_of(len(observations)):
            part = observations.take(block.start, block.stop)
            if not part.n_observed:
                continue
            values, rewards = self.values(part.contexts), part.rewards
            if roots is not None:
                root = roots[block]
                values, rewards = values * root[:, None, None], rewards * root[part.rows]
            finite_losses(values, part.rows, part.arms, rewards, losses)

    @abstractmethod
    def best_arms(
        self, members: Bool[np.ndarray, " functions"], contexts: Contexts, available: ArmMasks | None
    ) -> ArmMasks:
        """The arms that are an argmax (lowest index on ties) of some member."""

    @property
    def log_size(self) -> float:
        """log |F|."""
        return math.log(self.n_functions)

    def check_size(self, what: str, size: int) -> None:
        """Raise InputError unless data, space or model are of this class; kernels trust them."""
        if size != self.n_functions:
            raise InputError(f"there are {size} {what}; expected one for each of {self.n_functions} functions")

    def check_data(self, data: FiniteData) -> None:
        """Raise InputError unless there is a loss for each function."""
        self.check_size("losses", len(data.losses))

    def check_losses(self, losses: Float[np.ndarray, " functions"], observations: Observations) -> None:
        """Raise InputError unless these are sums of this class that the observations can be added to."""
        if losses.shape != (self.n_functions,) or losses.dtype != np.float64:
            raise InputError(f"losses have shape {losses.shape}; expected one number for each of {self.n_functions}")
        observations.check(self.n_arms)

    def check_model(self, model: AnyFiniteModel) -> None:
        """Raise InputError unless the model is made of this class's functions."""
        if isinstance(model, FiniteMixture):
            self.check_size("weights", len(model.weights))
        elif model.index >= self.n_functions:
            raise InputError(f"the model is function {model.index}; expected one of 0 to {self.n_functions - 1}")

    def empty(self, half_life: float | None = None) -> FiniteData:
        """No loss yet."""
        data = self._no_data
        return data if half_life is None else replace(data, half_life=half_life)

    @cached_property
    def _no_data(self) -> FiniteData:
        return FiniteData(losses=np.zeros(self.n_functions), count=0, weight=0.0)

    def add(self, data: FiniteData, observations: Observations) -> FiniteData:
        """L(f_i) with these observations added. This is exact, and nothing else is kept."""
        if not observations.n_observed:
            return data
        self.check_losses(data.losses, observations)
        half_life, newest = data.half_life, max(data.newest, int(observations.rounds.max()))
        roots = root_weights(observations.rounds, newest, half_life)
        losses, weight = data.losses.copy(), data.weight
        if roots is None:
            weight += observations.n_observed
        else:
            shrink = shrinkage(data.newest, newest, half_life)
            losses, weight = losses * shrink, added(weight * shrink, np.square(roots[observations.rows]))
        self.add_losses(losses, observations, roots)
        return trusted(
            FiniteData,
            {
                "losses": losses,
                "count": data.count + observations.n_observed,
                "weight": weight,
                "lowest": float(observations.rewards.min(initial=data.lowest)),
                "highest": float(observations.rewards.max(initial=data.highest)),
                "half_life": half_life,
                "newest": newest,
            },
        )

    def grown_data(self, data: FiniteData) -> FiniteData:
        """The same losses: they belong to functions, and none to an arm alone."""
        return data

    def n_observed(self, data: FiniteData) -> int:
        """How many rewards the data holds."""
        return data.count

    def fit(self, data: FiniteData) -> FiniteModel:
        """The function of least loss; the lowest index on ties."""
        return trusted(FiniteModel, {"index": int(np.argmin(data.losses))})

    def posterior(self, data: FiniteData, noise: float | None) -> FiniteMixture:
        """All functions with the weights of `draws`; without data, all weights are equal."""
        members, shares = self._weighed(data, noise)
        weights = np.zeros(self.n_functions)
        weights[members] = shares
        return trusted(FiniteMixture, {"weights": weights})

    def values_of(self, members: Int[np.ndarray, " some"], contexts: Contexts) -> Float[np.ndarray, "n some arms"]:
        """f_i(x, a) for the i of `members` alone."""
        return self.values(contexts).take(members, axis=1)

    def evaluator(self, members: Int[np.ndarray, " some"]) -> Drawer:
        """`values_of` of these members, for many calls."""
        return partial(self.values_of, members)

    def predict(self, model: AnyFiniteModel, contexts: Contexts) -> RoundsByArms:
        """The values of the model's function, or the mean of all by its weights."""
        return self.predictor(model)(contexts)

    def predictor(self, model: AnyFiniteModel) -> Predictor:
        """Only functions that count are evaluated."""
        self.check_model(model)
        if isinstance(model, FiniteMixture):
            everything = trusted(FiniteSpace, {"members": np.zeros(self.n_functions, dtype=np.bool_)})
            prospects = self.prospector(model, everything, None)
            return lambda contexts: prospects(contexts, None).values
        values_of = self.evaluator(np.array([model.index]))

        def predict(contexts: Contexts) -> RoundsByArms:
            if len(contexts) > BLOCK:
                return np.concatenate([predict(contexts[block]) for block in blocks_of(len(contexts))])
            return values_of(contexts)[:, 0].copy()

        return predict

    def prospector(self, model: AnyFiniteModel, space: FiniteSpace, noise: float | None) -> Prospector:
        """P(a) is the weight of the functions whose best arm is a, in a mixture; every function is evaluated once.

        Functions without weight that are not in the space either are left out.
        """
        if not isinstance(model, FiniteMixture):
            return super().prospector(model, space, noise)
        self.check_model(model)
        self.check_size("members", len(space.members))
        used = np.flatnonzero((model.weights > 0.0) | space.members)
        weights, members = as_in_kernels(model.weights[used]), as_in_kernels(space.members[used], BOOL)
        values_of, count, n_arms = self.evaluator(used), len(used), self.n_arms

        def prospects(contexts: Contexts, available: ArmMasks | None) -> Prospects:
            self.check_contexts(contexts)
            n = len(contexts)
            means, chances, chosen = np.empty((n, n_arms)), np.empty((n, n_arms)), np.zeros((n, n_arms), BOOL)
            offered = kernel_mask(available, n, n_arms)
            if n <= BLOCK:
                _finite_prospects.call(values_in_kernels(contexts), weights, members, offered, means, chosen, chances)
                return tuple_of(Prospects, (means, chosen, chances, None))
            for block in blocks_of(n):
                mask, into = offered if available is None else offered[block], (means, chosen, chances)
                values = values_in_kernels(contexts[block])
                _finite_prospects.call(values, weights, members, mask, *(array[block] for array in into))
            return Prospects(means, chosen, chances)

        def values_in_kernels(contexts: Contexts) -> Float[np.ndarray, "n used arms"]:
            values = as_in_kernels(values_of(contexts))
            if values.shape != (len(contexts), count, n_arms):
                expected = (len(contexts), count, n_arms)
                raise InputError(f"the function class gave values of shape {values.shape}; expected {expected}")
            return values

        return prospects

    def smallest_loss(self, data: FiniteData) -> float:
        """min over i of L(f_i)."""
        return float(data.losses_now.min())

    def natural_scale(self, data: FiniteData) -> Scale:
        """sigma by its posterior at the least loss, and log |F|."""
        if data.span == 0.0:
            return Scale(noise=0.0, complexity=max(self.log_size, 1.0))
        law = NoiseLaw.given(span=data.span, count=data.weight_now, residual=self.smallest_loss(data))
        return Scale(noise=law.estimate, complexity=max(self.log_size, 1.0))

    def sharp_radius(self, data: FiniteData, noise: float, delta: float) -> float:
        """2 sigma^2 log(|F| / delta): by Ville's inequality and a union over F, valid at all times at once."""
        return 2.0 * noise * noise * (self.log_size - math.log(delta))

    def version_space(self, data: FiniteData, radius: float) -> FiniteSpace:
        """{ f : L(f) <= min L + radius }."""
        losses = data.losses_now
        slack = SLACK * min(1.0, float(losses.max()))
        return trusted(FiniteSpace, {"members": losses <= losses.min() + radius + slack})

    def nested(self, before: FiniteSpace, after: FiniteSpace) -> FiniteSpace:
        """The members of both, or those of the second if there are none."""
        self.check_size("members", len(before.members))
        members = before.members & after.members
        return trusted(FiniteSpace, {"members": members}) if members.any() else after

    def candidates(self, space: FiniteSpace, contexts: Contexts, available: ArmMasks | None = None) -> ArmMasks:
        """The arms that some member calls best among those available."""
        self.check_size("members", len(space.members))
        return self.best_arms(space.members, contexts, available)

    def widths(self, space: FiniteSpace, model: AnyFiniteModel, contexts: Contexts, best: RoundIndices) -> RoundsByArms:
        """Max over members f of |(f - fhat)(x, a) - (f - fhat)(x, best)|."""
        self.check_model(model)
        widths = np.empty((len(contexts), self.n_arms))
        for block in blocks_of(len(contexts)):
            values = self.values(contexts[block])
            fitted = values[:, model.index] if isinstance(model, FiniteModel) else self.predict(model, contexts[block])
            difference = values[:, space.members]
            difference -= fitted[:, None]
            difference -= difference[np.arange(len(difference)), :, best[block]][:, :, None]
            widths[block] = np.abs(difference, out=difference).max(axis=1)
        return widths

    def bounds(self, space: FiniteSpace, contexts: Contexts) -> tuple[RoundsByArms, RoundsByArms]:
        """Min and max over the members."""
        self.check_size("members", len(space.members))
        lower = np.empty((len(contexts), self.n_arms))
        upper = np.empty_like(lower)
        for block in blocks_of(len(contexts)):
            values = self.values(contexts[block])[:, space.members]
            lower[block] = values.min(axis=1)
            upper[block] = values.max(axis=1)
        return lower, upper

    def draws(self, data: FiniteData, *, noise: float | None, count: int, rng: np.random.Generator) -> Draws:
        """All of F, with weights proportional to exp(-(L - min L) / (2 sigma^2)): exact, so `count` is not needed.

        If `noise` is None, sigma is integrated out: weights are proportional to (b0 + L / 2)^-(a0 + n / 2), and all
        equal until rewards of different size are seen. Functions with less than 1e-16 of the largest weight, the
        rounding of a sum of them, are left out.
        """
        members, weights = self._weighed(data, noise)
        return trusted(Draws, {"members": members, "weights": weights})

    def _weighed(
        self, data: FiniteData, noise: float | None
    ) -> tuple[Int[np.ndarray, " some"], Float[np.ndarray, " some"]]:
        """The functions that have weight, and their weights, as `draws` says."""
        losses = data.losses_now
        optional_number("noise", noise, at_least=0.0)
        if noise is not None:
            above = losses - losses.min()
            with np.errstate(divide="ignore", invalid="ignore"):
                exponents = np.where(above > 0, -above / (2.0 * noise**2), 0.0)
        elif data.span == 0.0:
            exponents = np.zeros(len(losses))
        else:
            law = NoiseLaw.given(span=data.span, count=data.weight_now, residual=0.0)
            logs = np.log(law.scale + losses / 2.0)
            exponents = law.shape * (logs.min() - logs)
        weights = np.exp(exponents)
        members = np.flatnonzero(weights > 1e-16)
        shares = weights[members]
        return members, shares / shares.sum()

    def draw_values(self, draws: Draws, contexts: Contexts) -> Float[np.ndarray, "n draws arms"]:
        """The values of the functions that were drawn."""
        return self.drawer(draws)(contexts)

    def drawer(self, draws: Draws) -> Drawer:
        """The draws are checked once."""
        self.check_draws(draws)
        return self.evaluator(draws.members)

    def check_draws(self, draws: Draws) -> None:
        """Raise InputError unless the draws are functions of this class."""
        members = draws.members
        fits = isinstance(members, np.ndarray) and members.shape == (len(draws),) and members.dtype.kind in "iu"
        # as numbers without a sign, those below 0 are too large
        if not fits or (len(draws) and members.astype(np.int64, copy=False).view(np.uint64).max() >= self.n_functions):
            raise InputError(
                f"the draws are {members!r}; expected {len(draws)} numbers of {self.n_functions} functions"
            )


def blocks_of(n: int) -> Iterator[slice]:
    """The indices 0 .. n - 1, BLOCK at a time."""
    return (slice(start, start + BLOCK) for start in range(0, n, BLOCK))
