"""`Bandit(log=...)`: what is acknowledged is in the log, whatever happens to the process."""

import copy

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import LogError, SettingError
from graphbandit.evaluation import Log, evaluate
from graphbandit.logs import growing_file
from tests.helpers.processes import said_until_killed

STAR = gb.graphs.star(3, hub=0)


def problem(**more):
    return gb.Problem(
        arms=["tea", "cake", "pie"],
        features={"age": "number", "country": ["DE", "FR"]},
        function_class="linear",
        noise=0.5,
        **more,
    )


def play(bandit, rounds, seed=0, **more):
    rng = np.random.default_rng(seed)
    for t in range(rounds):
        context = {"age": float(rng.normal()), "country": "DE" if t % 2 else "FR"}
        decision = bandit.decide(context, **more)
        bandit.observe(decision, {arm: float(rng.random()) for arm in decision.revealed.tolist()})


def test_decisions_rewards_names_and_features_are_in_it(tmp_path):
    bandit = gb.Bandit(gb.AdaCBG(), problem(), graph=STAR, log=tmp_path / "log", seed=1)
    assert bandit.log == tmp_path / "log"
    one = bandit.decide({"age": 40, "country": "FR"}, key="visit-1")
    bandit.observe("visit-1", {one.arm: 0.5})
    made = bandit.decide_batch([{"age": 1, "country": "DE"}] * 3, available=["tea", "cake"])
    bandit.observe(made[2], dict.fromkeys(made[2].revealed_arms, 0.25))
    log = Log.read(tmp_path / "log")
    batch = log.to_batch()
    assert log.arms == ("tea", "cake", "pie")
    assert log._storage.layout.stamp.context_names == problem().features.feature_names
    assert batch.contexts[0].tolist() == [1, 40, 0, 0, 1]
    assert batch.ids.tolist() == [0, 1, 2, 3]
    assert batch.actions.tolist() == [one.action, *(each.action for each in made)]
    assert np.array_equal(batch.probabilities[0], one.probabilities)
    assert batch.available.tolist() == [[True] * 3] + [[True, True, False]] * 3
    assert batch.columns["key"].tolist() == ["visit-1", None, None, None]
    assert batch.rewards[0, one.action] == 0.5
    assert np.isfinite(batch.rewards[3]).sum() == len(made[2].revealed)
    assert batch.graphs == gb.FeedbackGraphs.repeat(STAR, 4)
    assert batch.epochs.tolist() == [one.epoch, *(each.epoch for each in made)]
    assert (np.abs(batch.times - np.datetime64("now")) < np.timedelta64(1, "h")).all()


def test_it_decides_the_same_and_its_log_can_be_evaluated(tmp_path):
    with_log = gb.Bandit(gb.AdaCBG(), problem(), graph=STAR, log=tmp_path / "log", identity="one")
    without = gb.Bandit(gb.AdaCBG(), problem(), graph=STAR, identity="one")
    for bandit in (with_log, without):
        play(bandit, 60)
    assert with_log._journal.rng.bit_generator.state == without._journal.rng.bit_generator.state
    log = Log.read(tmp_path / "log")
    assert log.summary().incomplete == 0
    value = evaluate(log, {"now": with_log, "uniform": "uniform"}, reward_range=(0, 1))["uniform"]
    assert value.low < 0.5 < value.high


def test_saved_and_loaded_it_goes_on_with_its_log(tmp_path):
    bandit = gb.Bandit(gb.AdaCBG(), problem(), graph=STAR, log=tmp_path / "log")
    play(bandit, 20)
    late = bandit.decide({"age": 1, "country": "DE"})
    bandit.save(tmp_path / "saved.gb")
    play(bandit, 5, seed=1)  # rounds that the file does not know of
    bandit.log_to(None)
    again = gb.Bandit.load(tmp_path / "saved.gb", log=tmp_path / "log")
    again.observe(late, {late.action: 0.75})
    play(again, 4, seed=2)
    batch = Log.read(tmp_path / "log").to_batch()
    assert len(batch) == 21 + 5 + 4
    assert batch.rewards[20, late.action] == 0.75
    assert again.rounds == 25
    again.save(tmp_path / "saved.gb")  # twice: rewards still find their rounds
    again.log_to(None)
    third = gb.Bandit.load(tmp_path / "saved.gb", log=tmp_path / "log")
    decision = third.decide({"age": 2, "country": "FR"})
    third.observe(decision, {decision.action: 0.125})
    rewards = Log.read(tmp_path / "log").to_batch().rewards
    assert rewards[30, decision.action] == 0.125
    third.log_to(None)
    assert gb.Bandit.load(tmp_path / "saved.gb").log is None


