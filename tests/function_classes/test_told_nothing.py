"""Told neither noise nor scale, classes take both from the rewards, and their units and their zero do not matter."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import graphbandit as gb
from graphbandit.function_classes.scale import RIDGES, NoiseLaw, ridges_for, shares

ARMS, N, D = 4, 120, 3
RNG = np.random.default_rng(5)
CONTEXTS = RNG.normal(size=(N, D))
JOINT = RNG.normal(size=(N, ARMS, D))
REVEALED = RNG.random((N, ARMS)) < 0.5
THETA = RNG.normal(size=(ARMS, D))
REWARDS = 0.7 + CONTEXTS @ THETA.T + 0.4 * RNG.normal(size=(N, ARMS))

CLASSES: dict[str, Any] = {
    "per-arm": lambda: gb.LinearClass(n_arms=ARMS, dimension=D, parameters="per-arm", intercept=True),
    "shared": lambda: gb.LinearClass(n_arms=ARMS, dimension=D),
    "arm features": lambda: gb.LinearClass(n_arms=ARMS, dimension=D, arm_features=np.eye(ARMS)),
    "kernel": lambda: gb.KernelClass(n_arms=ARMS, dimension=D, parameters="per-arm", n_features=10),
}


def seen(functions: Any, rewards: np.ndarray) -> gb.Observations:
    shared = functions.features.parameters == "shared" and functions.features.arm_features is None
    return gb.Observations.from_masks(JOINT if shared else CONTEXTS, REVEALED, rewards)


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize(("a", "b"), [(500.0, 80.0), (-3.0, 2.0**-20), (0.0, 64.0)])
def test_units_and_zero_do_not_matter(kind: str, a: float, b: float) -> None:
    functions = CLASSES[kind]()
    plain, other = seen(functions, REWARDS), seen(functions, a + b * REWARDS)
    contexts = plain.contexts[:20]
    one, two = functions.add(functions.empty(), plain), functions.add(functions.empty(), other)
    assert one.regression.ridge == two.regression.ridge
    close = {"rtol": 1e-7, "atol": 1e-9 * (abs(a) + b)}
    np.testing.assert_allclose(
        a + b * functions.predict(functions.fit(one), contexts),
        functions.predict(functions.fit(two), contexts),
        **close,
    )
    drawn = [functions.draws(d, noise=None, count=7, rng=np.random.default_rng(0)) for d in (one, two)]
    first, second = (functions.draw_values(draws, contexts) for draws in drawn)
    np.testing.assert_allclose(a + b * first, second, **close)
    spaces = [functions.version_space(d, functions.sharp_radius(d, s, 0.1)) for d, s in ((one, 0.4), (two, 0.4 * b))]
    assert (functions.candidates(spaces[0], contexts) == functions.candidates(spaces[1], contexts)).all()
    for mine, theirs in zip(functions.bounds(spaces[0], contexts), functions.bounds(spaces[1], contexts), strict=True):
        np.testing.assert_allclose(a + b * mine, theirs, **close)
    assert functions.natural_scale(two).noise == pytest.approx(b * functions.natural_scale(one).noise)
    assert functions.natural_scale(two).complexity == pytest.approx(functions.natural_scale(one).complexity)


@pytest.mark.parametrize("parameters", ["shared", "per-arm"])
def test_small_features_are_as_good_as_others(parameters: str) -> None:
    """Features a thousandth, or a billionth, of the size: the lambdas that are tried follow, and draws are the same."""
    functions = gb.LinearClass(n_arms=ARMS, dimension=D, parameters=parameters)
    contexts = JOINT if parameters == "shared" else CONTEXTS
    scaled = contexts / np.sqrt((contexts**2).sum(axis=-1).mean())
    values, ridges = [], []
    for unit in (1.0, 1e-3, 1e-9):
        seen_so = gb.Observations.from_masks(unit * scaled, REVEALED, REWARDS)
        data = functions.add(functions.empty(), seen_so)
        draws = functions.draws(data, noise=None, count=50, rng=np.random.default_rng(0))
        values.append(functions.draw_values(draws, unit * scaled[:20]))
        ridges.append(data.regression.ridge / unit**2)
    np.testing.assert_allclose(ridges, ridges[0])
    np.testing.assert_allclose(values[1], values[0], atol=1e-6)
    np.testing.assert_allclose(values[2], values[0], atol=1e-6)


@pytest.mark.parametrize(
    ("size", "factor"),
    [(0.0, 1.0), (1e9, 1.0), (10.0, 1.0), (1.0, 1.0), (0.6, 1.0), (0.5, 10**-0.5), (0.1, 0.1), (1e-6, 1e-6)],
)
def test_lambdas_that_are_tried(size: float, factor: float) -> None:
    np.testing.assert_allclose(ridges_for(size), factor * RIDGES)
    if factor == 1.0:
        assert (ridges_for(size) == RIDGES).all()
    if size > 0.0:
        assert ridges_for(size)[0] <= 2e-3 * size


@pytest.mark.parametrize("kind", ["shared", "per-arm"])
def test_the_regression_is_the_most_likely_one(kind: str) -> None:
    """Against the density of the rewards under y = c + phi'theta + noise, everything integrated out literally."""
    functions = CLASSES[kind]()
    observations = seen(functions, REWARDS)
    data = functions.add(functions.empty(), observations)
    rows = functions.features.rows(observations.contexts)
    blocks, size = functions.features.blocks, functions.features.size
    design = np.zeros((observations.n_observed, blocks, size))
    for k, (row, arm) in enumerate(zip(observations.rows, observations.arms, strict=True)):
        design[k, arm if blocks > 1 else 0] = rows[row, arm if rows.shape[1] > 1 else 0]
    design = design.reshape(len(design), -1)
    y, n = observations.rewards, observations.n_observed
    span = np.ptp(y)
    flat = 1e9  # the variance of c's prior, in units of sigma^2
    likelihoods = []
    for ridge in RIDGES:
        covariance = np.eye(n) + design @ design.T / ridge + flat
        shape, scale = 2.0, 2.0 * (span / 4) ** 2
        residual = y @ np.linalg.solve(covariance, y)
        likelihoods.append(-0.5 * np.linalg.slogdet(covariance)[1] - (shape + n / 2) * np.log(scale + residual / 2))
    ridge = RIDGES[np.argmax(likelihoods)]
    known = data.regression
    assert known.ridge == ridge
    whole = np.column_stack([design, np.ones(n)])
    penalty = np.diag([*np.full(design.shape[1], ridge), 0.0])
    solution = np.linalg.solve(whole.T @ whole + penalty, whole.T @ y)
    np.testing.assert_allclose(known.parameters.ravel(), solution[:-1], atol=1e-8)
    assert known.offset == pytest.approx(solution[-1])
    loss = np.sum((y - whole @ solution) ** 2)
    assert functions.smallest_loss(data) == pytest.approx(loss)
    residual = loss + ridge * np.sum(solution[:-1] ** 2)
    assert known.law.estimate**2 == pytest.approx((2 * (span / 4) ** 2 + residual / 2) / (2 + (n - 1) / 2))
    freedom = np.trace(np.linalg.solve(design.T @ design + ridge * np.eye(design.shape[1]), design.T @ design))
    assert functions.natural_scale(data).complexity == pytest.approx(max(freedom, 1.0))
    # draws: the joint posterior of lambda, theta and c, whose moments are those of the mixture over lambda
    weights = np.exp(likelihoods - np.max(likelihoods))
    assert (weights > 0.01 * weights.max()).sum() > 1
    means, seconds = [], []
    for ridge in RIDGES:
        inverse = np.linalg.inv(whole.T @ whole + np.diag([*np.full(design.shape[1], ridge), 0.0]))
        means.append(inverse @ whole.T @ y)
        seconds.append(0.16 * inverse + np.outer(means[-1], means[-1]))
    mean = np.average(means, axis=0, weights=weights)
    covariance = np.average(seconds, axis=0, weights=weights) - np.outer(mean, mean)
    draws = functions.draws(data, noise=0.4, count=20_000, rng=np.random.default_rng(1)).members
    sample = np.column_stack([draws.parameters.reshape(20_000, -1), draws.offsets])
    np.testing.assert_allclose(sample.mean(axis=0), mean, atol=4 * np.sqrt(np.diag(covariance).max() / 20_000))
    np.testing.assert_allclose(np.cov(sample.T), covariance, atol=0.05 * np.diag(covariance).max())


