"""Contexts in every form give the same numbers, and unknown and missing values are encoded and counted as declared."""

import math
import re
from collections import namedtuple
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphbandit.base import saved_files
from graphbandit.errors import InputError, SavedFileError, SettingError
from graphbandit.features import Features, Tally, as_encoder, boolean, category, cyclic, number
from tests.helpers.processes import loaded

NAN, INF = float("nan"), float("inf")
MIXED = Features(
    {
        "age": number(location=40.0, scale=7.0),
        "country": ["DE", "FR"],
        "hour": cyclic(24),
        "member": "boolean",
        "floor": category([1, 2, 30000000000000001], unknown="column", missing="column"),
    }
)
ROWS = [
    {"age": 31, "country": "DE", "hour": 5, "member": True, "floor": 1},
    {"age": None, "country": "PT", "hour": 23, "member": False, "floor": 7},
    {"age": 58, "country": None, "hour": None, "member": None, "floor": None},
    {"age": 12, "country": "FR", "hour": 0, "member": False, "floor": 30000000000000001},
]
TALLY = Tally(unknown={"country": 1, "floor": 1}, missing={"age": 1, "country": 1, "hour": 1, "member": 1, "floor": 1})


def by_hand(row):
    """The features of a row of ROWS, written out."""
    age, hour = row["age"], row["hour"]
    angle = None if hour is None else math.tau * (hour / 24)
    return [
        1.0,
        0.0 if age is None else (age - 40.0) / 7.0,
        float(age is None),
        float(row["country"] == "DE"),
        float(row["country"] == "FR"),
        0.0 if angle is None else math.sin(angle),
        0.0 if angle is None else math.cos(angle),
        float(row["member"] is True),
        float(row["member"] is None),
        float(row["floor"] == 1),
        float(row["floor"] == 2),
        float(row["floor"] == 30000000000000001),
        float(row["floor"] == 7),
        float(row["floor"] is None),
    ]


EXPECTED = np.array([by_hand(row) for row in ROWS])
ARROW = pa.Table.from_pylist(ROWS)
MANY = {
    "list": ROWS,
    "pandas": pd.DataFrame(ROWS, dtype=object),
    "pandas nullable": pd.DataFrame(ROWS, dtype=object).astype({"age": "Int64", "floor": "Int64", "member": "boolean"}),
    "pandas arrow": ARROW.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame(ROWS),
    "polars categorical": pl.DataFrame(ROWS).with_columns(pl.col("country").cast(pl.Categorical)),
    "arrow": ARROW,
    "arrow dictionary": ARROW.set_column(1, "country", ARROW["country"].dictionary_encode()),
    "array": np.array([list(row.values()) for row in ROWS], dtype=object),
}


@pytest.mark.parametrize("form", MANY)
def test_every_form_gives_the_same_bits_as_single_dictionaries(form):
    values, tally = MIXED.encode_counted(MANY[form])
    np.testing.assert_array_equal(values, EXPECTED)
    assert tally == TALLY
    assert values.dtype == np.float64
    singly = [MIXED.encode_counted(row) for row in ROWS]
    assert np.array([one for one, _ in singly]).tobytes() == values.tobytes()
    assert sum((seen for _, seen in singly), Tally()) == tally


def test_one_row_in_every_form():
    row = ROWS[0]
    forms = [
        row,
        pd.Series(row),
        next(pd.DataFrame([row]).itertuples(index=False)),
        pd.DataFrame(ROWS).iloc[0],
        namedtuple("Visit", list(row))(**row),
        pl.DataFrame([row]).row(0, named=True),
        np.array(list(row.values()), dtype=object),
        {name: row[name] for name in reversed(row)},
    ]
    for form in forms:
        encoded = MIXED.encode(form)
        assert encoded.shape == (MIXED.size,)
        np.testing.assert_array_equal(encoded, EXPECTED[0])


def test_names_and_sizes():
    assert MIXED.feature_names == (
        *("intercept", "age", "age:missing", "country=DE", "country=FR", "hour:sin", "hour:cos"),
        *("member", "member:missing", "floor=1", "floor=2", "floor=30000000000000001", "floor:unknown"),
        "floor:missing",
    )
    assert MIXED.size == 14
    assert MIXED.column_names == ("age", "country", "hour", "member", "floor")
    assert Features({"age": "number"}, intercept=False).feature_names == ("age", "age:missing")
    assert Features({}).encode({}).tolist() == [1.0]
    assert MIXED["hour"] == cyclic(24)


