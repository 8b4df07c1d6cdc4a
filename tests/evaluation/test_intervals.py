"""Intervals: what they are made of, and that those that promise coverage at any number of rounds have it."""

import math

import numpy as np
import pytest

import graphbandit as gb
from benchmarks.evaluation import coverage, efficiency
from benchmarks.evaluation.problems import GRAPHS, HubProblem, LinearProblem
from graphbandit.evaluation import INTERVALS, Difference, Log, compare, evaluate
from graphbandit.evaluation.group_sums import group_of, group_slack, group_starts, n_groups
from graphbandit.evaluation.intervals import Groups, bernstein_lower, betting_lower, betting_path
from tests.logs.logged import logged


def test_groups():
    rows = np.arange(300_000)
    groups = group_of(rows)
    assert set(np.diff(groups).tolist()) == {0, 1}
    assert np.array_equal(group_starts(groups[-1] + 1), np.flatnonzero(np.diff(groups, prepend=-1)))
    assert n_groups(300_000) == groups[-1] + 1
    assert n_groups(0) == 0
    assert n_groups(10_000_000) == 414_298


def groups_of(values, bottom=0.0, top=1.0):
    index = group_of(np.arange(len(values)))
    counts = np.bincount(index)
    slack = group_slack(len(counts), top - bottom)
    return Groups(np.bincount(index, values) / counts, counts, bottom - slack, bottom, top)


@pytest.mark.parametrize(("n", "repeats"), [(100, 20), (1000, 20), (30_000, 5)])
def test_bounds_hold_and_are_not_far_off(n, repeats):
    rng = np.random.default_rng(n)
    spread = math.sqrt(0.3 * 0.7 / n)
    missed = dict.fromkeys(("betting", "uniform", "bernstein"), 0)
    far = dict.fromkeys(missed, 0.0)
    for _ in range(repeats):
        values = (rng.random(n) < 0.3).astype(float)
        groups = groups_of(values)
        found = {
            "betting": betting_lower(groups, 0.025),
            "uniform": betting_lower(groups, 0.025, uniform=True),
            "bernstein": bernstein_lower(groups, 0.025),
        }
        for name, bound in found.items():
            missed[name] += bound > 0.3
            far[name] += (0.3 - bound) / spread / repeats
    assert all(count <= 3 for count in missed.values())
    assert far["betting"] < 3.2
    assert far["uniform"] < 4.2
    assert far["bernstein"] < 5.5


def test_the_bound_of_the_sequence_never_falls():
    values = np.random.default_rng(0).random(3000)
    path = betting_path(groups_of(values), 0.025, np.array([10, 100, 1000, 2000, 3000]))
    assert (np.diff(path) >= 0).all()
    assert path[-1] == pytest.approx(betting_lower(groups_of(values), 0.025, uniform=True), abs=1e-6)
    assert 0.4 < path[-1] < 0.5


def test_bernstein_holds_where_the_value_drifts():
    values = np.concatenate([np.full(500, 0.2), np.full(500, 0.8)])
    assert bernstein_lower(groups_of(values), 0.025) < 0.5 < -bernstein_lower(groups_of(-values, -1.0, 0.0), 0.025)


def test_every_interval_on_a_log():
    made = logged(n=1000)
    widths = {}
    for interval in INTERVALS:
        table = evaluate(made.log, "uniform", interval=interval)
        found = table["uniform"]
        assert found.low < found.value < found.high
        assert found.low <= made.means.mean() <= found.high
        assert found.low >= 0
        widths[interval] = found.high - found.low
        path = table.over_time("uniform")
        assert path.rounds[-1] == 1000
        assert path.value[-1] == pytest.approx(found.value)
    assert widths["asymptotic"] < widths["betting"] < widths["sequence"] < widths["bernstein"]
    wider = evaluate(made.log, "uniform", level=0.99)["uniform"]
    assert wider.high - wider.low > widths["betting"]


def test_promises_say_what_they_rest_on():
    made = logged(n=300)
    assert "range was taken from the log" in str(evaluate(made.log, "uniform"))
    assert "note" not in str(evaluate(made.log, "uniform", reward_range=(0, 1)))
    assert "the policy changes" in str(evaluate(made.log, {"learner": gb.AdaCBG()}))
    few = evaluate(made.log[:40], "uniform", interval="asymptotic")
    assert "too short" in str(few)
    assert "biased" in str(evaluate(made.log, "uniform", largest_weight=2.0))


