"""Function classes that learners of experiment files name: they fit every kind of context, and mistakes have lines."""

import json

import numpy as np
import pytest

from graphbandit.errors import ExperimentError, SettingError
from graphbandit.experiments import load
from graphbandit.experiments.describe.class_kinds import CLASS_KINDS, Contexts
from graphbandit.experiments.describe.environment_kinds import build_environment
from graphbandit.experiments.describe.identity import identity
from graphbandit.experiments.describe.kinds import parameters
from graphbandit.experiments.describe.learner_kinds import LEARNER_KINDS, build_learner
from graphbandit.simulate import run_repeat

SMALL = {
    "kernel": {"n_features": 8},
    "forest": {"trees": 2, "members": 2},
    "boosting": {"trees": 2, "members": 2},
    "neural_network": {"passes": 1, "members": 2},
}
ARMS = ("per-arm", "new", "fixed")  # contexts (n, d), (n, K, d), and (n, d) beside fixed features of the arms

FILE = """\
[experiment]
name = "classes"
rounds = 8
repeats = 1

[environments.clicks]
kind = "linear"
n_arms = 4
dimension = 3
link = "logistic"
graph = "star"

[learners.ours]
kind = "AdaCBG"
function_class = "kernel"
n_features = 8
"""


def environment(arms):
    return build_environment(
        "linear", {"n_arms": 4, "dimension": 3, "arm_kind": arms, "arm_dimension": 2, "graph": "star"}
    )


@pytest.mark.parametrize("arms", ARMS)
@pytest.mark.parametrize("kind", CLASS_KINDS)
def test_every_kind_plays_on_every_kind_of_context(kind, arms):
    if kind in ("forest", "boosting"):
        pytest.importorskip("sklearn")
    if kind == "neural_network":
        pytest.importorskip("torch")
    place = environment(arms)
    # it learns after rounds 3 and 9, so that slow classes are fitted twice
    learner = build_learner("AdaCBG", {"function_class": kind, "epoch_growth": 3.0, **SMALL.get(kind, {})}, place)
    assert learner.function_class.n_arms == 4
    learner.function_class.check_contexts(place.instance(0).rounds(0, 2).contexts)
    (run,) = run_repeat([(kind, learner)], place, rounds=12, repeat=0, seed=0)
    assert np.isfinite(run.regret).all()


def test_features_of_arms_that_stay_are_shared():
    instance = environment("fixed").instance(0)
    contexts = Contexts.of(instance.problem(None), (3,))
    np.testing.assert_array_equal(contexts.arm_features, instance.arm_features)
    assert CLASS_KINDS["linear"](contexts=contexts).features.blocks == 1
    assert CLASS_KINDS["linear"](contexts=Contexts(n_arms=4, shape=(3,), arm_features=None)).features.blocks == 4


def test_contexts_of_other_shapes_are_refused():
    with pytest.raises(SettingError, match=r"function_class have shape \(2, 3, 4\); expected one or two axes"):
        CLASS_KINDS["linear"](contexts=Contexts(n_arms=2, shape=(2, 3, 4), arm_features=None))
    with pytest.raises(SettingError, match="one or two axes"):
        CLASS_KINDS["forest"](contexts=Contexts(n_arms=2, shape=(), arm_features=None))


@pytest.mark.parametrize("learner", [name for name, kind in LEARNER_KINDS.items() if kind.options is not None])
def test_options_of_classes_never_collide_with_settings_of_learners(learner):
    settings = set(LEARNER_KINDS[learner].defaults({})) | LEARNER_KINDS[learner].without
    assert "function_class" in settings
    for build in CLASS_KINDS.values():
        assert not settings & set(parameters(build))


def test_a_learner_without_a_class_has_the_identity_it_always_had():
    """No word of a class in it: results of earlier runs stay known."""
    for name, kind in LEARNER_KINDS.items():
        settings = kind.complete({})
        known = json.loads(identity(name, {}, LEARNER_KINDS))
        assert known == {"kind": name, **{key: value for key, value in settings.items() if value is not None}}
        assert "function_class" not in known


def test_options_are_part_of_the_identity():
    def of(**settings):
        return identity("AdaCBG", {"function_class": "kernel", **settings}, LEARNER_KINDS)

    assert of() == of(n_features=200)
    assert of() != of(n_features=100)
    assert of() != identity("AdaCBG", {"function_class": "linear"}, LEARNER_KINDS)


def test_a_class_needs_an_environment():
    with pytest.raises(SettingError, match="function_class is 'linear'; expected an environment"):
        build_learner("AdaCBG", {"function_class": "linear"})


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('"kernel"', '"kernal"', 15, "function_class is 'kernal'; expected one of 'linear', 'logistic'"),
        (
            "n_features = 8",
            "n_feature = 8",
            16,
            "unknown setting 'n_feature' of kind 'AdaCBG'; did you mean 'n_features'?",
        ),
        ("n_features = 8", "n_features = 0", 16, "n_features is 0"),
        ("n_features = 8", "trees = 3", 16, "unknown setting 'trees' of kind 'AdaCBG'"),
        ("n_features = 8", 'kernel = "spline"', 16, "kernel is 'spline'"),
        ('function_class = "kernel"\n', "", 15, "unknown setting 'n_features' of kind 'AdaCBG'"),
        ('kind = "AdaCBG"', 'kind = "LinUCB"', 15, "unknown setting 'function_class' of kind 'LinUCB'"),
    ],
)
def test_mistakes_are_told_with_their_line(old, new, line, message, tmp_path):
    path = tmp_path / "classes.toml"
    path.write_text(FILE.replace(old, new, 1))
    with pytest.raises(ExperimentError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert message in str(caught.value)


def test_a_list_of_classes_is_an_axis(tmp_path):
    path = tmp_path / "classes.toml"
    path.write_text(FILE.replace('"kernel"\nn_features = 8', '["linear", "logistic"]\nridge = 0.5'))
    assert [point.label for point in load(path).learner_points()] == [
        "ours function_class=linear",
        "ours function_class=logistic",
    ]