@pytest.mark.parametrize("missing", [None, NAN, np.float64(NAN), pd.NA, pd.NaT])
def test_what_is_missing(missing):
    for column, expected in [
        ("number", [0.0, 1.0]),
        (number(location=2.0, scale=4.0, default=4.0), [0.5, 1.0]),
        (number(default=4.0, missing="fill"), [4.0]),
        ("boolean", [0.0, 1.0]),
        (boolean(default=True, missing="fill"), [1.0]),
        (["a", "b"], [0.0, 0.0]),
        (category(["a"], missing="column"), [0.0, 1.0]),
        (category(["a"], unknown="column"), [0.0, 0.0]),
        (cyclic(7), [0.0, 0.0]),
        (cyclic(7, missing="column"), [0.0, 0.0, 1.0]),
    ]:
        features = Features({"x": column}, intercept=False)
        values, tally = features.encode_counted({"x": missing})
        assert values.tolist() == expected
        assert tally == Tally(missing={"x": 1})
    for column in (number, boolean, lambda **kw: category(["a"], **kw), lambda **kw: cyclic(7, **kw)):
        with pytest.raises(InputError, match="x is missing; expected"):
            Features({"x": column(missing="error")}).encode({"x": missing})


def test_absent_columns_may_count_as_missing_and_others_be_ignored():
    lenient = Features({"age": "number", "country": ["DE"]}, extra="ignore", absent="missing")
    for form in ({"country": "DE", "id": 3}, pd.DataFrame([{"country": "DE", "id": 3}]), [{"country": "DE", "id": 3}]):
        values, tally = lenient.encode_counted(form)
        assert values.reshape(-1).tolist() == [1.0, 0.0, 1.0, 1.0]
        assert tally == Tally(missing={"age": 1})


def test_numbers_of_all_types():
    features = Features({"x": number(missing="error")}, intercept=False)
    for value in (3, 3.0, np.float32(3), np.int8(3), np.uint64(3), Decimal(3)):
        assert features.encode({"x": value}).tolist() == [3.0]
    for dtype in ("int8", "uint16", "float32", "Int64", "Float32"):
        assert features.encode(pd.DataFrame({"x": pd.Series([3], dtype=dtype)})).tolist() == [[3.0]]
    assert features.encode(np.array([[3]])).tolist() == [[3.0]]
    assert features.encode(pl.DataFrame({"x": [Decimal(3)]})).tolist() == [[3.0]]
    assert Features({"b": "boolean"}).encode(pd.DataFrame({"b": [1, 0]}))[:, 1].tolist() == [1.0, 0.0]
    assert features.encode(pd.DataFrame({"x": []}, dtype=float)).shape == (0, 1)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "age": st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-(10**18), 10**18)),
                "country": st.one_of(st.none(), st.sampled_from(["DE", "FR", "", "🦆"])),
                "hour": st.one_of(st.none(), st.floats(-1e6, 1e6)),
                "member": st.one_of(st.none(), st.booleans()),
                "floor": st.one_of(st.none(), st.integers(-5, 5)),
            }
        ),
        min_size=1,
        max_size=8,
    )
)
def test_frames_and_dictionaries_agree_to_the_bit(rows):
    expected = np.array([MIXED.encode(row) for row in rows])
    assert MIXED.encode(rows).tobytes() == expected.tobytes()
    assert MIXED.encode(pd.DataFrame(rows, dtype=object)).tobytes() == expected.tobytes()
    as_floats = [{**row, "age": None if row["age"] is None else float(row["age"])} for row in rows]
    frame = pl.DataFrame(
        as_floats,
        schema={"age": pl.Float64, "country": pl.String, "hour": pl.Float64, "member": pl.Boolean, "floor": pl.Int64},
    )
    assert MIXED.encode(frame).tobytes() == expected.tobytes()


def test_a_value_that_can_be_hashed_compared_and_saved(tmp_path):
    again = Features(dict(MIXED.columns))
    assert again == MIXED
    assert hash(again) == hash(MIXED)
    assert Features({"age": "number"}) != Features({"age": "number"}, intercept=False)
    others = Features({"a": number(default=2.0, missing="fill")}, extra="ignore", absent="missing", intercept=False)
    saved_files.write(tmp_path / "f.gb", "features", {"mixed": MIXED, "others": others, "tally": TALLY})
    loaded = saved_files.read(tmp_path / "f.gb", "features", lambda description: None)
    assert loaded == {"mixed": MIXED, "others": others, "tally": TALLY}
    assert loaded["mixed"].encode(ROWS).tobytes() == EXPECTED.tobytes()
    with pytest.raises(AttributeError):
        MIXED.intercept = False


