"""Estimators: equal to their neighbours' on graphs of loops, unbiased by enumeration on all others."""

import re

import numpy as np
import pytest
from estimators.bandits import gaussian, ips, snips
from hypothesis import given, settings
from hypothesis import strategies as st

import graphbandit as gb
from graphbandit.errors import InputError, LogError, SettingError, SupportError
from graphbandit.evaluation import METHODS, Log, compare, evaluate
from graphbandit.evaluation.terms import Seen, balanced_weights, terms, uses_side_observations
from tests.logs.logged import logged


@pytest.fixture(scope="module")
def loops():
    made = logged(n=500, graph=gb.graphs.bandit(5))
    rng = np.random.default_rng(3)
    return made, rng.dirichlet(np.ones(5), 500), rng.random((500, 5))


def evaluated(made, target, method, **more):
    return evaluate(made.log, {"new": target}, method=method, interval="asymptotic", **more)["new"]


def test_equal_to_vw_estimators_on_loops(loops):
    made, target, _ = loops
    n, actions = 500, made.arrays["actions"]
    rows = np.arange(n)
    p, y, pi = made.arrays["probabilities"][rows, actions], made.arrays["rewards"][rows, actions], target[rows, actions]
    rivals = {"ips": ips.Estimator(), "snips": snips.Estimator()}
    normal = gaussian.Interval()
    for i in range(n):
        for rival in (*rivals.values(), normal):
            rival.add_example(p[i], y[i], pi[i])
    for method, rival in rivals.items():
        for mine in (method, f"graph-{method}"):
            assert evaluated(made, target, mine).value == pytest.approx(rival.get(), abs=1e-12)
    found = evaluated(made, target, "graph-ips")
    assert [found.low, found.high] == pytest.approx(normal.get(0.05), abs=1e-12)


def test_equal_to_the_formulas_of_obp_on_loops(loops):
    # obp.ope.estimators, written out: InverseProbabilityWeighting, SelfNormalizedInverseProbabilityWeighting,
    # DirectMethod, DoublyRobust, their clipped versions (lambda_) and DoublyRobustWithShrinkage
    made, target, model = loops
    rows, actions = np.arange(500), made.arrays["actions"]
    reward, pscore = made.arrays["rewards"][rows, actions], made.arrays["probabilities"][rows, actions]
    iw = target[rows, actions] / pscore
    baseline = (model * target).sum(axis=1)
    q_hat = model[rows, actions]
    expected = {
        "ips": (reward * iw).mean(),
        "snips": (reward * iw / iw.mean()).mean(),
        "direct": baseline.mean(),
        "dr": (iw * (reward - q_hat) + baseline).mean(),
    }
    for method, value in expected.items():
        for mine in {method, f"graph-{method}"} & set(METHODS):
            assert evaluated(made, target, mine, model=model).value == pytest.approx(value, abs=1e-12), mine
    clipped = (reward * np.minimum(iw, 1.5)).mean()
    assert evaluated(made, target, "graph-ips", largest_weight=1.5).value == pytest.approx(clipped, abs=1e-12)
    shrunk = (4.0 * iw / (iw**2 + 4.0) * (reward - q_hat) + baseline).mean()
    assert evaluated(made, target, "graph-dr", model=model, shrink=4.0).value == pytest.approx(shrunk, abs=1e-12)


def literal(made, target, model, method):
    """The table of the specification, by loops."""
    total = weight = 0.0
    for t, action in enumerate(made.arrays["actions"]):
        graph = made.arrays["graphs"][t].to_dense()
        p, y = made.arrays["probabilities"][t], made.arrays["rewards"][t]
        value = 0.0
        for a in range(len(p)):
            q = sum(p[j] * graph[j, a] for j in range(len(p)))
            w = target[t, a] / q if graph[action, a] else 0.0
            if method in ("graph-ips", "graph-snips"):
                value += w * y[a] if w else 0.0
            else:
                value += target[t, a] * model[t, a] + (w * (y[a] - model[t, a]) if w else 0.0)
            weight += w
        total += value
    return total / weight if method == "graph-snips" else total / len(made.arrays["actions"])


