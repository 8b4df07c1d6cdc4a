"""The everyday object: batches, late and shuffled rewards, saving and loading, each to the last bit."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import HorizonError, ObservationError, SavedFileError
from tests.helpers.bandits import play, play_late
from tests.helpers.every_round_learners import EVERY_ROUND

N_ARMS, ROUNDS = 8, 70

LEARNERS = {
    "AdaCB.G": gb.AdaCBG(epoch_growth=2.0),
    "paper": gb.AdaCBG(epoch_growth=2.0, radius="paper", coverage="paper", eta=1.0),
    "width": gb.AdaCBG(epoch_growth=2.0, gamma="width"),
    "remark": gb.AdaCBG(baseline="inverse-gap", epoch_growth=1.4),
    "FALCON": gb.Falcon(),
    "RegCB.G": gb.RegCBG(),
    "greedy": gb.Greedy(),
    "uniform": gb.learners.Uniform(),
    "IDS.G": gb.IDSG(),
    "RegCB": gb.learners.RegCB(),
    "AdaCB": gb.learners.AdaCB(epoch_growth=2.0),
    "epsilon-greedy": gb.learners.EpsilonGreedy(epsilon=0.3),
    "explore then commit": gb.learners.ExploreThenCommit(explore_rounds=7),
    "Thompson": gb.learners.BootstrappedThompson(),
    "SquareCB.G": gb.SquareCBG(),
    "SquareCB online": gb.learners.SquareCB(),
    "late graph": gb.learners.LateGraph(learner=gb.IDSG()),
    **{name: EVERY_ROUND[name] for name in ("UCB-N", "TS-N", "EXP3-DOM", "EXP3-IX", "LinTS", "EXP3-LGC-U")},
}


@pytest.fixture(params=LEARNERS)
def learner(request):
    return LEARNERS[request.param]


@pytest.fixture
def instance():
    return gb.environments.paper(n_arms=N_ARMS, graph="random", reward_scale=4.0, density=0.1).instance(seed=7)


def make(learner, instance, horizon=None):
    return gb.Bandit(learner, instance.problem(horizon), seed=11, identity="test")


def rewards_of(decision, drawn):
    return {int(a): float(drawn.rewards[decision.id, a]) for a in decision.revealed}


def facts(decisions):
    """All that a decision says, as bytes."""
    return [
        (d.id, d.action, d.probability, np.float64(d.gamma).tobytes(), d.epoch,
         d.probabilities.tobytes(), d.baseline.tobytes(), d.observation_probabilities.tobytes(), d.candidates.tobytes(),
         d.exploration_set.tobytes(), d.objective)
        for d in decisions
    ]  # fmt: skip


def test_batches_are_the_same_decisions_as_rounds_one_by_one(learner, instance):
    drawn = instance.rounds(0, ROUNDS)
    single = make(learner, instance)
    one_by_one = [single.decide(drawn.contexts[t], drawn.graphs[t]) for t in range(ROUNDS)]
    whole = make(learner, instance).decide_batch(drawn.contexts, drawn.graphs)
    pieces, batched, start = make(learner, instance), [], 0
    for size in (1, 5, 2, 30, 32):
        batched += pieces.decide_batch(drawn.contexts[start : start + size], drawn.graphs[start : start + size])
        start += size
    assert facts(one_by_one) == facts(whole) == facts(batched)


def test_batches_with_rewards_in_between(learner, instance):
    drawn = instance.rounds(0, ROUNDS)
    prompt = play(make(learner, instance), drawn, 0, ROUNDS)
    bandit, made = make(learner, instance), []
    while len(made) < ROUNDS:
        left = bandit.learner.rounds_until_update(bandit.state) - (bandit.rounds - bandit.state.rounds)
        part = slice(len(made), min(len(made) + max(left, 1), ROUNDS))
        decisions = bandit.decide_batch(drawn.contexts[part], drawn.graphs[part])
        for decision in decisions:
            bandit.observe(decision, rewards_of(decision, drawn))
        made += decisions
    assert facts(made) == facts(prompt)


def test_late_shuffled_and_partial_rewards_are_the_same_as_prompt_ones(learner, instance):
    drawn = instance.rounds(0, ROUNDS)
    prompt = play(make(learner, instance), drawn, 0, ROUNDS)
    rng = np.random.default_rng(3)
    bandit, made, waiting = make(learner, instance), [], []
    for t in range(ROUNDS):
        made.append(bandit.decide(drawn.contexts[t], drawn.graphs[t]))
        waiting += [(t, arm, reward) for arm, reward in rewards_of(made[t], drawn).items()]
        if bandit.learner.rounds_until_update(bandit.state) == bandit.rounds - bandit.state.rounds:
            for place in rng.permutation(len(waiting)):
                number, arm, reward = waiting[place]
                bandit.observe(number, {arm: reward})
            waiting.clear()
    assert facts(made) == facts(prompt)


@pytest.mark.parametrize(
    "learner", [gb.RegCBG(), gb.AdaCBG(epoch_growth=2.0), gb.AdaCBG(epoch_growth=2.0, gamma="width")], ids=repr
)
def test_rewards_later_than_their_epoch_count_from_the_next_one_on(learner, instance):
    """Rounds 0 to 3 get their rewards in the third epoch (rounds 4 to 7), and are in the data of the fourth."""
    drawn = instance.rounds(0, 9)
    bandit = make(learner, instance)
    made = bandit.decide_batch(drawn.contexts[:6], drawn.graphs[:6])
    assert bandit.state.data.count == 0
    for decision in made[::-1]:
        bandit.observe(decision, rewards_of(decision, drawn))
    made += bandit.decide_batch(drawn.contexts[6:8], drawn.graphs[6:8])
    assert bandit.state.data.count == 0, "the third epoch is not over"
    for decision in made[6:]:
        bandit.observe(decision, rewards_of(decision, drawn))
    bandit.decide(drawn.contexts[8], drawn.graphs[8])
    seen = np.zeros((8, N_ARMS), dtype=bool)
    for decision in made:
        seen[decision.id, decision.revealed] = True
    expected = instance.functions.add(
        instance.functions.empty(), gb.Observations.from_masks(drawn.contexts[:8], seen, drawn.rewards[:8])
    )
    assert bandit.state.data.count == expected.count == sum(len(decision.revealed) for decision in made)
    np.testing.assert_allclose(bandit.state.data.losses, expected.losses, rtol=1e-12)
    assert bandit.open_decisions == [8]


def test_copies_go_their_own_way(instance):
    drawn = instance.rounds(0, 12)
    bandit = make(gb.AdaCBG(epoch_growth=2.0), instance)
    play(bandit, drawn, 0, 6)
    twin, pickled = copy.deepcopy(bandit), pickle.loads(pickle.dumps(bandit))
    expected = facts(play(bandit, drawn, 6, 12))
    assert facts(play(twin, drawn, 6, 12)) == facts(play(pickled, drawn, 6, 12)) == expected


@pytest.mark.parametrize("stop", [0, 1, 2, 7, 8, 33])
def test_saved_and_loaded_goes_on_as_if_never_stopped(learner, instance, stop, tmp_path):
    drawn = instance.rounds(0, ROUNDS)
    straight = make(learner, instance)
    expected = play(straight, drawn, 0, ROUNDS)
    bandit = make(learner, instance)
    made = play(bandit, drawn, 0, stop)
    bandit.save(tmp_path / "bandit.gb")
    loaded = gb.Bandit.load(tmp_path / "bandit.gb")
    assert facts(made + play(loaded, drawn, stop, ROUNDS)) == facts(expected)
    straight.save(tmp_path / "a.gb")
    loaded.save(tmp_path / "b.gb")
    assert (tmp_path / "a.gb").read_bytes() == (tmp_path / "b.gb").read_bytes()


def test_saving_keeps_open_decisions_masks_and_late_news(instance, tmp_path):
    drawn = instance.rounds(0, ROUNDS)
    masks = np.random.default_rng(0).random((ROUNDS, N_ARMS)) < 0.7
    masks[:, 2] = True

    masks = [mask if t % 3 else None for t, mask in enumerate(masks)]

    def story(folder):
        bandit = make(gb.AdaCBG(epoch_growth=2.0), instance)
        bandit, made = play_late(bandit, drawn, 20, late=5, folder=folder, masks=masks)
        return facts(made), bandit.open_decisions

    assert story(tmp_path) == story(None)


def test_a_class_of_callables_is_handed_in_again(tmp_path):
    functions = gb.FiniteClass(lambda x: np.stack([x, 1 - x], axis=1), n_functions=2, n_arms=3)
    bandit = gb.Bandit(gb.AdaCBG(epoch_growth=2.0), gb.Problem(n_arms=3, function_class=functions, noise=0.5))
    graph = gb.graphs.complete(3)
    for _ in range(5):
        decision = bandit.decide([0.1, 0.5, 0.4], graph)
        bandit.observe(decision, {int(a): 0.3 for a in decision.revealed})
    bandit.save(tmp_path / "saved.gb")
    with pytest.raises(SavedFileError, match="function_class"):
        gb.Bandit.load(tmp_path / "saved.gb")
    loaded = gb.Bandit.load(tmp_path / "saved.gb", function_class=functions)
    assert facts([loaded.decide([0.1, 0.5, 0.4], graph)]) == facts([bandit.decide([0.1, 0.5, 0.4], graph)])


def test_another_process_loads_the_same(instance, tmp_path):
    drawn = instance.rounds(0, ROUNDS)
    bandit = make(gb.AdaCBG(epoch_growth=2.0), instance)
    play(bandit, drawn, 0, 20)
    bandit.save(tmp_path / "saved.gb")
    np.savez(tmp_path / "round.npz", context=drawn.contexts[20], graph=drawn.graphs[20].to_dense())
    script = (
        "import sys, numpy as np, graphbandit as gb\n"
        "given = np.load(sys.argv[2])\n"
        "bandit = gb.Bandit.load(sys.argv[1])\n"
        "d = bandit.decide(given['context'], gb.FeedbackGraph.from_dense(given['graph']))\n"
        "print(d.action, d.probabilities.tobytes().hex())\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "saved.gb"), str(tmp_path / "round.npz")]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    here = bandit.decide(drawn.contexts[20], drawn.graphs[20])
    assert answer == [str(here.action), here.probabilities.tobytes().hex()]


def test_decisions_explain_themselves(instance):
    drawn = instance.rounds(0, ROUNDS)
    bandit = make(gb.AdaCBG(epoch_growth=2.0, radius="paper", coverage="paper", eta=1.0), instance)
    decision = play(bandit, drawn, 0, ROUNDS)[-1]
    assert decision.probability == decision.probabilities[decision.action]
    assert decision.action in decision.revealed
    assert decision.best in decision.exploration_set
    assert set(decision.exploration_set) <= set(decision.candidates)
    assert decision.objective == pytest.approx(decision.gaps @ decision.probabilities)
    assert decision.duality_gap <= 1e-9
    dense = drawn.graphs[ROUNDS - 1].to_dense()
    np.testing.assert_allclose(decision.observation_probabilities, dense.T @ decision.probabilities, atol=1e-12)
    text = decision.explain()
    for word in ("play arm", "candidates", "exploration set", "gamma", "certified optimal", "reveals"):
        assert word in text


def test_rewards_count_once_and_decisions_close(instance):
    drawn = instance.rounds(0, 1)
    bandit = make(gb.AdaCBG(epoch_growth=2.0), instance)
    decision = bandit.decide(drawn.contexts[0], drawn.graphs[0])
    assert bandit.open_decisions == [0]
    bandit.observe(decision, {})
    bandit.observe(decision, rewards_of(decision, drawn))
    assert bandit.open_decisions == []
    with pytest.raises(ObservationError, match="awaits no more"):
        bandit.observe(decision, rewards_of(decision, drawn))


def test_the_horizon_is_the_end(instance):
    drawn = instance.rounds(0, 6)
    bandit = make(gb.Falcon(), instance, horizon=5)
    bandit.decide_batch(drawn.contexts[:5], drawn.graphs[:5])
    with pytest.raises(HorizonError, match="horizon is 5"):
        bandit.decide(drawn.contexts[5], drawn.graphs[5])


def test_threads_may_share_a_bandit(instance):
    from concurrent.futures import ThreadPoolExecutor

    drawn = instance.rounds(0, ROUNDS)
    bandit = make(gb.AdaCBG(epoch_growth=2.0), instance)

    def serve(t):
        decision = bandit.decide(drawn.contexts[t], drawn.graphs[t])
        bandit.observe(decision, {int(a): 0.0 for a in decision.revealed})
        return decision.id

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(serve, range(ROUNDS))) == list(range(ROUNDS))
    assert bandit.open_decisions == []


def test_rewards_are_looked_at_together_or_one_by_one():
    """Huge rewards whose sum is too large, whole numbers and NumPy's are taken like others; what is wrong is named."""
    graph = gb.graphs.complete(4)
    taken = []
    for rewards in (
        {0: 1e100, 1: 1e100, 2: -3.0, 3: 0.5},
        {3: 0.5, 2: -3, 1: np.float64(1e100), np.int64(0): 1e100},
    ):
        bandit = gb.Bandit(gb.learners.Uniform(), gb.Problem(n_arms=4), seed=3)
        bandit.observe(bandit.decide(np.zeros(1), graph), rewards)
        taken.append(sorted(zip(*next(iter(bandit._journal.loop.news)), strict=True)))
    assert taken[0] == taken[1]
    for wrong, message in (
        ({0: 0.5, 1: float("nan")}, "arm 1 of decision 0 is nan"),
        ({0: 0.5, 1: float("-inf")}, "arm 1 of decision 0 is -inf"),
        ({0: -1.1e100, 1: 1.1e100}, "arm 0 of decision 0 is -1.1e[+]100"),
        ({0: 0.5, 4: 0.5}, "decision 0 did not reveal arm 4"),
        ({0: 0.5, True: 0.5}, "arm is True"),
    ):
        bandit = gb.Bandit(gb.learners.Uniform(), gb.Problem(n_arms=4), seed=3)
        decision = bandit.decide(np.zeros(1), graph)
        with pytest.raises(ObservationError, match=message):
            bandit.observe(decision, wrong)
        assert bandit.awaited(decision).tolist() == [0, 1, 2, 3]
    bandit.observe(decision, {1: 0.5})
    with pytest.raises(ObservationError, match="arm 1 of decision 0 was given already"):
        bandit.observe(decision, {0: 0.5, 1: 0.5})
