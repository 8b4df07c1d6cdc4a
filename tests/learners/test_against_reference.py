"""The package against the slow literal reference: same F_m, candidates, exploration set, gamma and p."""

import os

import numpy as np
import pytest

import graphbandit as gb
from tests.learners.playing import T, problem, run_package
from tests.references import paper as reference

ALL_SIZES = os.environ.get("GRAPHBANDIT_TEST_REFERENCE") == "1"

GRAPHS = ("star", "clique_group", "random", "erdos_renyi", "preferential_attachment", "bandit", "complete")

SETTINGS: dict[str, dict[str, object]] = {
    "paper": {"radius": "paper", "coverage": "paper"},
    "ours": {},
    "sharp, paper coverage": {"coverage": "paper"},
    "width": {"gamma": "width"},
    "width, paper coverage": {"gamma": "width", "coverage": "paper", "eta": 3.0},
    "inverse gap": {"baseline": "inverse-gap", "coverage": "paper"},
    "inverse gap, tight": {"baseline": "inverse-gap", "radius": "paper"},
    "no candidates": {"radius": "paper", "coverage": "paper", "use_candidates": False},
    "no scale": {"radius": "paper", "coverage": "paper", "use_scale_factor": False},
    "no program": {"radius": "paper", "use_lp": False},
    "strong eta": {"radius": "paper", "coverage": "tight", "eta": 1e4, "delta": 0.3},
}
RENAMED = {"use_candidates": "candidate_set", "use_scale_factor": "scale_factor", "use_lp": "linear_program"}
DEFAULTS = {"radius": "sharp", "coverage": "tight", "gamma": "paper", "baseline": "exploration-set"}


def compare(records, decisions, states, graphs, *, version_space):
    """Round by round. Returns how many rounds had a program, and in how many of them p was the very same."""
    programs = unique = 0
    for i, record in enumerate(records):
        d = decisions.round(i)
        offered = np.zeros(len(d["gaps"]), dtype=bool)
        offered[record.available] = True
        where = f"round {record.t}, epoch {record.epoch}"
        assert d["epoch"] == record.epoch, where
        assert d["best"] == record.best, where
        np.testing.assert_allclose(d["gaps"][offered], np.asarray(record.gaps)[offered], atol=1e-12, err_msg=where)
        assert np.flatnonzero(d["candidates"]).tolist() == sorted(record.candidates), where
        assert np.flatnonzero(d["exploration_set"]).tolist() == sorted(record.exploration_set), where
        if version_space:
            assert np.flatnonzero(states[i].space.members).tolist() == sorted(record.members), where
        np.testing.assert_allclose(d["gamma"], record.gamma, rtol=1e-9, err_msg=where)
        np.testing.assert_allclose(d["baseline"], record.baseline, atol=1e-9, err_msg=where)
        assert d["objective"] == pytest.approx(record.objective, rel=1e-9, abs=1e-9), where
        if record.demand is not None:
            programs += 1
            short = np.asarray(record.demand) - graphs[i].to_dense().T @ d["probabilities"]
            assert np.delete(short, record.best).max() <= 1e-9, where
            assert d["duality_gap"] <= 1e-9, where
        same = np.abs(d["probabilities"] - record.p).max() <= 1e-7
        assert same or record.demand is not None, where
        unique += same and record.demand is not None
        if not same or d["action"] != record.action:
            return i, programs, unique
        np.testing.assert_allclose(d["observation_probabilities"], record.q, atol=1e-6, err_msg=where)
        assert np.flatnonzero(graphs[i].reveals_mask(int(d["action"]))).tolist() == sorted(record.revealed), where
    return len(records), programs, unique


