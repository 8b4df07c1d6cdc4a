"""The learners that ignore the graph when choosing, against values worked out by hand and plain references."""

import dataclasses

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import EstimatedNoiseWarning, InputError, SettingError
from graphbandit.rounds.shown import Shown
from tests.learners.playing import Undrawn, problem, run_package


def some_run(learner, *, seed=0, n_arms=6, functions=10, noise=0.8, masked=False, graph="random"):
    values, graphs, rewards, uniforms, masks = problem(seed, n_arms, graph, functions=functions, masked=masked)
    decisions, states = run_package(learner, values, graphs, rewards, uniforms, masks, horizon=len(values), noise=noise)
    losses = [state.data.losses for state in states]
    offered = np.ones(values.shape[::2], dtype=bool) if masks is None else masks
    return values, offered, decisions, losses


def best_of(row, offered):
    return max(np.flatnonzero(offered), key=lambda a: (row[a], -a))


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("form", ["elimination", "optimistic"])
def test_regcb_follows_the_bounds_of_its_version_space(form, masked):
    values, offered, decisions, losses = some_run(gb.learners.RegCB(form=form), masked=masked)
    radius = 2 * 0.8**2 * np.log(10 / 0.1)
    shrunk = 0
    for t in range(len(values)):
        members = [i for i in range(10) if losses[t][i] <= min(losses[t]) + radius]
        shrunk += len(members) < 10
        arms = np.flatnonzero(offered[t])
        low = {a: min(values[t, i, a] for i in members) for a in arms}
        high = {a: max(values[t, i, a] for i in members) for a in arms}
        kept = [a for a in arms if high[a] >= max(low.values())]
        expected = np.zeros(6)
        if form == "elimination":
            expected[kept] = 1 / len(kept)
        else:
            expected[best_of(np.array([high.get(a, -np.inf) for a in range(6)]), offered[t])] = 1
        np.testing.assert_allclose(decisions.probabilities[t], expected)
        assert np.flatnonzero(decisions.candidates[t]).tolist() == kept
    assert shrunk > 0


class Unbounded(gb.function_classes.BilinearClass):
    """Nothing is known of arms 1 and 2."""

    def bounds(self, space, contexts):
        lower, upper = super().bounds(space, contexts)
        lower[:, 1:], upper[:, 1:] = -np.inf, np.inf
        return lower, upper


def test_regcb_tries_what_it_knows_nothing_about():
    functions = Unbounded(x0=np.eye(2), a0=np.eye(2), arms=[[1, 0], [0, 1], [1, 1]])
    graphs = gb.FeedbackGraphs.repeat(gb.graphs.bandit(3), 1)
    for form, expected in (("optimistic", [0, 0.5, 0.5]), ("elimination", [1 / 3] * 3)):
        learner = gb.learners.RegCB(form=form)
        state = learner.init(gb.Problem(n_arms=3, function_class=functions, noise=1.0))
        decisions = learner.decide(state, Shown(np.zeros((1, 2)), graphs), np.random.default_rng(0))
        np.testing.assert_allclose(decisions.probabilities[0], expected)
        assert np.isfinite(decisions.gaps).all()


@pytest.mark.parametrize("masked", [False, True])
def test_thompson_plays_an_arm_with_the_weight_of_those_who_call_it_best(masked):
    learner = gb.learners.BootstrappedThompson()
    values, offered, decisions, losses = some_run(learner, masked=masked)
    for t in range(len(values)):
        weights = np.exp(-(losses[t] - losses[t].min()) / (2 * 0.8**2))
        expected = np.zeros(6)
        for i in range(10):
            expected[best_of(values[t, i], offered[t])] += weights[i] / weights.sum()
        np.testing.assert_allclose(decisions.probabilities[t], expected, atol=1e-12)


class Broken(gb.function_classes.BilinearClass):
    def draw_values(self, draws, contexts):
        return super().draw_values(draws, contexts)[:, :, :1]


