"""Function classes: the interface over every class, and the cheap bilinear form against the plain one."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.function_classes import FiniteModel, bilinear
from graphbandit.function_classes.finite_base import FiniteMixture

RNG = np.random.default_rng(8)
X0, A0, ARMS = RNG.normal(size=(9, 4)), RNG.normal(size=(9, 4)), RNG.uniform(-1, 1, (6, 4))
SCALE = 3.0


def literal(contexts):
    """f_i(x, a) = (x - x_i)'(a - a_i) / scale, as it is written."""
    return np.einsum("nid,iad->nia", contexts[:, None] - X0, ARMS[None] - A0[:, None]) / SCALE


CLASSES = {
    "callable": gb.FiniteClass(literal, n_functions=9, n_arms=6),
    "bilinear": gb.function_classes.BilinearClass(x0=X0, a0=A0, arms=ARMS, scale=SCALE),
}


@pytest.fixture(params=CLASSES)
def functions(request):
    return CLASSES[request.param]


@pytest.fixture
def observations():
    rng = np.random.default_rng(1)
    contexts = rng.normal(size=(700, 4))
    return gb.Observations.from_masks(contexts, rng.random((700, 6)) < 0.4, rng.normal(size=(700, 6)))


def test_values_and_predictions(functions, observations):
    values = functions.values(observations.contexts)
    np.testing.assert_allclose(values, literal(observations.contexts), atol=1e-12)
    for i in (0, 8):
        np.testing.assert_array_equal(functions.predict(FiniteModel(index=i), observations.contexts), values[:, i])


def test_losses_are_exact_and_add_up(functions, observations):
    residuals = literal(observations.contexts)[observations.rows, :, observations.arms] - observations.rewards[:, None]
    data = functions.add(functions.empty(), observations)
    np.testing.assert_allclose(data.losses, (residuals**2).sum(axis=0), rtol=1e-12)
    assert functions.n_observed(data) == observations.n_observed
    assert functions.smallest_loss(data) == data.losses.min()
    in_parts = functions.empty()
    for first, stop in [(0, 1), (1, 300), (300, 300), (300, 700)]:
        in_parts = functions.add(in_parts, observations.between(first, stop))
    np.testing.assert_array_equal(in_parts.losses, data.losses)
    assert functions.fit(data).index == int(np.argmin(data.losses))
    assert functions.empty().losses.sum() == 0


def test_values_do_not_depend_on_the_batch(functions, observations):
    whole = functions.values(observations.contexts)
    for i in (0, 13, 699):
        np.testing.assert_array_equal(functions.values(observations.contexts[i : i + 1])[0], whole[i])


def test_version_space(functions, observations):
    data = functions.add(functions.empty(), observations)
    assert functions.version_space(data, np.inf).size == 9
    assert functions.version_space(data, 0.0).size == 1
    middle = float(np.median(data.losses) - data.losses.min())
    assert functions.version_space(data, middle).size == 5
    assert functions.sharp_radius(data, 2.0, 0.1) == pytest.approx(8 * np.log(90))


def half_of(functions, observations):
    """Contexts, data, the better half of the functions as a version space, and their values."""
    contexts = observations.contexts[:300]
    data = functions.add(functions.empty(), observations.between(0, 20))
    space = functions.version_space(data, float(np.median(data.losses) - data.losses.min()))
    values = literal(contexts)[:, space.members]
    return contexts, data, space, values


def test_candidates_and_widths(functions, observations):
    contexts, data, space, values = half_of(functions, observations)
    found = functions.candidates(space, contexts)
    for t in range(300):
        assert set(np.flatnonzero(found[t])) == set(np.argmax(values[t], axis=1))
    model = functions.fit(data)
    best = np.argmax(functions.predict(model, contexts), axis=1)
    errors = values - literal(contexts)[:, model.index, None]
    shifted = errors - np.take_along_axis(errors, best[:, None, None], axis=2)
    np.testing.assert_allclose(functions.widths(space, model, contexts, best), np.abs(shifted).max(axis=1), atol=1e-12)


def test_bounds_are_the_extremes_of_the_members(functions, observations):
    contexts, _, space, values = half_of(functions, observations)
    lower, upper = functions.bounds(space, contexts)
    np.testing.assert_allclose(lower, values.min(axis=1), atol=1e-12)
    np.testing.assert_allclose(upper, values.max(axis=1), atol=1e-12)


def test_draws_are_the_posterior(functions, observations):
    data = functions.add(functions.empty(), observations.between(0, 5))
    draws = functions.draws(data, noise=1.5, count=4, rng=np.random.default_rng(0))
    weights = np.exp(-(data.losses - data.losses.min()) / 4.5)
    kept = weights > 1e-16
    np.testing.assert_allclose(draws.weights, weights[kept] / weights[kept].sum())
    values = functions.draw_values(draws, observations.contexts[:3])
    np.testing.assert_allclose(values, literal(observations.contexts[:3])[:, kept], atol=1e-12)


