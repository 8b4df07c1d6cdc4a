"""The interface test over every learner, and what each is meant to do."""

import dataclasses
import warnings

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import EstimatedNoiseWarning, GraphError, HorizonError
from graphbandit.rounds.decisions import ARRAYS
from graphbandit.rounds.shown import Shown
from tests.helpers.every_round_learners import EVERY_ROUND
from tests.learners.playing import state_after, states_after_epochs

LEARNERS = {
    "AdaCB.G": gb.AdaCBG(epoch_growth=2.0),
    "AdaCB.G paper": gb.AdaCBG(epoch_growth=2.0, radius="paper", coverage="paper", eta=1.0),
    "AdaCB.G width": gb.AdaCBG(epoch_growth=2.0, gamma="width"),
    "AdaCB.G remark": gb.AdaCBG(epoch_growth=2.0, baseline="inverse-gap"),
    "AdaCB.G bare": gb.AdaCBG(epoch_growth=2.0, candidate_set=False, scale_factor=False, linear_program=False),
    "IDS.G": gb.IDSG(epoch_growth=2.0),
    "IDS.G frequentist": gb.IDSG(form="frequentist", epoch_growth=2.0),
    "FALCON": gb.Falcon(),
    "AdaCB": gb.learners.AdaCB(epoch_growth=2.0),
    "RegCB": gb.learners.RegCB(),
    "RegCB elimination": gb.learners.RegCB(form="elimination"),
    "epsilon-greedy": gb.learners.EpsilonGreedy(epsilon=0.3),
    "Thompson": gb.learners.BootstrappedThompson(epoch_growth=2.0),
    "explore then commit": gb.learners.ExploreThenCommit(explore_rounds=14),
    "RegCB.G": gb.RegCBG(),
    "SquareCB.G": gb.SquareCBG(),
    "SquareCB.G fixed": gb.SquareCBG(gamma=25.0),
    "SquareCB": gb.learners.SquareCB(oracle="offline"),
    "late graph": gb.learners.LateGraph(learner=gb.IDSG(epoch_growth=2.0)),
    "late graph AdaCB.G": gb.learners.LateGraph(learner=gb.AdaCBG(epoch_growth=2.0)),
    "greedy": gb.Greedy(),
    "uniform": gb.learners.Uniform(),
    **EVERY_ROUND,
}


@pytest.fixture(params=LEARNERS)
def learner(request):
    return LEARNERS[request.param]


@pytest.fixture
def instance():
    return gb.environments.paper(n_arms=7, graph="random", reward_scale=4.0).instance(seed=3)


def next_rounds(learner, state, instance, start, most):
    """As many of the next rounds as this state decides."""
    return instance.rounds(start, start + min(most, learner.rounds_until_update(state)))


def test_settings_are_frozen_keyword_only_and_printable(learner):
    with pytest.raises(dataclasses.FrozenInstanceError):
        learner.eta = 2.0
    with pytest.raises(TypeError):
        type(learner)(1.0)
    assert type(learner).__name__ in repr(learner)
    assert learner == dataclasses.replace(learner)


def test_probabilities_are_a_distribution_and_actions_follow_it(learner, instance):
    state, start = state_after(learner, instance, 4)
    one = instance.rounds(start, start + 1)
    n = learner.rounds_until_update(state)
    contexts = np.repeat(one.contexts, n, axis=0)
    graphs = gb.FeedbackGraphs.repeat(one.graphs[0], n)
    counts, draws = np.zeros(7), 0
    for seed in range(400):
        decisions = learner.decide(state, Shown(contexts, graphs), np.random.default_rng(seed))
        np.testing.assert_allclose(decisions.probabilities.sum(axis=1), 1, atol=1e-9)
        assert decisions.probabilities.min() >= 0
        rows = np.arange(n)
        np.testing.assert_array_equal(decisions.probability, decisions.probabilities[rows, decisions.action])
        assert (decisions.probability > 0).all()
        counts += np.bincount(decisions.action, minlength=7)
        draws += n
    p = decisions.probabilities[0]
    error = np.sqrt(p * (1 - p) / draws)
    assert (np.abs(counts / draws - p) <= 4.5 * error + 1e-12).all(), "recorded propensities are not the true ones"


