"""Learners that learn in every round: one loop or one by one, packed or listed graphs, prompt or late: same bits."""

import dataclasses
import re

import numpy as np
import pytest

import graphbandit as gb
from graphbandit import learners
from graphbandit.base.seeds import stream
from graphbandit.errors import GraphError, HorizonError, InputError, ObservationError, SettingError
from graphbandit.rounds.decisions import ARRAYS
from graphbandit.rounds.shown import Shown
from tests.helpers.bandits import content, play, play_late, refuse
from tests.helpers.every_round_learners import EVERY_ROUND
from tests.learners.playing import observed

N_ARMS, ROUNDS = 6, 40
SHARED = {"LinUCB shared": gb.LinUCB(alpha=0.7), "LinTS shared": gb.LinTS(draws=25)}
ENVIRONMENT = gb.environments.paper(n_arms=N_ARMS, graph="random", dimension=3, reward_scale=4.0, density=0.2)
INSTANCE = ENVIRONMENT.instance(seed=7)
DRAWN = INSTANCE.rounds(0, ROUNDS)
FIELDS = list(ARRAYS)


@pytest.fixture(params=EVERY_ROUND | SHARED)
def name(request):
    return request.param


@pytest.fixture
def learner(name):
    return (EVERY_ROUND | SHARED)[name]


def contexts_for(name):
    """(n, d), or features of each arm for those that share one vector."""
    if name in SHARED:
        return np.random.default_rng(0).standard_normal((ROUNDS, N_ARMS, 3))
    return DRAWN.contexts


def masks():
    offered = np.random.default_rng(1).random((ROUNDS, N_ARMS)) < 0.7
    offered[:, 2] = True
    return offered


def one_by_one(learner, contexts, graphs, available=None):
    state, rng, made = learner.init(INSTANCE.problem(None)), np.random.default_rng(3), []
    for t in range(ROUNDS):
        part = slice(t, t + 1)
        mask = None if available is None else available[part]
        made.append(learner.decide(state, Shown(contexts[part], graphs[part], mask), rng))
        revealed = graphs[part].revealed(made[-1].action)
        state = learner.update(state, observed(contexts[part], revealed, DRAWN.rewards[part], made[-1], t))
    return gb.Decisions.concatenate(made), state


def same(one, other):
    for field in FIELDS:
        assert getattr(one, field).tobytes() == getattr(other, field).tobytes(), field


def same_state(one, other):
    assert type(one) is type(other)
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        assert a.tobytes() == b.tobytes() if isinstance(a, np.ndarray) else a == b, field.name


@pytest.mark.parametrize("masked", [False, True])
def test_one_loop_is_decide_and_update_in_turn(name, learner, masked):
    contexts, available = contexts_for(name), masks() if masked else None
    expected, state = one_by_one(learner, contexts, DRAWN.graphs, available)
    start = learner.init(INSTANCE.problem(None))
    found, after = learner.play(
        start, Shown(contexts, DRAWN.graphs, available), DRAWN.rewards, np.random.default_rng(3)
    )
    same(found, expected)
    same_state(after, state)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1, atol=1e-12)
    if masked:
        assert found.probabilities[~available].max() == 0
    # in pieces
    rng, pieces, state = np.random.default_rng(3), [], start
    for part in (slice(0, 1), slice(1, 18), slice(18, ROUNDS)):
        mask = None if available is None else available[part]
        made, state = learner.play(state, Shown(contexts[part], DRAWN.graphs[part], mask), DRAWN.rewards[part], rng)
        pieces.append(made)
    same(gb.Decisions.concatenate(pieces), expected)
    same_state(state, after)


def test_large_graphs_are_played_as_small_ones(name, learner):
    """The same graphs as neighbour lists, the way graphs of more than 4,096 arms are kept."""
    listed = gb.FeedbackGraphs(N_ARMS, tuple(DRAWN.graphs), np.arange(ROUNDS, dtype=np.int32))
    assert not listed.is_packed
    contexts, start = contexts_for(name), learner.init(INSTANCE.problem(None))
    expected, state = learner.play(start, Shown(contexts, DRAWN.graphs), DRAWN.rewards, np.random.default_rng(3))
    found, after = learner.play(start, Shown(contexts, listed), DRAWN.rewards, np.random.default_rng(3))
    same(found, expected)
    same_state(after, state)


