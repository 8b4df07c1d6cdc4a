"""Environments in which an edge is there with a probability."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit import environments
from graphbandit.errors import GraphError, SettingError

K = 6


def small(**settings):
    return environments.paper(n_arms=K, n_functions=8, dimension=3, **settings)


@pytest.mark.parametrize("settings", [{}, {"probability": 0.3}, {"concentration": 2.0}, {"keep_loops": False}])
def test_an_edge_is_there_as_often_as_its_probability_says(settings):
    environment = environments.probabilistic(small(graph="complete"), **settings)
    instance = environment.instance(seed=3)
    rounds = instance.rounds(0, 1024)
    assert rounds.shown.graphs is rounds.probabilistic
    odds = rounds.probabilistic.matrix(0)
    assert (rounds.probabilistic.stored == odds).all()
    often = np.mean([graph.to_dense() for graph in rounds.graphs], axis=0)
    np.testing.assert_allclose(often, odds, atol=5 * 0.5 / np.sqrt(1024))
    if settings.get("keep_loops", True):
        assert (np.diagonal(odds) == 1).all()
        assert rounds.graphs.has_all_loops
    off = odds[~np.eye(K, dtype=bool)]
    assert (len(np.unique(off)) > 1) == ("concentration" in settings)
    other = environment.instance(seed=3, repeat=1)
    assert np.array_equal(other.present, instance.present) == ("concentration" not in settings)


def test_only_edges_of_the_graph_can_be_there():
    base = small(graph="star")
    whole = base.instance(0).rounds(0, 300)
    rounds = environments.probabilistic(base, probability=0.5).instance(0).rounds(0, 300)
    for t in (0, 5, 299):
        edges = whole.graphs[t].to_dense()
        np.testing.assert_array_equal(rounds.probabilistic.matrix(t), np.where(np.eye(K, dtype=bool), 1.0, 0.5) * edges)
        assert not (rounds.graphs[t].to_dense() & ~edges).any()
    for name in ("contexts", "means", "rewards"):
        np.testing.assert_array_equal(getattr(rounds, name), getattr(whole, name))


def test_portions_of_any_size_agree():
    instance = environments.probabilistic(small(), probability=0.5).instance(1, repeat=2)
    whole = instance.rounds(0, 600)
    for first, stop in ((0, 1), (250, 260), (511, 513), (599, 600)):
        part = instance.rounds(first, stop)
        assert part.graphs == whole.graphs[first:stop]
        assert part.probabilistic == whole.probabilistic[first:stop]
    assert whole[3:9].probabilistic == whole.probabilistic[3:9]


def test_what_is_shown():
    base = small(graph="complete")
    matrix = np.random.default_rng(0).random((K, K))
    shown = {
        kind: environments.probabilistic(base, probability=matrix, keep_loops=False, shown=kind)
        .instance(0)
        .rounds(0, 300)
        for kind in ("graphs", "probabilities", "nothing")
    }
    assert shown["graphs"].shown.graphs is shown["graphs"].graphs
    np.testing.assert_array_equal(shown["probabilities"].shown.graphs[7].matrix, matrix)
    assert shown["nothing"].shown.graphs is None
    assert shown["nothing"][:5].shown.graphs is None
    for rounds in shown.values():
        assert rounds.graphs == shown["graphs"].graphs


def test_a_finite_environment_stays_finite():
    rng = np.random.default_rng(0)
    given = environments.from_arrays(
        contexts=rng.normal(size=(300, 2)),
        graphs=gb.graphs.complete(3),
        rewards=rng.random((300, 3)),
        available=np.ones((300, 3), dtype=bool),
    )
    environment = environments.probabilistic(given, probability=0.5)
    assert environment.n_rounds == 300
    assert environment.instance(0).rounds(290, 300).available.shape == (10, 3)
    with pytest.raises(SettingError, match="stop is 301"):
        environment.instance(0).rounds(0, 301)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"probability": 1.5}, "probability is 1.5; expected a number from 0 to 1"),
        ({"probability": -0.1}, "probability is -0.1"),
        ({"probability": float("nan")}, "probability is nan"),
        ({"probability": "half"}, "probability is 'half'"),
        ({"probability": np.ones((2, 2))}, r"shape \(2, 2\); expected \(6, 6\)"),
        ({"probability": np.ones((K, K)), "concentration": 2.0}, "concentration comes with a matrix"),
        ({"concentration": 0.0}, "concentration is 0.0"),
        ({"probability": 1.0, "concentration": 2.0}, "expected it inside 0 to 1"),
        ({"keep_loops": 1}, "keep_loops is 1"),
        ({"shown": "all"}, "shown is 'all'; expected one of"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        environments.probabilistic(small(), **settings)


def test_bad_matrices_and_environments_are_refused():
    wrong = np.full((K, K), 0.5)
    wrong[1, 2] = np.nan
    with pytest.raises(GraphError, match="nan at"):
        environments.probabilistic(small(), probability=wrong)
    wrong[1, 2] = 1.01
    with pytest.raises(GraphError, match=r"1 reveals 2 in graph 0 is 1\.01; expected 0 to 1"):
        environments.probabilistic(small(), probability=wrong)
    with pytest.raises(SettingError, match="environment is 'paper'"):
        environments.probabilistic("paper")
    with pytest.raises(SettingError, match="edge probabilities already"):
        environments.probabilistic(environments.probabilistic(small()))
    with pytest.raises(SettingError, match="5000 arms"):
        environments.probabilistic(environments.paper(n_arms=5000))
