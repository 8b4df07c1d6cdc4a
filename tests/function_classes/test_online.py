"""Online oracles against the textbook's formulas, written down with matrices, and in learners."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import HorizonError, InputError, SettingError
from graphbandit.rounds.shown import Shown


def some_rounds(shape, n=12, n_arms=3, size=4, seed=0):
    rng = np.random.default_rng(seed)
    contexts = rng.standard_normal((n, size) if shape == "own" else (n, n_arms, size))
    return contexts, rng.random((n, n_arms)) < 0.6, rng.standard_normal((n, n_arms))


@pytest.mark.parametrize("shape", ["own", "shared"])
@pytest.mark.parametrize("method", ["vaw", "ridge"])
def test_ridge_and_vaw_are_what_their_matrices_say(method, shape):
    contexts, revealed, rewards = some_rounds(shape)
    first = next(rewards[t, a] for t, a in np.argwhere(revealed))  # rewards are counted from the first one
    oracle = gb.function_classes.OnlineLinear(method=method, n_arms=3, regularisation=0.7)
    state = None
    for t in range(12):
        found = oracle.predict(state, contexts[t : t + 1])[0]
        for a in range(3):
            x = contexts[t] if shape == "own" else contexts[t, a]
            A, b = 0.7 * np.eye(4), np.zeros(4)
            for u in range(t):
                for arm in np.flatnonzero(revealed[u]):
                    if shape == "shared" or arm == a:
                        z = contexts[u] if shape == "own" else contexts[u, arm]
                        A, b = A + np.outer(z, z), b + (rewards[u, arm] - first) * z
            if method == "vaw":
                A = A + np.outer(x, x)
            assert found[a] == pytest.approx((first if t else 0.0) + x @ np.linalg.solve(A, b), abs=1e-10)
        one = slice(t, t + 1)
        seen = gb.Observations.from_masks(contexts[one], revealed[one], rewards[one], first_round=t)
        state = oracle.update(state, seen)


def test_gradient_descent_by_hand():
    """Rewards count from the first, 3, which leaves theta = 0. Then y = 6: gradient -6, span 3, so theta = 0.5 * 3."""
    oracle = gb.function_classes.OnlineLinear(method="ogd", n_arms=1, rate=0.5)
    contexts, seen = np.array([[2.0]]), np.array([[True]])
    state = oracle.update(None, gb.Observations.from_masks(contexts, seen, np.array([[3.0]])))
    assert oracle.predict(state, contexts)[0, 0] == pytest.approx(3.0)
    state = oracle.update(state, gb.Observations.from_masks(contexts, seen, np.array([[6.0]]), first_round=1))
    assert state.parameters[0, 0] == pytest.approx(1.5)
    assert oracle.predict(state, contexts)[0, 0] == pytest.approx(6.0)


def test_one_update_is_many_and_changes_no_state():
    contexts, revealed, rewards = some_rounds("own")
    oracle = gb.function_classes.OnlineLinear(method="vaw", n_arms=3)
    first = oracle.update(None, gb.Observations.from_masks(contexts[:5], revealed[:5], rewards[:5]))
    kept = first.parameters.copy()
    both = oracle.update(first, gb.Observations.from_masks(contexts[5:], revealed[5:], rewards[5:], first_round=5))
    whole = oracle.update(None, gb.Observations.from_masks(contexts, revealed, rewards))
    np.testing.assert_array_equal(first.parameters, kept)
    np.testing.assert_array_equal(both.parameters, whole.parameters)
    np.testing.assert_array_equal(both.inverses, whole.inverses)


def test_bad_input():
    contexts, revealed, rewards = some_rounds("own")
    oracle = gb.function_classes.OnlineLinear(method="vaw", n_arms=3)
    state = oracle.update(None, gb.Observations.from_masks(contexts, revealed, rewards))
    with pytest.raises(InputError, match=r"contexts have shape \(2, 5\).*expected contexts as before"):
        oracle.predict(state, np.zeros((2, 5)))
    with pytest.raises(InputError, match=r"expected \(n, d\) or \(n, 3, d\)"):
        oracle.predict(None, np.zeros((2, 4, 5)))
    with pytest.raises(InputError, match="contexts have nan"):
        oracle.predict(None, np.full((2, 4), np.nan))
    with pytest.raises(SettingError, match="method is 'magic'; expected one of 'ridge', 'vaw', 'ogd'"):
        gb.function_classes.OnlineLinear(method="magic", n_arms=3)
    with pytest.raises(SettingError, match=r"regularisation is 0.0"):
        gb.function_classes.OnlineLinear(method="vaw", n_arms=3, regularisation=0.0)


def test_a_state_of_another_oracle_is_refused():
    contexts, oracles = np.ones((2, 3)), gb.function_classes.OnlineLinear
    for method, other in (("vaw", "ogd"), ("ogd", "vaw"), ("ridge", "ogd")):
        state = oracles(method=other, n_arms=3).start(contexts)
        with pytest.raises(InputError, match=f"as '{method}' has them"):
            oracles(method=method, n_arms=3).predict(state, contexts)


@pytest.mark.parametrize("learner", [gb.learners.SquareCB(), gb.SquareCBG(oracle="vaw"), gb.SquareCBG(oracle="ogd")])
def test_learners_learn_every_round(learner):
    """Two arms, the better one told by the sign of the context: the last hundred rounds are mostly right."""
    rng = np.random.default_rng(0)
    state = learner.init(gb.Problem(n_arms=2, horizon=300))
    graphs = gb.FeedbackGraphs.repeat(gb.graphs.bandit(2), 1)
    right = 0
    for t in range(300):
        assert learner.rounds_until_update(state) == 1
        context = rng.choice([-1.0, 1.0], size=(1, 1))
        decisions = learner.decide(state, Shown(context, graphs), rng)
        np.testing.assert_allclose(decisions.probabilities.sum(), 1, atol=1e-12)
        means = np.array([[context[0, 0], -context[0, 0]]])
        seen = graphs.revealed(decisions.action)
        right += t >= 200 and decisions.action[0] == np.argmax(means)
        state = learner.update(state, gb.Observations.from_masks(context, seen, means, first_round=t))
    assert right >= 90
    assert learner.rounds_until_update(state) == 0
    with pytest.raises(HorizonError, match="round 300"):
        learner.update(state, gb.Observations.from_masks(context, seen, means, first_round=300))


@pytest.mark.parametrize("kind", [gb.learners.SquareCB, gb.SquareCBG])
def test_an_online_oracle_takes_no_function_class(kind):
    functions = gb.LinearClass(dimension=2, n_arms=3)
    with pytest.raises(SettingError, match=r"function_class is .* with oracle 'ridge'.*; expected None, or"):
        kind(oracle="ridge", function_class=functions)
    state = kind(oracle="ridge").init(gb.Problem(n_arms=3, function_class=functions))
    assert state.data is None, "the problem's class is not used"
    assert kind(oracle="offline", function_class=functions).function_class is functions


def test_a_round_must_be_the_next():
    learner = gb.learners.SquareCB()
    state = learner.init(gb.Problem(n_arms=2))
    late = gb.Observations.from_masks(np.ones((1, 1)), np.ones((1, 2), dtype=bool), np.zeros((1, 2)), first_round=3)
    with pytest.raises(InputError, match="the last round of the observations is 3; expected round 0"):
        learner.update(state, late)


@pytest.mark.parametrize("learner", [gb.learners.SquareCB(), gb.SquareCBG(oracle="ridge"), gb.SquareCBG(oracle="ogd")])
def test_no_context_spoils_an_online_oracle(learner):
    one = gb.Bandit(learner, gb.Problem(n_arms=2))
    graph = gb.graphs.complete(2)
    for size in (1e155, 1e200, 1e8):
        with pytest.raises(InputError, match=r"a context has length (inf|1\.4.*e\+.*); .* expects at most 1e\+06"):
            one.decide([size, size], graph)
    for context in ([7e5, -7e5], [1e-25, 1.0], [1.0, 1.0], [1e5, 3.0]) * 5:
        one.observe(one.decide(context, graph), {0: 1.0, 1: 0.0})
    assert one.decide([1.0, 2.0], graph).probabilities.sum() == pytest.approx(1.0)