def test_draws_know_how_little_a_few_equal_arms_say() -> None:
    """Two of twenty arms were seen, and are alike: the others may differ by more than the most likely lambda says."""
    functions = gb.LinearClass(n_arms=20, dimension=1, parameters="per-arm")
    revealed = np.zeros((40, 20), dtype=bool)
    revealed[:20, 0] = revealed[20:, 1] = True
    rewards = np.zeros((40, 20))
    rewards[:20, 0] = rewards[20:, 1] = np.tile([0.0, 1.0], 10)
    data = functions.add(functions.empty(), gb.Observations.from_masks(np.ones((40, 1)), revealed, rewards))
    assert data.regression.ridge == RIDGES[-1]
    alone = data.regression.law.estimate / np.sqrt(data.regression.ridge)
    drawn = functions.draws(data, noise=None, count=400, rng=np.random.default_rng(0)).members.parameters
    assert drawn[:, 2:].std() > 5 * alone


@pytest.mark.parametrize("count", [1, 2, 7, 200])
def test_shares_of_draws(count: int) -> None:
    likelihoods = np.log([0.5, 1e-9, 0.3, 0.2]).tolist()
    found = np.array([shares(likelihoods, count, np.random.default_rng(seed)) for seed in range(400)])
    assert (found.sum(axis=1) == count).all()
    assert (found >= 0).all()
    np.testing.assert_allclose(found.mean(axis=0), count * np.array([0.5, 0.0, 0.3, 0.2]), atol=0.12)


