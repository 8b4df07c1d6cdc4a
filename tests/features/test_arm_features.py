"""Features of arms, and of contexts and arms together."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from graphbandit.base import saved_files
from graphbandit.errors import InputError, SettingError
from graphbandit.features import ArmFeatures, Features, number, pair_features, pair_names
from graphbandit.function_classes import LinearClass

TABLE = {"tea": {"price": 2.0, "kind": "drink"}, "cake": {"price": 4.0, "kind": "food"}}
ROWS = [{"arm": arm, **row} for arm, row in TABLE.items()]
COLUMNS = Features({"price": number(location=3.0, scale=1.0, missing="fill"), "kind": ["drink", "food"]})
VALUES = [[1.0, -1.0, 1.0, 0.0], [1.0, 1.0, 0.0, 1.0]]
NAMED = {
    "mapping": TABLE,
    "rows": ROWS,
    "pandas": pd.DataFrame(ROWS),
    "pandas index": pd.DataFrame(ROWS).set_index("arm"),
    "polars": pl.DataFrame(ROWS),
    "arrow": pa.Table.from_pylist(ROWS),
}


@pytest.mark.parametrize("form", NAMED)
def test_every_form_gives_the_same(form):
    learnt = ArmFeatures.from_table(NAMED[form])
    assert learnt.arms == ("tea", "cake")
    assert learnt.values.tolist() == VALUES
    assert learnt.encoder == COLUMNS
    turned = ArmFeatures.from_table(NAMED[form], arms=["cake", "tea"], features=COLUMNS)
    assert turned.values.tolist() == VALUES[::-1]
    assert turned["tea"].tolist() == VALUES[0]
    assert (len(turned), turned.size, turned.feature_names) == (2, 4, COLUMNS.feature_names)


def test_rows_without_names_are_in_the_order_of_the_arms():
    frame = pd.DataFrame(ROWS)[["price", "kind"]]
    assert ArmFeatures.from_table(frame, arms=["a", "b"]).arms == ("a", "b")
    assert ArmFeatures.from_table(pl.from_pandas(frame), arms=2).arms == (0, 1)
    assert ArmFeatures.from_table(list(TABLE.values())).arms == (0, 1)
    plain = ArmFeatures.from_table(np.array([[5.0, 6.0], [7.0, 8.0]]))
    assert plain.values.tolist() == [[1.0, 5.0, 6.0], [1.0, 7.0, 8.0]]
    assert plain.add(np.array([[1.0, 2.0]])).arms == (0, 1, 2)
    other = ArmFeatures.from_table(pd.DataFrame(ROWS).rename(columns={"arm": "sku"}), arm_column="sku")
    assert other.arms == ("tea", "cake")


def test_arms_join_and_leave_and_are_saved(tmp_path):
    learnt = ArmFeatures.from_table(TABLE)
    grown = learnt.add({"pie": {"price": 13.0, "kind": "meal"}})
    assert grown.arms == ("tea", "cake", "pie")
    assert grown["pie"].tolist() == [1.0, 10.0, 0.0, 0.0]
    assert learnt.arms == ("tea", "cake")
    assert learnt.add([{"price": 1.0, "kind": "food"}], arms=["bun"]).arms == ("tea", "cake", "bun")
    assert grown.take(["pie", "tea"]).arms == ("pie", "tea")
    saved_files.write(tmp_path / "f.gb", "arms", {"arms": grown})
    loaded = saved_files.read(tmp_path / "f.gb", "arms", lambda description: None)["arms"]
    assert (loaded.arms, loaded.values.tobytes(), loaded.encoder) == (grown.arms, grown.values.tobytes(), COLUMNS)


BAD = {
    "no such arm": (
        lambda: ArmFeatures.from_table(TABLE, arms=["tea", "pie"]),
        "arm 'pie' has no features; expected o",
    ),
    "an arm too many": (lambda: ArmFeatures.from_table(TABLE, arms=["tea"]), "rows for 'cake'; expected only 'tea'"),
    "rows too few": (lambda: ArmFeatures.from_table(np.ones((2, 1)), arms=3), "have 2 rows; expected 3, one an arm"),
    "an arm twice": (lambda: ArmFeatures.from_table(ROWS + ROWS[:1]), "column 'arm' has 'tea' twice"),
    "an arm again": (lambda: ArmFeatures.from_table(TABLE).add(TABLE), "arm 'tea' is there already; expected new"),
    "no arms": (lambda: ArmFeatures.from_table({}), "the features of arms are empty"),
    "no rows": (lambda: ArmFeatures.from_table(pd.DataFrame({"arm": []})), "a frame without rows"),
    "an empty list": (lambda: ArmFeatures.from_table([]), "expected a list of dictionaries"),
    "an empty array": (lambda: ArmFeatures.from_table(np.ones((0, 2))), "an array of shape (0, 2); expected (arms, d)"),
    "a vector": (lambda: ArmFeatures.from_table(np.ones(2)), "an array of shape (2,); expected (arms, d)"),
    "not finite": (lambda: ArmFeatures.from_table(np.array([[np.nan]])), "row 0: z0 is missing; expected a number"),
    "no column": (lambda: ArmFeatures.from_table(pd.DataFrame(ROWS), arm_column="x"), "column 'x' is not there; expec"),
    "no key": (lambda: ArmFeatures.from_table([{"arm": 1}, {"b": 1}], arm_column="arm"), "row 1 has no column 'arm'"),
    "names that are none": (lambda: ArmFeatures.from_table([{"arm": 1.5, "x": 1}]), "column 'arm' has 1.5 of type flo"),
    "another column": (lambda: ArmFeatures.from_table(TABLE, features={"price": "number"}), "row 0: column 'kind' is"),
    "take": (lambda: ArmFeatures.from_table(TABLE).take(["x"]), "arm 'x' has no features; expected one of 'tea', 'ca"),
    "take nothing": (lambda: ArmFeatures.from_table(TABLE).take([]), "arms is []; expected a list of names"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_are_refused(case):
    make, message = BAD[case]
    with pytest.raises(InputError, match=re.escape(message)):
        make()


def test_bad_settings_are_refused():
    for make, message in [
        (lambda: ArmFeatures.from_table(TABLE, arms="tea"), "arms is 'tea'; expected a list of names"),
        (lambda: ArmFeatures.from_table(TABLE, arms=[]), "expected a list of names"),
        (lambda: ArmFeatures.from_table(TABLE, features=3), "features is 3; expected Features"),
        (lambda: ArmFeatures(arms=("a",), values=np.ones((2, 4)), encoder=COLUMNS), r"values has shape \(2, 4\); exp"),
        (lambda: ArmFeatures(arms=("a",), values=np.ones((1, 1)), encoder=None), "encoder is None; expected Features"),
    ]:
        with pytest.raises(SettingError, match=message):
            make()


def test_outer_pairs_are_those_of_a_linear_class_with_arm_features():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(5, 3)), rng.normal(size=(4, 2))
    functions = LinearClass(n_arms=4, dimension=3, arm_features=z)
    assert pair_features(x, z).tobytes() == functions.features.rows(x).tobytes()
    own = np.broadcast_to(z, (5, 4, 2))
    assert pair_features(x, own).tobytes() == pair_features(x, z).tobytes()
    with_one = LinearClass(n_arms=4, dimension=3, arm_features=z, intercept=True)
    one = np.column_stack([x, np.ones(5)]), np.column_stack([z, np.ones(4)])
    assert pair_features(*one).tobytes() == with_one.features.rows(x).tobytes()


def test_concatenated_pairs_and_names():
    x, z = np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]])
    assert pair_features(x, z, "concatenate").tolist() == [[[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]]]
    assert pair_names(["intercept", "age"], ["price"], "concatenate") == ("intercept", "age", "arm price")
    assert pair_names(["age"], ["price", "kind=food"]) == ("age*price", "age*kind=food")


def test_bad_pairs_are_refused():
    x, z = np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]])
    with pytest.raises(SettingError, match="how is 'sum'; expected one of 'outer', 'concatenate'"):
        pair_features(x, z, "sum")
    with pytest.raises(InputError, match=r"contexts have shape \(2,\) and arms \(2, 1\)"):
        pair_features(x[0], z)
    with pytest.raises(InputError, match=r"expected \(n, d\), and \(K, e\) or \(n, K, e\)"):
        pair_features(x, np.ones((2, 3, 1)))