def test_a_saved_bandit_refuses_the_log_of_another(tmp_path):
    bandit = gb.Bandit(gb.AdaCBG(), problem(), graph=STAR, log=tmp_path / "log")
    play(bandit, 3)
    bandit.save(tmp_path / "saved.gb")
    other = gb.Bandit(gb.AdaCBG(), problem(), graph=STAR, log=tmp_path / "other")
    play(other, 2)
    other.log_to(None)
    with pytest.raises(LogError, match="ends with id 1; expected the log that the saved bandit has written, with id 2"):
        gb.Bandit.load(tmp_path / "saved.gb", log=tmp_path / "other")
    with pytest.raises(LogError, match="is not a log; expected the log that the saved bandit has written"):
        gb.Bandit.load(tmp_path / "saved.gb", log=tmp_path / "new")
    with pytest.raises(LogError, match="another process or object"):
        gb.Bandit.load(tmp_path / "saved.gb", log=tmp_path / "log")
    fresh = gb.Bandit.load(tmp_path / "saved.gb")
    fresh.log_to(tmp_path / "new")
    play(fresh, 2)
    assert Log.read(tmp_path / "new").to_batch().ids.tolist() == [3, 4]


def test_another_bandit_goes_on_with_a_log(tmp_path):
    for seed in range(2):
        bandit = gb.Bandit(gb.AdaCBG(), problem(), graph=STAR, log=tmp_path / "log", seed=seed)
        play(bandit, 3)
        bandit.log_to(None)
    assert Log.read(tmp_path / "log").to_batch().ids.tolist() == list(range(6))
    renamed = gb.Problem(arms=["a", "b", "c"], function_class=gb.LinearClass(n_arms=3, dimension=5), noise=0.5)
    with pytest.raises(LogError, match="has the arms tea, cake, pie"):
        gb.Bandit(gb.AdaCBG(), renamed, log=tmp_path / "log")


def test_decisions_of_deciders_are_logged_when_they_are_taken(tmp_path):
    bandit = gb.Bandit(gb.AdaCBG(), problem(), graph=STAR, log=tmp_path / "log")
    decider = bandit.decider()
    clique = gb.graphs.complete(3)
    made = [
        decider.decide({"age": 1, "country": "DE"}, key="a"),
        decider.decide({"age": 2, "country": "DE"}, clique, key="b"),
        decider.decide({"age": 3, "country": "DE"}, key="c", available=["cake"]),
    ]
    bandit.take([*made, made[0]])
    bandit.take(made)
    bandit.observe("b", {"tea": 0.5, "pie": 0.25})
    batch = Log.read(tmp_path / "log").to_batch()
    assert batch.columns["key"].tolist() == ["a", "b", "c"]
    assert [batch.graphs[t] == clique for t in range(3)] == [False, True, False]
    assert batch.rewards[1, 0] == 0.5
    assert batch.available.tolist() == [[True] * 3, [True] * 3, [False, True, False]]


def test_learnt_rounds_are_left_out(tmp_path):
    bandit = gb.Bandit(gb.AdaCBG(), problem(), graph=STAR, log=tmp_path / "log")
    bandit.learn([{"age": 1, "country": "DE"}] * 7, np.ones(7), actions=["tea"] * 7)
    play(bandit, 2)
    assert Log.read(tmp_path / "log").to_batch().ids.tolist() == [7, 8]