@pytest.mark.parametrize("method", ["graph-ips", "graph-snips", "graph-dr"])
def test_equal_to_the_specification_on_random_graphs(method):
    rng = np.random.default_rng(0)
    graphs = gb.FeedbackGraphs.from_dense((rng.random((60, 5, 5)) < 0.3) | np.eye(5, dtype=bool))
    made = logged(n=60, graph=graphs)
    target, model = rng.dirichlet(np.ones(5), 60), rng.random((60, 5))
    found = evaluated(made, target, method, model=model)
    assert found.value == pytest.approx(literal(made, target, model, method), abs=1e-12)


@given(seed=st.integers(0, 10_000), difference=st.booleans())
@settings(max_examples=60, deadline=None)
def test_terms_are_unbiased_and_bounded(seed, difference):
    """Every action of a round is played: the mean over p is the value, and no term is below its bound."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6))
    graph = gb.FeedbackGraph.from_dense((rng.random((k, k)) < 0.4) | np.eye(k, dtype=bool))
    p = rng.dirichlet(np.full(k, 0.3)) * 0.99 + 0.01 / k
    y, model = rng.random(k) * 3 - 1, rng.random(k) * 6 - 2
    target = rng.dirichlet(np.full(k, 0.3))
    if difference:
        target = target - rng.dirichlet(np.full(k, 0.3))
    rewards = np.where(gb.FeedbackGraphs.repeat(graph, k).revealed(np.arange(k)), y, np.nan)
    log = Log.from_arrays(actions=np.arange(k), probabilities=np.tile(p, (k, 1)), rewards=rewards, graphs=graph)
    batch, rows, guess = log.to_batch(), np.tile(target, (k, 1)), np.tile(model, (k, 1))
    slack = np.full(k, 0.5)
    for method in METHODS:
        seen = Seen(batch, uses_side_observations(method))
        found = terms(method, rows, seen, guess, noise=0.3, reward_range=(-1.0, 2.0), slack=slack)
        if method != "direct":
            assert p @ found.value == pytest.approx(target @ y, abs=1e-8)
        if method in ("ips", "graph-ips"):
            assert p @ found.weight == pytest.approx(target.sum(), abs=1e-8)
        assert p @ found.lower == pytest.approx(target @ y, abs=1e-8)
        assert p @ found.upper == pytest.approx(target @ y, abs=1e-8)
        lowest = (target * np.where(target >= 0, -1.0, 2.0)).sum()
        highest = (target * np.where(target >= 0, 2.0, -1.0)).sum()
        assert (found.lower >= lowest - slack - 1e-9).all()
        assert (found.upper <= highest + slack + 1e-9).all()


def test_balanced_weights_are_the_best():
    """No other unbiased weights have a smaller variance: checked against a general solver."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(1)
    k, noise = 4, 0.2
    dense = (rng.random((k, k)) < 0.5) | np.eye(k, dtype=bool)
    graph = gb.FeedbackGraph.from_dense(dense)
    p, target, guess = rng.dirichlet(np.ones(k)), rng.dirichlet(np.ones(k)), rng.random(k)
    log = Log.from_arrays(
        actions=np.arange(k), probabilities=np.tile(p, (k, 1)), graphs=graph, rewards=np.where(dense, 1.0, np.nan)
    )
    mine = balanced_weights(np.tile(target, (k, 1)), Seen(log.to_batch(), True), np.tile(guess, (k, 1)), noise)
    assert p @ mine == pytest.approx(target)

    def variance(flat):
        w = np.where(dense, flat.reshape(k, k), 0.0)
        return p @ ((w @ guess) ** 2 + noise * (w**2).sum(axis=1))

    constraint = {"type": "eq", "fun": lambda flat: p @ np.where(dense, flat.reshape(k, k), 0.0) - target}
    best = minimize(variance, np.zeros(k * k), constraints=[constraint], options={"maxiter": 500, "ftol": 1e-14})
    assert variance(mine.ravel()) == pytest.approx(best.fun, rel=1e-6)
    plain = np.where(dense, target / (p @ dense), 0.0)
    assert variance(mine.ravel()) < variance(plain.ravel())


def test_diagnostics():
    made = logged(n=400)
    table = evaluate(made.log, {"uniform": "uniform", "logged": "logged"}, interval="asymptotic")
    batch = made.log.to_batch()
    w = np.where(batch.revealed, 0.2 / batch.q, 0.0).sum(axis=1)
    found = table["uniform"]
    assert found.largest_weight == pytest.approx(w.max())
    assert found.effective_sample_size == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert found.support == 1.0
    assert found.worth > 1
    assert found.without_side_observations is not None
    alone = evaluate(made.log, {"uniform": "uniform"}, method="dr", interval="asymptotic")["uniform"]
    assert found.without_side_observations.low == pytest.approx(alone.low, abs=1e-12)


