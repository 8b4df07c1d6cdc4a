"""The figures this package is measured by: the paper's clique-group table read literally, and the sharp radius."""

import itertools

import numpy as np
import pytest

import graphbandit as gb
from tests.planning.test_properties import epochs_of

# Mean regret of a literal build over 20 instances (with their standard deviations), T = 2^11, 5 cliques.
LITERAL = {20: (40, 15), 40: (28, 12), 60: (23, 10), 80: (19, 8), 100: (19, 6)}


def test_clique_group_table_literal():
    means = []
    for n_arms, (mean, std) in LITERAL.items():
        environment = gb.environments.paper(n_arms=n_arms, graph="clique_group")
        learners = {"paper": gb.AdaCBG(radius="paper", coverage="paper", eta=1.0)}
        summary = gb.simulate(learners, environment, rounds=2**11, repeats=20, workers=2).summary()["paper"]
        error = np.hypot(summary.standard_error, std / 20**0.5)
        assert abs(summary.mean - mean) <= 3 * error, (n_arms, summary)
        means.append(summary.mean)
    assert all(later < earlier for earlier, later in itertools.pairwise(means)), means


@pytest.mark.parametrize("graph", ["star", "clique_group", "random"])
def test_sharp_is_at_least_five_times_lower_and_keeps_the_truth(graph):
    environment = gb.environments.paper(n_arms=50, graph=graph, reward_scale=8.0)
    learners = {"paper": gb.AdaCBG(radius="paper", coverage="paper", eta=1.0), "ours": gb.AdaCBG()}
    summary = gb.simulate(learners, environment, rounds=2**11, repeats=20, workers=2).summary()
    assert summary["ours"].mean * 5 <= summary["paper"].mean, summary
    kept = 0
    for repeat in range(20):
        instance = environment.instance(0, repeat)
        states, _ = epochs_of(gb.AdaCBG(), instance, 2**11)
        kept += all(state.space.members[instance.truth] for state in states)
    assert kept >= 18