@pytest.mark.parametrize("chunk", [1, 7, 1024])
def test_simulate_gives_the_same_bytes_for_any_chunk_and_is_what_a_bandit_does(chunk):
    runs = gb.simulate(EVERY_ROUND, ENVIRONMENT, rounds=ROUNDS, seed=7, chunk=chunk, keep_decisions=True)
    for name, learner in EVERY_ROUND.items():
        bandit = gb.Bandit(learner, INSTANCE.problem(ROUNDS))
        bandit._journal.rng = stream(7, "simulate", name, 0)
        made = play(bandit, DRAWN, 0, ROUNDS)
        assert [d.action for d in made] == runs.decisions[name][0].action.tolist()
        assert np.stack([d.probabilities for d in made]).tobytes() == runs.decisions[name][0].probabilities.tobytes()
        assert [d.epoch for d in made] == list(range(1, ROUNDS + 1))
        assert runs.states[name][0].rounds == ROUNDS


@pytest.mark.parametrize("name", EVERY_ROUND)
def test_saved_with_late_news_and_loaded_goes_on_as_if_never_stopped(name, tmp_path):
    learner = EVERY_ROUND[name]

    def story(resume):
        bandit = gb.Bandit(learner, INSTANCE.problem(None), seed=5, identity="story")
        bandit, made = play_late(bandit, DRAWN, 15, late=3, folder=tmp_path if resume else None)
        return [d.probabilities.tobytes() for d in made], content(bandit, tmp_path)

    assert story(True) == story(False)


def test_late_losses_are_weighted_by_the_observation_probabilities_of_their_own_round():
    """Ten rounds, no rewards; then all of them, in any order: each counts by what was likely when it was decided."""
    learner = learners.Exp3IX(low=-2.0, high=2.0, clip=True)
    bandit = gb.Bandit(learner, INSTANCE.problem(None), seed=1)
    made = [bandit.decide(DRAWN.contexts[t], DRAWN.graphs[t]) for t in range(10)]
    news = [(d, int(a)) for d in made for a in d.revealed]
    for place in np.random.default_rng(0).permutation(len(news)):
        decision, arm = news[place]
        bandit.observe(decision, {arm: DRAWN.rewards[decision.id, arm]})
    bandit.decide(DRAWN.contexts[10], DRAWN.graphs[10])
    expected, total = np.zeros(N_ARMS), 0.0
    for decision in made:
        q, gamma = decision.observation_probabilities, decision.gamma
        assert gamma == pytest.approx(np.sqrt(np.log(N_ARMS) / (N_ARMS + total)), rel=1e-12)
        total += (decision.probabilities / (q + gamma)).sum()
        for arm in decision.revealed:
            loss = np.clip((2.0 - DRAWN.rewards[decision.id, arm]) / 4.0, 0, 1)
            expected[arm] += loss / (q[arm] + gamma)
    np.testing.assert_allclose(bandit.state.losses[0], expected, rtol=1e-12)
    assert bandit.state.totals[0, 0] == pytest.approx(total, rel=1e-12)


def test_observations_carry_actions_observation_probabilities_and_notes(monkeypatch):
    """To any learner, from simulator and bandit alike, for late rounds as well."""
    given = []
    update = gb.Greedy.update
    monkeypatch.setattr(gb.Greedy, "update", lambda self, state, seen: given.append(seen) or update(self, state, seen))
    bandit, made = gb.Bandit(gb.Greedy(), INSTANCE.problem(None), seed=1), []
    for t in range(5):
        made.append(bandit.decide(DRAWN.contexts[t], DRAWN.graphs[t]))
    bandit.observe(made[1], {int(a): 0.5 for a in made[1].revealed})
    bandit.observe(made[3], {int(a): 0.5 for a in made[3].revealed})
    for t in range(5, 9):
        made.append(bandit.decide(DRAWN.contexts[t], DRAWN.graphs[t]))
    assert [seen.rounds.tolist() for seen in given] == [[0, 1], [2, 3], [1, 3, 4, 5, 6, 7]]
    for seen in given:
        assert seen.actions.tolist() == [made[t].action for t in seen.rounds]
        assert seen.notes.shape == (len(seen), 0)
        expected = [
            made[seen.rounds[row]].observation_probabilities[arm] for row, arm in zip(seen.rows, seen.arms, strict=True)
        ]
        assert seen.observation_probabilities.tolist() == expected
    assert given[-1].n_observed == len(made[1].revealed) + len(made[3].revealed)
    given.clear()
    runs = gb.simulate(gb.Greedy(), ENVIRONMENT, rounds=9, seed=7, keep_decisions=True)
    decisions = runs.decisions["learner"][0]
    for seen in given:
        np.testing.assert_array_equal(seen.actions, decisions.action[seen.rounds])
        q = decisions.observation_probabilities[seen.rounds[seen.rows], seen.arms]
        np.testing.assert_array_equal(seen.observation_probabilities, q)
    part = given[-1].between(5, 7)
    np.testing.assert_array_equal(part.actions, decisions.action[5:7])
    assert part.observation_probabilities.shape == part.rewards.shape