def test_any_reward_range():
    made = logged(n=500)
    scaled = Log.from_arrays(**made.arrays | {"rewards": 100 + 50 * made.arrays["rewards"]})
    one = evaluate(made.log, "uniform", reward_range=(0, 1))["uniform"]
    other = evaluate(scaled, "uniform", reward_range=(100, 150), model=None)["uniform"]
    assert other.low == pytest.approx(100 + 50 * one.low, rel=0.02)
    assert other.high == pytest.approx(100 + 50 * one.high, rel=0.02)


def test_difference_intervals_hold():
    problem = coverage.problem_of("star", "mild")
    truth, _ = problem.truth(20_000)
    rng = np.random.default_rng(0)
    uniform_truth = problem.means(problem.contexts(20_000, rng)).mean()
    held = dict.fromkeys(INTERVALS, 0)
    for repeat in range(15):
        log = problem.log(400, np.random.default_rng(repeat))
        target = problem.target(log.to_batch().contexts)
        for interval in INTERVALS:
            found = compare(log, target, "uniform", interval=interval)
            held[interval] += found.low <= truth - uniform_truth <= found.high
    assert min(held.values()) >= 12


@pytest.mark.parametrize(
    "cell",
    [
        coverage.GridCell("star", "heavy", 100, "graph-dr"),
        coverage.GridCell("loops", "adaptive", 100, "graph-dr"),
        coverage.GridCell("complete", "deterministic", 100, "graph-dr"),
        coverage.GridCell("star", "drift", 100, "graph-dr"),
        coverage.GridCell("loops", "mild", 100, "graph-dr", "difference"),
        coverage.GridCell("star", "mild", 1000, "graph-dr", "all times"),
    ],
)
def test_coverage(cell):
    found = coverage.coverage(cell, 30 if cell.rounds < 1000 else 10, 20_000)
    assert not coverage.too_low(found)
    names = ["asymptotic", "sequence"] if cell.quantity == "all times" else list(INTERVALS)
    assert [one.interval for one in found] == names
    for one in found:
        assert 0 <= one.bounds[0] <= one.share <= one.bounds[1] <= 1
    assert cell.graph in coverage.markdown(found)
    assert coverage.as_csv(found).count("\n") == len(found) + 1
    assert cell in set(coverage.cells())


def test_what_is_promised():
    drift = coverage.GridCell("star", "drift", 100, "dr")
    times = coverage.GridCell("star", "mild", 9, "dr", "all times")
    assert [name for name in INTERVALS if coverage.promised(drift, name)] == ["bernstein"]
    assert [name for name in INTERVALS if coverage.promised(times, name)] == ["sequence"]


def test_graph_dr_is_near_the_bound_and_far_below_ips():
    found = efficiency.efficiency(LinearProblem(graph=GRAPHS["star"](20)), "star", 16, lambda: None, 20_000)
    ratio, low, _ = found.ratios["graph-dr"]
    assert low < 1.15
    assert ratio < 1.5
    assert found.ratios["ips"][0] > 3 * ratio
    assert all(abs(bias) < 4 for bias in found.bias.values())


def test_graph_ips_may_be_worse_than_ips():
    hub = efficiency.efficiency(HubProblem(graph=gb.graphs.star(50, hub=0)), "hub", 12, lambda: None, 20_000)
    assert hub.ratios["graph-ips"][0] > 4 * hub.ratios["ips"][0]
    assert hub.ratios["graph-balanced"][0] < hub.ratios["ips"][0]
    assert hub.ratios["graph-dr"][0] < hub.ratios["ips"][0]
    assert "bound" in efficiency.markdown([hub], 12)