def test_support():
    n = 50
    arrays = {
        "actions": np.zeros(n, dtype=int),
        "probabilities": np.tile([1.0, 0.0], (n, 1)),
        "rewards": np.tile([1.0, np.nan], (n, 1)),
    }
    log = Log.from_arrays(**arrays)
    with pytest.raises(SupportError, match=r"the policy 'uniform' has probability 0.5 .* round 0"):
        evaluate(log, "uniform")
    found = evaluate(log, "uniform", support="part")["uniform"]
    assert found.support == 0.5
    assert found.value == pytest.approx(0.5, abs=0.02)
    assert found.low <= 0.5 <= found.high
    both = Log.from_arrays(**arrays | {"graphs": gb.graphs.complete(2), "rewards": np.ones((n, 2))})
    assert evaluate(both, "uniform")["uniform"].support == 1.0  # side observations make up for it
    assert evaluate(both, "uniform")["uniform"].without_side_observations is None


def narrow(arms=("tea", "cake", "pie")):
    """A log that never reveals the last arm."""
    rng = np.random.default_rng(0)
    actions = rng.integers(2, size=300)
    p = np.tile([0.5, 0.5, 0.0], (300, 1))
    return Log.from_arrays(actions=actions, probabilities=p, rewards=(rng.random(300) + actions) / 2, arms=arms)


def test_errors_of_support_name_arms_and_the_floor():
    with pytest.raises(SupportError, match=r"has probability 0.333333 on arm 'pie', which .* such as IDSG\(floor=0.02"):
        evaluate(narrow(), "uniform")
    with pytest.raises(SupportError, match=r"probability 0.333333 on arm 2, which could not be revealed in round 0"):
        evaluate(narrow(None), "uniform")


def test_policies_of_different_support_are_not_compared():
    log = narrow()
    table = evaluate(log, ["uniform", "logged"], support="part", reward_range=(0, 1))
    assert table.best == "logged"
    assert table.winner() is None
    assert "values of policies with different support are those of different arms" in str(table)
    for found in (table.compare("uniform", "logged"), compare(log, "uniform", "logged", support="part")):
        assert str(found) == "uniform - logged: not comparable: different support"
        assert not found.decided
        assert np.isnan([found.value, found.low, found.high]).all()
    table = evaluate(log, {"cake": [0.0, 1.0, 0.0], "logged": "logged"}, support="part", reward_range=(0, 1))
    assert table.compare("cake", "logged").verdict == "cake is better"
    assert table.winner() == "cake"


def test_a_winner_is_better_than_all_others():
    table = evaluate(narrow(), {"tea": [1.0, 0, 0], "cake": [0, 1.0, 0], "most": [0.14, 0.86, 0]}, reward_range=(0, 1))
    assert table.best == "cake"
    assert table.winner() is None  # its interval overlaps with that of "most"
    assert table.winner([table.compare("most", "cake")]) == "cake"
    assert table.as_table([table.compare("most", "cake")]).is_marked(1)
    assert not table.as_table().is_marked(1)
    assert evaluate(narrow(), "logged").winner() is None


def test_a_log_may_be_its_folder(tmp_path):
    log = narrow()
    log.write(tmp_path / "log")
    assert evaluate(str(tmp_path / "log"), "logged")["logged"].value == evaluate(log, "logged")["logged"].value
    assert compare(tmp_path / "log", "logged", [1.0, 0, 0]).value == compare(log, "logged", [1.0, 0, 0]).value
    with pytest.raises(InputError, match="log is a int; expected a Log, or the folder of one"):
        evaluate(3, "logged")
    with pytest.raises(InputError, match=r"storage is 'log'; expected Log.read\(folder\)"):
        Log("log")


