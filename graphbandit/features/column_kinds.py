"""The kinds of columns a context may have, and how each turns one value into numbers.

A kind is a frozen value of settings. `number`, `boolean`, `category` and `cyclic` make one; `Features` puts them
together.
"""

import math
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum
from numbers import Real
from typing import Literal, get_args

import numpy as np

from graphbandit.base.checks import optional_number, setting_choice, setting_number
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.errors import InputError, SettingError

Missing = Literal["column", "fill", "error"]
Unknown = Literal["zeros", "column", "error"]


_NOT_NUMBERS: tuple[type, ...] = (bool, np.bool_, np.timedelta64)
"""Types that Python or NumPy count among the numbers."""


class ValueKind(IntEnum):
    """What `Column.put` met: a value it knows, none at all, or a category it does not know."""

    KNOWN = 0
    MISSING = 1
    UNKNOWN = 2


KNOWN, MISSING, UNKNOWN = ValueKind


class Column(ABC):
    """One column of a context: how many features it makes, what they are called, and their values.

    - `missing`: what a missing value becomes; in a "column" of its own, it is the last feature.

    What `put` takes:

    - `name`: the name of the column.
    - `value`: its value in one context.
    - `row`, `at`: the features of the context, and where those of this column begin.
    """

    missing: Missing

    def __post_init__(self) -> None:
        setting_choice("missing", self.missing, get_args(Missing))

    def feature_names(self, name: str) -> list[str]:
        """The names of the features of a column called `name`, the last of them for missing values if they have one."""
        names = self._names_of_values(name)
        return [*names, f"{name}:missing"] if self.missing == "column" else names

    def _names_of_values(self, name: str) -> list[str]:
        """The names of the features that values have (default: that of the column)."""
        return [name]

    @property
    def size(self) -> int:
        """The number of features."""
        return len(self.feature_names(""))

    @abstractmethod
    def put(self, name: str, value: object, row: list[float], at: int) -> ValueKind:
        """Write the features of `value` into row[at : at + size], which holds zeros; raise InputError if it cannot."""

    @property
    @abstractmethod
    def _expected(self) -> str:
        """What a value has to be, for messages."""

    def _put_missing(self, name: str, row: list[float], last: int) -> ValueKind:
        """Say at row[last] that the value is missing, if there is a feature for that, or refuse it."""
        if self.missing == "error":
            raise InputError(f"{name} is missing; expected {self._expected}")
        if self.missing == "column":
            row[last] = 1.0
        return MISSING


@savable
@dataclass(frozen=True, kw_only=True)
class NumberColumn(Column):
    """(value - location) / scale; see `number`."""

    location: float = 0.0
    scale: float = 1.0
    default: float | None = None
    missing: Missing = "column"

    _expected = "a number (number(missing='column') takes missing values)"

    def __post_init__(self) -> None:
        object.__setattr__(self, "location", setting_number("location", self.location))
        object.__setattr__(self, "scale", setting_number("scale", self.scale, above=0.0))
        default = optional_number("default", self.default)
        object.__setattr__(self, "default", default)
        super().__post_init__()
        if not math.isfinite(self._filled):
            raise SettingError(f"default is {default!r}; expected one that location and scale keep finite")

    @property
    def _filled(self) -> float:
        """The feature of a missing value."""
        return 0.0 if self.default is None else (self.default - self.location) / self.scale

    def put(self, name: str, value: object, row: list[float], at: int) -> ValueKind:
        """The standardised value, or the default and a 1 in the column for missing values."""
        # one subtraction and one division of floats, as in `put_numbers`, so that both give the same bits
        if value.__class__ is not float:
            if value.__class__ is not int and is_missing(value):
                return self._put_default(name, row, at)
            value = as_number(name, value)
        number = (value - self.location) / self.scale + 0.0  # no -0.0: equal values have equal bits
        if number - number == 0.0:
            row[at] = number
            return KNOWN
        if value != value:
            return self._put_default(name, row, at)
        raise InputError(f"{name} is {value!r}; expected a finite number")

    def put_numbers(self, values: Float[np.ndarray, " n"], out: Float[np.ndarray, "n size"]) -> int | None:
        """Write the features of many numbers, NaN for a missing one, into `out`, and return how many were missing.

        None, with `out` untouched, if one has to be refused: `put` says which and why.
        """
        absent = np.isnan(values)
        with np.errstate(over="ignore", invalid="ignore"):
            standardised = (values - self.location) / self.scale + 0.0
        count = int(np.count_nonzero(absent))
        if (count and self.missing == "error") or not np.isfinite(standardised[~absent]).all():
            return None
        out[:, 0] = np.where(absent, self._filled, standardised)
        if self.missing == "column":
            out[:, 1] = absent
        return count

    def _put_default(self, name: str, row: list[float], at: int) -> ValueKind:
        row[at] = self._filled
        return self._put_missing(name, row, at + 1)


