"""Ratings as environments: rewards that exist are kept, contexts hold none of them, cosines join the items."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import graphbandit as gb
from graphbandit.environments import factors, ratings
from graphbandit.environments.factors import factorize, principal_factors
from graphbandit.errors import InputError, SettingError
from tests.environments.portions import check_portions

N_USERS, N_ITEMS, K = 60, 25, 8
RNG = np.random.default_rng(5)
TASTE = RNG.standard_normal((N_USERS, 2)) @ RNG.standard_normal((2, N_ITEMS))
STARS = np.clip(np.round(3 + TASTE), 1, 5)
RATED = RNG.random((N_USERS, N_ITEMS)) < np.linspace(0.4, 0.9, N_ITEMS)  # later items are rated more often
USERS, ITEMS = (100 + np.nonzero(RATED)[0], 7 * np.nonzero(RATED)[1])
VALUES = STARS[RATED]
ARMS = np.sort(np.argsort(-RATED.sum(axis=0), kind="stable")[:K])
OTHERS = np.setdiff1d(np.arange(N_ITEMS), ARMS)
KEPT = (RATED[:, ARMS].sum(axis=1) >= 5) & (RATED[:, OTHERS].sum(axis=1) >= 5)


def built(**settings):
    return ratings(USERS, ITEMS, VALUES, **{"n_arms": K, "dimension": 3, "rank": 2, **settings})


def test_arms_are_the_most_rated_items_and_users_have_enough_ratings():
    environment = built(item_names={7 * int(ARMS[0]): "the first"})
    assert environment.arms == ("the first", *(str(7 * item) for item in ARMS[1:]))
    assert (environment.n_arms, environment.n_rows) == (K, KEPT.sum())
    assert environment.contexts.shape == (KEPT.sum(), 3)
    assert 0 < KEPT.sum() < N_USERS
    np.testing.assert_allclose(environment.contexts.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(environment.contexts.std(axis=0), 1)
    assert (built(intercept=True).contexts[:, 3] == 1).all()
    assert built(least_ratings=1).n_rows > environment.n_rows


def test_ratings_that_exist_are_kept_and_the_rest_is_a_model_in_the_unit_interval():
    table = built().means
    mask = RATED[KEPT][:, ARMS]
    np.testing.assert_allclose(table[mask], (STARS[KEPT][:, ARMS][mask] - 1) / 4)
    assert table.min() >= 0
    assert table.max() <= 1
    hidden = (STARS[KEPT][:, ARMS][~mask] - 1) / 4
    usual = np.nanmean(np.where(mask, table, np.nan), axis=0)
    blind = np.broadcast_to(usual, mask.shape)[~mask] - hidden
    assert np.mean((table[~mask] - hidden) ** 2) < 0.6 * np.mean(blind**2), "better than the mean of each item"
    zero = built(unrated="zero").means
    assert (zero[~mask] == 0).all()
    np.testing.assert_array_equal(zero[mask], table[mask])


@pytest.mark.parametrize("unrated", ["model", "zero"])
def test_contexts_hold_nothing_of_the_arms_ratings(unrated):
    of_arms = np.isin(ITEMS, 7 * ARMS)
    changed = np.where(of_arms, RNG.permutation(VALUES), VALUES)
    other = ratings(USERS, ITEMS, changed, n_arms=K, dimension=3, rank=2, unrated=unrated)
    np.testing.assert_array_equal(other.contexts, built(unrated=unrated).contexts)
    assert not np.array_equal(other.means, built(unrated=unrated).means)


def test_order_of_rows_and_ids_of_another_type_change_nothing():
    order = RNG.permutation(len(VALUES))
    shuffled = ratings(USERS[order], ITEMS[order], VALUES[order], n_arms=K, dimension=3, rank=2)
    np.testing.assert_array_equal(shuffled.means, built().means)
    np.testing.assert_array_equal(shuffled.contexts, built().contexts)
    named = ratings([f"u{u}" for u in USERS], [f"i{i:03}" for i in ITEMS], VALUES, n_arms=K, dimension=3, rank=2)
    np.testing.assert_array_equal(named.means, built().means)
    assert named.arms[0] == f"i{7 * int(ARMS[0]):03}"


def test_a_rating_given_twice_counts_with_its_mean():
    k = int(np.flatnonzero(np.isin(ITEMS, 7 * ARMS) & np.isin(USERS, 100 + np.flatnonzero(KEPT)) & (VALUES == 4))[0])
    doubled = ratings([*USERS, USERS[k]], [*ITEMS, ITEMS[k]], [*VALUES, 1.0], n_arms=K, dimension=3, rank=2)
    user = int(np.searchsorted(np.flatnonzero(KEPT), USERS[k] - 100))
    assert doubled.means[user, list(ARMS).index(ITEMS[k] // 7)] == (4 + 1) / 2 / 4 - 1 / 4


def test_counts_are_taken_by_their_logarithm_and_what_is_not_played_is_zero():
    plays = 10.0**VALUES
    table = ratings(USERS, ITEMS, plays, n_arms=K, dimension=3, counts=True).means
    mask = RATED[KEPT][:, ARMS]
    literal = np.log1p(10.0 ** STARS[KEPT][:, ARMS]) / np.log1p(1e5)
    np.testing.assert_allclose(table, np.where(mask, literal, 0.0))
    filled = ratings(USERS, ITEMS, plays, n_arms=K, dimension=3, counts=True, unrated="model").means
    assert (filled[~mask] > 0).mean() > 0.9


@pytest.mark.parametrize("degree", [1, 3])
def test_items_are_joined_by_the_cosine_of_their_columns(degree):
    mask, stars = RATED[KEPT][:, ARMS], (STARS[KEPT][:, ARMS] - 1) / 4
    columns = [
        [stars[u, a] - stars[mask[:, a], a].mean() if mask[u, a] else 0 for u in range(len(mask))] for a in range(K)
    ]
    cosine = np.array([[np.dot(a, b) / np.linalg.norm(a) / np.linalg.norm(b) for b in columns] for a in columns])
    joined = np.eye(K, dtype=bool)
    for a in range(K):
        for b in sorted(set(range(K)) - {a}, key=lambda b: -cosine[a, b])[:degree]:
            joined[a, b] = joined[b, a] = True
    np.testing.assert_array_equal(built(degree=degree).source.graph.to_dense(), joined)


def test_other_graphs():
    groups = built(graph="hierarchy", n_groups=3).source.graph.to_dense()
    assert len({tuple(row) for row in groups}) == 3
    assert built(graph="bandit").source.graph == gb.graphs.bandit(K)
    assert built(graph="random", density=0.1).source.n_arms == K


def test_rounds_are_the_same_in_any_portions_and_noise_is_added():
    environment = built(reward_noise=0.2)
    instance = environment.instance(seed=2, repeat=3)
    whole = check_portions(instance)
    assert (whole.rewards - whole.means).std() == pytest.approx(0.2, rel=0.05)
    assert instance.problem(5).noise == pytest.approx(np.hypot(np.ptp(environment.means) / 2, 0.2))
    n = environment.n_rows
    np.testing.assert_array_equal(np.sort(instance.rows(n, 2 * n)), np.arange(n))


def test_factors_are_least_squares_over_the_known_entries(monkeypatch):
    known = RATED.astype(float)
    left, right = factorize(csr_array(known * TASTE), csr_array(known), rank=2, ridge=0.01)
    for item in range(N_ITEMS):  # solved for last: each is a ridge regression on the users who rated it
        rows = left[RATED[:, item]]
        literal = np.linalg.solve(rows.T @ rows + 0.01 * len(rows) * np.eye(2), rows.T @ TASTE[RATED[:, item], item])
        np.testing.assert_allclose(right[item], literal, rtol=1e-9)

    def loss(u, v):
        penalty = 0.01 * ((u**2).sum(axis=1)[:, None] + (v**2).sum(axis=1))
        return (known * ((TASTE - u @ v.T) ** 2 + penalty)).sum()

    monkeypatch.setattr(factors, "ITERATIONS", 300)
    assert loss(left, right) < 1.01 * loss(*factorize(csr_array(known * TASTE), csr_array(known), rank=2, ridge=0.01))
    assert np.abs(left @ right.T - TASTE)[~RATED].mean() < 0.1 * np.abs(TASTE).mean(), "of rank 2, so it can be found"


def test_principal_factors_are_left_singular_vectors():
    matrix = np.random.default_rng(0).standard_normal((30, 4)) @ np.diag([8, 4, 2, 1]) @ np.eye(4, 12)
    vectors, _, _ = np.linalg.svd(matrix)
    found = principal_factors(csr_array(matrix), rank=3)
    np.testing.assert_allclose(np.abs((vectors[:, :3] * found).sum(axis=0)), 1.0, atol=1e-9)
    assert (found[np.abs(found).argmax(axis=0), range(3)] > 0).all()
    assert principal_factors(csr_array(matrix), rank=10).shape == (30, 4), "as many as there are"


BAD = [
    ((USERS[1:], ITEMS, VALUES), {}, InputError, r"users have shape .*; expected \(\d+,\), one for each of values"),
    ((USERS, ITEMS[1:], VALUES), {}, InputError, "items have shape"),
    ((USERS * 1.5, ITEMS, VALUES), {}, InputError, "users have type float64; expected whole numbers or texts"),
    (([[1], [2, 3]], ITEMS, VALUES), {}, InputError, "users has rows of different lengths"),
    ((USERS, ITEMS, VALUES), {"item_names": ["a"]}, SettingError, "item_names is .*; expected a mapping"),
    (([], [], []), {}, InputError, r"values have shape \(0,\); expected"),
    ((USERS, ITEMS, np.where(VALUES == 3, np.nan, VALUES)), {}, InputError, "values have nan at"),
    ((USERS, ITEMS, ["x"] * len(VALUES)), {}, InputError, "values have type"),
    ((USERS, ITEMS, np.ones(len(VALUES))), {}, InputError, "values are all 1; expected different ones"),
    ((USERS, ITEMS, -VALUES), {"counts": True}, InputError, "values have -5; expected counts"),
    (
        (USERS, ITEMS, VALUES),
        {"n_arms": 25},
        InputError,
        "n_arms is 25; expected fewer than the 25 different",
    ),
    ((USERS, ITEMS, VALUES), {"n_arms": 1}, SettingError, "n_arms is 1"),
    ((USERS, ITEMS, VALUES), {"least_ratings": 30}, InputError, "users are 60, none with least_ratings = 30"),
    ((USERS, ITEMS, VALUES), {"rank": 0}, SettingError, "rank is 0"),
    ((USERS, ITEMS, VALUES), {"dimension": 2.5}, SettingError, "dimension is 2.5"),
    ((USERS, ITEMS, VALUES), {"ridge": 0.0}, SettingError, "ridge is 0.0"),
    ((USERS, ITEMS, VALUES), {"unrated": "mean"}, SettingError, "unrated is 'mean'; expected one of 'model', 'zero'"),
    ((USERS, ITEMS, VALUES), {"counts": 1}, SettingError, "counts is 1"),
    (
        (USERS, ITEMS, VALUES),
        {"graph": "confusion"},
        SettingError,
        "graph is 'confusion'; expected one of 'similarity'",
    ),
    ((USERS, ITEMS, VALUES), {"degree": 8}, SettingError, "degree is 8; expected at most 7"),
    (([1] * 12, np.arange(12), np.arange(12.0)), {"least_ratings": 1}, InputError, "all the same in every row"),
]


@pytest.mark.parametrize(("arrays", "settings", "error", "message"), BAD)
def test_bad_data_and_settings_are_refused(arrays, settings, error, message):
    with pytest.raises(error, match=message):
        ratings(*arrays, **{"n_arms": K, "dimension": 3, "rank": 2, **settings})