def test_missing_rewards():
    made = logged(n=100)
    arrays = dict(made.arrays)
    arrays["rewards"] = arrays["rewards"].copy()
    arrays["rewards"][7, arrays["actions"][7]] = np.nan
    log = Log.from_arrays(**arrays)
    with pytest.raises(LogError, match=r"decisions, row 7: the reward of arm . is missing"):
        evaluate(log, "uniform")
    dropped = evaluate(log, "uniform", missing_rewards="drop", interval="asymptotic", method="graph-ips")
    assert dropped.dropped == 1
    assert dropped["uniform"].rounds == 99
    rest = [i for i in range(100) if i != 7]
    kept = Log.from_arrays(
        **{name: arrays[name][rest] for name in ("contexts", "actions", "probabilities", "rewards")},
        graphs=arrays["graphs"],
    )
    expected = evaluate(kept, "uniform", interval="asymptotic", method="graph-ips")["uniform"].value
    assert dropped["uniform"].value == pytest.approx(expected, abs=1e-12)
    assert evaluate(log, "uniform", missing_rewards=0.0)["uniform"].rounds == 100


def test_logs_that_say_less():
    made = logged(n=200, graph=gb.graphs.bandit(5))
    rows, actions = np.arange(200), made.arrays["actions"]
    only = dict(made.arrays) | {"probabilities": made.arrays["probabilities"][rows, actions]}
    log = Log.from_arrays(**only)
    for method in METHODS:
        if method == "graph-balanced":
            continue
        full = evaluate(made.log, "uniform", method=method, interval="asymptotic")["uniform"]
        less = evaluate(log, "uniform", method=method, interval="asymptotic")["uniform"]
        assert less.value == pytest.approx(full.value, abs=1e-12)
        assert np.isnan(less.support)
    assert evaluate(log, "uniform", interval="betting")["uniform"].low > 0
    with pytest.raises(InputError, match="'logged' needs the probabilities of all arms"):
        evaluate(log, "logged")
    star = logged(n=50)
    unknown = Log.from_arrays(**dict(star.arrays) | {"probabilities": np.full(50, 0.5)})
    with pytest.raises(LogError, match="does not say with which probability"):
        evaluate(unknown, "uniform", method="graph-ips")
    q = star.log.to_batch().q
    told = Log.from_arrays(**dict(star.arrays) | {"graphs": None, "observation_probabilities": q})
    values = [evaluate(one, "uniform", interval="asymptotic")["uniform"].value for one in (told, star.log)]
    assert values[0] == pytest.approx(values[1], abs=1e-12)


def test_difference_is_paired():
    made = logged(n=600)
    rng = np.random.default_rng(0)
    target = rng.dirichlet(np.ones(5), 600)
    table = evaluate(made.log, {"new": target, "uniform": "uniform"}, interval="asymptotic")
    found = compare(made.log, "new", "uniform", interval="asymptotic")
    assert found.value == pytest.approx(table["new"].value - table["uniform"].value, abs=1e-12)
    assert table.compare("new", "uniform") == found
    assert compare(table, "new", "uniform") == found
    direct = compare(made.log, target, "uniform", interval="asymptotic")
    assert (direct.value, direct.low) == (found.value, found.low)
    same = compare(made.log, "logged", made.arrays["probabilities"])
    assert same.value == 0.0
    assert not same.decided
    assert same.low < 0 < same.high
    assert found.standard_error**2 < table["new"].standard_error ** 2 + table["uniform"].standard_error ** 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "magic"}, "method is 'magic'"),
        ({"interval": "wald"}, "interval is 'wald'"),
        ({"level": 1.0}, "level is 1.0"),
        ({"largest_weight": 0.0}, "largest_weight is 0.0"),
        ({"largest_weight": 1.0, "shrink": 1.0}, "largest_weight and shrink are both given"),
        ({"missing_rewards": "skip"}, "missing_rewards is 'skip'"),
        ({"support": "none"}, "support is 'none'"),
        ({"reward_range": (1, 0)}, "the highest of reward_range is 0"),
        ({"reward_range": 3}, "reward_range is 3"),
        ({"folds": 1}, "folds is 1"),
        ({"fit": "future"}, "fit is 'future'"),
        ({"by": "country"}, "by is 'country'"),
        ({"model": np.zeros((3, 2))}, "model has shape (3, 2)"),
        ({"model": gb.LinearClass(n_arms=3, dimension=3)}, "model has 3 arms"),
    ],
)
def test_bad_settings_are_refused(arguments, message):
    with pytest.raises(SettingError, match=re.escape(message)):
        evaluate(logged(n=20).log, "uniform", **arguments)


def test_rewards_outside_the_range_are_refused():
    with pytest.raises(InputError, match=r"the rewards go from 0 to 1; expected them within"):
        evaluate(logged(n=20).log, "uniform", reward_range=(0.0, 0.5))
