"""Features: contexts with named columns of numbers, texts and booleans in, arrays of numbers out."""

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

import numpy as np

from graphbandit.base.checks import setting_boolean, setting_choice
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.errors import InputError, SettingError
from graphbandit.features.base import NOTHING, Encoder, Tally
from graphbandit.features.column_kinds import KNOWN, MISSING, Column, NumberColumn, ValueKind, as_column
from graphbandit.features.context_input import NamedColumns, as_row, as_table, check_names, listed
from graphbandit.features.learnt import learn_columns
from graphbandit.features.transformer import TransformerFeatures

Absent = Literal["error", "missing"]

Extra = Literal["error", "ignore"]


@savable
@dataclass(frozen=True)
class Features(Encoder):
    """The columns of a context and how they become numbers.

    A context is a dictionary, a pandas row, a named tuple, or an array of the columns in their order; many are a data
    frame (pandas, Polars, Arrow), a list of dictionaries, or an array. `encode` is a pure function: numbers are
    standardised by the declared location and scale only, never by contexts seen later.

    Unknown categories and missing values (None, NaN, NA) are encoded as the column says and counted in the `Tally` of
    `encode_counted`. By default an unknown or missing category has zeros in all its features, and a missing number has
    its default and a 1 in a feature of its own.

    - `columns`: a mapping from the name of a column to "number", "boolean", a list of categories, or what `number`,
      `boolean`, `category` or `cyclic` makes. Pairs of name and kind are taken, too.
    - `intercept`: whether a constant 1 is put before the features; True by default.
    - `extra`: "error" (default) refuses columns that are not declared, "ignore" leaves them out.
    - `absent`: "error" (default) refuses contexts that lack a column, "missing" takes its value as missing.

    >>> features = Features({"age": "number", "country": ["DE", "FR"]})
    >>> features.feature_names
    ('intercept', 'age', 'age:missing', 'country=DE', 'country=FR')
    >>> features.encode({"age": 31, "country": "FR"})
    array([ 1., 31.,  0.,  0.,  1.])
    >>> features.encode_counted({"age": None, "country": "PT"})
    (array([1., 0., 1., 0., 0.]), Tally(unknown={'country': 1}, missing={'age': 1}))
    """

    columns: tuple[tuple[str, Column], ...]
    intercept: bool
    extra: Extra
    absent: Absent
    _layout: tuple[tuple[str, Column, int], ...] = field(init=False, repr=False, compare=False)
    _blank: list[float] = field(init=False, repr=False, compare=False)
    _names: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        columns: Mapping[str, Any] | Sequence[Sequence[Any]],
        *,
        intercept: bool = True,
        extra: Extra = "error",
        absent: Absent = "error",
    ) -> None:
        setting_boolean("intercept", intercept)
        setting_choice("extra", extra, get_args(Extra))
        setting_choice("absent", absent, get_args(Absent))
        declared = _declared(columns)
        names, layout = ["intercept"] if intercept else [], []
        for name, column in declared:
            layout.append((name, column, len(names)))
            names += column.feature_names(name)
        if not names:
            raise SettingError("columns are empty and there is no intercept; expected at least one feature")
        if len(set(names)) < len(names):
            double = next(name for place, name in enumerate(names) if names.index(name) < place)
            raise SettingError(f"two features are called {double!r}; expected columns whose features differ in name")
        object.__setattr__(self, "columns", declared)
        object.__setattr__(self, "intercept", intercept)
        object.__setattr__(self, "extra", extra)
        object.__setattr__(self, "absent", absent)
        object.__setattr__(self, "_layout", tuple(layout))
        object.__setattr__(self, "_blank", [1.0] * intercept + [0.0] * (len(names) - intercept))
        object.__setattr__(self, "_names", tuple(names))

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns that a context must have."""
        return tuple(name for name, _ in self.columns)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What the numbers of an encoded context are, in their order."""
        return self._names

    @classmethod
    def from_frame(
        cls,
        frame: object,
        *,
        columns: Sequence[str] | None = None,
        kinds: Mapping[str, Any] | None = None,
        standardise: bool = True,
        most_categories: int = 100,
        intercept: bool = True,
        extra: Extra | None = None,
        absent: Absent = "error",
    ) -> "Features":
        """The features of a frame of past contexts: each column's kind follows from its type and values.

        Numbers are standardised by their mean and standard deviation in the frame; texts have a feature for each text
        that is in it, sorted; booleans are 0 and 1. A missing number stands for the mean, and has a feature of its own
        if the frame has missing ones in that column. Only the kinds are kept, nothing of the frame itself.

        - `frame`: a pandas, Polars or Arrow frame, or a list of dictionaries.
        - `columns`: the columns to take, in their order; None (default): all.
        - `kinds`: columns whose kind is declared, as in `Features`, instead of learnt; None (default): none.
        - `standardise`: whether numbers are brought to mean 0 and variance 1; True by default.
        - `most_categories`: a column of more different texts is refused, as it holds names rather than categories; 100
          by default.
        - `intercept`: whether a constant 1 is put before the features; True by default.
        - `extra`: as in `Features`; None (default): "ignore" if `columns` leaves out some of the frame's, else "error".
        - `absent`: as in `Features`; "error" by default.

        >>> past = [{"age": 20, "country": "DE"}, {"age": 40, "country": "FR"}]
        >>> Features.from_frame(past).encode({"age": 50, "country": "FR"})
        array([1., 2., 0., 1.])
        """
        learnt, all_taken = learn_columns(frame, columns, kinds or {}, standardise, most_categories)
        if extra is None:
            extra = "error" if all_taken else "ignore"
        return cls(learnt, intercept=intercept, extra=extra, absent=absent)

    @staticmethod
    def from_transformer(
        transformer: Any,
        *,
        columns: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        intercept: bool = True,
    ) -> TransformerFeatures:
        """A fitted scikit-learn transformer as the encoder. The settings are those of `TransformerFeatures`."""
        return TransformerFeatures(transformer, columns=columns, feature_names=feature_names, intercept=intercept)

    def __getitem__(self, name: str) -> Column:
        for known, column in self.columns:
            if known == name:
                return column
        raise KeyError(name)

    def encode_counted(self, contexts: object) -> tuple[Float[np.ndarray, "*n d"], Tally]:
        """`encode`, and the tally of unknown and missing values."""
        if contexts.__class__ is dict:
            return self._encode_row(cast(dict[str, Any], contexts))
        row = as_row(contexts)
        if row is not None:
            return self._encode_row(row)
        if isinstance(contexts, list | tuple):
            return self._encode_rows(contexts)
        if isinstance(contexts, np.ndarray) and contexts.ndim == 1:
            values, tally = self._encode_table(as_table(contexts[None, :], self.column_names))
            return values[0], tally
        return self._encode_table(as_table(contexts, self.column_names))

    def _encode_row(self, context: Mapping[str, Any]) -> tuple[Float[np.ndarray, " d"], Tally]:
        # one list is filled and converted once: an array would cost more at every feature
        row = self._blank.copy()
        unknown: dict[str, int] = {}
        missing: dict[str, int] = {}
        if len(context) != len(self._layout):
            check_names(context, self.column_names, absent=self.absent, extra=self.extra)
        for name, column, at in self._layout:
            try:
                value = context[name]
            except KeyError:
                check_names(context, self.column_names, absent=self.absent, extra=self.extra)
                value = None
            outcome = column.put(name, value, row, at)
            if outcome is not KNOWN:
                (missing if outcome is MISSING else unknown)[name] = 1
        return np.array(row), Tally(unknown=unknown, missing=missing) if unknown or missing else NOTHING

    def _encode_rows(self, contexts: Sequence[object]) -> tuple[Float[np.ndarray, "n d"], Tally]:
        values, tally = np.empty((len(contexts), self.size)), NOTHING
        for place, given in enumerate(contexts):
            row = as_row(given)
            if row is None:
                raise InputError(
                    f"contexts are a {type(contexts).__name__} with {reprlib.repr(given)} at {place}; expected a "
                    f"dictionary or a NumPy array of the columns {listed(self.column_names)}, or a list of dictionaries"
                )
            try:
                values[place], seen = self._encode_row(row)
            except InputError as refusal:
                raise InputError(f"row {place}: {refusal}") from None
            tally = tally + seen if seen else tally
        return values, tally

    def _encode_table(self, table: NamedColumns) -> tuple[Float[np.ndarray, "n d"], Tally]:
        check_names(table.names, self.column_names, absent=self.absent, extra=self.extra)
        values = np.zeros((table.n_rows, self.size))
        tally = NOTHING
        if self.intercept:
            values[:, 0] = 1.0
        for name, column, at in self._layout:
            tally = tally + _tally(name, _put_column(name, column, table, values[:, at : at + column.size]))
        return values, tally