def test_a_damaged_file_is_refused(tmp_path):
    broken = Features({"a": "number"})
    object.__setattr__(broken, "columns", (("a", "nonsense"),))
    saved_files.write(tmp_path / "f.gb", "features", {"broken": broken})
    with pytest.raises(SavedFileError, match="column 'a' is 'nonsense'"):
        saved_files.read(tmp_path / "f.gb", "features", lambda description: None)


def test_dictionaries_need_no_frame_library():
    encode = "Features({'age': 'number', 'country': ['DE']}).encode([{'age': 1, 'country': 'DE'}])"
    code = f"from graphbandit.features import Features\n{encode}"
    assert loaded(code, ("pandas", "polars", "narwhals", "sklearn")) == []


def test_tallies_add_up():
    assert not Tally()
    assert TALLY
    assert (TALLY + TALLY).missing["age"] == 2
    with pytest.raises(SettingError, match=r"missing\['a'\] is -1"):
        Tally(missing={"a": -1})


TWO = Features({"age": "number", "country": category(["DE", "FR"], unknown="error")})
BAD_CONTEXTS = {
    "no column": ({"country": "DE"}, "there is no column 'age', only 'country'; expected 'age', 'country'"),
    "a typo": ({"age": 1, "contry": "DE"}, "no column 'country'; did you mean it by 'contry'?"),
    "another column": ({"age": 1, "country": "DE", "x": 1}, "column 'x' is not known; expected only 'age', 'country'"),
    "a frame without a column": (pd.DataFrame({"age": [1]}), "there is no column 'country', only 'age'"),
    "a frame with another": (
        pl.DataFrame({"age": [1], "country": ["DE"], "x": [1]}),
        "column 'x' is not known; expected only 'age', 'country'",
    ),
    "a text": ({"age": "31", "country": "DE"}, "age is '31' of type str; expected a number"),
    "a boolean": ({"age": True, "country": "DE"}, "age is True of type bool; expected a number"),
    "a numpy boolean": ({"age": np.True_, "country": "DE"}, "age is np.True_ of type bool; expected a number"),
    "a duration": ({"age": np.timedelta64(3, "s"), "country": "DE"}, "of type timedelta64; expected a number"),
    "a list": ({"age": [1], "country": "DE"}, "age is [1] of type list; expected a number"),
    "an array": ({"age": np.ones(2), "country": "DE"}, "of type ndarray; expected a number"),
    "infinite": ({"age": INF, "country": "DE"}, "age is inf; expected a finite number"),
    "numpy infinite": ({"age": np.float32(-INF), "country": "DE"}, "age is -inf; expected a finite number"),
    "too large an integer": ({"age": 10**400, "country": "DE"}, "expected a finite number"),
    "unknown category": ({"age": 1, "country": "PT"}, "country is 'PT'; expected one of 'DE', 'FR'"),
    "a number as category": ({"age": 1, "country": 3}, "country is 3; expected one of 'DE', 'FR'"),
    "a list as category": ({"age": 1, "country": ["DE"]}, "country is ['DE']; expected one of 'DE', 'FR'"),
    "in a frame": (pd.DataFrame({"age": [1.0, INF], "country": "DE"}), "row 1: age is inf; expected a finite number"),
    "a category in a frame": (
        pa.table({"age": [1, 2, 3], "country": ["DE", "FR", "PT"]}),
        "row 2: country is 'PT'; expected one of 'DE', 'FR'",
    ),
    "in a list": ([{"age": 1, "country": "DE"}, {"age": 1}], "row 1: there is no column 'country'"),
    "texts for numbers": (pl.DataFrame({"age": ["1"], "country": ["DE"]}), "row 0: age is '1' of type str"),
    "too few columns": (np.ones((2, 1)), "an array of shape (2, 1); expected (2,) or (n, 2), the columns 'age', 'cou"),
    "too many columns": (np.ones(3), "an array of shape (1, 3); expected (2,) or (n, 2)"),
    "three axes": (np.ones((2, 2, 2)), "an array of shape (2, 2, 2); expected (2,) or (n, 2)"),
    "a number alone": (3, "contexts are 3 of type int; expected a dictionary, a data-frame row"),
    "nothing": (None, "contexts are None of type NoneType; expected a dictionary"),
    "a list of numbers": (
        [1, 2],
        "contexts are a list with 1 at 0; expected a dictionary or a NumPy array of the columns 'age', 'country'",
    ),
    "a lazy frame": (pl.LazyFrame({"age": [1]}), "contexts are a lazy frame, LazyFrame; expected one that is coll"),
    "columns without text names": (pd.DataFrame([[1, 2]]), "the frame has a column 0; expected texts as the names"),
    "a column twice": (pd.DataFrame([[1, 2]], columns=["age", "age"]), "the frame cannot be read"),
    "a series of numbers without names": (pd.Series([1, 2]), "there is no column 'age', only 0, 1"),
}