@savable
@dataclass(frozen=True, kw_only=True)
class BooleanColumn(Column):
    """1 for True, 0 for False; see `boolean`."""

    default: bool = False
    missing: Missing = "column"

    _expected = "True or False"

    def __post_init__(self) -> None:
        if not isinstance(self.default, bool):
            raise SettingError(f"default is {self.default!r}; expected True or False")
        super().__post_init__()

    def put(self, name: str, value: object, row: list[float], at: int) -> ValueKind:
        """0 or 1, or the default and a 1 in the column for missing values."""
        if value is True:
            row[at] = 1.0
        elif value is not False:
            if is_missing(value):
                row[at] = float(self.default)
                return self._put_missing(name, row, at + 1)
            if not isinstance(value, np.bool_ | int | float | np.number) or value not in (0, 1):
                raise InputError(f"{name} is {reprlib.repr(value)}; expected {self._expected}")
            row[at] = float(value)
        return KNOWN


@savable
@dataclass(frozen=True, kw_only=True)
class CategoryColumn(Column):
    """One feature for each category, 1 for that of the value; see `category`."""

    categories: Sequence[str] | Sequence[int]
    unknown: Unknown = "zeros"
    missing: Missing = "fill"
    _places: dict[str | int, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given: object = self.categories
        if isinstance(given, str) or not isinstance(given, Sequence) or not len(given):
            raise SettingError(f"categories is {reprlib.repr(given)}; expected a list of at least one text or number")
        kind = type(given[0])
        for value in given:
            if kind not in (str, int) or type(value) is not kind:
                raise SettingError(
                    f"categories has {value!r} of type {type(value).__name__}; expected only texts, "
                    f"or only whole numbers"
                )
        places = {value: place for place, value in enumerate(given)}
        if len(places) < len(given):
            double = next(value for place, value in enumerate(given) if places[value] != place)
            raise SettingError(f"categories has {double!r} twice; expected each once")
        setting_choice("unknown", self.unknown, get_args(Unknown))
        super().__post_init__()
        object.__setattr__(self, "categories", tuple(given))
        object.__setattr__(self, "_places", places)

    def _names_of_values(self, name: str) -> list[str]:
        names = [f"{name}={value}" for value in self.categories]
        return [*names, f"{name}:unknown"] if self.unknown == "column" else names

    def put(self, name: str, value: object, row: list[float], at: int) -> ValueKind:
        """A 1 at the value's category."""
        try:
            place = self._places.get(value)  # type: ignore[call-overload]
        except TypeError:  # a list, say, which cannot be a dictionary's key
            raise InputError(f"{name} is {reprlib.repr(value)}; expected {self._expected}") from None
        if place is None or isinstance(value, _NOT_NUMBERS):  # True would be found under 1
            return self._put_other(name, value, row, at)
        row[at + place] = 1.0
        return KNOWN

    def _put_other(self, name: str, value: object, row: list[float], at: int) -> ValueKind:
        if is_missing(value):
            last = at + len(self.categories) + (self.unknown == "column")
            return self._put_missing(name, row, last)
        if isinstance(self.categories[0], str):
            fits = isinstance(value, str)
        else:
            fits = isinstance(value, Real) and not isinstance(value, _NOT_NUMBERS) and float(value).is_integer()
        if not fits or self.unknown == "error":
            raise InputError(f"{name} is {reprlib.repr(value)}; expected {self._expected}")
        if self.unknown == "column":
            row[at + len(self.categories)] = 1.0
        return UNKNOWN

    @property
    def _expected(self) -> str:
        shown = ", ".join(map(repr, self.categories[:8]))
        more = f", ... ({len(self.categories)} in all)" if len(self.categories) > 8 else ""
        kind = "a text" if isinstance(self.categories[0], str) else "a whole number"
        return f"one of {shown}{more}" if self.unknown == "error" else f"{kind}, such as {shown}{more}"


@savable
@dataclass(frozen=True, kw_only=True)
class CyclicColumn(Column):
    """sin(2 pi value / period) and cos(2 pi value / period); see `cyclic`."""

    period: float
    missing: Missing = "fill"

    _expected = "a number"

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", setting_number("period", self.period, above=0.0))
        super().__post_init__()

    def _names_of_values(self, name: str) -> list[str]:
        return [f"{name}:sin", f"{name}:cos"]

    def put(self, name: str, value: object, row: list[float], at: int) -> ValueKind:
        """The point on the circle, or its centre if the value is missing."""
        if is_missing(value):
            return self._put_missing(name, row, at + 2)
        number = value if value.__class__ is float else as_number(name, value)
        angle = math.tau * (number / self.period) + 0.0
        if not math.isfinite(angle):
            raise InputError(f"{name} is {value!r}; expected a finite number")
        row[at], row[at + 1] = math.sin(angle), math.cos(angle)
        return KNOWN


def number(
    *, location: float = 0.0, scale: float = 1.0, default: float | None = None, missing: Missing = "column"
) -> NumberColumn:
    """A number, encoded as (value - location) / scale.

    - `location`: what is subtracted, such as the mean of past values; 0 by default.
    - `scale`: what it is divided by, such as their standard deviation; 1 by default.
    - `default`: what stands for a missing value; None (default): `location`.
    - `missing`: "column" (default) adds a feature that is 1 where the value is missing, "fill" takes the default and
      adds nothing, "error" refuses.
    """
    return NumberColumn(location=location, scale=scale, default=default, missing=missing)


def boolean(*, default: bool = False, missing: Missing = "column") -> BooleanColumn:
    """True or False (or 1 and 0), encoded as 1 and 0.

    - `default`: what stands for a missing value; False by default.
    - `missing`: as in `number`; "column" by default.
    """
    return BooleanColumn(default=default, missing=missing)


def category(
    categories: Sequence[str] | Sequence[int], *, unknown: Unknown = "zeros", missing: Missing = "fill"
) -> CategoryColumn:
    """One of a list of texts or whole numbers, encoded as one feature each (one-hot).

    - `categories`: the values that have a feature, in the order of the features.
    - `unknown`: what a value that is not in the list becomes: "zeros" (default) in all features, a 1 in a "column" of
      its own, or an "error".
    - `missing`: the same for a missing value: "fill" (default) leaves zeros in all features, "column" adds one, "error"
      refuses.
    """
    return CategoryColumn(categories=categories, unknown=unknown, missing=missing)


def cyclic(period: float, *, missing: Missing = "fill") -> CyclicColumn:
    """A number that starts over after `period`, such as the hour of the day (24), encoded as a point on the circle.

    The features are sin(2 pi value / period) and cos(2 pi value / period), so 23 is as close to 0 as 1 is.

    - `period`: the length of a turn.
    - `missing`: "fill" (default) takes the centre of the circle, (0, 0), which no value has; "column" adds a feature
      that is 1 where the value is missing, "error" refuses.
    """
    return CyclicColumn(period=period, missing=missing)


def is_missing(value: object) -> bool:
    """None, NaN, and the missing values of pandas (NA, NaT)."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # NA has no truth value, nor has an array
        return type(value).__name__ == "NAType"


def as_number(name: str, value: object) -> float:
    """`value` as a float; InputError unless it is a real number that a float can hold."""
    # the class of most values is asked first: isinstance of an abstract class is slow
    if value.__class__ is not int and (not isinstance(value, Real | Decimal) or isinstance(value, _NOT_NUMBERS)):
        raise InputError(f"{name} is {reprlib.repr(value)} of type {type(value).__name__}; expected a number")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{name} is {reprlib.repr(value)}; expected a finite number") from None


def as_column(name: str, declared: object) -> Column:
    """The column that was declared: a kind, "number", "boolean", or a list of categories."""
    if isinstance(declared, Column):
        return declared
    if declared == "number":
        return NumberColumn()
    if declared == "boolean":
        return BooleanColumn()
    if isinstance(declared, list | tuple):
        try:
            return CategoryColumn(categories=tuple(declared))
        except SettingError as error:
            raise SettingError(f"column {name!r}: {error}") from None
    raise SettingError(
        f"column {name!r} is {reprlib.repr(declared)}; expected 'number', 'boolean', a list of categories, "
        f"or what number(), boolean(), category() or cyclic() makes"
    )
