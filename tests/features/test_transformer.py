"""Fitted scikit-learn transformers as encoders."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, PolynomialFeatures, StandardScaler

from graphbandit.base import saved_files
from graphbandit.errors import InputError, SettingError
from graphbandit.features import Features, Tally, TransformerFeatures, as_encoder

FRAME = pd.DataFrame({"age": [20.0, 40.0, 60.0], "country": ["DE", "FR", "DE"]})
ARRAY = np.array([[20.0, 1.0], [40.0, 2.0], [60.0, 6.0]])


def fitted(frame=FRAME, **settings):
    encoder = OneHotEncoder(handle_unknown="ignore", **settings)
    return ColumnTransformer([("n", StandardScaler(), ["age"]), ("c", encoder, ["country"])]).fit(frame)


def test_a_transformer_of_frames_takes_what_features_take():
    transformer = fitted()
    features = Features.from_transformer(transformer)
    expected = np.column_stack([np.ones(3), transformer.transform(FRAME)])
    assert features.feature_names == ("intercept", "n__age", "c__country_DE", "c__country_FR")
    assert features.column_names == ("age", "country")
    rows = FRAME.to_dict("records")
    for form in (FRAME, FRAME.assign(other=3), rows, FRAME[["country", "age"]]):
        np.testing.assert_array_equal(features.encode(form), expected)
    for row in (rows[1], FRAME.iloc[1]):
        np.testing.assert_array_equal(features.encode(row), expected[1])
    assert features.encode(FRAME[:0]).shape == (0, 4)
    assert as_encoder(transformer).encode(rows).tobytes() == features.encode(FRAME).tobytes()


def test_polars_frames_go_to_the_transformer_as_they_are():
    frame = pl.from_pandas(FRAME)
    features = TransformerFeatures(fitted(frame), intercept=False)
    np.testing.assert_array_equal(features.encode(frame), fitted().transform(FRAME))
    assert features.encode({"age": 40, "country": "PT"}).tolist() == [0.0, 0.0, 0.0]


def test_a_transformer_of_arrays_takes_arrays_and_named_columns():
    pipeline = make_pipeline(StandardScaler(), PolynomialFeatures(include_bias=False)).fit(ARRAY)
    expected = pipeline.transform(ARRAY)
    plain = TransformerFeatures(pipeline, intercept=False)
    np.testing.assert_array_equal(plain.encode(ARRAY), expected)
    np.testing.assert_array_equal(plain.encode(ARRAY[0]), expected[0])
    with pytest.raises(InputError, match="contexts have names, but the transformer was fitted to an array of 2 col"):
        plain.encode({"a": 1, "b": 2})
    named = TransformerFeatures(pipeline, columns=["a", "b"], intercept=False)
    np.testing.assert_array_equal(named.encode({"b": 1, "a": 20}), expected[0])
    np.testing.assert_array_equal(named.encode(pa.table({"a": ARRAY[:, 0], "b": ARRAY[:, 1]})), expected)


def test_the_transformer_is_a_copy():
    scaler = StandardScaler().fit(ARRAY)
    features = TransformerFeatures(scaler)
    before = features.encode(ARRAY)
    scaler.fit(100 * ARRAY)
    np.testing.assert_array_equal(features.encode(ARRAY), before)


def test_missing_values_are_counted():
    from sklearn.impute import SimpleImputer

    imputer = SimpleImputer().fit(FRAME[["age"]])
    features = TransformerFeatures(imputer)
    missing = Tally(missing={"age": 1})
    for form in ({"age": None}, pd.DataFrame({"age": [np.nan, 3.0]}), pl.DataFrame({"age": [float("nan"), 3.0]})):
        assert features.encode_counted(form)[1] == missing
    assert features.encode({"age": np.nan}).tolist() == [1.0, 40.0]
    arrays = TransformerFeatures(SimpleImputer().fit(ARRAY))
    assert arrays.encode_counted(np.array([1.0, np.nan]))[1] == Tally(missing={"column 1": 1})


def test_pandas_output_is_taken_too():
    transformer = StandardScaler().set_output(transform="pandas").fit(FRAME[["age"]])
    np.testing.assert_allclose(TransformerFeatures(transformer).encode(FRAME)[1], [1.0, 0.0])


def test_a_file_describes_the_transformer(tmp_path):
    features = TransformerFeatures(fitted())
    saved_files.write(tmp_path / "f.gb", "features", {"features": features})
    asked = []
    loaded = saved_files.read(tmp_path / "f.gb", "features", lambda description: asked.append(description) or features)
    assert loaded["features"] is features
    assert asked[0]["class"] == "TransformerFeatures"
    assert asked[0]["feature_names"] == list(features.feature_names)
    assert asked == [features.__external__()]


def test_bad_transformers_are_refused():
    unnamed = FunctionTransformer(np.sqrt).fit(ARRAY)
    for make, message in [
        (lambda: TransformerFeatures(3), "transformer is 3; expected one with a `transform` method"),
        (lambda: TransformerFeatures(StandardScaler), "expected one with a `transform` method"),
        (lambda: TransformerFeatures(StandardScaler()), r"StandardScaler\(\), which is not fitted"),
        (lambda: TransformerFeatures(unnamed), "does not name its features; expected feature_names="),
        (lambda: TransformerFeatures(fitted(), columns=["age", "x"]), "expected those the transformer was fitted to"),
        (lambda: TransformerFeatures(unnamed, columns=["a"], feature_names=["x"]), "columns has 1 names; expected 2"),
        (lambda: TransformerFeatures(unnamed, columns="ab", feature_names=["x"]), "columns is 'ab'; expected a list"),
        (lambda: TransformerFeatures(unnamed, feature_names=["x", "x"]), "expected at least one, and each once"),
        (lambda: TransformerFeatures(fitted(), intercept=1), "intercept is 1"),
    ]:
        with pytest.raises(SettingError, match=message):
            make()


def test_bad_contexts_are_refused():
    frames, strict = TransformerFeatures(fitted()), TransformerFeatures(OneHotEncoder().fit(FRAME[["country"]]))
    root = TransformerFeatures(FunctionTransformer(np.log).fit(ARRAY), feature_names=["a", "b"])
    wrong = TransformerFeatures(FunctionTransformer().fit(ARRAY), feature_names=["a"])
    texts = TransformerFeatures(FunctionTransformer().fit(FRAME), feature_names=["a", "b"])
    for features, contexts, message in [
        (frames, {"age": 1}, "there is no column 'country'"),
        (frames, [{"age": 1, "country": "DE"}, {"age": 1}], "row 1: there is no column 'country'"),
        (frames, FRAME[["age"]], "there is no column 'country'"),
        (frames, ARRAY, "expected the columns 'age', 'country' by name"),
        (frames, 3, "contexts are 3 of type int"),
        (frames, [3], r"contexts are \[3\]; expected a dictionary"),
        (frames, {"age": "old", "country": "DE"}, "ColumnTransformer cannot transform these contexts"),
        (frames, {"age": np.nan, "country": "DE"}, r"the transformer made nan at \[0, 1\]; expected finite numbers"),
        (strict, {"country": "PT"}, "OneHotEncoder cannot transform these contexts: Found unknown categories"),
        (root, np.ones((2, 3)), r"an array of shape \(2, 3\); expected \(2,\) or \(n, 2\)"),
        (wrong, ARRAY, r"the transformer made an array of shape \(3, 2\); expected \(3, 1\)"),
        (texts, FRAME, "the transformer made values of type object; expected numbers"),
    ]:
        with pytest.raises(InputError, match=message):
            features.encode(contexts)


def test_texts_that_look_like_numbers_stay_texts():
    codes = OneHotEncoder().fit(np.array([["1"], ["2"]], dtype=object))
    features = TransformerFeatures(codes, columns=["code"], intercept=False)
    for form in ([{"code": "2"}], pd.DataFrame({"code": ["2"]}), np.array([["2"]], dtype=object)):
        assert features.encode(form).tolist() == [[0.0, 1.0]]
