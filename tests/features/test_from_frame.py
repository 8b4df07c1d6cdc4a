"""Kinds of columns learnt from frames."""

import datetime
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from graphbandit.errors import InputError, SettingError
from graphbandit.features import Features, boolean, category, cyclic, number

ROWS = [
    {"age": 20, "country": "FR", "member": True, "visits": 3.0, "name": None},
    {"age": 40, "country": "DE", "member": False, "visits": None, "name": "a"},
    {"age": 60, "country": "FR", "member": True, "visits": 5.0, "name": "b"},
]
LEARNT = Features(
    {
        "age": number(location=40.0, scale=np.sqrt(800 / 3), missing="fill"),
        "country": ["DE", "FR"],
        "member": boolean(missing="fill"),
        "visits": number(location=4.0, scale=1.0, missing="column"),
        "name": category(["a", "b"], missing="column"),
    }
)


@pytest.mark.parametrize(
    "frame",
    [ROWS, pd.DataFrame(ROWS), pl.DataFrame(ROWS), pa.Table.from_pylist(ROWS), pd.DataFrame(ROWS, dtype=object)],
)
def test_the_same_is_learnt_from_every_frame(frame):
    learnt = Features.from_frame(frame)
    assert learnt == LEARNT
    encoded = learnt.encode(frame)
    np.testing.assert_allclose(encoded[:, 1].mean(), 0.0, atol=1e-12)
    np.testing.assert_allclose(encoded[:, 1].std(), 1.0)
    assert learnt.encode(frame).tobytes() == LEARNT.encode(ROWS).tobytes()


def test_the_order_of_rows_changes_nothing():
    assert Features.from_frame(pd.DataFrame(ROWS[::-1])) == LEARNT


def test_encoding_does_not_depend_on_the_contexts_around():
    alone = LEARNT.encode(pd.DataFrame(ROWS[:1]))
    assert alone.tobytes() == LEARNT.encode(pd.DataFrame(ROWS))[:1].tobytes()


def test_columns_kinds_and_scaling_can_be_chosen():
    frame = pd.DataFrame({"hour": [1, 2], "item": ["x", "y"], "reward": [0.0, 1.0]})
    some = Features.from_frame(frame, columns=["item", "hour"], kinds={"hour": cyclic(24)})
    assert some == Features({"item": ["x", "y"], "hour": cyclic(24)}, extra="ignore")
    some.encode(frame.iloc[0])
    assert Features.from_frame(frame, columns=["reward"], extra="error").extra == "error"
    plain = Features.from_frame(frame[["reward"]], standardise=False, intercept=False)
    assert plain == Features({"reward": number(default=0.5, missing="fill")}, intercept=False)
    assert plain.encode({"reward": 7.0}).tolist() == [7.0]


def test_a_constant_column_is_not_blown_up():
    learnt = Features.from_frame(pd.DataFrame({"x": [0.1] * 7}))
    assert learnt["x"].scale == 1.0


BAD = {
    "too many texts": (
        lambda: Features.from_frame(pd.DataFrame({"id": [str(i) for i in range(101)]})),
        "column 'id' h",
    ),
    "dates": (
        lambda: Features.from_frame(pd.DataFrame({"day": pd.to_datetime(["2020-01-01"])})),
        "of type Timestamp; expected a number, a text or a boolean",
    ),
    "polars dates": (
        lambda: Features.from_frame(pl.DataFrame({"day": [datetime.date(2020, 1, 1)]})),
        "of type date; expected a number, a text or a boolean",
    ),
    "mixed": (lambda: Features.from_frame(pd.DataFrame({"x": ["a", 1]})), "column x is 'a' of type str; expected"),
    "all missing": (lambda: Features.from_frame(pd.DataFrame({"x": [None, None]})), "column 'x' has no value that"),
    "all nan": (lambda: Features.from_frame(pd.DataFrame({"x": [np.nan]})), "column 'x' has no value that"),
    "no rows": (lambda: Features.from_frame(pl.DataFrame({"x": pl.Series([], dtype=pl.Int64)})), "column 'x' has no v"),
    "infinite": (lambda: Features.from_frame(pl.DataFrame({"x": [1.0, np.inf]})), "column 'x' has inf; expected fini"),
    "no such column": (lambda: Features.from_frame(pd.DataFrame({"x": [1]}), columns=["y"]), "no column 'y'"),
    "an array": (lambda: Features.from_frame(np.ones((2, 2))), "contexts are an array; expected columns with names"),
    "a text": (lambda: Features.from_frame("frame"), "contexts are 'frame' of type str; expected a dictionary"),
    "no dictionaries": (lambda: Features.from_frame([]), "contexts are an empty list"),
    "ragged": (
        lambda: Features.from_frame([{"x": 1}, {"y": 1}]),
        "row 1 has columns 'y'; expected those of row 0",
    ),
}


# as in test_arms.py, with cases of its own, so that each has a name in the report
@pytest.mark.parametrize("case", BAD)
def test_bad_frames_are_refused(case):
    make, message = BAD[case]
    with pytest.raises(InputError, match=re.escape(message)):
        make()


def test_bad_settings_are_refused():
    frame = pd.DataFrame({"x": [1]})
    for settings, message in [
        ({"columns": "x"}, "columns is 'x'; expected a list"),
        ({"kinds": {"y": "number"}}, "kinds has 'y'; expected one of 'x'"),
        ({"kinds": {"x": "text"}}, "column 'x' is 'text'; expected"),
        ({"standardise": 1}, "standardise is 1; expected True or False"),
        ({"most_categories": 0}, "most_categories is 0"),
    ]:
        with pytest.raises(SettingError, match=message):
            Features.from_frame(frame, **settings)