def as_encoder(features: object) -> Encoder:
    """Turn what the user gave into an encoder.

    - `features`: `Features`, a dictionary of columns, or a fitted transformer.

    >>> as_encoder({"age": "number"}).size
    3
    """
    if isinstance(features, Encoder):
        return features
    if isinstance(features, Mapping):
        return Features(features)
    if hasattr(features, "transform"):
        return TransformerFeatures(features)
    raise SettingError(
        f"features is {reprlib.repr(features)}; expected Features, a dictionary of columns, or a fitted transformer"
    )


def _declared(columns: object) -> tuple[tuple[str, Column], ...]:
    """Columns by name, checked; pairs are what a saved file holds."""
    pairs = list(columns.items()) if isinstance(columns, Mapping) else columns
    if not isinstance(pairs, list | tuple) or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
        raise SettingError(f"columns is {columns!r}; expected a dictionary from the name of a column to its kind")
    for name, _ in pairs:
        if not isinstance(name, str) or not name:
            raise SettingError(f"columns has the name {name!r}; expected a text")
    if len({name for name, _ in pairs}) < len(pairs):
        raise SettingError("columns has a name twice; expected each once")
    return tuple((name, as_column(name, declared)) for name, declared in pairs)


def _put_column(
    name: str, column: Column, table: NamedColumns, out: Float[np.ndarray, "n size"]
) -> Mapping[ValueKind, int]:
    """Write the features of a table's column; how many values had which outcome."""
    if name not in table.names:
        return _put_values(name, column, [None] * len(out), out)
    if isinstance(column, NumberColumn):
        numbers = table.numbers(name)
        missing = None if numbers is None else column.put_numbers(numbers, out)
        if missing is not None:
            return {MISSING: missing}
    return _put_values(name, column, table.values(name), out)


def _put_values(
    name: str, column: Column, given: Sequence[Any], out: Float[np.ndarray, "n size"]
) -> Mapping[ValueKind, int]:
    """Write the features of values of any type."""
    counts = dict.fromkeys(ValueKind, 0)
    known: dict[object, tuple[list[float], ValueKind]] = {}  # every different value is encoded once
    for place, value in enumerate(given):
        key = value if value.__class__ is str else (value.__class__, value)  # 1 and True are equal, yet not the same
        try:
            cells, outcome = known[key]
        except (KeyError, TypeError) as error:
            cells = [0.0] * column.size
            try:
                outcome = column.put(name, value, cells, 0)
            except InputError as refusal:
                raise InputError(f"row {place}: {refusal}") from None
            if isinstance(error, KeyError):
                known[key] = cells, outcome
        out[place] = cells
        counts[outcome] += 1
    return counts


def _tally(name: str, counts: Mapping[ValueKind, int]) -> Tally:
    missing, unknown = counts.get(MISSING, 0), counts.get(ValueKind.UNKNOWN, 0)
    if not missing and not unknown:
        return NOTHING
    return Tally(unknown={name: unknown} if unknown else {}, missing={name: missing} if missing else {})