@pytest.mark.parametrize("case", BAD_CONTEXTS)
def test_bad_contexts_are_refused(case):
    contexts, message = BAD_CONTEXTS[case]
    with pytest.raises(InputError, match=re.escape(message)):
        TWO.encode(contexts)


def test_other_kinds_refuse_what_is_no_value_of_theirs():
    for column, value, message in [
        ("boolean", "yes", "x is 'yes'; expected True or False"),
        ("boolean", 2, "x is 2; expected True or False"),
        ("boolean", np.array([1]), "expected True or False"),
        (cyclic(24), "noon", "x is 'noon' of type str; expected a number"),
        (cyclic(24), INF, "x is inf; expected a finite number"),
        ([1, 2], True, "x is True; expected a whole number, such as 1, 2"),
        ([1, 2], 1.5, "x is 1.5; expected a whole number, such as 1, 2"),
        ([1, 2], "1", "x is '1'; expected a whole number, such as 1, 2"),
        (
            [str(i) for i in range(20)],
            1,
            "expected a text, such as '0', '1', '2', '3', '4', '5', '6', '7', ... (20 in all)",
        ),
        (number(scale=1e-300), 1e300, "x is 1e+300; expected a finite number"),
    ]:
        with pytest.raises(InputError, match=re.escape(message)):
            Features({"x": column}).encode({"x": value})


BAD_SETTINGS = {
    "a kind": (lambda: Features({"age": "text"}), "column 'age' is 'text'; expected 'number', 'boolean', a list"),
    "a type": (lambda: Features({"age": float}), "column 'age' is <class 'float'>; expected 'number'"),
    "no mapping": (lambda: Features("age"), "columns is 'age'; expected a dictionary"),
    "no names": (lambda: Features({3: "number"}), "columns has the name 3; expected a text"),
    "an empty name": (lambda: Features({"": "number"}), "columns has the name ''; expected a text"),
    "a name twice": (lambda: Features([("a", "number"), ("a", "number")]), "columns has a name twice"),
    "nothing": (lambda: Features({}, intercept=False), "expected at least one feature"),
    "a feature twice": (lambda: Features({"intercept": "number"}), "two features are called 'intercept'"),
    "no categories": (lambda: Features({"c": []}), "column 'c': categories is (); expected a list of at least one"),
    "a category twice": (lambda: Features({"c": ["a", "b", "a"]}), "categories has 'a' twice; expected each once"),
    "mixed categories": (lambda: Features({"c": ["a", 1]}), "categories has 1 of type int; expected only texts"),
    "a missing category": (lambda: category(["a", None]), "categories has None of type NoneType"),
    "boolean categories": (lambda: category([True, False]), "categories has True of type bool"),
    "a text of categories": (lambda: category("abc"), "categories is 'abc'; expected a list"),
    "unknown": (lambda: category(["a"], unknown="fill"), "unknown is 'fill'; expected one of 'zeros', 'column', 'err"),
    "missing": (lambda: number(missing="zeros"), "missing is 'zeros'; expected one of 'column', 'fill', 'error'"),
    "location": (lambda: number(location=NAN), "location is nan; expected a finite number"),
    "scale": (lambda: number(scale=0), "scale is 0; expected a finite number above 0"),
    "default": (lambda: number(default="a"), "default is 'a'; expected a finite number"),
    "a default too far": (lambda: number(default=1e300, scale=1e-300), "location and scale keep finite"),
    "default of a boolean": (lambda: boolean(default=1), "default is 1; expected True or False"),
    "period": (lambda: cyclic(-1), "period is -1; expected a finite number above 0"),
    "intercept": (lambda: Features({"a": "number"}, intercept=1), "intercept is 1; expected True or False"),
    "extra": (lambda: Features({"a": "number"}, extra="keep"), "extra is 'keep'; expected one of 'error', 'ignore'"),
    "absent": (lambda: Features({"a": "number"}, absent="ok"), "absent is 'ok'; expected one of 'error', 'missing'"),
    "no encoder": (lambda: as_encoder(3), "features is 3; expected Features, a dictionary of columns, or a fitted"),
}


@pytest.mark.parametrize("case", BAD_SETTINGS)
def test_bad_settings_are_refused(case):
    make, message = BAD_SETTINGS[case]
    with pytest.raises(SettingError, match=re.escape(message)):
        make()