def test_thompson_with_nothing_to_draw_is_uniform_and_nonsense_is_named():
    learner, graphs = gb.learners.BootstrappedThompson(), gb.FeedbackGraphs.repeat(gb.graphs.bandit(2), 1)
    two = {"x0": np.eye(2), "a0": np.eye(2), "arms": [[1, 0], [0, 1]]}
    state = learner.init(gb.Problem(n_arms=2, function_class=Undrawn(**two), noise=1.0))
    decisions = learner.decide(state, Shown(np.zeros((1, 2)), graphs), np.random.default_rng(0))
    assert decisions.probabilities.tolist() == [[0.5, 0.5]]
    alike = gb.FiniteClass(lambda x: np.ones((len(x), 3, 2)), n_functions=3, n_arms=2)
    state = learner.init(gb.Problem(n_arms=2, function_class=alike, noise=1.0))
    assert learner.decide(state, Shown(np.zeros((1, 2)), graphs), np.random.default_rng(0)).probability[0] == 0.5
    state = learner.init(gb.Problem(n_arms=2, function_class=Broken(**two), noise=1.0))
    with pytest.raises(InputError, match=r"draws of shape \(1, 2, 1\); expected \(1, 2, 2\)"):
        learner.decide(state, Shown(np.zeros((1, 2)), graphs), np.random.default_rng(0))


@pytest.mark.parametrize("schedule", ["constant", "cube-root"])
def test_epsilon_greedy_is_a_mixture(schedule):
    learner = gb.learners.EpsilonGreedy(epsilon=0.3, schedule=schedule)
    values, offered, decisions, losses = some_run(learner, masked=True)
    for t in range(len(values)):
        epoch = int(decisions.epoch[t])
        share = 0.3 if schedule == "constant" else min(1, 0.3 * (6 / 2 ** (epoch - 1)) ** (1 / 3))
        share = 1.0 if epoch == 1 else share
        expected = np.where(offered[t], share / offered[t].sum(), 0.0)
        expected[best_of(values[t, np.argmin(losses[t])], offered[t]) if epoch > 1 else decisions.best[t]] += 1 - share
        np.testing.assert_allclose(decisions.probabilities[t], expected, atol=1e-15)


def test_without_chance_it_is_greedy():
    environment = gb.environments.paper(n_arms=6, graph="star", reward_scale=4.0)
    never = gb.learners.EpsilonGreedy(epsilon=0.0, schedule="constant")
    mine, theirs = (gb.simulate(each, environment, rounds=100, seed=3).regret for each in (never, gb.Greedy()))
    np.testing.assert_array_equal(mine["learner"], theirs["learner"])


def test_explore_then_commit_learns_from_its_first_rounds_alone():
    learner = gb.learners.ExploreThenCommit(explore_rounds=10)
    values, offered, decisions, losses = some_run(learner)
    np.testing.assert_allclose(decisions.probabilities[:10], 1 / 6)
    for t in range(10, len(values)):
        np.testing.assert_array_equal(losses[t], losses[10])
        assert decisions.action[t] == best_of(values[t, np.argmin(losses[10])], offered[t])
        assert decisions.probability[t] == 1
    assert np.unique(decisions.epoch, return_counts=True)[1].tolist() == [10, 10, 20, 8]


def constant_problem():
    """Two functions of two arms, whatever the context: the first arm is better, or the second."""
    tables = np.array([[0.9, 0.1], [0.1, 0.9]])
    functions = gb.FiniteClass(lambda x: np.broadcast_to(tables, (len(x), 2, 2)), n_functions=2, n_arms=2)
    return functions, gb.Problem(n_arms=2, function_class=functions, noise=0.5)


def test_explore_then_commit_waits_for_a_reward():
    _, problem = constant_problem()
    bandit = gb.Bandit(gb.learners.ExploreThenCommit(explore_rounds=3), problem)
    graph = gb.graphs.complete(2)
    made = [bandit.decide([0.0], graph) for _ in range(6)]
    assert all(decision.probability == 0.5 for decision in made), "all rewards are late, so it still explores"
    bandit.observe(made[0], {0: 0.1, 1: 0.9})
    assert bandit.decide([0.0], graph).action == 1
    assert (bandit.state.explored, bandit.state.fitted) == (6, 2)