def test_draws_without_noise_are_the_functions_of_least_loss(functions, observations):
    data = functions.add(functions.empty(), observations.between(0, 5))
    draws = functions.draws(data, noise=0.0, count=4, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(draws.members, np.flatnonzero(data.losses == data.losses.min()))


def test_both_forms_decide_alike(observations):
    """The callable and the cheap form lead to the same decisions."""
    graph, contexts = gb.graphs.star(6), observations.contexts[:100]
    made = []
    for functions in CLASSES.values():
        bandit = gb.Bandit(gb.AdaCBG(), gb.Problem(n_arms=6, function_class=functions, noise=1.0), seed=2)
        actions = []
        for context in contexts:
            decision = bandit.decide(context, graph)
            truth = literal(context[None])[0, 4]
            bandit.observe(decision, {int(a): truth[a] for a in decision.revealed})
            actions.append((decision.action, decision.candidates.tolist(), decision.exploration_set.tolist()))
        made.append(actions)
    assert made[0] == made[1]


@pytest.mark.parametrize("noise", [None, 0.7])
def test_the_posterior_is_the_weighted_mean_of_all_functions(functions, observations, noise):
    """Values, best arms of members and the weight that calls an arm best, as sums that are written out."""
    rng, contexts = np.random.default_rng(5), observations.contexts[:300]
    available = rng.random((300, 6)) < 0.7
    available[:, 2] = True
    data = functions.add(functions.empty(), observations.between(0, 3))
    for known in (functions.empty(), data):
        model = functions.posterior(known, noise)
        drawn = functions.draws(known, noise=noise, count=1, rng=rng)
        np.testing.assert_array_equal(model.weights[drawn.members], drawn.weights)
        assert model.weights.sum() == pytest.approx(1.0)
        space = functions.version_space(known, 0.5)
        for offered in (None, available):
            mask = np.ones((300, 6), dtype=bool) if offered is None else offered
            values, candidates, chances, _ = functions.prospects(model, space, contexts, offered)
            best = np.argmax(np.where(mask[:, None], literal(contexts), -np.inf), axis=2)
            weight = np.einsum("i,nia->na", model.weights, best[:, :, None] == np.arange(6))
            np.testing.assert_allclose(chances, weight, atol=1e-12)
            np.testing.assert_allclose(values, np.einsum("i,nia->na", model.weights, literal(contexts)), atol=1e-12)
            np.testing.assert_array_equal(candidates, functions.candidates(space, contexts, offered))
            one = functions.prospects(model, space, contexts[7:8], None if offered is None else offered[7:8])
            for single, all_rounds in zip(one[:3], (values, candidates, chances), strict=True):
                np.testing.assert_array_equal(single[0], all_rounds[7])
        np.testing.assert_array_equal(functions.predict(model, contexts), values)
    np.testing.assert_allclose(functions.posterior(functions.empty(), noise).weights, 1.0 / 9.0)
    with pytest.raises(gb.errors.InputError, match="weights"):
        functions.predict(FiniteMixture(weights=np.ones(2) / 2.0), contexts)
    alone = functions.prospects(FiniteModel(index=3), space, contexts)
    assert alone.chances is None
    np.testing.assert_array_equal(alone[0], functions.predict(FiniteModel(index=3), contexts))


@pytest.mark.parametrize("most_kept", [0, 2**22])
def test_evaluators_give_the_same_functions_for_all_contexts(observations, monkeypatch, most_kept):
    monkeypatch.setattr(bilinear, "MOST_KEPT", most_kept)
    for functions in CLASSES.values():
        for members in (np.array([1, 4]), np.arange(functions.n_functions)):
            evaluate = functions.evaluator(members)
            for contexts in (observations.contexts[:5], observations.contexts[2:3], observations.contexts[:5]):
                np.testing.assert_array_equal(evaluate(contexts), functions.values_of(members, contexts))
                np.testing.assert_allclose(evaluate(contexts), literal(contexts)[:, members], atol=1e-12)


def test_many_arms_are_compared_eight_at_a_time():
    """Best arms of members, on every number of arms around a multiple of eight, with exact ties and with masks."""
    rng = np.random.default_rng(3)
    for n_arms in (7, 8, 15, 16, 17, 23, 24, 31):
        x0, a0, arms = (rng.integers(-2, 3, size=(n, 3)).astype(float) for n in (40, 40, n_arms))
        functions = gb.function_classes.BilinearClass(x0=x0, a0=a0, arms=arms)
        contexts = rng.integers(-2, 3, size=(9, 3)).astype(float)
        values = np.einsum("nid,iad->nia", contexts[:, None] - x0, arms[None] - a0[:, None])
        space = functions.version_space(functions.empty(), np.inf)
        model = functions.posterior(functions.empty(), None)
        available = rng.random((9, n_arms)) < 0.7
        available[:, 3] = True
        for offered in (None, available):
            best = np.argmax(values if offered is None else np.where(offered[:, None], values, -np.inf), axis=2)
            expected = (best[:, :, None] == np.arange(n_arms)).any(axis=1)
            np.testing.assert_array_equal(functions.candidates(space, contexts, offered), expected)
            np.testing.assert_array_equal(functions.prospects(model, space, contexts, offered).candidates, expected)


def test_contexts_of_a_size_that_makes_huge_values_are_refused():
    functions = CLASSES["bilinear"]
    assert functions.stays_within(FiniteModel(index=0))
    largest = 1e100 * SCALE / (4 * 4 * max(np.abs(ARMS).max(), np.abs(A0).max()))
    functions.check_contexts(np.full((1, 4), 0.999 * largest))
    assert np.abs(functions.values(np.full((1, 4), 0.999 * largest))).max() <= 1e100
    with pytest.raises(gb.errors.InputError, match="contexts have"):
        functions.check_contexts(np.full((1, 4), 1.001 * largest))
