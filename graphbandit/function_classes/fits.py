"""What function classes that fit from scratch share: the data, its fits, each made once, and how long they took.

Fits belong to the data they were made from. They are made when they are first asked for, in the order of their numbers,
and kept with the data, so that the model, the version space and the draws of the same data share them. A file holds the
data alone; after loading, the fits are made again on first use, to the same bits.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from graphbandit.base.array_types import PerObservation
from graphbandit.base.declared import Declared, limits
from graphbandit.base.saved_files import savable
from graphbandit.errors import FitError
from graphbandit.function_classes.discount import weights_now
from graphbandit.function_classes.observation_columns import ObservationColumns

logger = logging.getLogger("graphbandit")

Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """One fit of an estimate or a refit. Fits that are trained together report an equal share of their time each.

    - `fit`, `fits`: its number, 0 for the estimate, and how many there are.
    - `observations`: how many it was fitted to.
    - `seconds`: how long it took.
    """

    fit: int
    fits: int
    observations: int
    seconds: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """A fitted function in the form its class evaluates it, and its loss on all the data."""

    function: Any
    loss: float
    report: FitReport


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class RefitData(Declared):
    """All observations. The fits are kept beside them, by class, and never saved."""

    columns: ObservationColumns
    half_life: float | None = field(default=None, metadata=limits(above=0.0))
    fits: dict[Any, dict[int, Fit]] = field(init=False, repr=False, default_factory=dict)

    def __len__(self) -> int:
        return len(self.columns)

    @cached_property
    def weights(self) -> PerObservation:
        """How much each observation counts: 1, or half as much for each half-life of its age."""
        return weights_now(self.columns.rounds, self.half_life)

    @property
    def reports(self) -> list[FitReport]:
        """The reports of all fits of this data so far: the estimate, and the refits once they were asked for."""
        return [fit.report for fits in self.fits.values() for _, fit in sorted(fits.items())]

    def equals(self, other: "RefitData") -> bool:
        """Whether these are the same observations; two values loaded from a file may be, without being one object."""
        names = ("contexts", "arms", "rewards", "rounds")
        return self is other or (
            self.half_life == other.half_life
            and all(np.array_equal(getattr(self.columns, name), getattr(other.columns, name)) for name in names)
        )


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class RefitModel(Declared):
    """The estimate from this data; it is fitted when it is first evaluated."""

    data: RefitData

    @property
    def reports(self) -> list[FitReport]:
        """The reports of all fits of this data so far."""
        return self.data.reports


def fit_up_to(
    owner: Any,
    data: RefitData,
    count: int,
    fit: Callable[[tuple[int, ...]], Sequence[Any]],
    values: Callable[[Any], PerObservation],
    *,
    name: str,
    groups: Sequence[tuple[int, ...]],
    on_fit: Callable[[FitReport], None] | None,
) -> list[Fit]:
    """Fits 0 .. count - 1 that `owner` makes of this data; groups that are missing are made now.

    `fit(group)` makes those of a group and `values(f)` evaluates one at the observations. Whatever goes wrong in
    either, and values that are not finite, become a FitError; the groups made before it stay.
    """
    done = data.fits.setdefault(owner, {})
    total = sum(map(len, groups))
    missing = [group for group in groups if group[0] < count and group[0] not in done]
    began = time.perf_counter()
    for group in missing:
        start = time.perf_counter()
        functions = tried(_who(name, group, total), len(data), partial(fit, group))
        losses = [
            loss_of(_who(name, (i,), total), data.columns.rewards, partial(values, function), data.weights)
            for i, function in zip(group, functions, strict=True)
        ]
        seconds = (time.perf_counter() - start) / len(group)
        reports = [FitReport(fit=i, fits=total, observations=len(data), seconds=seconds) for i in group]
        made = zip(functions, losses, reports, strict=True)
        done.update(zip(group, (Fit(function=f, loss=loss, report=report) for f, loss, report in made), strict=True))
        if on_fit is not None:
            for report in reports:
                on_fit(report)
    if missing:
        number = sum(map(len, missing))
        fits = "1 fit" if number == 1 else f"{number} fits"
        logger.info("%s: %s on %s observations in %.2f s", name, fits, f"{len(data):,}", time.perf_counter() - began)
    return [done[i] for i in range(count)]


def _who(name: str, group: tuple[int, ...], total: int) -> str:
    """What is fitted, in words."""
    if group == (0,):
        return name
    refits = f"refit {group[0]}" if len(group) == 1 else f"refits {group[0]} to {group[-1]}"
    return f"{name}, {refits} of {total - 1},"


def loss_of(who: str, rewards: PerObservation, values: Callable[[], PerObservation], weights: PerObservation) -> float:
    """The weighted sum of squares of these values at the observations; FitError if that is not a finite number."""
    at_data = tried(who, len(rewards), lambda: np.asarray(values(), dtype=np.float64))
    with np.errstate(over="ignore", invalid="ignore"):
        loss = float((weights * np.square(at_data - rewards)).sum())
    if not np.isfinite(loss):
        raise FitError(f"{who} fitted to {len(rewards):,} observations has a loss of {loss}; expected a finite one")
    return loss


def tried(who: str, count: int, action: Callable[[], Answer]) -> Answer:
    """What somebody else's code gives; whatever it raises becomes a FitError."""
    try:
        return action()
    except Exception as error:
        raise FitError(f"{who} cannot be fitted to {count:,} observations: {type(error).__name__}: {error}") from error
