"""The interface of everything that encodes contexts, and the count of values that were unknown or missing."""

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from graphbandit.base.checks import setting_integer
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.errors import SettingError


@savable
@dataclass(frozen=True, kw_only=True)
class Tally:
    """How many values of each column were unknown categories, and how many were missing. Tallies add up.

    - `unknown`: from the name of a column to the number of its unknown categories; empty by default.
    - `missing`: from the name of a column to the number of its missing values; empty by default.

    >>> Tally(unknown={"country": 1}) + Tally(unknown={"country": 2}, missing={"age": 1})
    Tally(unknown={'country': 3}, missing={'age': 1})
    """

    unknown: dict[str, int] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, counts in (("unknown", self.unknown), ("missing", self.missing)):
            if not isinstance(counts, dict):
                raise SettingError(f"{name} is {counts!r}; expected a dictionary from column to count")
            for column, count in counts.items():
                setting_integer(f"{name}[{column!r}]", count, at_least=1)

    def __bool__(self) -> bool:
        return bool(self.unknown or self.missing)

    def __add__(self, other: "Tally") -> "Tally":
        if not (self and other):
            return self or other
        unknown, missing = Counter(self.unknown), Counter(self.missing)
        return Tally(unknown=dict(unknown + Counter(other.unknown)), missing=dict(missing + Counter(other.missing)))


NOTHING = Tally()
"""The tally of contexts without unknown or missing values."""


class Encoder(ABC):
    """Turns contexts with named columns into arrays, by a pure function that learns nothing from them.

    `intercept` says whether the first feature is a constant 1.
    """

    intercept: bool

    @property
    @abstractmethod
    def column_names(self) -> tuple[str, ...]:
        """The columns that a context must have."""

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """What the numbers of an encoded context are, in their order."""

    @abstractmethod
    def encode_counted(self, contexts: object) -> tuple[Float[np.ndarray, "*n d"], Tally]:
        """`encode`, and the tally of unknown and missing values."""

    @property
    def size(self) -> int:
        """d, the number of features."""
        return len(self.feature_names)

    def encode(self, contexts: object) -> Float[np.ndarray, "*n d"]:
        """One context as an array of shape (d,), or many as one of shape (n, d)."""
        return self.encode_counted(contexts)[0]