def test_the_horizon_ends_the_rounds(learner, name):
    contexts, state = contexts_for(name), learner.init(INSTANCE.problem(3))
    with pytest.raises(InputError, match="4 rounds were asked for; expected at most 3"):
        learner.play(state, Shown(contexts[:4], DRAWN.graphs[:4]), DRAWN.rewards[:4], np.random.default_rng(0))
    _, state = learner.play(state, Shown(contexts[:3], DRAWN.graphs[:3]), DRAWN.rewards[:3], np.random.default_rng(0))
    assert learner.rounds_until_update(state) == 0
    seen = gb.Observations.from_masks(contexts[3:4], np.ones((1, N_ARMS), bool), DRAWN.rewards[3:4], first_round=3)
    with pytest.raises(HorizonError, match="round 3 is the last of the problem's horizon"):
        learner.update(state, seen)


def test_another_seed_plays_otherwise_and_the_same_seed_the_same(learner, name):
    contexts, state = contexts_for(name), learner.init(INSTANCE.problem(None))
    runs = [
        learner.play(state, Shown(contexts, DRAWN.graphs), DRAWN.rewards, np.random.default_rng(seed))[0]
        for seed in (0, 0, 1)
    ]
    same(runs[0], runs[1])
    if name != "IDS-N":  # which hardly mixes
        assert (runs[0].action.tolist() == runs[2].action.tolist()) == ("UCB" in name)


REFUSED = {
    "no observation probabilities": (
        learners.Exp3IX(),
        {"observation_probabilities": None},
        "the observation probabilities are none",
    ),
    "observation probability of 0": (
        learners.Exp3SET(),
        {"observation_probabilities": np.zeros((1, 2))},
        "an observation probability of 0.0; expected",
    ),
    "no notes": (
        learners.Exp3DOM(),
        {"notes": None},
        "the notes of the observations are none; expected finite numbers",
    ),
    "short notes": (
        learners.Exp3LGCU(),
        {"notes": np.zeros((1, 2))},
        "shape (1, 2); expected finite numbers of shape (1, 3)",
    ),
    "strange notes": (learners.Exp3G(), {"notes": np.array([[7.0, 0.0, 0.0]])}, "expected those of decided rounds"),
    "a later round": (learners.UCBN(), {"first_round": 4}, "rounds up to 4; expected all of rounds 0 to 0"),
}


@pytest.mark.parametrize(("learner", "change", "message"), REFUSED.values(), ids=REFUSED)
def test_observations_that_do_not_fit_are_refused(learner, change, message):
    given = {
        "actions": np.zeros(1, int), "observation_probabilities": np.ones((1, 2)), "notes": np.zeros((1, 3)),
        "first_round": 0,
    }  # fmt: skip
    seen = gb.Observations.from_masks(
        np.zeros((1, 1)), np.ones((1, 2), bool), np.full((1, 2), 0.5), **{**given, **change}
    )
    with pytest.raises(InputError, match=re.escape(message)):
        learner.update(learner.init(gb.Problem(n_arms=2, noise=1.0)), seen)


