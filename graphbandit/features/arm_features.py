"""Features of arms: a row of a table for each arm, encoded once."""

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphbandit.base.checks import setting_array
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float, Shaped
from graphbandit.errors import InputError, SettingError
from graphbandit.features.base import Encoder, Tally
from graphbandit.features.column_kinds import NumberColumn
from graphbandit.features.context_input import as_frame, as_row, listed
from graphbandit.features.features import Features, as_encoder

Arm = str | int
"""An arm's name, or its index where arms have no names."""


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class ArmFeatures:
    """z[a], one row of numbers for each arm, and the encoder that made them.

    `from_table` makes them from a frame, a mapping or an array.

    - `arms`: the names of the arms.
    - `values`: z, (K, d).
    - `encoder`: encodes arms that join later in the same way.

    >>> prices = ArmFeatures.from_table({"tea": {"price": 2.0}, "cake": {"price": 4.0}}, features={"price": "number"})
    >>> prices.arms, prices.feature_names
    (('tea', 'cake'), ('intercept', 'price', 'price:missing'))
    >>> prices.values
    array([[1., 2., 0.],
           [1., 4., 0.]])
    >>> prices.add({"pie": {"price": 3.0}}).take(["pie", "tea"]).values[:, 1]
    array([3., 2.])
    """

    arms: Sequence[Arm]
    values: Float[np.ndarray, "arms d"]
    encoder: Encoder
    _places: dict[Arm, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.encoder, Encoder):
            raise SettingError(f"encoder is {self.encoder!r}; expected Features")
        arms = _checked("arms", self.arms, SettingError)
        object.__setattr__(self, "arms", arms)
        object.__setattr__(self, "_places", {arm: place for place, arm in enumerate(arms)})
        object.__setattr__(self, "values", setting_array("values", self.values, (len(arms), self.encoder.size)))

    @classmethod
    def from_table(
        cls,
        table: object,
        *,
        arms: Sequence[Arm] | int | None = None,
        features: object = None,
        arm_column: str | None = None,
    ) -> "ArmFeatures":
        """The features of arms in a table.

        - `table`: a mapping from arm to a row (a dictionary), a data frame (pandas, Polars, Arrow), a list of
          dictionaries, or an array with a row an arm. An array's numbers are taken as they are.
        - `arms`: the arms that must be there, and their order; a number stands for that many arms without names. None
          (default): those of the table.
        - `features`: how rows are encoded: what `Features` takes, `Features` or a fitted transformer. None (default):
          learnt from the table, as by `Features.from_frame`.
        - `arm_column`: the column of arms in a frame or a list. None (default): a column called "arm", or else the
          index of a pandas frame if it holds names, or else rows are in the order of the arms.
        """
        found, rows = _split(table, arm_column)
        encoder = _learnt(rows) if features is None else as_encoder(features)
        wanted = (
            None if arms is None else _checked("arms", range(arms) if isinstance(arms, int) else arms, SettingError)
        )
        made = cls._of(found, rows, encoder, wanted)
        return made if wanted is None else made.take(wanted, every=True)

    @classmethod
    def _of(
        cls, found: tuple[Arm, ...] | None, rows: Any, encoder: Encoder, unnamed: tuple[Arm, ...] | None
    ) -> "ArmFeatures":
        """Features of the arms `found`; without names, rows are in the order of `unnamed`, or numbered from 0."""
        values = encoder.encode(rows)
        names = found if found is not None else unnamed if unnamed is not None else tuple(range(len(values)))
        if len(values) != len(names):
            raise InputError(f"the features of arms have {len(values)} rows; expected {len(names)}, one an arm")
        return cls(arms=names, values=values, encoder=encoder)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What the numbers of a row are."""
        return self.encoder.feature_names

    @property
    def size(self) -> int:
        """The number of features of an arm."""
        return self.encoder.size

    def __len__(self) -> int:
        return len(self.arms)

    def __getitem__(self, arm: Arm) -> Float[np.ndarray, " d"]:
        row: Float[np.ndarray, " d"] = self.values[self._place(arm)]
        return row

    def add(self, table: object, *, arms: Sequence[Arm] | None = None, arm_column: str | None = None) -> "ArmFeatures":
        """These arms followed by those of the table, encoded in the same way.

        - `table`, `arm_column`: as in `from_table`.
        - `arms`: the new arms and their order; None (default): those of the table.
        """
        found, rows = _split(table, arm_column)
        names = tuple(range(len(self), len(self) + len(rows))) if arms is None else _checked("arms", arms, InputError)
        new = self._of(found, rows, self.encoder, names)
        new = new if arms is None else new.take(names, every=True)
        for arm in new.arms:
            if arm in self._places:
                raise InputError(f"arm {arm!r} is there already; expected new arms")
        values = np.concatenate([self.values, new.values])
        return ArmFeatures(arms=(*self.arms, *new.arms), values=values, encoder=self.encoder)

    def take(self, arms: Sequence[Arm], *, every: bool = False) -> "ArmFeatures":
        """Some arms, in this order.

        - `arms`: which ones.
        - `every`: whether leaving one out is an InputError; False by default.
        """
        taken = _checked("arms", arms, InputError)
        places = [self._place(arm) for arm in taken]
        if every and len(places) < len(self):
            over = [arm for arm in self.arms if arm not in set(taken)]
            raise InputError(f"the features of arms have rows for {listed(over)}; expected only {listed(taken)}")
        return ArmFeatures(arms=taken, values=self.values[places], encoder=self.encoder)

    def _place(self, arm: Arm) -> int:
        if arm not in self._places:
            raise InputError(f"arm {arm!r} has no features; expected one of {listed(self.arms)}")
        return self._places[arm]


def read_arms(table: object, encoder: Encoder) -> tuple[tuple[str, ...] | None, Float[np.ndarray, "arms d"], Tally]:
    """The arms of one round: their names, None if the table has none, their features, and what was unknown or missing.

    - `table`: what `ArmFeatures.from_table` takes.
    - `encoder`: how rows are encoded.
    """
    found, rows = _split(table, None)
    values, tally = encoder.encode_counted(rows)
    if found is None:
        return None, values, tally
    for name in found:
        if not isinstance(name, str) or not name:
            raise InputError(f"arms has the name {name!r}; expected texts")
    return tuple(str(name) for name in found), values, tally


def _split(table: object, arm_column: str | None) -> tuple[tuple[Arm, ...] | None, Any]:
    """The names of the arms, None if there are none, and the rows without them."""
    if isinstance(table, np.ndarray):
        if table.ndim != 2 or not len(table):
            raise InputError(f"the features of arms are an array of shape {table.shape}; expected (arms, d)")
        return None, table
    if isinstance(table, Mapping):
        if not table:
            raise InputError("the features of arms are empty; expected at least one arm")
        return _checked("the features of arms", list(table), InputError), list(table.values())
    if isinstance(table, list | tuple):
        return _split_rows(table, arm_column)
    return _split_frame(table, arm_column)


def _split_rows(table: Sequence[object], arm_column: str | None) -> tuple[tuple[Arm, ...] | None, Any]:
    rows = [as_row(given) for given in table]
    if not rows or any(row is None for row in rows):
        raise InputError(f"the features of arms are {reprlib.repr(table)}; expected a list of dictionaries")
    read = [row for row in rows if row is not None]
    name = "arm" if arm_column is None else arm_column
    if arm_column is None and not all(name in row for row in read):
        return None, read
    for place, row in enumerate(read):
        if name not in row:
            raise InputError(f"row {place} has no column {name!r}; expected the arm's name there")
    found = _checked(f"column {name!r}", [row[name] for row in read], InputError)
    return found, [{key: value for key, value in row.items() if key != name} for row in read]


def _split_frame(table: object, arm_column: str | None) -> tuple[tuple[Arm, ...] | None, Any]:
    import narwhals as nw

    frame = as_frame(table)
    if not len(frame):
        raise InputError("the features of arms are a frame without rows; expected one an arm")
    name = "arm" if arm_column is None else arm_column
    if name in frame.columns:
        found = _checked(f"column {name!r}", frame.get_column(name).to_list(), InputError)
        return found, frame.drop(name).to_native()
    if arm_column is not None:
        raise InputError(f"column {name!r} is not there; expected one of {listed(frame.columns)}")
    index = nw.maybe_get_index(frame)
    if index is None or not all(isinstance(value, str) for value in index.tolist()):
        return None, table
    return _checked("the index", index.tolist(), InputError), table


def _learnt(rows: Any) -> Features:
    if not isinstance(rows, np.ndarray):
        return Features.from_frame(rows)
    numbers: Shaped[np.ndarray, "arms d"] = rows
    return Features({f"z{place}": NumberColumn(missing="error") for place in range(numbers.shape[1])})


def _checked(name: str, arms: object, error: type[InputError] | type[SettingError]) -> tuple[Arm, ...]:
    if isinstance(arms, str) or not isinstance(arms, Sequence) or not len(arms):
        raise error(f"{name} is {reprlib.repr(arms)}; expected a list of names")
    for arm in arms:
        if not isinstance(arm, str | int) or isinstance(arm, bool):
            raise error(f"{name} has {arm!r} of type {type(arm).__name__}; expected names, texts or whole numbers")
    if len(set(arms)) < len(arms):
        seen: set[object] = set()
        double = next(arm for arm in arms if arm in seen or seen.add(arm))  # type: ignore[func-returns-value]
        raise error(f"{name} has {double!r} twice; expected each arm once")
    return tuple(arms)