def test_decide_changes_nothing_and_takes_one_uniform_a_round(learner, instance):
    state, start = state_after(learner, instance, 3)
    part = next_rounds(learner, state, instance, start, 6)
    rng, twin = np.random.default_rng(5), np.random.default_rng(5)
    first = learner.decide(state, Shown(part.contexts, part.graphs), rng)
    twin.random(len(part))
    assert rng.bit_generator.state == twin.bit_generator.state
    again = learner.decide(state, Shown(part.contexts, part.graphs), np.random.default_rng(5))
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))


def test_available_arms_only(learner, instance):
    state, start = state_after(learner, instance, 4)
    part = next_rounds(learner, state, instance, start, 12)
    rows = np.arange(len(part))
    offered = np.random.default_rng(0).random((len(part), 7)) < 0.5
    offered[rows, rows % 7] = True
    decisions = learner.decide(state, Shown(part.contexts, part.graphs, offered), np.random.default_rng(1))
    assert decisions.probabilities[~offered].max() == 0
    assert not decisions.candidates[~offered].any()
    assert not decisions.exploration_set[~offered].any()
    assert offered[rows, decisions.best].all()


def test_one_arm_is_played(learner):
    instance = gb.environments.paper(n_arms=1, graph="bandit").instance(0)
    state, start = state_after(learner, instance, 3)
    part = next_rounds(learner, state, instance, start, 2)
    decisions = learner.decide(state, Shown(part.contexts, part.graphs), np.random.default_rng(0))
    assert decisions.action.tolist() == [0] * len(part)
    assert decisions.probability.tolist() == [1.0] * len(part)


def test_a_missing_loop_is_named_by_learners_that_need_it(instance):
    dense = np.eye(7, dtype=bool)
    dense[4, 4], dense[0, 4] = False, True
    loose = gb.FeedbackGraph.from_dense(dense, require_loops=False)
    for name, learner in LEARNERS.items():
        state = learner.init(instance.problem(None))
        graphs = gb.FeedbackGraphs.repeat(loose, 1)
        contexts = instance.rounds(0, 1).contexts
        refusing = ("AdaCB.G paper", "AdaCB.G bare", "RegCB.G", "UCB-N", "UCB-MaxN")
        if name in refusing or (name.startswith("EXP3") and name != "EXP3.G"):
            with pytest.raises(GraphError, match="self-loop of arm 4"):
                learner.decide(state, Shown(contexts, graphs), np.random.default_rng(0))
        else:
            learner.decide(state, Shown(contexts, graphs), np.random.default_rng(0))


def test_unknown_noise_is_estimated_from_above_and_told():
    instance = gb.environments.paper(n_arms=10, graph="complete", noise=0.7, reward_scale=8.0).instance(seed=1)
    problem = dataclasses.replace(instance.problem(1024), noise=None)
    learner = gb.AdaCBG(radius="sharp", epoch_growth=2.0)
    with pytest.warns(EstimatedNoiseWarning, match="noise"):
        state = learner.init(problem)
    states = list(states_after_epochs(learner, state, instance, 512))
    assert states[0].noise == np.inf, "too little data to say anything"
    assert 0.7 <= states[-1].noise < np.inf
    assert states[-1].space.members[instance.truth]


@pytest.mark.parametrize("radius", ["sharp", "natural"])
@pytest.mark.parametrize("rate", [0.5, 0.05, 0.01, 0.003])
def test_estimated_noise_keeps_the_truth_for_rare_clicks(rate, radius):
    """Rewards 0 or 1, mostly 0: a learner that is not told the noise must not take silence for certainty."""
    rates = np.linspace(0, 2 * rate, 21)
    functions = gb.FiniteClass(lambda x: np.broadcast_to(rates[:, None], (len(x), 21, 1)), n_functions=21, n_arms=1)
    runs, kept, rounds = 60, 0, 2048
    for run in range(runs):
        clicks = (np.random.default_rng([run, 7]).random((rounds, 1)) < rate).astype(float)
        learner = gb.AdaCBG(radius=radius, epoch_growth=2.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EstimatedNoiseWarning)
            state = learner.init(gb.Problem(n_arms=1, function_class=functions))
        start, inside = 0, True
        while start < rounds:
            stop = min(start + learner.rounds_until_update(state), rounds)
            contexts, seen = np.zeros((stop - start, 1)), np.ones((stop - start, 1), dtype=bool)
            observations = gb.Observations.from_masks(contexts, seen, clicks[start:stop], first_round=start)
            state, start = learner.update(state, observations), stop
            inside = inside and bool(state.space.members[10])
        kept += inside
    assert kept >= 0.9 * runs


