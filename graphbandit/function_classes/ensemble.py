"""Version spaces of members: an estimate, refits of it to disturbed data, and which of them are still plausible."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphbandit.base.array_types import ArmMasks, Contexts, RoundIndices, RoundsByArms
from graphbandit.base.checks import available_array, optional_number, setting_integer
from graphbandit.base.declared import Declared, limits
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Bool, Float, Int
from graphbandit.errors import InputError
from graphbandit.function_classes.base import Contest, Draws
from graphbandit.function_classes.finite_base import SLACK
from graphbandit.function_classes.fits import RefitData, RefitModel
from graphbandit.function_classes.from_scratch import BLOCK, Function, RefittedClass
from graphbandit.function_classes.value_bounds import widths_within


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class EnsembleSpace(Declared):
    """The fits of this data that are still plausible, by number; at radius infinity, all functions there are."""

    data: RefitData
    radius: float = field(metadata=limits(at_least=0.0))
    # a mask as in `FiniteSpace`, but of fits: the two are saved under names of their own
    members: Bool[np.ndarray, " fits"]

    @property
    def size(self) -> int:
        """How many fits are still plausible."""
        return int(self.members.sum())


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class EnsembleMembers(Declared):
    """Some of the fits of this data, by number."""

    data: RefitData
    numbers: Int[np.ndarray, " draws"] = field(metadata=limits(at_least=0))


class EnsembleFunctionClass(RefittedClass[Function]):
    """A `RefittedClass` whose version space is { fits f : L(f) <= min L + radius }, the minimum being over the fits.

    The estimate always belongs to it. That is a sample of F_m, and candidates, widths and bounds are those of the
    sample: from inside, not exact. At radius infinity it is all of F, of which nothing is known but the range; and an
    arm of which nothing is known is always a candidate.
    """

    def sharp_radius(self, data: RefitData, noise: float, delta: float) -> float:
        """2 sigma^2 (entropy + log(1 / delta)); without `entropy`, what the refits say if that is more.

        The refits give the bootstrap's answer: the quantile 1 - delta of how far a fit to disturbed data lies above the
        least loss. Neither is proven for an infinite class: a proof needs its metric entropy, which is not known for a
        boosted forest. The learner's `radius_factor` widens a radius that is too narrow.
        """
        formula = 2.0 * noise * noise * (self.log_size - math.log(delta))
        fits = self.fits(data, self._members + 1) if self._entropy is None else []
        if not fits:
            return formula
        losses = np.array([fit.loss for fit in fits])
        return max(formula, float(np.quantile(losses[1:] - losses.min(), 1.0 - delta, method="higher")))

    def version_space(self, data: RefitData, radius: float) -> Any:
        """{ fits f : L(f) <= min L + radius } and the estimate; everything at radius infinity."""
        check_radius(radius)
        if radius == math.inf or not self.enough(data):
            return EnsembleSpace(data=data, radius=math.inf, members=np.ones(self._members + 1, dtype=np.bool_))
        losses = np.array([fit.loss for fit in self.fits(data, self._members + 1)])
        members = losses <= losses.min() + radius + SLACK * float(losses.max())
        members[0] = True
        return EnsembleSpace(data=data, radius=radius, members=members)

    def _member_values(
        self, space: EnsembleSpace, contexts: Contexts
    ) -> Iterator[tuple[slice, Float[np.ndarray, "n members arms"]]]:
        """The members at some contexts at a time, and which contexts these are."""
        if len(space.members) != self._members + 1:
            raise InputError(f"the space has {len(space.members)} fits; expected {self._members + 1}")
        fits = self.fits(space.data, self._members + 1)
        for start in range(0, len(contexts), BLOCK):
            part = slice(start, start + BLOCK)
            yield part, self.values_of([fits[i] for i in np.flatnonzero(space.members)], contexts[part])

    def candidates(self, space: Any, contexts: Contexts, available: ArmMasks | None = None) -> ArmMasks:
        """The arms that some member calls best among those available, and those of which nothing is known."""
        from graphbandit.kernels.function_classes.finite import finite_candidates

        self._check_shape(contexts)
        mask = available_array(available, len(contexts), self.n_arms)
        offered = np.ones((len(contexts), self.n_arms), dtype=np.bool_) if mask is None else np.array(mask)
        if space.radius == math.inf:
            return offered
        chosen = np.zeros((len(contexts), self.n_arms), dtype=np.bool_)
        for part, values in self._member_values(space, contexts):
            finite_candidates(values, np.ones(values.shape[1], dtype=np.bool_), offered[part], chosen[part])
        chosen |= offered & self.unseen(space.data.columns)
        return chosen

    def widths(self, space: Any, model: RefitModel, contexts: Contexts, best: RoundIndices) -> RoundsByArms:
        """Max over members f of |(f - fhat)(x, a) - (f - fhat)(x, best)|; by the bounds where an arm is not known."""
        return self._apart(space, model, contexts, best, lambda apart: np.abs(apart).max(axis=1))

    def _apart(
        self,
        space: Any,
        model: RefitModel,
        contexts: Contexts,
        best: RoundIndices,
        over: Callable[[Float[np.ndarray, "n members arms"]], RoundsByArms],
    ) -> RoundsByArms:
        """A summary of (f - fhat)(x, a) - (f - fhat)(x, best) over members f; by the bounds where an arm is unknown."""
        estimate = self.predict(model, contexts)
        widths = widths_within(*self.bounds(space, contexts), estimate, best)
        if space.radius == math.inf:
            return widths
        unseen = self.unseen(space.data.columns)
        for part, values in self._member_values(space, contexts):
            difference = values - estimate[part, None]
            difference = difference - difference[np.arange(len(values)), :, best[part]][:, :, None]
            known = ~(unseen | unseen[best[part], None])
            widths[part] = np.where(known, over(difference), widths[part])
        return widths

    def deviations(self, space: Any, model: RefitModel, contexts: Contexts, contest: Contest) -> RoundsByArms:
        """The root mean square of (f - fhat)(x, a) - (f - fhat)(x, best) over the members; w(a) of an unknown arm."""
        return self._apart(space, model, contexts, contest.best, lambda apart: np.sqrt(np.square(apart).mean(axis=1)))

    def bounds(self, space: Any, contexts: Contexts) -> tuple[RoundsByArms, RoundsByArms]:
        """Min and max over the members; the range where nothing is known."""
        self._check_shape(contexts)
        low, high = self.range_of(space.data)
        shape = (len(contexts), 1)
        lower, upper = np.tile(low * self._factors, shape), np.tile(high * self._factors, shape)
        if space.radius < math.inf:
            known = ~self.unseen(space.data.columns)
            for part, values in self._member_values(space, contexts):
                lower[part, known] = values.min(axis=1)[:, known]
                upper[part, known] = values.max(axis=1)[:, known]
        return lower, upper

    def draws(self, data: RefitData, *, noise: float | None, count: int, rng: np.random.Generator) -> Draws:
        """The refits, equally weighted, as in the bootstrap: all, or `count` drawn by `rng` if that is fewer.

        The estimate, which is about their mean, is not among them. With too few observations it is the only draw.
        """
        optional_number("noise", noise, at_least=0.0)
        setting_integer("count", count, at_least=1)
        if not self.enough(data):
            return Draws(members=EnsembleMembers(data=data, numbers=np.zeros(1, dtype=np.int64)), weights=np.ones(1))
        self.fits(data, self._members + 1)
        numbers = np.arange(1, self._members + 1)
        if count < self._members:
            numbers = np.sort(rng.choice(numbers, count, replace=False))
        weights = np.full(len(numbers), 1.0 / len(numbers))
        return Draws(members=EnsembleMembers(data=data, numbers=numbers), weights=weights)

    def check_draws(self, draws: Draws) -> None:
        """Raise InputError unless the draws name refits, one a weight."""
        members = draws.members
        if not isinstance(members, EnsembleMembers):
            raise InputError(f"the draws are a {type(members).__name__}; expected the numbers of refits and their data")
        if (
            len(members.numbers) != len(draws)
            or not 0 <= members.numbers.min() <= members.numbers.max() <= self._members
        ):
            raise InputError(f"the draws are the fits {members.numbers}; expected {len(draws)} of 0 to {self._members}")

    def draw_values(self, draws: Draws, contexts: Contexts) -> Float[np.ndarray, "n draws arms"]:
        """Each of the refits that were drawn, evaluated."""
        self.check_draws(draws)
        members: EnsembleMembers = draws.members
        if not self.enough(members.data):
            return self.predict(RefitModel(data=members.data), contexts)[:, None]
        fits = self.fits(members.data, int(members.numbers.max()) + 1)
        return self.values_of([fits[i] for i in members.numbers], contexts)


def check_radius(radius: float) -> None:
    """Raise InputError unless this is a radius."""
    if not isinstance(radius, float | int | np.floating) or not radius >= 0.0:
        raise InputError(f"radius is {radius!r}; expected a number of at least 0, or infinity")
