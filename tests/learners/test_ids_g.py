"""IDS.G against its literal reference, against values worked out by hand, and at the edges of what it takes."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphbandit as gb
from graphbandit.errors import EstimatedNoiseWarning, GraphError, InputError, SettingError
from graphbandit.planning.information import direct, room_for
from graphbandit.rounds.decisions import ARRAYS
from graphbandit.rounds.shown import Shown
from tests.helpers.bandits import play
from tests.learners.playing import Undrawn, problem, run_package, states_after_epochs
from tests.references import ids as reference


def loose_graphs(seed, n, n_arms, density=0.25):
    """Graphs in which some arms reveal nothing, not even themselves."""
    dense = np.random.default_rng(seed).random((n, n_arms, n_arms)) < density
    return gb.FeedbackGraphs.from_dense(dense, require_loops=False)


def compare(decisions, expected):
    for t, (Delta, g, p, action) in enumerate(expected):
        got = decisions.probabilities[t]
        if Delta[p > 0].min() > 1e-6:  # below, the functions that the class leaves out for their weight count
            assert reference.ratio(got, Delta, g) == pytest.approx(reference.ratio(p, Delta, g), rel=1e-8), t
        np.testing.assert_allclose(got, p, atol=1e-7, err_msg=f"round {t}")
        assert decisions.action[t] == action
        assert np.count_nonzero(got) <= 2


@pytest.mark.parametrize("form", ["bayesian", "frequentist"])
@pytest.mark.parametrize("growth", [1.2, 2.0])
@pytest.mark.parametrize("graph", ["star", "clique_group", "random", "bandit", "loose"])
def test_full_runs_are_those_of_the_reference(form, growth, graph):
    for seed, masked in ((0, False), (1, True), (2, False)):
        kind = "random" if graph == "loose" else graph
        values, graphs, rewards, uniforms, masks = problem(seed, 7, kind, functions=12, masked=masked)
        if graph == "loose":
            graphs = loose_graphs(seed, len(values), 7)
        learner = gb.IDSG(form=form, epoch_growth=growth)
        decisions, _ = run_package(learner, values, graphs, rewards, uniforms, masks, horizon=len(values), noise=0.7)
        dense = [each.to_dense() for each in graphs]
        expected = reference.run(values, dense, rewards, uniforms, masks, sigma=0.7, growth=growth, form=form)
        compare(decisions, expected)


def test_edges_with_probabilities_are_those_of_the_reference():
    values, _, rewards, uniforms, _ = problem(3, 6, "random", functions=12)
    n, rng = len(values), np.random.default_rng(8)
    odds = gb.ProbabilisticGraphs.from_dense(rng.random((n, 6, 6)))
    real = odds.sample(rng)
    decisions, _ = run_package(gb.IDSG(), values, odds, rewards, uniforms, None, horizon=None, noise=0.7, real=real)
    revealed, matrices = [graph.to_dense() for graph in real], [graph.matrix for graph in odds]
    compare(
        decisions,
        reference.run(values, matrices, rewards, uniforms, None, sigma=0.7, growth=1.2, revealed=revealed),
    )
    for t in range(n):
        np.testing.assert_allclose(decisions.observation_probabilities[t], decisions.probabilities[t] @ odds.matrix(t))


def test_graphs_that_are_certain_are_the_same_either_way():
    instance = gb.environments.paper(n_arms=9, graph="random", reward_scale=4.0).instance(2)
    learner = gb.IDSG()
    state = learner.init(instance.problem(None))
    part = instance.rounds(0, 1)
    plain = learner.decide(state, Shown(part.contexts, part.graphs), np.random.default_rng(0))
    odds = gb.ProbabilisticGraphs.from_graphs(part.graphs)
    same = learner.decide(state, Shown(part.contexts, odds), np.random.default_rng(0))
    for name in ARRAYS:
        np.testing.assert_allclose(getattr(same, name), getattr(plain, name), rtol=1e-12)


def smallest_ratio(regrets, gains, mask):
    """p and the arm of the smallest regret; on loops alone, an arm's gain is its own information."""
    found = room_for(1, len(regrets))
    found.tables[0, 4], found.tables[0, 6], found.blind[:] = regrets, gains, False
    direct(gb.FeedbackGraphs.repeat(gb.graphs.bandit(len(regrets)), 1), mask[None], np.array([0.5]), found)
    return found.tables[0, 0], int(found.actions[0, 0])


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 12).flatmap(
        lambda k: st.tuples(
            st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0, 3.7]), min_size=k, max_size=k),
            st.lists(st.sampled_from([0.0, 0.1, 0.4, 1.0, 2.5]), min_size=k, max_size=k),
            st.lists(st.booleans(), min_size=k, max_size=k).filter(any),
        )
    )
)
def test_no_pair_of_arms_has_a_smaller_ratio(instance):
    """Also where points are the same, on one line, or without any information."""
    regrets, gains, mask = (np.array(column) for column in instance)
    p, best = smallest_ratio(regrets, gains, mask)
    arms = np.flatnonzero(mask).tolist()
    expected = reference.smallest_ratio(regrets, gains, arms)
    assert p.sum() == pytest.approx(1)
    assert not p[~mask].any()
    assert best == min(arms, key=lambda a: (regrets[a], a))
    if regrets[best] == 0 or not gains[mask].any():
        assert p[best] == 1
    else:
        assert reference.ratio(p, regrets, gains) == pytest.approx(reference.ratio(expected, regrets, gains))