@pytest.mark.parametrize(
    "learner",
    [
        learners.Exp3SET(),
        learners.Exp3DOM(),
        learners.Exp3G(),
        learners.Exp3IX(),
        learners.Exp3LGCU(),
        learners.Exp3LGCIX(),
    ],
)
def test_rewards_outside_their_range_are_refused_when_they_come(learner, tmp_path):
    bandit = gb.Bandit(learner, gb.Problem(n_arms=2), seed=0)
    decision = bandit.decide([0.5], gb.graphs.complete(2))
    message = f"a reward is 1.5; {type(learner).__name__} expects rewards of 0 to 1"
    refuse(bandit, lambda b: b.observe(decision, {0: 0.5, 1: 1.5}), ObservationError, message, tmp_path)
    bandit.observe(decision, {0: 0.5, 1: 1.0})
    state = learner.init(gb.Problem(n_arms=2))
    graphs = gb.FeedbackGraphs.repeat(gb.graphs.complete(2), 2)
    with pytest.raises(ObservationError, match=r"a reward is -3\.0"):
        learner.play(
            state, Shown(np.zeros((2, 1)), graphs), np.array([[0.5, 0.5], [0.5, -3.0]]), np.random.default_rng(0)
        )
    clipping = dataclasses.replace(learner, clip=True)
    _, clipped = clipping.play(
        state, Shown(np.zeros((2, 1)), graphs), np.array([[0.0, 1.0], [0.0, 9.0]]), np.random.default_rng(0)
    )
    _, inside = learner.play(
        state, Shown(np.zeros((2, 1)), graphs), np.array([[0.0, 1.0], [0.0, 1.0]]), np.random.default_rng(0)
    )
    same_state(clipped, inside)


def test_arms_that_do_not_reveal_themselves(learner, name):
    dense = np.eye(N_ARMS, dtype=bool)
    dense[4, 4], dense[0, 4] = False, True
    graphs = gb.FeedbackGraphs.repeat(gb.FeedbackGraph.from_dense(dense, require_loops=False), 3)
    contexts, state = contexts_for(name)[:3], learner.init(INSTANCE.problem(None))
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    if learner.needs_loops:
        with pytest.raises(GraphError, match="self-loop of arm 4"):
            learner.play(state, Shown(contexts, graphs), DRAWN.rewards[:3], rng)
        assert rng.bit_generator.state == before
        return
    learner.play(state, Shown(contexts, graphs), DRAWN.rewards[:3], rng)
    dense[0, 4] = False
    blind = gb.FeedbackGraph.from_dense(dense, require_loops=False)
    graphs = gb.FeedbackGraphs.pool([gb.graphs.complete(N_ARMS), blind], [0, 1, 0])
    if name == "EXP3.G":
        before = rng.bit_generator.state
        with pytest.raises(GraphError, match="graph of round 1 of the batch has an arm on offer that no arm on offer"):
            learner.play(state, Shown(contexts, graphs), DRAWN.rewards[:3], rng)
        assert rng.bit_generator.state == before, "nothing has changed"
    else:
        learner.play(state, Shown(contexts, graphs), DRAWN.rewards[:3], rng)


SETTINGS = {
    "width": (lambda: learners.UCBN(width=-1), "width is -1; expected a finite number of at least 0"),
    "noise": (lambda: learners.UCBMaxN(noise="loud"), "noise is 'loud'; expected a finite number"),
    "prior": (lambda: learners.TSN(prior_scale=0.0), "prior_scale is 0.0; expected a finite number of at least 1e-25"),
    "tiny prior": (
        lambda: learners.TSN(noise=0, prior_scale=1e-162),
        "prior_scale is 1e-162; expected a finite number",
    ),
    "wide prior": (lambda: learners.IDSN(prior_scale=1e160), "prior_scale is 1e+160; expected a finite number"),
    "far prior": (lambda: learners.TSN(prior_mean=-1e300), "prior_mean is -1e+300; expected a finite number"),
    "loud": (
        lambda: learners.TSN(noise=1e200),
        "noise is 1e+200; expected a finite number of at least 0 and of at most",
    ),
    "loud problem": (lambda: gb.Problem(n_arms=2, noise=1e200), "noise is 1e+200; expected a finite number"),
    "low": (
        lambda: learners.Exp3SET(low=-1e308, high=1e308),
        "low is -1e+308; expected a finite number of at least -1e+25",
    ),
    "high": (lambda: learners.Exp3LGCU(high=1e308), "high is 1e+308; expected a finite number of at least -1e+25"),
    "prior mean": (lambda: learners.IDSN(prior_mean=float("nan")), "prior_mean is nan; expected a finite number"),
    "eta": (lambda: learners.Exp3SET(eta=0), "eta is 0; expected a finite number above 0"),
    "gamma": (lambda: learners.Exp3DOM(gamma=1.5), "gamma is 1.5; expected a number above 0 and up to 1"),
    "gamma of G": (lambda: learners.Exp3G(gamma=1.0), "gamma is 1.0; expected a finite number below 1"),
    "independence": (
        lambda: learners.Exp3G(independence=0.5),
        "independence is 0.5; expected a finite number of at least 1",
    ),
    "gamma of LGC": (lambda: learners.Exp3LGCU(gamma=2.0), "gamma is 2.0; expected a number above 0 and up to 1"),
    "range": (lambda: learners.Exp3IX(low=1.0, high=1.0), "low is 1.0 and high is 1.0; expected low below high"),
    "clip": (lambda: learners.Exp3IX(clip=1), "clip is 1; expected True or False"),
    "ridge": (lambda: gb.LinUCB(ridge=0.0), "ridge is 0.0; expected a finite number above 0"),
    "delta": (lambda: gb.LinUCB(delta=1.0), "delta is 1.0; expected a finite number above 0 and below 1"),
    "draws": (lambda: gb.LinTS(draws=0), "draws is 0; expected a whole number of at least 1"),
    "intercept": (lambda: learners.Exp3LGCIX(intercept="yes"), "intercept is 'yes'; expected True or False"),
    "no noise": (
        lambda: learners.UCBN().init(gb.Problem(n_arms=2)),
        "noise is None in both the learner and the problem",
    ),
}


