"""Evaluation in parts, on a cluster, by replay, and the choice of a policy."""

import re

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import EngineError, LogError, SettingError
from graphbandit.evaluation import Log, best_policy, compare, evaluate, replay
from graphbandit.evaluation.evaluate import _table
from graphbandit.evaluation.models import ModelData
from graphbandit.evaluation.passes import PassPlan, reward_range_of, run_in_parts, start_models
from graphbandit.evaluation.policies import policies_of
from graphbandit.evaluation.settings import Settings
from graphbandit.function_classes import merging
from graphbandit.logs.cluster import partitions
from tests.logs.logged import logged


def in_parts(log, policies, count, **settings):
    chosen = Settings(**settings)
    functions = start_models(log, chosen, None)
    named = policies_of(policies, log)
    plan = PassPlan(
        settings=chosen,
        policies=named,
        pairs=(),
        reward_range=reward_range_of(log, chosen),
        models=None,
        plain_models=None,
        by=None,
        first_row=log.first_row,
        rounds=len(log),
    )
    sums, plan = run_in_parts(
        partitions(log, count), plan, functions, lambda function, parts: [function(part) for part in parts]
    )
    return _table(log, sums, plan, named, None)


@pytest.mark.parametrize("interval", ["asymptotic", "betting", "bootstrap"])
@pytest.mark.parametrize("count", [2, 7])
def test_parts_are_merged_to_the_same(interval, count):
    made = logged(n=9000)
    whole = evaluate(made.log, ["uniform", "logged"], interval=interval)
    parts = in_parts(made.log, ["uniform", "logged"], count, interval=interval)
    for name in ("uniform", "logged"):
        for field in ("value", "low", "high", "standard_error", "effective_sample_size", "largest_weight", "worth"):
            assert getattr(parts[name], field) == pytest.approx(getattr(whole[name], field), rel=1e-6, abs=1e-9), field


def test_without_a_model_parts_are_the_same_to_the_bit():
    made = logged(n=9000)
    whole = evaluate(made.log, "uniform", method="graph-ips")["uniform"]
    parts = in_parts(made.log, "uniform", 5, method="graph-ips")["uniform"]
    assert (parts.value, parts.low, parts.high) == (whole.value, whole.low, whole.high)
    assert parts.standard_error == pytest.approx(whole.standard_error, rel=1e-12)


@pytest.mark.parametrize(
    "functions",
    [
        gb.LinearClass(n_arms=5, dimension=3, parameters="per-arm"),
        gb.KernelClass(n_arms=5, dimension=3, n_features=20, parameters="per-arm"),
        gb.FiniteClass(
            lambda x: np.stack([x @ np.ones((3, 5)) * s for s in (0, 0.1, 0.3)], axis=1), n_functions=3, n_arms=5
        ),
    ],
)
def test_data_of_parts_equal_one_pass(functions):
    batch = logged(n=200).log.to_batch()
    parts = [
        functions.add(functions.empty(), batch.take(rows).observations())
        for rows in (slice(0, 50), slice(50, 120), slice(120, 200))
    ]
    merged, whole = merging.merged(parts), functions.add(functions.empty(), batch.observations())
    assert functions.n_observed(merged) == functions.n_observed(whole)
    one, other = (functions.predict(functions.fit(data), batch.contexts) for data in (merged, whole))
    assert np.allclose(one, other, rtol=0, atol=1e-10)


def test_classes_that_cannot_be_merged_say_so():
    functions = gb.GeneralizedLinearClass(n_arms=5, dimension=3, link="logistic", parameters="per-arm")
    data = functions.empty()
    with pytest.raises(SettingError, match="cannot be merged"):
        merging.merged([data, data])


@pytest.mark.parametrize("fitting", ["cross", "past"])
def test_models_never_see_their_own_rounds(fitting):
    made = logged(n=100)
    functions = gb.LinearClass(n_arms=5, dimension=3, parameters="per-arm", intercept=True)

    def models(log):
        data = ModelData(functions, Settings(fit=fitting), 100, own=False)
        for batch in log.batches():
            data.add(batch, 0, side=True)
        return data

    from graphbandit.evaluation.models import RewardModels, fold_of

    def predict(log):
        data = models(log)
        return RewardModels(
            function_class=functions,
            settings=Settings(fit=fitting),
            reward_range=(0.0, 1.0),
            first_row=0,
            fitted=data.models(),
            starts=data.starts,
        ).predict(log.to_batch())

    before = predict(made.log)
    changed = dict(made.arrays) | {"rewards": made.arrays["rewards"].copy()}
    changed["rewards"][60] += 5.0
    after = predict(Log.from_arrays(**changed))
    assert np.array_equal(before[60], after[60])
    assert not np.array_equal(before, after)
    if fitting == "past":
        assert np.array_equal(before[:61], after[:61])
    else:
        fold = fold_of(np.arange(100), Settings())
        assert np.array_equal(before[fold == fold[60]], after[fold == fold[60]])
        assert 30 < fold.sum() < 70