def test_no_distribution_at_all_has_a_smaller_ratio():
    """Tried at random, and on a fine grid of all pairs."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        regrets, gains = rng.random(6) + 0.01, rng.random(6) ** 3 * (rng.random(6) < 0.8)
        gains[0] = 0.1
        p, _ = smallest_ratio(regrets, gains, np.ones(6, dtype=bool))
        assert p.min() >= 0
        assert np.count_nonzero(p) <= 2
        share = np.linspace(0, 1, 101)[:, None]
        pairs = [share * np.eye(6)[i] + (1 - share) * np.eye(6)[j] for i in range(6) for j in range(i)]
        others = np.concatenate([rng.dirichlet(np.full(6, 0.3), size=2000), *pairs])
        others = others[others @ gains > 0]
        assert reference.ratio(p, regrets, gains) <= ((others @ regrets) ** 2 / (others @ gains)).min() * (1 + 1e-12)


def by_hand(graph, values, learner=None, *, offered=None, noise=0.5):
    table = np.asarray(values, dtype=float)
    functions = gb.FiniteClass(
        lambda x: np.broadcast_to(table, (len(x), *table.shape)), n_functions=len(table), n_arms=table.shape[1]
    )
    learner = gb.IDSG() if learner is None else learner
    state = learner.init(gb.Problem(n_arms=table.shape[1], function_class=functions, noise=noise))
    batch = gb.FeedbackGraphs.repeat(graph, 1)
    return learner.decide(state, Shown(np.zeros((1, 1)), batch, offered), np.random.default_rng(0))


def test_values_worked_out_by_hand():
    """Functions (1, 0, -1) and (0, 1, -1), weights 1/2: mu = (.5, .5, -1), Delta = (.5, .5, 2), v = (.25, .25, 0).

    Arm 2 reveals arms 0 and 1 and nobody else reveals anything: g = (0, 0, .5). On the edge from (0, .5) to (.5, 2)
    the ratio (.5 + 1.5 p)^2 / (.5 p) is smallest at p = 1/3.
    """
    teacher = gb.FeedbackGraph.from_edges([(2, 0), (2, 1)], 3, require_loops=False)
    decisions = by_hand(teacher, [[1, 0, -1], [0, 1, -1]])
    np.testing.assert_allclose(decisions.probabilities, [[2 / 3, 0, 1 / 3]])
    np.testing.assert_allclose(decisions.observation_probabilities, [[1 / 3, 1 / 3, 0]])
    np.testing.assert_allclose(decisions.gaps, [[0, 0, 1.5]])
    np.testing.assert_allclose(decisions.objective, [0.5])
    assert decisions.candidates.tolist() == [[True, True, False]]
    # the bounds are (0, 1), (0, 1), (-1, -1): Delta = (1, 1, 2), and only arms 0 and 1 inform, log 2 each: p = 1
    frequentist = by_hand(teacher, [[1, 0, -1], [0, 1, -1]], gb.IDSG(form="frequentist"))
    np.testing.assert_allclose(frequentist.probabilities, [[0, 0, 1]])


def test_an_arm_without_regret_is_played_and_so_is_the_least_regret_where_nothing_can_be_learnt():
    loops = gb.graphs.bandit(3)
    assert by_hand(loops, [[0, 3, 1], [2, 2, 1]]).probabilities.tolist() == [[0, 1, 0]]
    nothing = gb.FeedbackGraph.from_edges([], 3, require_loops=False)
    assert by_hand(nothing, [[0, 3, 1], [2, 1, 1]]).probabilities.tolist() == [[0, 1, 0]]
    # arm 2 is the same in both functions, so the only edge there is teaches nothing, exactly
    useless = gb.FeedbackGraph.from_edges([(0, 2)], 3, require_loops=False)
    assert by_hand(useless, [[0.1, 0.7, 0.3], [0.7, 0.2, 0.3]]).probabilities.tolist() == [[0, 1, 0]]


def test_an_arm_not_on_offer_is_nobody_s_best_but_teaches():
    """Arm 2 would be best, and only it differs between the functions that call 0 best and those that call 1 best."""
    graph = gb.FeedbackGraph.from_edges([(1, 2)], 3, require_loops=False)
    decisions = by_hand(graph, [[1, 0, 5], [0, 0.9, 9]], gb.IDSG(), offered=np.array([[True, True, False]]))
    # Delta = (.45, .5), v(2) = 4: all gain is at arm 1, and arm 0 is 0.05 cheaper; p(1) = .45 / .05, clipped to 1
    assert decisions.probabilities.tolist() == [[0, 1, 0]]
    assert decisions.candidates.tolist() == [[True, True, False]]


@pytest.mark.parametrize("noise", [0.0, 1e-200, 1e9])
@pytest.mark.parametrize("form", ["bayesian", "frequentist"])
def test_any_noise_will_do(noise, form):
    values, graphs, rewards, uniforms, _ = problem(5, 6, "random", functions=10)
    learner = gb.IDSG(form=form)
    decisions, states = run_package(learner, values, graphs, rewards, uniforms, None, horizon=None, noise=noise)
    np.testing.assert_allclose(decisions.probabilities.sum(axis=1), 1)
    assert states[-1].noise == noise


@pytest.mark.parametrize("form", ["bayesian", "frequentist"])
def test_unknown_noise_is_estimated_and_functions_become_implausible(form):
    """Draws have it as part of what is plausible; a version space has it estimated on the high side, and warns."""
    instance = gb.environments.paper(n_arms=10, graph="complete", noise=0.7, reward_scale=8.0).instance(seed=1)
    learner = gb.IDSG(form=form)
    problem = dataclasses.replace(instance.problem(1024), noise=None)
    if form == "bayesian":
        state = learner.init(problem)
    else:
        with pytest.warns(EstimatedNoiseWarning, match="IDSG estimates it"):
            state = learner.init(problem)
    *_, state = states = list(states_after_epochs(learner, state, instance, 256))
    plausible = [len(one.plausible) if form == "bayesian" else one.plausible.size for one in states]
    assert plausible[0] == 50
    assert plausible[-1] < 50
    assert state.noise is None if form == "bayesian" else 0.7 <= state.noise < np.inf


def test_a_class_with_nothing_to_draw_is_explored_uniformly():
    functions = Undrawn(x0=np.eye(2), a0=np.eye(2), arms=[[1, 0], [0, 1], [1, 1]])
    learner, graph = gb.IDSG(), gb.graphs.bandit(3)
    state = learner.init(gb.Problem(n_arms=3, function_class=functions, noise=1.0))
    graphs = gb.FeedbackGraphs.repeat(graph, 1)

    def probabilities(dimension, available=None):
        shown = Shown(np.zeros((1, dimension)), graphs, available)
        return learner.decide(state, shown, np.random.default_rng(0)).probabilities

    np.testing.assert_allclose(probabilities(2), 1 / 3)
    assert probabilities(2, np.array([[True, False, True]])).tolist() == [[0.5, 0, 0.5]]
    with pytest.raises(InputError, match="expected"):
        probabilities(3)


def test_a_class_in_which_all_arms_are_the_same_at_first_is_explored_uniformly():
    assert by_hand(gb.graphs.bandit(3), [[2, 2, 2], [2, 2, 2]]).probabilities.tolist() == [[1 / 3] * 3]


class Infinite(gb.function_classes.BilinearClass):
    def bounds(self, space, contexts):
        lower, upper = super().bounds(space, contexts)
        return lower - np.inf, upper + np.inf


def test_bounds_that_bound_nothing_leave_all_arms_alike():
    functions = Infinite(x0=np.eye(2), a0=np.eye(2), arms=[[1, 0], [0, 1]])
    learner = gb.IDSG(form="frequentist")
    state = learner.init(gb.Problem(n_arms=2, function_class=functions, noise=1.0))
    graphs = gb.FeedbackGraphs.repeat(gb.graphs.bandit(2), 1)
    decisions = learner.decide(state, Shown(np.zeros((1, 2)), graphs), np.random.default_rng(0))
    assert decisions.probabilities.tolist() == [[0.5, 0.5]]


class Broken(gb.function_classes.BilinearClass):
    def draw_values(self, draws, contexts):
        return super().draw_values(draws, contexts) * np.nan

    def bounds(self, space, contexts):
        lower, upper = super().bounds(space, contexts)
        return upper + 1, lower


@pytest.mark.parametrize(("form", "message"), [("bayesian", "drew nan"), ("frequentist", "not above the upper")])
def test_a_class_that_gives_nonsense_is_named(form, message):
    learner = gb.IDSG(form=form)
    functions = Broken(x0=np.eye(2), a0=np.eye(2), arms=[[1, 0], [0, 1]])
    state = learner.init(gb.Problem(n_arms=2, function_class=functions, noise=1.0))
    graphs = gb.FeedbackGraphs.repeat(gb.graphs.bandit(2), 1)
    with pytest.raises(InputError, match=message):
        learner.decide(state, Shown(np.zeros((1, 2)), graphs), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"form": "lucky"}, "form is 'lucky'"),
        ({"draws": 0}, "draws is 0"),
        ({"delta": 1.0}, r"delta is 1\.0"),
        ({"epoch_growth": 1.0}, "epoch_growth"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_settings_are_refused(bad, message):
    with pytest.raises(SettingError, match=message):
        gb.IDSG(**bad)


def test_other_learners_do_not_take_odds_for_graphs():
    instance = gb.environments.paper(n_arms=5, graph="star").instance(0)
    part = instance.rounds(0, 1)
    odds = gb.ProbabilisticGraphs.from_graphs(part.graphs)
    for learner in (gb.Falcon(), gb.Greedy()):
        state = learner.init(instance.problem(8))
        with pytest.raises(GraphError, match="ProbabilisticGraphs; expected FeedbackGraphs"):
            learner.decide(state, Shown(part.contexts, odds), np.random.default_rng(0))


def test_batches_of_any_size_are_the_same_bits(monkeypatch):
    instance = gb.environments.paper(n_arms=8, graph="random", reward_scale=8.0).instance(3)
    whole = gb.simulate(gb.IDSG(), _Fixed(instance), rounds=200, keep_decisions=True)
    monkeypatch.setattr("graphbandit.learners.epochs.plausible.CELLS", 1)
    single = gb.simulate(gb.IDSG(), _Fixed(instance), rounds=200, keep_decisions=True, chunk=7)
    for name in ARRAYS:
        np.testing.assert_array_equal(
            getattr(whole.decisions["learner"][0], name), getattr(single.decisions["learner"][0], name)
        )


class _Fixed(gb.environments.Environment):
    def __init__(self, instance):
        self.held = instance

    n_arms = 8
    n_rounds = None

    def instance(self, seed, repeat=0):
        return self.held


def test_large_graphs_are_decided_as_small_ones():
    """The same star, embedded among arms beyond the packed limit that are never anyone's best."""
    n_arms = 5000
    star = gb.graphs.star(4, hub=0)
    small = by_hand(star, [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    table = np.full((3, n_arms), -9.0)
    table[:, :4] = [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    edges = np.argwhere(star.to_dense())
    large = by_hand(gb.FeedbackGraph.from_edges(edges, n_arms, add_loops=True), table)
    np.testing.assert_allclose(large.probabilities[0, :4], small.probabilities[0])
    assert not large.probabilities[0, 4:].any()


def test_it_survives_being_saved(tmp_path):
    instance = gb.environments.paper(n_arms=6, graph="star", reward_scale=4.0).instance(1)
    for form in ("bayesian", "frequentist"):
        bandit = gb.Bandit(gb.IDSG(form=form), instance.problem(None), seed=4)
        part = instance.rounds(0, 40)
        play(bandit, part, 0, 20)
        bandit.save(tmp_path / "bandit")
        again = gb.Bandit.load(tmp_path / "bandit")
        for t in range(20, 40):
            one, two = (each.decide(part.contexts[t], part.graphs[t]) for each in (bandit, again))
            assert one.action == two.action
            np.testing.assert_array_equal(one.probabilities, two.probabilities)


def test_it_learns_faster_than_the_paper_s_algorithm():
    environment = gb.environments.paper(n_arms=20, graph="star", reward_scale=8.0)
    learners = {"IDS.G": gb.IDSG(), "paper": gb.AdaCBG(radius="paper", coverage="paper", eta=1.0)}
    found = gb.simulate(learners, environment, rounds=256, repeats=4, seed=0).summary()
    assert found["IDS.G"].mean < 0.2 * found["paper"].mean


@pytest.mark.parametrize("kind", ["huge", "constant at first", "always constant", "two arms", "small feature"])
def test_strange_rewards_are_played_sensibly(kind):
    """Rare rewards of a thousand, none that differs for 50 rounds or ever, two arms, one constant feature of 1e-3."""
    rounds, n_arms = 400, 2 if kind == "two arms" else 5
    rng = np.random.default_rng(3)
    means = np.tile(np.linspace(0.0, 2.0, n_arms), (rounds, 1))
    rewards = means + 0.5 * rng.normal(size=means.shape)
    if kind == "huge":
        rewards[rng.random(means.shape) < 0.002] += 1000.0
    elif kind == "constant at first":
        rewards[:50] = 3.0
    elif kind == "always constant":
        rewards[:] = 3.0
    world = gb.environments.from_arrays(
        contexts=np.full((rounds, 1), 1e-3 if kind == "small feature" else 1.0),
        graphs=gb.graphs.bandit(n_arms),
        rewards=rewards,
        means=means,
        function_class=gb.LinearClass(n_arms=n_arms, dimension=1, parameters="per-arm"),
    )
    curve = gb.simulate({"IDS.G": gb.IDSG()}, world, rounds=rounds, repeats=1, seed=0).regret["IDS.G"][0]
    assert np.isfinite(curve).all()
    if kind in ("constant at first", "two arms", "small feature"):
        assert curve[-1] - curve[99] < 75.0  # a quarter of what uniform play has


@pytest.mark.parametrize(("n_arms", "single"), [(3, 38), (50, 107), (100, 208), (1000, 208)])
def test_it_learns_after_every_round_while_arms_are_new(n_arms, single):
    problem = gb.Problem(n_arms=n_arms, function_class=gb.LinearClass(n_arms=n_arms, dimension=1, parameters="per-arm"))
    schedule = gb.IDSG().epochs(problem)
    assert [schedule.tau(m) for m in range(single + 1)] == list(range(single + 1))
    assert schedule.tau(single + 1) > single + 1
    ends, growing = [gb.IDSG(epoch_growth=1.1).epochs(problem).tau(m) for m in range(90)], range(single, single + 20)
    assert {schedule.tau(m) for m in growing} < set(ends)