def test_late_rewards_of_the_exploring_rounds_count_and_no_others_do():
    functions, problem = constant_problem()
    bandit = gb.Bandit(gb.learners.ExploreThenCommit(explore_rounds=3), problem)
    graph = gb.graphs.complete(2)
    made = [bandit.decide([0.0], graph) for _ in range(3)]
    bandit.observe(made[0], {0: 0.9, 1: 0.1})
    made += [bandit.decide([0.0], graph) for _ in range(3)]
    assert [decision.action for decision in made[3:]] == [0, 0, 0]
    for decision in made[1:3]:
        bandit.observe(decision, {0: 0.1, 1: 0.9})
    for decision in made[3:5]:
        bandit.observe(decision, {0: 0.9, 1: 0.1})
    made += [bandit.decide([0.0], graph) for _ in range(6)]
    assert [decision.action for decision in made[6:]] == [1] * 6, "two of three exploring rounds say so"
    assert functions.n_observed(bandit.state.data) == bandit.state.fitted == 6
    before = bandit.state.model
    bandit.observe(made[5], {0: 0.9, 1: 0.1})
    bandit.decide([0.0], graph)
    assert bandit.rounds == 13
    assert bandit.state.model is before
    assert functions.n_observed(bandit.state.data) == 6


def test_how_long_it_explores():
    learner = gb.learners.ExploreThenCommit()
    assert [learner.exploring(gb.Problem(n_arms=2, horizon=T)) for T in (1, 2, 8, 27, 2048)] == [1, 2, 4, 9, 162]
    assert gb.learners.ExploreThenCommit(explore_rounds=9).exploring(gb.Problem(n_arms=2, horizon=4)) == 4
    with pytest.raises(SettingError, match="explore_rounds is None, and so is the problem's horizon"):
        learner.init(gb.environments.paper(n_arms=3).instance(0).problem(None))


@pytest.mark.parametrize(("radius", "gamma"), [("sharp", "natural"), ("paper", "natural"), ("paper", "paper")])
def test_adacb_is_adacb_g_where_no_arm_reveals_another(radius, gamma):
    """Also with the paper's sampling program: its answer is its baseline there."""
    environment = gb.environments.paper(n_arms=8, graph="bandit", reward_scale=8.0)
    for coverage in ("tight", "paper") if gamma == "paper" else ("tight",):
        theirs, ours = (
            gb.simulate({"learner": learner}, environment, rounds=256, seed=1, keep_decisions=True)
            for learner in (
                gb.AdaCBG(radius=radius, coverage=coverage, gamma=gamma),
                gb.learners.AdaCB(radius=radius, gamma=gamma),
            )
        )
        for name in ("action", "best", "candidates", "exploration_set", "epoch"):
            np.testing.assert_array_equal(*(getattr(run.decisions["learner"][0], name) for run in (ours, theirs)))
        for name in ("probabilities", "observation_probabilities", "gamma", "objective", "gaps"):
            got, expected = (getattr(run.decisions["learner"][0], name) for run in (ours, theirs))
            np.testing.assert_allclose(got, expected, atol=1e-9)


