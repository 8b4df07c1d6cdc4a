"""Generalised linear classes without a ridge: the evidence of every lambda, prices, half-lives, warnings."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import graphbandit as gb
from graphbandit.function_classes.evidence import CENTRE, USUAL
from graphbandit.function_classes.scale import RIDGES

LINKS = ["logistic", "poisson"]
PRICES = np.array([4.0, 5.0, 6.0, 8.0])
FEATURES = np.column_stack([np.ones(4), np.log(PRICES)])


def seen_of(link: str, rounds: int = 40, parameters: str = "per-arm") -> tuple[Any, gb.Observations]:
    """A class of three arms with two features, and what it has seen."""
    rng = np.random.default_rng(rounds)
    functions = gb.GeneralizedLinearClass(n_arms=3, dimension=2, link=link, parameters=parameters)
    contexts = rng.normal(size=(rounds, 3, 2))
    if parameters == "shared":
        contexts[:, :, 1] = 2.0
    mean = np.exp(-1.0 + 0.5 * contexts[:, :, 0])
    outcomes = rng.poisson(mean) if link == "poisson" else rng.random((rounds, 3)) < np.minimum(mean, 1.0)
    return functions, gb.Observations.from_masks(contexts, rng.random((rounds, 3)) < 0.6, outcomes.astype(float))


def evidence(phi: Any, rewards: Any, weights: Any, precision: Any, link: str) -> tuple[float, Any]:
    """Laplace's, by SciPy's minimiser and a dense Hessian; and the mode."""
    partition = (lambda eta: np.logaddexp(0.0, eta)) if link == "logistic" else np.exp
    mean = (lambda eta: 1 / (1 + np.exp(-eta))) if link == "logistic" else np.exp

    def loss(theta: Any) -> float:
        eta = phi @ theta
        return float((weights * (partition(eta) - rewards * eta)).sum() + theta @ precision @ theta / 2)

    def slope(theta: Any) -> Any:
        return phi.T @ (weights * (mean(phi @ theta) - rewards)) + precision @ theta

    found = minimize(loss, np.zeros(phi.shape[1]), jac=slope, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
    means = mean(phi @ found.x)
    slopes = weights * (means * (1 - means) if link == "logistic" else means)
    hessian = precision + (phi * slopes[:, None]).T @ phi
    return -found.fun + (np.linalg.slogdet(precision)[1] - np.linalg.slogdet(hessian)[1]) / 2, found.x


@pytest.mark.parametrize("half_life", [None, 15.0])
@pytest.mark.parametrize("parameters", ["shared", "per-arm"])
@pytest.mark.parametrize("link", LINKS)
def test_evidence_is_that_of_its_formula(link: str, parameters: str, half_life: float | None) -> None:
    functions, seen = seen_of(link, parameters=parameters)
    data = functions.add(functions.empty(half_life=half_life), seen)
    rows = seen.contexts[seen.rows, seen.arms]
    weights = np.ones(len(rows)) if half_life is None else 2.0 ** ((seen.rows - seen.rows.max()) / half_life)
    if parameters == "shared":
        phi, mean = rows, np.average(rows, axis=0, weights=weights)
        priors = {ridge: np.diag([ridge, 0.0]) + CENTRE * np.outer(mean, mean) for ridge in RIDGES}
    else:
        phi = (np.eye(3)[seen.arms][:, :, None] * rows[:, None]).reshape(len(rows), 6)
        priors = {ridge: ridge * np.eye(6) for ridge in RIDGES}
    prior_of = {ridge: USUAL * ridge**0.5 / (1.0 + USUAL**2 * ridge) for ridge in RIDGES}
    tried = {each.prior.ridge: each for each in data.tried}
    assert set(tried) <= set(RIDGES)
    literal = {}
    for ridge, prior in priors.items():
        found, mode = evidence(phi, seen.rewards, weights, prior, link)
        literal[ridge] = found + np.log(prior_of[ridge])
        if ridge in tried:
            assert tried[ridge].likelihood == pytest.approx(literal[ridge], abs=1e-6)
            np.testing.assert_allclose(tried[ridge].parameters.ravel(), mode, atol=1e-4)
    best = max(literal, key=lambda ridge: literal[ridge])
    assert data.fit.prior.ridge == best
    left_out = [literal[ridge] for ridge in RIDGES if ridge not in tried]
    assert max(left_out, default=-np.inf) < literal[best] - 12.0


@pytest.mark.parametrize("link", LINKS)
def test_draws_take_lambda_from_its_posterior(link: str) -> None:
    functions, seen = seen_of(link, rounds=6)
    data = functions.add(functions.empty(), seen)
    likelihoods = np.array([each.likelihood for each in data.tried])
    chances = np.exp(likelihoods - likelihoods.max())
    chances /= chances.sum()
    drawn = functions.draws(data, noise=None, count=40_000, rng=np.random.default_rng(1)).members.parameters
    mean = sum(p * each.parameters for p, each in zip(chances, data.tried, strict=True))
    variance = sum(
        p * (np.stack([np.diag(np.linalg.inv(u.T @ u)) for u in each.factors]) + (each.parameters - mean) ** 2)
        for p, each in zip(chances, data.tried, strict=True)
    )
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=5 * np.sqrt(variance.max() / 40_000))
    np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.15)


def test_told_ridge_and_identity_try_nothing() -> None:
    functions, seen = seen_of("logistic")
    told = gb.GeneralizedLinearClass(n_arms=3, dimension=2, link="logistic", parameters="per-arm", ridge=0.1)
    for each, ridge in ((told, 0.1), (gb.GeneralizedLinearClass(n_arms=3, dimension=2, link="identity"), 1.0)):
        assert [tried.prior.ridge for tried in each.add(each.empty(), seen).tried] == [ridge]
    empty = functions.fit(functions.empty()).parameters
    np.testing.assert_array_equal(empty, 0.0)


@pytest.mark.filterwarnings("ignore:the mean of 120 rewards is -0.268")
@pytest.mark.parametrize("parameters", ["shared", "per-arm"])
@pytest.mark.parametrize("link", LINKS)
def test_rewards_that_are_no_outcomes_do_not_tell_lambda(link: str, parameters: str) -> None:
    """Below 0 the likelihood has no bound, and the smallest lambda would take all."""
    functions, seen = seen_of(link, parameters=parameters)
    strange = gb.Observations.from_masks(
        seen.contexts, np.ones((len(seen), 3), dtype=bool), np.random.default_rng(0).normal(-0.3, 0.4, (len(seen), 3))
    )
    data = functions.add(functions.empty(), strange)
    assert [tried.prior.ridge for tried in data.tried] == [1.0]
    assert np.isfinite(functions.sharp_radius(data, 1.0, 0.1))
    assert np.isfinite(functions.predict(functions.fit(data), seen.contexts)).all()


@pytest.mark.parametrize("parameters", ["shared", "per-arm"])
def test_portions_do_not_matter(parameters: str) -> None:
    functions, seen = seen_of("logistic", parameters=parameters)
    whole, data = functions.add(functions.empty(), seen), functions.empty()
    for start in range(0, 40, 7):
        data = functions.add(data, seen.take(start, min(start + 7, 40)))
    np.testing.assert_array_equal(functions.fit(data).parameters, functions.fit(whole).parameters)


def test_where_a_feature_has_its_zero_does_not_matter() -> None:
    """With a constant feature, log prices in euros or in cents are the same."""
    rng = np.random.default_rng(0)
    sold = (rng.random((60, 4)) < 0.3).astype(float)
    seen = gb.Observations.from_masks(np.ones((60, 1)), np.ones((60, 4), bool), sold)
    values = []
    for unit in (1.0, 100.0):
        features = np.column_stack([np.ones(4), np.log(unit * PRICES)])
        functions = gb.GeneralizedLinearClass(n_arms=4, dimension=1, link="logistic", arm_features=features)
        values.append(functions.predict(functions.fit(functions.add(functions.empty(), seen)), np.ones((1, 1))))
    np.testing.assert_allclose(values[0], values[1], atol=1e-9)


def regret_of_prices(learner: Any, chances: Any, seed: int, rounds: int = 1000) -> float:
    """What the price class with its defaults loses, over what the worst price loses."""
    demand = gb.GeneralizedLinearClass(n_arms=4, dimension=1, link="logistic", arm_features=FEATURES, factors=PRICES)
    bandit = gb.Bandit(learner, gb.Problem(n_arms=4, function_class=demand), graph=gb.graphs.bandit(4), seed=seed)
    rng, means, lost = np.random.default_rng(seed), PRICES * chances, 0.0
    for _ in range(rounds):
        decision = bandit.decide(np.ones(1))
        arm = int(decision.action)
        lost += means.max() - means[arm]
        bandit.observe(decision, {arm: float(PRICES[arm] * (rng.random() < chances[arm]))})
    return float(lost / (rounds * (means.max() - means.min())))


STEEP = 1.0 / (1.0 + np.exp(-6.0 + 3.6 * np.log(PRICES)))
STRAIGHT = 1.0 - PRICES / 10.0


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("learner", "chances"), [(gb.IDSG(), STEEP), (gb.AdaCBG(), STEEP), (gb.AdaCBG(), STRAIGHT)])
def test_prices_do_not_lock_on_the_worst(learner: Any, chances: Any, seed: int) -> None:
    assert regret_of_prices(learner, chances, seed) < 0.25


def test_impossible_outcomes_are_warned_of_once() -> None:
    functions = gb.GeneralizedLinearClass(n_arms=4, dimension=1, link="logistic", arm_features=FEATURES, factors=PRICES)

    def sale(reward: float) -> gb.Observations:
        return gb.Observations.from_masks(np.ones((1, 1)), np.eye(4, dtype=bool)[:1], np.full((1, 4), reward))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = functions.add(functions.add(functions.empty(), sale(0.0)), sale(4.0))
    with pytest.warns(UserWarning, match="the reward 5 of arm 0 with factor 4 means an outcome of 1.25; expected"):
        data = functions.add(data, sale(5.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        functions.add(data, sale(6.0))