def test_rounds_without_graphs_have_observation_probabilities(tmp_path):
    bandit = gb.Bandit(gb.learners.LateGraph(learner=gb.IDSG()), problem(), log=tmp_path / "log")
    play(bandit, 4)
    batch = Log.read(tmp_path / "log").to_batch()
    assert batch.graphs is None
    assert (batch.q[batch.revealed] > 0).all()
    with pytest.raises(LogError, match="the round has a graph; expected none"):
        bandit.decide({"age": 1, "country": "DE"}, gb.ProbabilisticGraph.from_graph(STAR, 0.5))


def test_arms_that_join_are_in_the_log(tmp_path):
    bandit = gb.Bandit(gb.AdaCBG(), problem(), graph=STAR, log=tmp_path / "log")
    play(bandit, 3)
    open_one = bandit.decide({"age": 1, "country": "DE"})
    bandit.retire_arms(["pie"])
    bandit.add_arms(["jam"])
    assert Log.read(tmp_path / "log").n_arms == 3  # no round has it yet
    play(bandit, 4)
    bandit.observe(open_one, {open_one.action: 0.75})  # of a round before the arm joined
    bandit.save(tmp_path / "saved.gb")
    bandit.log_to(None)
    log = Log.read(tmp_path / "log")
    assert log.arms == ("tea", "cake", "pie", "jam")
    assert [len(list((tmp_path / "log" / "decisions").glob(f"{i:06d}.parquet"))) for i in range(3)] == [1, 1, 0]
    for one in (log, Log.read(tmp_path / "log")[2:]):
        batch = one.to_batch()
        first = 4 - one.first_row
        assert batch.available.tolist() == [[True, True, True, False]] * first + [[True, True, False, True]] * 4
        assert (batch.probabilities[:first, 3] == 0).all()
        assert (batch.q[:first, 3] == 0).all()
        assert batch.graphs[0] == gb.FeedbackGraph.from_edges([*STAR.edges().tolist(), [3, 3]], 4)
        assert batch.rewards[first - 1, open_one.action] == 0.75
    log.write(tmp_path / "copy")
    assert np.array_equal(Log.read(tmp_path / "copy").to_batch().q, log.to_batch().q)
    assert evaluate(log, {"it": bandit, "uniform": "uniform"}, support="part", missing_rewards="drop")["it"].rounds > 0
    fresh = gb.Bandit(gb.AdaCBG(), bandit.problem, graph=gb.graphs.bandit(4))
    fresh.learn(log)
    assert fresh.rounds == 8
    assert fresh.state.data.count == np.isfinite(log.to_batch().rewards).sum()
    again = gb.Bandit.load(tmp_path / "saved.gb", log=tmp_path / "log")
    play(again, 2)
    assert len(Log.read(tmp_path / "log")) == 10


def test_a_log_of_more_arms_says_how_to_go_on(tmp_path):
    bandit = gb.Bandit(gb.AdaCBG(), problem(), graph=STAR, log=tmp_path / "log")
    play(bandit, 2)
    bandit.save(tmp_path / "before.gb")
    bandit.add_arms(["jam"])
    play(bandit, 1)
    bandit.log_to(None)
    with pytest.raises(LogError, match="has the arms tea, cake, pie, jam; expected those of the bandit's problem"):
        gb.Bandit.load(tmp_path / "before.gb", log=tmp_path / "log")
    back = gb.Bandit.load(tmp_path / "before.gb")
    back.add_arms(["jam"])
    back.log_to(tmp_path / "log")
    play(back, 1)
    assert len(Log.read(tmp_path / "log")) == 4
    back.log_to(None)
    other = gb.Bandit.load(tmp_path / "before.gb")
    other.add_arms(["tart"])
    with pytest.raises(LogError, match="has the arms tea, cake, pie, jam"):
        other.log_to(tmp_path / "log")