def test_on_a_cluster(tmp_path):
    distributed = pytest.importorskip("distributed")
    made = logged(n=6000)
    made.log.write(tmp_path / "log")
    log = Log.read(tmp_path / "log")
    whole = evaluate(log, "uniform")["uniform"]
    seen = []
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        there = evaluate(log, "uniform", cluster=client, progress=lambda done, total: seen.append((done, total)))
        arrays = evaluate(made.log, "uniform", cluster=cluster.scheduler_address)["uniform"]
        paired = compare(log, "logged", "uniform", cluster=client)
        best = best_policy(log, cluster=client)
        with pytest.raises(SettingError, match="needs all rounds in order"):
            evaluate(log, gb.AdaCBG(), cluster=client)
    for field in ("value", "low", "high", "standard_error"):
        assert getattr(there["uniform"], field) == pytest.approx(getattr(whole, field), abs=1e-6)
        assert getattr(arrays, field) == pytest.approx(getattr(whole, field), abs=1e-6)
    here = best_policy(log)
    assert best.name == here.name
    assert best.value.value == pytest.approx(here.value.value, abs=1e-6)
    assert np.allclose(best.policy.model.parameters, here.policy.model.parameters, atol=1e-9)
    assert paired.value == pytest.approx(compare(log, "logged", "uniform").value, abs=1e-9)
    assert seen[-1] == (12_000, 12_000)


def test_a_cluster_that_is_not_there():
    with pytest.raises(EngineError, match="cannot be reached"):
        evaluate(logged(n=50).log, "uniform", cluster=object())


def test_progress_here():
    seen = []
    evaluate(logged(n=50).log, "uniform", progress=lambda done, total: seen.append((done, total)))
    assert seen == [(50, 100), (100, 100)]


def test_replay_is_the_learners_own_run():
    """On a log of uniform play, the accepted rounds earn what the learner earns where it decides itself."""
    rng = np.random.default_rng(0)
    n, k = 4000, 4
    graph = gb.graphs.star(k, hub=0)
    contexts = rng.normal(size=(n, 2))
    means = 1 / (1 + np.exp(-contexts @ rng.normal(size=(2, k)) * 2))
    rewards = (rng.random((n, k)) < means).astype(float)
    actions = rng.integers(k, size=n)
    revealed = gb.FeedbackGraphs.repeat(graph, n).revealed(actions)
    log = Log.from_arrays(
        contexts=contexts,
        graphs=graph,
        actions=actions,
        probabilities=np.full((n, k), 1 / k),
        rewards=np.where(revealed, rewards, np.nan),
    )
    found = replay(log, gb.AdaCBG(), seed=1)
    assert found.clipped == 0
    assert found.accepted == pytest.approx(n / k, rel=0.2)
    assert found.value > means.mean() + 0.05
    assert len(found.rewards) == found.accepted
    assert found.low < found.value < found.high
    again = replay(log, gb.AdaCBG(), seed=1)
    assert np.array_equal(found.rewards, again.rewards)
    uniform = replay(log, gb.learners.Uniform(), seed=1)
    assert uniform.value == pytest.approx(means.mean(), abs=4 * uniform.standard_error)
    more = replay(log, gb.learners.Uniform(), largest_weight=1.0)
    assert more.accepted == n
    assert more.clipped == 0
    clipped = replay(log, gb.AdaCBG(), largest_weight=0.5)
    assert clipped.clipped > 0
    with pytest.raises(SettingError, match="expected a learner"):
        replay(log, "uniform")


def test_best_policy():
    made = logged(n=4000, seed=2)
    found = best_policy(
        made.log,
        {
            "ridge": gb.LinearClass(n_arms=5, dimension=3, parameters="per-arm", intercept=True),
            "AdaCB.G": gb.AdaCBG(),
            "uniform": gb.learners.Uniform(),
        },
        interval="asymptotic",
    )
    assert found.name in ("ridge", "AdaCB.G")
    assert found.rounds == (2000, 1000, 1000)
    assert found.against is not None
    assert found.value.low > found.against.value
    truth = (found.policy.probabilities(made.log.to_batch())[3000:] * made.means[3000:]).sum(axis=1).mean()
    assert found.value.low <= truth <= found.value.high
    assert set(found.chosen_by) == {"ridge", "AdaCB.G", "uniform"}
    assert best_policy(made.log).name == "ridge"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"learn": 0.9, "choose": 0.2}, "learn + choose is 1.1"),
        ({"candidates": {}}, "candidates is empty"),
        ({"candidates": {"x": 3}}, "expected a learner or a function class"),
    ],
)
def test_best_policy_settings_refused(arguments, message):
    with pytest.raises(SettingError, match=re.escape(message)):
        best_policy(logged(n=40).log, **arguments)
    with pytest.raises(LogError, match="three parts"):
        best_policy(logged(n=2).log)


def test_segments_and_figures(tmp_path):
    from graphbandit.evaluation.figures import plot_over_time, plot_segments, plot_values, plot_weights

    made = logged(n=400, columns={"country": np.array(["de", "fr"] * 200)})
    table = evaluate(made.log, ["uniform", "logged"], by="country", interval="asymptotic", method="graph-ips")
    parts = {(s.policy, s.segment): s for s in table.segments}
    assert len(parts) == 4
    german = Log.from_arrays(
        **{name: made.arrays[name][::2] for name in ("contexts", "actions", "probabilities", "rewards")},
        graphs=made.arrays["graphs"],
    )
    alone = evaluate(german, "uniform", interval="asymptotic", method="graph-ips")["uniform"]
    assert parts["uniform", "de"].value == pytest.approx(alone.value, abs=1e-12)
    assert parts["uniform", "de"].low == pytest.approx(alone.low, abs=1e-9)
    for plot in (plot_values, plot_over_time, plot_weights, plot_segments):
        plot(table).savefig(tmp_path / f"{plot.__name__}.png")
    labels = [label.get_text() for axes in table.figure().axes for label in axes.get_yticklabels()]
    assert {"uniform", "logged"} <= set(labels)
    frame = table.to_pandas()
    assert frame.loc["uniform", "value"] == table["uniform"].value
    assert table.to_arrow().num_rows == 2
    assert "<table>" in table._repr_html_()
    with pytest.raises(KeyError, match="no policy has the name 'new'"):
        table["new"]
