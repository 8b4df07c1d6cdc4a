"""Environments: rounds are always the same rounds, and have the distribution the paper describes."""

import numpy as np
import pytest

import graphbandit as gb
from tests.environments.portions import check_portions


@pytest.mark.parametrize("graph", ["star", "clique_group", "random", "bandit", "complete", "preferential_attachment"])
def test_rounds_are_the_same_in_any_portions(graph):
    check_portions(gb.environments.paper(n_arms=12, graph=graph).instance(seed=2, repeat=3))


def test_the_paper_s_distribution():
    environment = gb.environments.paper(n_arms=6, graph="star", n_functions=7, dimension=4, noise=0.5)
    instance = environment.instance(seed=0)
    functions = instance.functions
    assert (functions.n_functions, functions.x0.shape, functions.arms.shape) == (7, (7, 4), (6, 4))
    assert np.abs(functions.arms).max() <= 1
    drawn = instance.rounds(0, 4000)
    literal = (drawn.contexts - functions.x0[instance.truth]) @ (functions.arms - functions.a0[instance.truth]).T
    np.testing.assert_allclose(drawn.means, literal, atol=1e-12)
    noise = drawn.rewards - drawn.means
    assert noise.std() == pytest.approx(0.5, rel=0.02)
    assert abs(noise.mean()) < 0.02
    assert drawn.contexts.std() == pytest.approx(1, rel=0.02)
    hubs = [int(np.argmax(graph.to_dense().sum(axis=1))) for graph in drawn.graphs[:300]]
    assert set(hubs) == set(range(6))


def test_reward_scale_divides_every_function():
    plain = gb.environments.paper(n_arms=5, graph="bandit").instance(seed=1).rounds(0, 10)
    scaled = gb.environments.paper(n_arms=5, graph="bandit", reward_scale=8.0).instance(seed=1).rounds(0, 10)
    np.testing.assert_allclose(scaled.means, plain.means / 8, rtol=1e-12)
    np.testing.assert_allclose(scaled.rewards - scaled.means, plain.rewards - plain.means, atol=1e-12)


def test_fixed_graphs_stay_for_a_repeat_and_change_between_repeats():
    environment = gb.environments.paper(n_arms=10, graph="random", fixed_graph=True)
    first, second = (environment.instance(0, repeat).rounds(0, 600).graphs for repeat in (0, 1))
    assert len({first[i] for i in (0, 1, 255, 256, 599)}) == 1
    assert first[0] != second[0]
    given = gb.graphs.clique_group(10, 2)
    assert gb.environments.paper(n_arms=10, graph=given).instance(0).rounds(0, 3).graphs[2] == given


def test_repeats_draw_new_problems_and_seeds_new_worlds():
    environment = gb.environments.paper(n_arms=5)
    a, b = environment.instance(0, 0), environment.instance(0, 1)
    assert not np.array_equal(a.functions.x0, b.functions.x0)
    assert not np.array_equal(a.functions.x0, environment.instance(1, 0).functions.x0)
    np.testing.assert_array_equal(a.functions.x0, environment.instance(0, 0).functions.x0)


def test_from_arrays_in_order_or_shuffled():
    contexts, rewards = np.arange(6.0)[:, None], np.arange(12.0).reshape(6, 2)
    graph = gb.graphs.bandit(2)
    plain = gb.environments.from_arrays(contexts=contexts, graphs=graph, rewards=rewards).instance(0)
    np.testing.assert_array_equal(plain.rounds(2, 5).rewards, rewards[2:5])
    shuffled = gb.environments.from_arrays(contexts=contexts, graphs=graph, rewards=rewards, shuffle=True)
    orders = [shuffled.instance(0, repeat).rounds(0, 6).contexts[:, 0].tolist() for repeat in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[2]) == list(range(6))