def in_common(name, number, *, graph, n_arms, horizon_known=True, masked=False):
    """One problem, both builds, compared up to the end or the first round whose optimum is not unique."""
    values, graphs, rewards, uniforms, masks = problem(number, n_arms, graph, masked=masked)
    given = SETTINGS[name]
    literal = reference.AdaCBG(**{**DEFAULTS, **given}, sigma=1.0, horizon_known=horizon_known)
    records = literal.run(
        values,
        np.stack([g.to_dense() for g in graphs]),
        rewards,
        uniforms,
        T=T if horizon_known else None,
        available=masks,
    )
    renamed = {RENAMED.get(key, key): value for key, value in given.items()}
    learner = gb.AdaCBG(**{"eta": 1.0, "gamma": "paper", **renamed})
    decisions, states = run_package(
        learner, values, graphs, rewards, uniforms, masks, horizon=T if horizon_known else None
    )
    return compare(records, decisions, states, graphs, version_space=True)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", SETTINGS)
def test_adacb_g_agrees_with_the_reference(name, graph):
    """Every setting on every graph with half of the sizes, so that each size meets every setting and every graph."""
    compared = programs = unique = 0
    sizes = (2, 3, 7, 20, 33, 60)
    half = ((0, 3, 4), (1, 2, 5))[(list(SETTINGS).index(name) + GRAPHS.index(graph)) % 2]
    numbers = range(len(sizes)) if ALL_SIZES else half
    for number in numbers:
        rounds, with_program, same = in_common(
            name,
            number,
            graph=graph,
            n_arms=sizes[number],
            horizon_known=number % 2 == 0,
            masked=number % 3 == 2,
        )
        compared, programs, unique = compared + rounds, programs + with_program, unique + same
    # Generic data has a unique optimum nearly always, so all rounds of half the sizes are compared,
    # 11,088, and of all the sizes at least 259 of 288 in each test, some 20,000.
    assert compared >= 0.9 * T * len(numbers)
    assert unique >= 0.9 * programs
    assert programs > 0 or name == "no program" or graph == "complete"  # where one arm reveals all


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize(("literal", "learner"), [(reference.Falcon, gb.Falcon), (reference.RegCBG, gb.RegCBG)])
def test_baselines_agree_with_the_reference(literal, learner, graph):
    for number, n_arms in enumerate((2, 5, 17, 60)):
        known = number % 2 == 0
        values, graphs, rewards, uniforms, masks = problem(number, n_arms, graph, masked=number == 3)
        records = literal(delta=0.1, eta=1.0, horizon_known=known).run(
            values, np.stack([g.to_dense() for g in graphs]), rewards, uniforms, T=T if known else None, available=masks
        )
        decisions, states = run_package(
            learner(), values, graphs, rewards, uniforms, masks, horizon=T if known else None
        )
        assert compare(records, decisions, states, graphs, version_space=False)[0] == T


@pytest.mark.parametrize("graph", ["star", "clique_group", "random"])
@pytest.mark.parametrize("form", ["paper", "ours"])
def test_full_runs_have_the_regret_of_the_reference(form, graph):
    """The paper's environment, fed with the same draws to both: the same cumulative regret."""
    rounds, n_arms = 256, 12
    instance = gb.environments.paper(n_arms=n_arms, graph=graph, reward_scale=4.0).instance(seed=3)
    drawn = instance.rounds(0, rounds)
    uniforms = np.random.default_rng(5).random(rounds)
    values = instance.functions.values(drawn.contexts)
    dense = np.stack([g.to_dense() for g in drawn.graphs])
    records = reference.AdaCBG(**{**DEFAULTS, **SETTINGS[form]}, sigma=1.0).run(
        values, dense, drawn.rewards, uniforms, T=rounds
    )
    learner = gb.AdaCBG(**{"eta": 1.0, "gamma": "paper", **SETTINGS[form]})
    decisions, _ = run_package(learner, values, drawn.graphs, drawn.rewards, uniforms, None, horizon=rounds)
    theirs = sum(drawn.best_means()[r.t - 1] - drawn.means[r.t - 1, r.action] for r in records)
    ours = (drawn.best_means() - drawn.means[np.arange(rounds), decisions.action]).sum()
    assert ours == pytest.approx(theirs, rel=1e-9)
