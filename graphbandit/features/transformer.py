"""Any fitted scikit-learn transformer as the encoder of contexts."""

import copy
import reprlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphbandit.base.checks import first_not_finite, setting_boolean
from graphbandit.base.extras import imported
from graphbandit.base.shapes import Float, Shaped
from graphbandit.errors import InputError, SettingError
from graphbandit.features.base import NOTHING, Encoder, Tally
from graphbandit.features.column_kinds import is_missing
from graphbandit.features.context_input import EXPECTED, as_frame, as_row, check_names
from graphbandit.features.fitted import fitted_digests


class TransformerFeatures(Encoder):
    """What a fitted transformer makes of contexts: ``TransformerFeatures(pipeline.fit(frame))``.

    A transformer that was fitted to a frame takes dictionaries, pandas rows and frames that have its columns (others
    are left out); one that was fitted to an array takes arrays, and dictionaries and frames if `columns` names its
    columns. The transformer is copied, so fitting it again changes nothing here. What it does with unknown categories
    and missing values is its own setting (`handle_unknown`, an imputer); missing values are counted, unknown
    categories are not, since a transformer does not tell. A saved file holds a description and digests of what was
    fitted, not the transformer: hand the same one in again, as `Bandit.load(path, features=...)`.

    - `transformer`: anything with scikit-learn's `transform`, fitted.
    - `columns`: the names of the columns it was fitted to; None (default): its `feature_names_in_`.
    - `feature_names`: the names of what it makes; None (default): those of its `get_feature_names_out()`.
    - `intercept`: whether a constant 1 is put before the features; True by default.

    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> scaled = TransformerFeatures(StandardScaler().fit(np.array([[20.0], [40.0]])), columns=["age"])
    >>> scaled.encode({"age": 50})
    array([1., 2.])
    """

    def __init__(
        self,
        transformer: Any,
        *,
        columns: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        intercept: bool = True,
    ) -> None:
        setting_boolean("intercept", intercept)
        if not callable(getattr(transformer, "transform", None)) or isinstance(transformer, type):
            raise SettingError(f"transformer is {reprlib.repr(transformer)}; expected one with a `transform` method")
        _check_fitted(transformer)
        self._transformer = copy.deepcopy(transformer)
        fitted_to = getattr(transformer, "feature_names_in_", None)
        own = None if fitted_to is None else [str(name) for name in fitted_to]
        self._wants_frame = own is not None
        number = getattr(transformer, "n_features_in_", None)
        named = own if columns is None else _names("columns", columns)
        if own is not None and named != own:
            raise SettingError(f"columns is {named}; expected those the transformer was fitted to, {own}")
        if named is not None and number is not None and len(named) != number:
            raise SettingError(f"columns has {len(named)} names; expected {number}, as the transformer was fitted to")
        self._columns = None if named is None else tuple(named)
        self._n_columns = number if self._columns is None else len(self._columns)
        made = _names_made(transformer) if feature_names is None else _names("feature_names", feature_names)
        self.intercept = intercept
        self._names = (*(["intercept"] if intercept else []), *made)

    def __repr__(self) -> str:
        return f"TransformerFeatures({self._transformer!r})"

    def __external__(self) -> dict[str, Any]:
        """How a saved file names this encoder, since it cannot hold somebody else's transformer."""
        return {
            "class": "TransformerFeatures",
            "transformer": " ".join(repr(self._transformer).split()),
            "columns": None if self._columns is None else list(self._columns),
            "feature_names": list(self._names),
            "fitted": fitted_digests(self._transformer),
        }

    @classmethod
    def described(cls, given: object, description: Mapping[str, Any]) -> "TransformerFeatures":
        """The given features, or features of the given transformer with the names in a description.

        - `given`: the features, or a fitted transformer.
        - `description`: what `__external__` gave.
        """
        if isinstance(given, cls):
            return given
        names = list(description["feature_names"])
        intercept = names[:1] == ["intercept"]
        return cls(given, columns=description["columns"], feature_names=names[intercept:], intercept=intercept)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns that a context must have; empty if the transformer knows no names."""
        return self._columns or ()

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What the numbers of an encoded context are, in their order."""
        return self._names

    def encode_counted(self, contexts: object) -> tuple[Float[np.ndarray, "*n d"], Tally]:
        """`encode`, and the tally of missing values."""
        row = as_row(contexts)
        if row is not None:
            values, tally = self._transform(*self._from_rows([row]))
            return values[0], tally
        if isinstance(contexts, np.ndarray):
            values, tally = self._transform(*self._from_array(contexts))
            return values.reshape(*contexts.shape[:-1], self.size), tally
        if isinstance(contexts, list | tuple):
            rows = [as_row(given) for given in contexts]
            if not rows or any(row is None for row in rows):
                raise InputError(f"contexts are {reprlib.repr(contexts)}; {EXPECTED}")
            return self._transform(*self._from_rows([row for row in rows if row is not None]))
        return self._transform(*self._from_frame(contexts))

    def _from_rows(self, rows: Sequence[Mapping[str, Any]]) -> tuple[Any, Tally]:
        names = self._named()
        missing: Counter[str] = Counter()
        for place, row in enumerate(rows):
            check_names(row, names, absent="error", extra="ignore", where=f"row {place}: " if len(rows) > 1 else "")
            missing.update(name for name in names if is_missing(row[name]))
        tally = Tally(missing=dict(missing))
        if not self._wants_frame:
            return self._plain([[row[name] for name in names] for row in rows]), tally
        why = "a transformer that was fitted to a frame needs pandas to take dictionaries"
        pd = imported("pandas", "pandas", why)
        return pd.DataFrame({name: [row[name] for row in rows] for name in names}), tally

    def _from_frame(self, frame: object) -> tuple[Any, Tally]:
        names = self._named()
        read = as_frame(frame)
        check_names(read.columns, names, absent="error", extra="ignore")
        taken = read.select(list(names))
        missing = {}
        for name in names:
            series = taken.get_column(name)
            absent = series.is_null() | series.is_nan() if series.dtype.is_float() else series.is_null()
            count = int(absent.sum())
            if count:
                missing[name] = count
        tally = Tally(missing=missing)
        return (taken.to_native() if self._wants_frame else self._plain(taken.to_numpy())), tally

    def _from_array(self, array: Shaped[np.ndarray, "..."]) -> tuple[Any, Tally]:
        if self._wants_frame:
            raise InputError(
                f"contexts are an array of shape {array.shape}; expected the columns "
                f"{', '.join(map(repr, self.column_names))} by name, as the transformer was fitted to a frame"
            )
        if array.ndim not in (1, 2) or (self._n_columns is not None and array.shape[-1] != self._n_columns):
            wanted = "d" if self._n_columns is None else self._n_columns
            raise InputError(f"contexts are an array of shape {array.shape}; expected ({wanted},) or (n, {wanted})")
        rows = array.reshape(-1, array.shape[-1])
        names = self._columns or tuple(f"column {place}" for place in range(rows.shape[1]))
        absent = [int(sum(is_missing(value) for value in rows[:, place].tolist())) for place in range(rows.shape[1])]
        return rows, Tally(missing={name: count for name, count in zip(names, absent, strict=True) if count})

    def _transform(self, given: Any, tally: Tally) -> tuple[Float[np.ndarray, "n d"], Tally]:
        if len(given) == 0:  # which scikit-learn refuses
            return np.empty((0, self.size)), NOTHING
        try:
            made = self._transformer.transform(given)
        except (ValueError, TypeError, KeyError) as error:
            name = type(self._transformer).__name__
            raise InputError(f"{name} cannot transform these contexts: {error}") from error
        made = made.toarray() if hasattr(made, "toarray") else np.asarray(made)
        wanted = self.size - self.intercept
        if made.shape != (len(given), wanted):
            raise InputError(f"the transformer made an array of shape {made.shape}; expected ({len(given)}, {wanted})")
        if made.dtype.kind not in "biuf":
            raise InputError(f"the transformer made values of type {made.dtype}; expected numbers")
        values = np.ones((len(made), self.size))
        values[:, int(self.intercept) :] = made
        if not np.isfinite(values).all():
            raise InputError(f"the transformer made {first_not_finite(values)}; expected finite numbers")
        return values, tally

    def _named(self) -> tuple[str, ...]:
        if self._columns is None:
            raise InputError(
                f"contexts have names, but the transformer was fitted to an array of {self._n_columns} columns; "
                f"expected an array, or columns= with their names"
            )
        return self._columns

    @staticmethod
    def _plain(rows: Any) -> Shaped[np.ndarray, "..."]:
        """Rows as an array of numbers if all are numbers, else of objects: a text must not change numbers."""
        array = np.array(rows, dtype=object)
        if any(isinstance(value, str | bytes) for value in array.flat):  # NumPy would make numbers of some texts
            return array
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError):
            return array


def _check_fitted(transformer: Any) -> None:
    try:
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import check_is_fitted
    except ImportError:  # then the transformer is another library's, which has no such check
        return
    try:
        check_is_fitted(transformer)
    except NotFittedError:
        raise SettingError(f"transformer is {transformer!r}, which is not fitted; expected a fitted one") from None
    except TypeError:  # no estimator of scikit-learn's
        return


def _names(setting: str, names: object) -> list[str]:
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise SettingError(f"{setting} is {names!r}; expected a list of texts")
    if not names or len(set(names)) < len(names):
        raise SettingError(f"{setting} is {names!r}; expected at least one, and each once")
    return list(names)


def _names_made(transformer: Any) -> list[str]:
    try:
        return [str(name) for name in transformer.get_feature_names_out()]
    except (AttributeError, ValueError):
        raise SettingError(
            f"transformer is {transformer!r}, which does not name its features; expected feature_names="
        ) from None