def test_one_mask_serves_a_whole_batch_and_an_update_after_the_horizon_is_refused(learner, instance):
    state, start = state_after(learner, instance, 3)
    part = next_rounds(learner, state, instance, start, 5)
    mask = np.array([True, False, True, True, False, True, True])
    one = learner.decide(state, Shown(part.contexts, part.graphs, mask), np.random.default_rng(1))
    each = learner.decide(
        state, Shown(part.contexts, part.graphs, np.tile(mask, (len(part), 1))), np.random.default_rng(1)
    )
    np.testing.assert_array_equal(one.probabilities, each.probabilities)
    if isinstance(learner, gb.learners.LateGraph):
        ended = dataclasses.replace(state, inner=dataclasses.replace(state.inner, problem=instance.problem(start)))
    else:
        ended = dataclasses.replace(state, problem=instance.problem(start))
    assert learner.rounds_until_update(ended) == 0
    nothing = gb.Observations.from_masks(part.contexts[:0], mask[None][:0], part.rewards[:0], first_round=start)
    if not isinstance(learner, gb.learners.Uniform):
        with pytest.raises(HorizonError, match="last of the problem's horizon"):
            learner.update(ended, nothing)


def test_the_width_rule_judges_large_programs_by_their_baseline(instance, monkeypatch):
    """With no program solved in the kernel, gamma is that of the form without a program."""
    learner = gb.AdaCBG(epoch_growth=2.0, gamma="width", coverage="paper")
    state, start = state_after(learner, instance, 4)
    part = instance.rounds(start, start + 16)
    monkeypatch.setattr("graphbandit.planning.sampled_rounds.ROW_LIMIT", 0)
    large = learner.decide(state, Shown(part.contexts, part.graphs), np.random.default_rng(0))
    plain = dataclasses.replace(learner, linear_program=False)
    expected = plain.decide(state, Shown(part.contexts, part.graphs), np.random.default_rng(0))
    np.testing.assert_allclose(large.gamma, expected.gamma)
    assert len(np.unique(large.gamma)) > 1


def test_a_wider_radius_keeps_more(instance):
    narrow, _ = state_after(gb.AdaCBG(epoch_growth=2.0), instance, 5)
    wide, _ = state_after(gb.AdaCBG(epoch_growth=2.0, radius_factor=10.0), instance, 5)
    assert wide.radius == pytest.approx(10 * narrow.radius)


def test_the_paper_s_constants():
    """beta_m falls from 5,280 to 480 in the paper's experiment; the sharp radius is 12.4 throughout."""
    instance = gb.environments.paper(n_arms=50, graph="star").instance(0)
    problem = instance.problem(2**11)
    for learner, expected in [
        (
            gb.AdaCBG(epoch_growth=2.0, radius="paper", gamma="natural"),
            lambda m: 16 * (11 - m + 1) * np.log(2 * 50 * 50**2 * 2.0**22 / 0.1),
        ),
        (gb.AdaCBG(epoch_growth=2.0), lambda m: 2 * np.log(50 / 0.1)),
    ]:
        for state in states_after_epochs(learner, learner.init(problem), instance, 2**10):
            assert state.radius == pytest.approx(expected(state.epoch))


def test_adacb_g_without_its_parts_is_regcb_g_up_to_gamma(instance):
    """No candidates, no scale, no program leaves RegCB.G, but for tau_{m-1} - tau_{m-2} in place of tau_{m-1}."""
    bare = gb.AdaCBG(
        gamma="paper", epoch_growth=2.0, candidate_set=False, scale_factor=False, linear_program=False, eta=1.0
    )
    plain = gb.RegCBG(eta=0.5)
    state, start = state_after(plain, instance, 5)
    part = instance.rounds(start, start + 20)
    theirs = plain.decide(state, Shown(part.contexts, part.graphs), np.random.default_rng(0))
    mine = dataclasses.replace(
        bare.init(instance.problem(None)), rounds=state.rounds, epoch=state.epoch, data=state.data, model=state.model
    )
    ours = bare.decide(mine, Shown(part.contexts, part.graphs), np.random.default_rng(0))
    np.testing.assert_allclose(ours.probabilities, theirs.probabilities, rtol=1e-12)