def test_copies_write_to_no_log(tmp_path):
    bandit = gb.Bandit(gb.AdaCBG(), problem(), graph=STAR, log=tmp_path / "log")
    play(bandit, 2)
    other = copy.deepcopy(bandit)
    play(other, 3)
    assert other.log is None
    assert len(Log.read(tmp_path / "log")) == 2


def test_bad_settings_are_refused(tmp_path):
    for log, message in ((3, "log is 3"), ("", "log is ''")):
        with pytest.raises(SettingError, match=message):
            gb.Bandit(gb.AdaCBG(), problem(), log=log)
    with pytest.raises(SettingError, match="log_sync is 'often'"):
        gb.Bandit(gb.AdaCBG(), problem(), log=tmp_path / "log", log_sync="often")


def failing(monkeypatch, error):
    """Every write fails after some bytes."""
    real = growing_file.write_all

    def fail(file, data):
        real(file, memoryview(data)[:30])
        raise error

    monkeypatch.setattr(growing_file, "write_all", fail)
    return lambda: monkeypatch.setattr(growing_file, "write_all", real)


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_call_that_cannot_write_has_changed_nothing(tmp_path, monkeypatch, error):
    bandit = gb.Bandit(gb.AdaCBG(), problem(), graph=STAR, log=tmp_path / "log", identity="one")
    other = gb.Bandit(gb.AdaCBG(), problem(), graph=STAR, identity="one")
    for each in (bandit, other):
        play(each, 5)
        each.decide({"age": 1, "country": "DE"})
    repair = failing(monkeypatch, error)
    expected = LogError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        bandit.decide({"age": 1, "country": "DE"})
    with pytest.raises(expected):
        bandit.observe(5, {bandit.awaited(5)[0]: 0.5})
    repair()
    assert bandit.rounds == 6
    for each in (bandit, other):
        each.observe(5, {each.awaited(5)[0]: 0.5})
        play(each, 30, seed=3)
        each.save(tmp_path / f"{each is bandit}.gb")
    log = Log.read(tmp_path / "log")
    assert len(log) == 36
    assert log.summary().lost_bytes == 0
    same = [gb.Bandit.load(tmp_path / f"{name}.gb") for name in (True, False)]
    assert same[0]._journal.rng.bit_generator.state == same[1]._journal.rng.bit_generator.state
    assert np.array_equal(same[0].state.model.parameters, same[1].state.model.parameters)


def test_files_are_sized(tmp_path, monkeypatch):
    monkeypatch.setattr(growing_file, "APPENDS_PER_FILE", 8)
    bandit = gb.Bandit(gb.AdaCBG(), problem(), graph=STAR, log=tmp_path / "log")
    play(bandit, 20)
    assert len(list((tmp_path / "log" / "decisions").glob("*.parquet"))) == 2
    assert len(list((tmp_path / "log" / "decisions").glob("*.arrows"))) == 1
    assert len(Log.read(tmp_path / "log")) == 20


CHILD = """
import sys
import numpy as np
import graphbandit as gb

problem = gb.Problem(arms=["a", "b"], features={"x": "number"}, function_class="linear", noise=0.5)
bandit = gb.Bandit(gb.AdaCBG(), problem, graph=gb.graphs.complete(2), log=sys.argv[1], log_sync=sys.argv[2])
while True:
    decision = bandit.decide({"x": 1.0})
    print("d", decision.id, flush=True)
    bandit.observe(decision, {0: float(decision.id), 1: 1.0})
    print("r", decision.id, flush=True)
"""


@pytest.mark.parametrize("sync", ["file", "append"])
def test_a_killed_process_loses_nothing_that_was_acknowledged(tmp_path, sync):
    known = [line.split() for line in said_until_killed(CHILD, tmp_path / "log", sync, lines=75)]
    batch = Log.read(tmp_path / "log").to_batch()
    decided, rewarded = (max(int(number) for kind, number in known if kind == which) for which in "dr")
    assert decided + 1 <= len(batch) <= decided + 2
    assert np.array_equal(batch.rewards[: rewarded + 1, 0], np.arange(rewarded + 1.0))
