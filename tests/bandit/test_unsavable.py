"""What a file cannot hold is asked for by its name when a bandit is loaded, and refused if it is another one."""

import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

import graphbandit as gb
from graphbandit.errors import SavedFileError, SettingError
from graphbandit.features.fitted import fitted_digests

FRAME = pd.DataFrame({"age": [20.0, 40.0, 60.0], "country": ["DE", "FR", "DE"]})
VISIT = {"age": 31, "country": "DE"}
ARMS = ["tea", "cake"]


def fitted(frame=FRAME, **settings):
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False, **settings)
    parts = [("n", make_pipeline(StandardScaler(), PolynomialFeatures()), ["age"]), ("c", encoder, ["country"])]
    return ColumnTransformer(parts).fit(frame)


def saved(path, **settings):
    settings = {"arms": ARMS, "features": fitted(), "function_class": "linear", "noise": 0.5, **settings}
    bandit = gb.Bandit(gb.Greedy(), gb.Problem(**settings), graph=gb.graphs.complete(2), seed=3)
    for _ in range(5):
        bandit.observe(bandit.decide(VISIT), {"tea": 0.5, "cake": 0.25})
    bandit.save(path)
    return bandit


def test_a_transformer_is_asked_for_by_its_name_and_goes_on(tmp_path):
    bandit = saved(tmp_path / "b.gb")
    with pytest.raises(SavedFileError, match=r"a transformer, which a file cannot hold, .*load\(path, features=...\)"):
        gb.Bandit.load(tmp_path / "b.gb")
    with pytest.raises(SavedFileError, match=r"expected the same one again, fitted as it was, as load\(path, features"):
        gb.Bandit.load(tmp_path / "b.gb", function_class=bandit.problem.features)
    expected = bandit.probabilities([VISIT]).tolist()
    for given in (fitted(), gb.Features.from_transformer(fitted())):
        loaded = gb.Bandit.load(tmp_path / "b.gb", features=given)
        loaded.save(tmp_path / "again.gb")
        assert (tmp_path / "again.gb").read_bytes() == (tmp_path / "b.gb").read_bytes()
        assert loaded.probabilities([VISIT]).tolist() == expected


OTHERS = {
    "a number": (fitted(FRAME.assign(age=[20.0, 40.0, 61.0])), "features has another transformers_.*mean_"),
    "a category": (fitted(FRAME.assign(country=["DE", "IT", "DE"])), "features has another transformers_.categories_"),
    "a setting": (fitted(min_frequency=1), "features has another transformer, "),
    "a kind": (StandardScaler().fit(FRAME[["age"]]), "features: "),
    "no transformer": (3, "features: transformer is 3"),
}


@pytest.mark.parametrize(("other", "message"), OTHERS.values(), ids=OTHERS)
def test_a_transformer_that_was_fitted_otherwise_is_refused(other, message, tmp_path):
    saved(tmp_path / "b.gb")
    with pytest.raises(SavedFileError, match=message) as caught:
        gb.Bandit.load(tmp_path / "b.gb", features=other)
    assert "expected the transformer saved in" in str(caught.value)


def test_transformers_of_arms_and_a_class_beside_them(tmp_path):
    rows = pd.DataFrame({"arm": ARMS, "price": [2.0, 4.0]})
    scaled, other = (StandardScaler().fit(rows[["price"]] * k) for k in (1, 2))
    arms = gb.features.ArmFeatures.from_table(rows, arms=ARMS, features=scaled)
    functions = gb.RegressorClass(Ridge(), n_arms=2, dimension=fitted().transform(FRAME).shape[1] + 1, members=2)
    for settings in ({"arm_features": arms}, {"function_class": functions}):
        bandit = saved(tmp_path / "b.gb", **settings)
        given = {"features": fitted(), **settings}
        assert gb.Bandit.load(tmp_path / "b.gb", **given).rounds == bandit.rounds
    saved(tmp_path / "b.gb", arm_features=arms)
    assert gb.Bandit.load(tmp_path / "b.gb", features=fitted(), arm_features=scaled).rounds == 5
    with pytest.raises(SavedFileError, match="arm_features has another mean_"):
        gb.Bandit.load(tmp_path / "b.gb", features=fitted(), arm_features=other)
    with pytest.raises(
        SavedFileError, match=r"StandardScaler\(\), as features=..., or arm_features=... if it encodes arms"
    ):
        gb.Bandit.load(tmp_path / "b.gb", features=fitted())


def test_what_a_file_holds_may_be_handed_in_but_not_another(tmp_path):
    features = gb.Features({"age": "number", "country": ["DE", "FR"]})
    functions = gb.LinearClass(n_arms=2, dimension=features.size, parameters="per-arm", ridge=2.0)
    saved(tmp_path / "b.gb", features=features, function_class=functions)
    again = gb.LinearClass(n_arms=2, dimension=features.size, parameters="per-arm", ridge=2.0)
    assert gb.Bandit.load(tmp_path / "b.gb", function_class=again, features=features).rounds == 5
    for other, message in [
        ({"ridge": 3.0}, "function_class has ridge 3.0, but it is 2.0 in .*b.gb; expected load"),
        ({"intercept": True}, "function_class has intercept True, but it is False"),
        ({"parameters": "shared"}, "function_class has parameters 'shared', but it is 'per-arm'"),
    ]:
        settings = {"n_arms": 2, "dimension": features.size, "parameters": "per-arm", "ridge": 2.0, **other}
        with pytest.raises(SavedFileError, match=message):
            gb.Bandit.load(tmp_path / "b.gb", function_class=gb.LinearClass(**settings))
    with pytest.raises(SavedFileError, match="function_class is a RegressorClass itself, but it is a LinearClass"):
        gb.Bandit.load(tmp_path / "b.gb", function_class=gb.RegressorClass)
    with pytest.raises(SavedFileError, match="features is a ColumnTransformer, but it is a Features"):
        gb.Bandit.load(tmp_path / "b.gb", features=fitted())


class Mine:
    """A transformer of nobody's library; it knows itself."""

    def __init__(self, mean):
        self._mean, self._kept, self.whole = mean, {"a", "b"}, self

    def transform(self, rows):
        return rows - self._mean


def test_digests_are_those_of_what_was_fitted():
    assert fitted_digests(fitted()) == fitted_digests(fitted())
    assert fitted_digests(Mine(1.0)) == fitted_digests(Mine(1.0)) != fitted_digests(Mine(2.0))
    used = fitted()
    used.transform(FRAME)
    assert fitted_digests(used) == fitted_digests(fitted())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (gb.RegressorClass, "function_class is .*RegressorClass.*, which cannot be built from n_arms, dimension"),
        (gb.FiniteClass, "function_class is .*FiniteClass.*, which takes no dimension"),
        (lambda n_arms, dimension: 1 / 0, "cannot be built from n_arms, dimension.*: ZeroDivisionError"),
    ],
    ids=["RegressorClass", "FiniteClass", "a mistake"],
)
def test_a_class_that_needs_more_than_its_sizes_is_refused(given, message):
    with pytest.raises(SettingError, match=message):
        gb.Problem(arms=ARMS, features={"age": "number"}, function_class=given)
    with pytest.raises(SettingError, match="function_class is "):
        gb.Bandit(gb.Greedy(function_class=given), gb.Problem(arms=ARMS), graph=gb.graphs.complete(2))