@pytest.mark.parametrize(("make", "message"), SETTINGS.values(), ids=SETTINGS)
def test_settings_out_of_range_are_refused(make, message):
    with pytest.raises(SettingError, match=re.escape(message)):
        make()


def test_contexts_that_do_not_fit_are_refused():
    graphs = DRAWN.graphs[:1]
    for learner in (gb.LinUCB(alpha=1.0), learners.Exp3LGCU()):
        state = learner.init(gb.Problem(n_arms=N_ARMS))
        for contexts in (
            np.zeros((1, 3, 2)),
            np.zeros(1),
            np.zeros((1, 0)),
            np.full((1, 2), np.nan),
            np.full((1, 2), 1e80),
        ):
            with pytest.raises(InputError, match="contexts have"):
                learner.decide(state, Shown(contexts, graphs), np.random.default_rng(0))
        _, state = learner.play(
            state, Shown(np.ones((1, 2)), graphs), np.full((1, N_ARMS), 0.5), np.random.default_rng(0)
        )
        with pytest.raises(InputError, match=r"(\(3,\)|of 3 features).*expected.* as before"):
            learner.decide(state, Shown(np.ones((1, 3)), graphs), np.random.default_rng(0))


def test_rewards_of_another_shape_are_refused(learner, name):
    state = learner.init(INSTANCE.problem(None))
    with pytest.raises(InputError, match=r"rewards has shape \(2, 6\); expected \(3, 6\)"):
        learner.play(
            state, Shown(contexts_for(name)[:3], DRAWN.graphs[:3]), DRAWN.rewards[:2], np.random.default_rng(0)
        )


def test_a_state_of_another_learner_is_refused():
    """Its weights have other levels; kernels do not look."""
    problem = gb.Problem(n_arms=N_ARMS)
    state = learners.Exp3SET().init(problem)
    with pytest.raises(SettingError, match=r"losses of shape \(1, 6\).*Exp3DOM expects \(3, 6\) and \(3, 2\)"):
        learners.Exp3DOM().decide(state, Shown(DRAWN.contexts[:1], DRAWN.graphs[:1]), np.random.default_rng(0))


def test_states_that_kernels_would_trust_are_refused():
    """As a damaged file might bring them."""
    problem = gb.Problem(n_arms=3, noise=1.0)
    for learner, change in [
        (learners.UCBN(), {"counts": np.zeros(2, dtype=np.int64)}),
        (learners.UCBN(), {"counts": np.zeros(3)}),
        (learners.TSN(), {"sums": np.full(3, np.nan)}),
        (learners.Exp3DOM(), {"losses": np.zeros((2, 4))}),
        (learners.Exp3DOM(), {"totals": np.zeros((1, 2))}),
        (gb.LinUCB(), {"sums": np.zeros((2, 3))}),
        (gb.LinUCB(), {"factors": np.zeros((1, 3, 3)), "sums": np.zeros((1, 3)), "log_determinants": np.zeros(1)}),
        (learners.Exp3LGCU(), {"vectors": np.zeros((3, 2))}),
        (learners.Exp3LGCU(), {"vectors": np.zeros((3, 2)), "factor": np.zeros((2, 2))}),
        (learners.UCBN(), {"rounds": -1}),
    ]:
        with pytest.raises(InputError, match="expected"):
            dataclasses.replace(learner.init(problem), **change)
