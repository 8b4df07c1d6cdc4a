"""Data sets as environments: rewards, orders of rows, and graphs among classes, against literal computations."""

import itertools

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.environments import classification, confusion_graph, confusions, hierarchy_graph, similarity_graph
from graphbandit.errors import InputError, SettingError
from graphbandit.graphs.generators.random_graph import RandomSource
from tests.environments.portions import check_portions

RNG = np.random.default_rng(3)
N, D, K = 90, 4, 6
CENTERS = 2.0 * RNG.standard_normal((K, D))
LABELS = np.repeat(np.arange(K), N // K)
X = CENTERS[LABELS] + RNG.standard_normal((N, D))
NAMES = np.array(list("fedcba"))[LABELS]


def test_only_the_right_class_is_rewarded_and_arms_are_the_sorted_classes():
    environment = classification(X, NAMES)
    assert environment.arms == tuple("abcdef")
    assert (environment.n_arms, environment.n_rows, environment.n_rounds) == (K, N, None)
    rounds = environment.instance(seed=1).rounds(0, N)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    for t in range(N):
        [row] = np.flatnonzero(np.isclose(scaled, rounds.contexts[t]).all(axis=1))
        assert rounds.rewards[t].tolist() == [float(name == NAMES[row]) for name in "abcdef"]
    np.testing.assert_array_equal(rounds.means, rounds.rewards)
    assert environment.instance(seed=1).problem(10).noise == 0.5


def test_every_pass_shows_all_rows_in_a_new_order():
    instance = classification(X, LABELS).instance(seed=0, repeat=2)
    orders = [instance.rows(lap * N, (lap + 1) * N) for lap in range(4)]
    assert all(sorted(order) == list(range(N)) for order in orders)
    assert all(a.tolist() != b.tolist() for a, b in itertools.combinations(orders, 2))
    others = classification(X, LABELS).instance(seed=0, repeat=3), classification(X, LABELS).instance(seed=1, repeat=2)
    assert all(other.rows(0, N).tolist() != orders[0].tolist() for other in others)


@pytest.mark.parametrize("graph", ["similarity", "random", "bandit"])
def test_rounds_are_the_same_in_any_portions(graph):
    instance = classification(X, LABELS, graph=graph, reward_noise=0.3).instance(seed=2, repeat=1)
    whole = check_portions(instance)
    noise = whole.rewards - whole.means
    assert noise.std() == pytest.approx(0.3, rel=0.05)
    assert abs(noise.mean()) < 0.02


def test_rewards_noise_and_contexts_are_settings():
    environment = classification(X, LABELS, right=5.0, wrong=-1.0, reward_noise=4.0, standardise=False, intercept=True)
    rounds = environment.instance(0).rounds(0, N)
    assert np.unique(rounds.means).tolist() == [-1.0, 5.0]
    assert environment.instance(0).problem(None).noise == pytest.approx(5.0)  # sqrt(3^2 + 4^2)
    np.testing.assert_array_equal(environment.contexts[:, :D], X)
    assert (environment.contexts[:, D] == 1).all()
    assert classification(X, LABELS, noise=0.1).instance(0).problem(None).noise == 0.1


def test_features_that_never_change_are_dropped():
    environment = classification(np.column_stack([X[:, :2], np.full(N, 7.3), X[:, 2:]]), LABELS)
    np.testing.assert_array_equal(environment.contexts, classification(X, LABELS).contexts)
    np.testing.assert_allclose(environment.contexts.std(axis=0), 1.0)
    np.testing.assert_allclose(classification(X * 1e-200, LABELS).contexts, environment.contexts)


def literal_neighbours(strength, degree, least):
    joined = np.eye(len(strength), dtype=bool)
    for a, row in enumerate(strength):
        others = sorted((b for b in range(len(row)) if b != a), key=lambda b: (-row[b], b))
        for b in others[:degree]:
            if row[b] > least:
                joined[a, b] = joined[b, a] = True
    return joined


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_similarity_joins_the_nearest_centroids(degree):
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    means = np.array([scaled[k == LABELS].mean(axis=0) for k in range(K)])
    strength = [[-np.linalg.norm(a - b) for b in means] for a in means]
    graph = classification(X, LABELS, degree=degree).source.graph
    np.testing.assert_array_equal(graph.to_dense(), literal_neighbours(np.array(strength), degree, -np.inf))
    assert graph.is_undirected
    assert graph.has_all_loops


@pytest.mark.parametrize("degree", [1, 3])
def test_confusion_joins_what_a_classifier_confuses(degree):
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    confused = np.zeros((K, K))
    for i in range(N):
        rest = np.arange(N) != i
        distances = [np.linalg.norm(scaled[i] - scaled[rest & (k == LABELS)].mean(axis=0)) for k in range(K)]
        confused[LABELS[i], int(np.argmin(distances))] += 1 / (N // K)
    np.testing.assert_allclose(confusions(scaled, LABELS), confused, atol=1e-12)
    assert 0 < np.trace(confused) < K, "some rows are confused, and some are not"
    graph = classification(X, LABELS, graph="confusion", degree=degree).source.graph
    np.testing.assert_array_equal(graph.to_dense(), literal_neighbours(confused + confused.T, degree, 0.0))
    assert confusion_graph(np.eye(3)) == gb.graphs.bandit(3)


def test_the_only_row_of_a_class_is_always_confused():
    confused = confusions(np.array([[0.0], [1.0], [9.0]]), np.array([0, 0, 1]))
    np.testing.assert_array_equal(confused, [[1, 0], [1, 0]])


def literal_groups(points, n_groups):
    groups = [[a] for a in range(len(points))]
    while len(groups) > n_groups:
        pairs = itertools.combinations(range(len(groups)), 2)

        def far(pair):
            return np.mean([np.linalg.norm(points[a] - points[b]) for a in groups[pair[0]] for b in groups[pair[1]]])

        i, j = min(pairs, key=far)
        groups[i] += groups.pop(j)
    return [
        [any(a in group and b in group for group in groups) for b in range(len(points))] for a in range(len(points))
    ]


@pytest.mark.parametrize("n_groups", [1, 2, 3, 5, 9])
def test_hierarchy_makes_cliques_of_clusters(n_groups):
    points = np.random.default_rng(n_groups).standard_normal((9, 3))
    graph = hierarchy_graph(points, n_groups=n_groups)
    np.testing.assert_array_equal(graph.to_dense(), literal_groups(points, n_groups))
    if n_groups == 3:
        assert hierarchy_graph(points) == graph, "sqrt(9) is the default"


def test_two_classes_are_joined_by_default():
    assert classification(X[:30], LABELS[:30]).source.graph == gb.graphs.complete(2)
    assert classification(X[:30], LABELS[:30], graph="hierarchy").source.graph == gb.graphs.complete(2)


def test_ties_go_to_the_lower_arm():
    assert similarity_graph(np.zeros((4, 1)), degree=1).to_dense()[0].tolist() == [True] * 4
    assert similarity_graph(np.zeros((4, 1)), degree=1) == gb.graphs.star(4)


def test_other_graphs():
    given = gb.graphs.star(K)
    assert classification(X, LABELS, graph=given).source.graph == given
    assert classification(X, LABELS, graph="complete").instance(0).rounds(0, 2).graphs[1].n_edges == K * K
    assert classification(X, LABELS, graph="random", density=0.2).source == RandomSource(n_arms=K, density=0.2)
    assert classification(X, LABELS, graph="hierarchy", n_groups=2).source.graph.n_arms == K


def test_a_learner_plays_it():
    result = gb.simulate(gb.learners.Uniform(), classification(X, LABELS), rounds=300, repeats=2)
    # uniform play is wrong five times in six
    assert np.asarray(result.regret["learner"])[:, -1] == pytest.approx([250, 250], abs=35)


NAN = np.where(np.arange(N)[:, None] == 5, np.nan, X)
BAD = [
    (NAN, LABELS, {}, InputError, r"X has nan at \[5, 0\]; expected finite"),
    (X[:, 0], LABELS, {}, InputError, r"X has shape \(90,\); expected \(rows, features\)"),
    (np.zeros((0, 3)), [], {}, InputError, r"X has shape \(0, 3\); expected"),
    (np.zeros((N, 0)), LABELS, {}, InputError, r"X has shape \(90, 0\); expected"),
    ([["a", "b"]], ["c"], {}, InputError, "X has type <U1; expected numbers"),
    (1e101 * X, LABELS, {}, InputError, "up to 1e"),
    (X, LABELS[:-1], {}, InputError, r"y has shape \(89,\); expected \(90,\), one label for each row"),
    (X, [[1], [2, 3]], {}, InputError, "y has rows of different lengths"),
    (X, np.zeros(N), {}, InputError, r"y has one class only, 0.0; expected at least two"),
    (X, np.where(LABELS == 2, np.nan, LABELS), {}, InputError, r"y has nan at \[30\]; expected a label"),
    (X, np.array([None, *NAMES[1:]]), {}, InputError, "y has type object; expected a number or a text"),
    (np.ones((N, D)), LABELS, {}, InputError, "X has 4 features, all the same in every row"),
    (X, LABELS, {"degree": 0}, SettingError, "degree is 0; expected a whole number of at least 1"),
    (X, LABELS, {"degree": 6}, SettingError, "degree is 6; expected at most 5"),
    (
        X,
        LABELS,
        {"degre": 1},
        SettingError,
        r"'degre'; did you mean 'degree'\? \(the graph 'similarity' takes degree\)",
    ),
    (X, LABELS, {"graph": "hierarchy", "n_groups": 7}, SettingError, "n_groups is 7; expected .* at most 6"),
    (X, LABELS, {"graph": "similar"}, SettingError, "graph is 'similar'; expected one of 'similarity', 'confusion'"),
    (X, LABELS, {"graph": 3}, SettingError, "graph is 3; expected"),
    (X, LABELS, {"graph": gb.graphs.star(4)}, SettingError, "graph has 4 arms; expected n_arms = 6"),
    (X, LABELS, {"graph": gb.graphs.star(K), "degree": 1}, SettingError, "graph_options is"),
    (X, LABELS, {"right": 0.0}, SettingError, "right is 0.0; expected a number above wrong"),
    (X, LABELS, {"reward_noise": -1}, SettingError, "reward_noise is -1"),
    (X, LABELS, {"noise": np.nan}, SettingError, "noise is nan"),
    (X, LABELS, {"standardise": 1}, SettingError, "standardise is 1; expected True or False"),
    (X, LABELS, {"class_names": ["one"]}, SettingError, "class_names has 1 names; expected 6"),
    (X, LABELS, {"function_class": 5}, SettingError, "function_class is 5; expected a FunctionClass"),
]


@pytest.mark.parametrize(("features", "labels", "settings", "error", "message"), BAD)
def test_bad_data_and_settings_are_refused(features, labels, settings, error, message):
    with pytest.raises(error, match=message):
        classification(features, labels, **settings)


def test_graph_is_there_for_pandas_labels():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"label": NAMES}).astype(object)
    assert classification(X, frame["label"]).arms == tuple("abcdef")