def test_a_value_that_drifts_is_told_and_has_the_interval_of_its_average():
    rng = np.random.default_rng(0)
    n = 2000
    actions = rng.integers(2, size=n)
    means = np.where(np.arange(n) < n // 2, 0.9, 0.1)
    rewards = (rng.random(n) < means).astype(float)
    log = Log.from_arrays(actions=actions, probabilities=np.full((n, 2), 0.5), rewards=rewards)
    for interval in ("betting", "sequence"):
        table = evaluate(log, "uniform", interval=interval, reward_range=(0, 1))
        (found,) = table.values_by_name.values()
        assert found.drifts
        assert found.low < found.value < found.high
        assert any("changed within the log" in note for note in table.notes)
    later = np.where(np.arange(n) < n // 2, 0.8, 0.2)
    rewards = (rng.random(n) < np.where(actions == 0, later, 1 - later)).astype(float)
    log = Log.from_arrays(actions=actions, probabilities=np.full((n, 2), 0.5), rewards=rewards)
    assert not compare(log, [1.0, 0.0], [0.0, 1.0], reward_range=(0, 1)).decided


def test_a_value_outside_of_its_interval_is_explained():
    n = 300
    shared = {"reward_range": (0, 1), "model": np.tile([0.4, 0.0], (n, 1))}
    p = np.tile([0.99, 0.01], (n, 1))
    log = Log.from_arrays(actions=np.r_[1, np.zeros(n - 1, dtype=int)], probabilities=p, rewards=np.zeros(n))
    table = evaluate(log, "logged", **shared)
    assert table["logged"].value < 0 == table["logged"].low  # the range of the rewards bounds the interval
    assert table["logged"].outside == "terms"
    assert any("built on other terms than the value" in note for note in table.notes)
    direct = evaluate(log, "logged", **shared, method="direct")
    assert any("the model is wrong" in note for note in direct.notes)

    rng = np.random.default_rng(15)
    actions = rng.integers(2, size=400)
    rewards = (rng.random(400) < np.linspace(0.4, 0.65, 400)).astype(float)
    log = Log.from_arrays(actions=actions, probabilities=np.full((400, 2), 0.5), rewards=rewards)
    table = evaluate(log, "logged", reward_range=(0, 1))
    assert table["logged"].value > table["logged"].high
    assert table["logged"].outside == "part"
    assert any("it probably changed within the log" in note for note in table.notes)
    assert evaluate(log, "logged", reward_range=(0, 1), interval="bernstein")["logged"].outside is None


def test_a_verdict_follows_the_interval():
    shared = {"first": "a", "second": "b", "standard_error": 0.1, "rounds": 9, "level": 0.95}
    assert Difference(value=0.1, low=-0.3, high=-0.1, **shared).verdict == "b is better"
    assert Difference(value=-0.1, low=0.1, high=0.3, **shared).verdict == "a is better"
    assert Difference(value=0.1, low=-0.1, high=0.3, **shared).verdict == "undecided"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"interval": "asymptotic"}, "only approximate where the log's probabilities depend on its past"),
        ({"interval": "bootstrap"}, "only approximate where the log's probabilities depend on its past"),
        ({"interval": "betting", "fit": "cross"}, "interval='betting' is not guaranteed with fit='cross'"),
        ({"interval": "sequence", "model": np.full((200, 5), 0.5)}, "if the predictions of the model come from other"),
        ({"interval": "betting", "largest_weight": 3.0}, "the values are biased"),
        ({"interval": "betting"}, "the range was taken from the log"),
    ],
)
def test_the_result_says_what_is_not_guaranteed(settings, words):
    log = logged(n=200).log
    assert any(words in note for note in evaluate(log, ["uniform", "logged"], **settings).notes)
    assert any(words in note for note in compare(log, "uniform", "logged", **settings).notes)
    promised = {"reward_range": (0, 1), "interval": "betting"}
    assert evaluate(log, ["uniform"], **promised).notes == []
    assert compare(log, "uniform", "logged", **promised).notes == ()
    assert evaluate(log, ["uniform"], method="graph-ips", fit="cross", **promised).notes == []


def test_halves_that_differ_widen_the_interval():
    rng = np.random.default_rng(0)
    n = 1000
    actions = rng.integers(2, size=n)
    for rise, changes in ((0.3, True), (0.0, False)):
        means = 0.5 + rise * np.linspace(-1, 1, n)
        rewards = (rng.random(n) < means).astype(float)
        log = Log.from_arrays(actions=actions, probabilities=np.full((n, 2), 0.5), rewards=rewards)
        found = {
            interval: evaluate(log, ["uniform"], method="ips", interval=interval, reward_range=(0, 1))["uniform"]
            for interval in ("betting", "bernstein")
        }
        assert found["betting"].drifts == changes
        narrower = found["betting"].high - found["betting"].low < found["bernstein"].high - found["bernstein"].low
        assert narrower != changes
        assert not found["bernstein"].drifts