def test_noise_that_is_not_told_is_drawn_too() -> None:
    law = NoiseLaw.given(span=4.0, count=10, residual=3.0)
    drawn = law.draw(5_000, np.random.default_rng(0)) ** 2
    assert stats.kstest(drawn, stats.invgamma(2.0 + 5.0, scale=2.0 * 1.0 + 1.5).cdf).pvalue > 0.01


def test_a_finite_class_integrates_the_noise_out() -> None:
    values = np.array([[[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]])
    functions = gb.FiniteClass(lambda x: np.repeat(values, len(x), axis=0), n_functions=3, n_arms=2)
    rewards = np.array([[0.1, 0.8], [0.3, 1.2], [-0.4, 0.9]])
    data = functions.add(
        functions.empty(), gb.Observations.from_masks(np.zeros((3, 1)), np.ones((3, 2), bool), rewards)
    )
    losses = ((values[0][:, None] - rewards) ** 2).sum(axis=(1, 2))
    weights = (2 * (1.6 / 4) ** 2 + losses / 2) ** -(2 + 6 / 2)
    draws = functions.draws(data, noise=None, count=1, rng=np.random.default_rng(0))
    np.testing.assert_allclose(draws.weights, weights / weights.sum())
    nothing = functions.draws(functions.empty(), noise=None, count=1, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(nothing.weights, np.full(3, 1 / 3))


def test_rewards_that_are_all_the_same_say_nothing() -> None:
    functions = gb.LinearClass(n_arms=ARMS, dimension=D, parameters="per-arm")
    data = functions.add(functions.empty(), seen(functions, np.full((N, ARMS), 7.0)))
    drawn = functions.draws(data, noise=None, count=500, rng=np.random.default_rng(0)).members
    assert drawn.parameters.std() == pytest.approx(1.0, rel=0.1)
    np.testing.assert_allclose(functions.predict(functions.fit(data), CONTEXTS[:3]), 7.0)


@pytest.mark.parametrize("resampling", ["bootstrap", "perturbed"])
def test_regressors_are_given_rewards_in_their_own_units(resampling: Any) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    functions = gb.RegressorClass(
        linear_model.Ridge(), n_arms=ARMS, dimension=D, members=3, per_arm=True, resampling=resampling
    )
    observations = [gb.Observations.from_masks(CONTEXTS, REVEALED, y) for y in (REWARDS, 500 + 80 * REWARDS)]
    one, two = (functions.add(functions.empty(), o) for o in observations)
    for first, second in zip(functions.fits(one, 4), functions.fits(two, 4), strict=True):
        mine, theirs = functions.values(first, CONTEXTS[:9]), functions.values(second, CONTEXTS[:9])
        np.testing.assert_allclose(500 + 80 * mine, theirs, rtol=1e-9)
        assert second.loss == pytest.approx(6400 * first.loss)
    assert functions.range_of(two) == (observations[1].rewards.min(), observations[1].rewards.max())


HALF_LIFE = 9.0


def test_discounted_sums_are_the_literal_ones_and_do_not_depend_on_portions() -> None:
    functions = CLASSES["per-arm"]()
    observations = seen(functions, REWARDS)
    data = functions.empty(half_life=HALF_LIFE)
    for start in range(0, N, 7):
        data = functions.add(data, observations.take(start, start + 7))
    whole = functions.add(functions.empty(half_life=HALF_LIFE), observations)
    for name in ("matrices", "moments", "sums", "weight", "total", "squares"):
        np.testing.assert_array_equal(getattr(data, name), getattr(whole, name))
    weights = 2.0 ** ((np.arange(N) - (N - 1)) / HALF_LIFE)
    rows = np.column_stack([CONTEXTS, np.ones(N)])
    known = data.regression
    literal = []
    for arm in range(ARMS):
        w = weights * REVEALED[:, arm]
        matrix = (rows * w[:, None]).T @ rows + known.ridge * np.eye(D + 1)
        literal.append(np.linalg.solve(matrix, rows.T @ (w * (REWARDS[:, arm] - known.offset))))
    np.testing.assert_allclose(known.parameters, literal, atol=1e-9)


@pytest.mark.parametrize("bilinear", [True, False])
def test_discounted_losses(bilinear: bool) -> None:
    """Over many half-lives, so that sums are rescaled on the way."""
    rounds = 2_000
    rng = np.random.default_rng(3)
    x0, a0, arms = rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), rng.normal(size=(3, 2))
    functions: Any = gb.function_classes.BilinearClass(x0=x0, a0=a0, arms=arms)
    if not bilinear:
        functions = gb.FiniteClass(functions.values, n_functions=5, n_arms=3)
    contexts, revealed = rng.normal(size=(rounds, 2)), rng.random((rounds, 3)) < 0.5
    rewards = rng.normal(size=(rounds, 3))
    seen_all = gb.Observations.from_masks(contexts, revealed, rewards)
    data, whole = functions.empty(half_life=5.0), functions.add(functions.empty(half_life=5.0), seen_all)
    for start in range(0, rounds, 333):
        data = functions.add(data, seen_all.take(start, start + 333))
    np.testing.assert_array_equal(data.losses, whole.losses)
    weights = 2.0 ** ((np.arange(rounds) - (rounds - 1)) / 5.0)
    errors = (functions.values(contexts) - rewards[:, None]) ** 2
    literal = (errors * (weights[:, None] * revealed)[:, None]).sum(axis=(0, 2))
    np.testing.assert_allclose(data.losses_now, literal)
    assert data.weight_now == pytest.approx((weights[:, None] * revealed).sum())


@pytest.mark.parametrize("link", ["logistic", "poisson"])
def test_discounted_likelihood(link: Any) -> None:
    """An observation of weight 1/2, twice, is the same as one of weight 1."""
    functions = gb.GeneralizedLinearClass(n_arms=2, dimension=2, link=link, parameters="per-arm", ridge=1.0)
    contexts, outcomes = RNG.normal(size=(30, 2)), (RNG.random((30, 2)) < 0.4).astype(float)
    both = np.ones((30, 2), bool)
    once = functions.add(functions.empty(), gb.Observations.from_masks(contexts, both, outcomes))
    aged = functions.empty(half_life=1000.0)
    for first in (0, 30):
        aged = functions.add(aged, gb.Observations.from_masks(contexts, both, outcomes, first_round=first))
    # every round again 1,000 half-lives of 0.03 rounds later: the first pass weighs nothing
    short = functions.empty(half_life=0.01)
    for first in (0, 30):
        seen = gb.Observations.from_masks(contexts, both, outcomes, first_round=first)
        short = functions.add(short, seen)
    np.testing.assert_allclose(short.weights[-2:], 1.0)
    assert short.weights[:-2].max() < 1e-29
    literal = -np.log(2.0) / 1000.0 * (59 - np.repeat(np.arange(60), 2))
    np.testing.assert_allclose(aged.weights, np.exp(literal))
    x, w, y = np.tile(contexts, (2, 1)), aged.weights[::2], np.tile(outcomes[:, 0], 2)
    theta = functions.fit(aged).parameters[0]
    mean = 1 / (1 + np.exp(-x @ theta)) if link == "logistic" else np.exp(x @ theta)
    np.testing.assert_allclose(x.T @ (w * (y - mean)), theta, atol=1e-7)
    assert functions.n_observed(once) * 2 == functions.n_observed(aged)


def test_regressors_weigh_old_rewards_less() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    functions = gb.RegressorClass(linear_model.LinearRegression(), n_arms=1, dimension=1, members=1)
    contexts = np.ones((40, 1))
    rewards = np.repeat([[0.0], [1.0]], 20, axis=0)
    seen_all = gb.Observations.from_masks(contexts, np.ones((40, 1), bool), rewards)
    data = functions.add(functions.empty(half_life=5.0), seen_all)
    expected = np.average(rewards[:, 0], weights=2.0 ** (np.arange(40) / 5.0))
    np.testing.assert_allclose(functions.predict(functions.fit(data), contexts[:1]), expected)
    blind = gb.RegressorClass(pytest.importorskip("sklearn.neighbors").KNeighborsRegressor(), n_arms=1, dimension=1)
    with pytest.raises(gb.errors.SettingError, match="half-life"):
        blind.empty(half_life=5.0)


PRICES = np.array([1.0, 2.0, 5.0])


def test_factors_let_a_class_learn_outcomes() -> None:
    """Rewards are the price of what is sold; the class learns the probability of a sale."""
    rng = np.random.default_rng(2)
    features = np.column_stack([np.ones(3), np.log(PRICES)])
    plain = gb.GeneralizedLinearClass(n_arms=3, dimension=1, link="logistic", arm_features=features)
    priced = gb.GeneralizedLinearClass(n_arms=3, dimension=1, link="logistic", arm_features=features, factors=PRICES)
    contexts, both = np.ones((200, 1)), rng.random((200, 3)) < 0.5
    sold = (rng.random((200, 3)) < 1 / (1 + np.exp(-1.0 + 1.5 * np.log(PRICES)))).astype(float)
    sales = plain.add(plain.empty(), gb.Observations.from_masks(contexts, both, sold))
    revenue = priced.add(priced.empty(), gb.Observations.from_masks(contexts, both, sold * PRICES))
    np.testing.assert_array_equal(plain.fit(sales).parameters, priced.fit(revenue).parameters)
    chance = plain.predict(plain.fit(sales), contexts[:1])
    np.testing.assert_allclose(priced.predict(priced.fit(revenue), contexts[:1]), PRICES * chance)
    space = priced.version_space(revenue, priced.sharp_radius(revenue, 0.5, 0.1))
    lower, upper = priced.bounds(space, contexts[:1])
    low, high = plain.bounds(space, contexts[:1])
    np.testing.assert_allclose([lower, upper], [PRICES * low, PRICES * high])
    assert priced.candidates(space, contexts[:1])[0, np.argmax(PRICES * chance)]
    loss = (both * (sold * PRICES - PRICES * chance) ** 2).sum()
    assert priced.smallest_loss(revenue) == pytest.approx(loss)
    with pytest.raises(gb.errors.SettingError, match="factors"):
        gb.GeneralizedLinearClass(n_arms=3, dimension=1, link="logistic", parameters="per-arm", factors=[1, 0, 2])


def test_factors_of_a_regressor() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(3)
    settings = {"n_arms": 3, "dimension": 1, "members": 2}
    plain = gb.RegressorClass(linear_model.LinearRegression(), **settings)
    priced = gb.RegressorClass(linear_model.LinearRegression(), **settings, factors=PRICES)
    contexts, both = rng.normal(size=(60, 1)), rng.random((60, 3)) < 0.5
    both[:, 2] = False
    sold = (rng.random((60, 3)) < 0.5).astype(float)
    sales = plain.add(plain.empty(), gb.Observations.from_masks(contexts, both, sold))
    revenue = priced.add(priced.empty(), gb.Observations.from_masks(contexts, both, sold * PRICES))
    expected = PRICES * plain.predict(plain.fit(sales), contexts)
    np.testing.assert_allclose(priced.predict(priced.fit(revenue), contexts), expected)
    lower, upper = priced.bounds(priced.version_space(revenue, np.inf), contexts)
    np.testing.assert_allclose(lower, np.zeros((60, 3)))
    np.testing.assert_allclose(upper, np.tile(PRICES, (60, 1)))