def test_adacb_chooses_as_if_there_were_loops_only_and_sees_what_there_is():
    instance = gb.environments.paper(n_arms=6, graph="star", reward_scale=4.0).instance(2)
    learner = gb.learners.AdaCB(epoch_growth=2.0)
    state, part = learner.init(instance.problem(None)), instance.rounds(0, 2)
    decisions = learner.decide(state, Shown(part.contexts, part.graphs), np.random.default_rng(0))
    for t in range(2):
        p = decisions.probabilities[t]
        np.testing.assert_allclose(decisions.observation_probabilities[t], p @ part.graphs[t].to_dense(), atol=1e-15)
        np.testing.assert_array_equal(decisions.exploration_set[t], decisions.candidates[t])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gb.learners.RegCB(form="bold"), "form is 'bold'"),
        (lambda: gb.learners.RegCB(delta=0.0), r"delta is 0\.0"),
        (
            lambda: gb.learners.EpsilonGreedy(epsilon=1.5, schedule="constant"),
            r"epsilon is 1\.5; expected a probability",
        ),
        (lambda: gb.learners.EpsilonGreedy(epsilon=-0.1), r"epsilon is -0\.1"),
        (lambda: gb.learners.EpsilonGreedy(schedule="linear"), "schedule is 'linear'"),
        (lambda: gb.learners.BootstrappedThompson(draws=0), "draws is 0"),
        (lambda: gb.learners.BootstrappedThompson(seed=-1), "seed is -1"),
        (lambda: gb.learners.ExploreThenCommit(explore_rounds=0), "explore_rounds is 0"),
        (lambda: gb.learners.AdaCB(eta=0.0), r"eta is 0\.0"),
        (lambda: gb.AdaCBG(radius="paper"), "only one of them is the paper's; expected AdaCBG.paper"),
        (lambda: gb.AdaCBG(coverage="paper"), "only one of them is the paper's; expected AdaCBG.paper"),
        (lambda: gb.AdaCBG.paper(gamma="natural"), r"AdaCBG\.paper\(\) got gamma='natural'; expected none"),
        (lambda: gb.AdaCBG.paper(radius="sharp"), r"AdaCBG\.paper\(\) got radius='sharp'; expected none"),
        (lambda: gb.AdaCBG.paper(coverage="tight"), r"AdaCBG\.paper\(\) got coverage='tight'; expected none"),
        (lambda: gb.learners.AdaCB.paper(radius="natural"), r"AdaCB\.paper\(\) got radius='natural'; expected none"),
        (lambda: gb.learners.AdaCB.paper(gamma="natural"), r"AdaCB\.paper\(\) got gamma='natural'; expected none"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises(SettingError, match=message):
        make()


@pytest.mark.parametrize("learner", [gb.learners.RegCB(), gb.learners.AdaCB(radius="sharp")])
def test_unknown_noise_is_told(learner):
    problem = dataclasses.replace(gb.environments.paper(n_arms=3).instance(0).problem(None), noise=None)
    with pytest.warns(EstimatedNoiseWarning, match="does not say its noise"):
        learner.init(problem)


def test_falcon_recovers_the_published_gamma():
    """Simchi-Levi & Xu: gamma_m = sqrt(K tau_{m-1} / log(|F| tau_{m-1} / delta)) / 30, and eta = 1/200 is near it."""
    n_arms, size = 20, 50
    table = np.random.default_rng(0).random((size, n_arms))
    functions = gb.FiniteClass(lambda x: np.repeat(table[None], len(x), axis=0), n_functions=size, n_arms=n_arms)
    learner = gb.Falcon(eta=1 / 200)
    bandit = gb.Bandit(learner, gb.Problem(n_arms=n_arms, function_class=functions, horizon=1024))
    complete = gb.graphs.complete(n_arms)
    for _ in range(512):
        bandit.observe(bandit.decide([0.0], complete), dict(enumerate(table[0])))
    published = np.sqrt(n_arms * 512 / np.log(size * 512 / learner.delta)) / 30
    assert bandit.decide([0.0], complete).gamma == pytest.approx(published, rel=0.15)


def test_the_radius_of_the_paper_brings_its_gamma():
    """Or "paper" would mean something else than `AdaCB.paper()`."""
    made = gb.learners.AdaCB
    assert made(radius="paper")._on_loops == made.paper()._on_loops
    assert made(radius="paper", gamma="natural")._on_loops.gamma_rule == "natural"
    assert made()._on_loops.gamma_rule == made(radius="sharp")._on_loops.gamma_rule == "natural"
