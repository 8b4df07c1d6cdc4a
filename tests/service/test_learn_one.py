"""The log teaches: epochs, windows, default rewards, activation, restarts, and replay to the byte."""

import random
from typing import Any

import numpy as np
import pytest

from graphbandit.learners.loop import Loop
from graphbandit.learners.played import News, Played
from graphbandit.service.core import Core, Snapshot
from graphbandit.service.learn_all import resumed
from graphbandit.service.rows import unpack
from tests.service.house import House, configured, housed, purchase, visitor

MODES: dict[str, dict[str, Any]] = {
    "plain": {},
    "every round": {"learner": {"kind": "LinUCB"}},
    "window": {"window": 30},
    "default": {"window": 20, "default_reward": 0.0},
    "default for all revealed": {"window": 20, "default_reward": 0.1, "default_for": "revealed"},
    "sum": {"window": 20, "default_reward": 0.0, "aggregation": "sum"},
    "changing world": {"half_life": 40, "longest_epoch": 15},
    "information": {"learner": {"kind": "IDSG", "draws": 20}},
}


def play(house: House, rng: random.Random, steps: int, *, restarts: bool = False) -> None:
    """Random decisions, late, partial and missing rewards, deferred activation, pauses, and restarts of the learner."""
    open_keys: list[tuple[str, list[str]]] = []
    deferred: list[str] = []
    for step in range(steps):
        house.clock.time += rng.random() * 3
        choice = rng.random()
        if choice < 0.5:
            active = rng.random() < 0.8
            answer = house.decide(context=visitor(rng), key=f"visit-{step}", active=active)
            open_keys.append((answer.id, answer.revealed))
            if not active:
                deferred.append(answer.id)
        elif choice < 0.85 and open_keys:
            key, revealed = open_keys.pop(rng.randrange(len(open_keys)))
            arms = rng.sample(revealed, rng.randint(1, len(revealed)))
            house.observe(key, {arm: purchase(rng, arm) for arm in arms}, final=rng.random() < 0.2)
        elif choice < 0.9 and deferred:
            house.activate(deferred.pop(rng.randrange(len(deferred))))
        elif choice < 0.95:
            house.tick()
        else:
            house.learn()
            if rng.random() < 0.5 and restarts:
                house.learning = house.new_learning()
    house.learn()


@pytest.mark.parametrize("mode", MODES)
def test_replay_equals_live(mode: str, tmp_path: Any) -> None:
    """With restarts at random moments, every live snapshot comes out of the log again, byte for byte."""
    house = housed(tmp_path, **MODES[mode])
    play(house, random.Random(mode), 400, restarts=True)
    outcome = house.replayed()
    assert outcome.differing == []
    assert outcome.snapshots == outcome.equal > 3
    assert outcome.decisions > 150
    assert outcome.rewards > 80


def test_no_epoch_is_longer_than_asked_for(tmp_path: Any) -> None:
    """So the rounds that the learner keeps in memory do not grow with the log."""
    house = housed(tmp_path, learner={"kind": "AdaCBG", "epoch_growth": 4.0}, longest_epoch=9)
    most, rng = 0, random.Random(3)
    for _ in range(120):
        answer = house.decide(context=visitor(rng))
        house.observe(answer.id, {arm: purchase(rng, arm) for arm in answer.revealed})
        house.learn()
        most = max(most, *(len(one._pending.starts) for one in house.learning._learners.values()))
    assert 0 < most < 9
    assert house.learning._learners["prices"].closed.rounds > 110


def test_replay_on_either_database(database: str) -> None:
    house = House(database, configured(window=20, default_reward=0.0).bandits)
    play(house, random.Random(1), 200, restarts=True)
    outcome = house.replayed()
    assert outcome.good, outcome
    assert outcome.snapshots > 3
    house.close()


def test_a_restart_changes_nothing(tmp_path: Any) -> None:
    """A learner that goes on and one that starts again at every place end with the same snapshots."""
    for mode in ("plain", "default"):
        settings = configured(**MODES[mode]).bandits
        steady, shaken = (House(str(tmp_path / f"{mode}-{name}.db"), settings) for name in ("a", "b"))
        for house, restarts in ((steady, False), (shaken, True)):
            house.decider.refresh = lambda store: []  # type: ignore[method-assign]  # the same decisions in both
            play(house, random.Random(3), 300, restarts=restarts)
        assert steady.store.newest_hash("prices") == shaken.store.newest_hash("prices")


def test_old_snapshots_are_emptied(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A learner of every round makes five a second: their names stay in the log, the content of the newest only."""
    monkeypatch.setattr("graphbandit.service.learn_all.KEPT", 5)
    house = housed(tmp_path, learner={"kind": "LinUCB"})
    play(house, random.Random(4), 300, restarts=True)
    held = house.store.execute("SELECT data IS NULL FROM snapshots ORDER BY position DESC, rounds DESC")
    assert [empty for (empty,) in held[:5]] == [0] * 5
    assert len(held) > 8
    assert sum(1 for (empty,) in held if not empty) <= 6
    outcome = house.replayed()
    assert outcome.good, outcome
    assert outcome.snapshots == len(held)


def test_default_rewards_wait_for_the_window(tmp_path: Any) -> None:
    house = housed(tmp_path, window=10, default_reward=0.0)
    first = house.decide(context={}, key="a")
    house.observe(first.id, {first.arm: 1.0})
    house.decide(context={}, key="b")
    house.learn()
    assert resumed(house.store, "prices", house.bandits["prices"]).closed.rounds == 0, "fast clicks wait, too"
    house.clock.time += 11
    house.tick()
    house.learn()
    assert house.learning._learners["prices"].closed.rounds == 2
    house.observe("b", {house.decide(context={}, key="b").arm: 1.0})
    house.learn()
    assert house.learning._learners["prices"].unlearnt_rewards == 1, "what comes later is logged, and counted"


def test_deferred_decisions_are_learnt_from_once_activated(tmp_path: Any) -> None:
    house = housed(tmp_path)
    for i in range(4):
        answer = house.decide(context={}, key=f"d{i}", active=False)
        house.observe(answer.id, dict.fromkeys(answer.revealed, 0.5))
    house.learn()
    learner = house.learning._learners["prices"]
    assert (learner.closed.rounds, len(learner._pending.starts)) == (0, 0)
    for i in (2, 0):
        house.activate(f"d{i}")
    house.learn()
    assert learner.closed.rounds == 2
    answer = house.activate("d0")
    assert isinstance(answer, list)
    assert answer[0].new == 0, "activating twice changes nothing"


def test_failed_fits_are_postponed(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from graphbandit.errors import FitError
    from graphbandit.learners import AdaCBG

    house = housed(tmp_path)
    whole = AdaCBG.update

    def failing(self: AdaCBG, state: Any, observations: Any) -> Any:
        if state.rounds == 2:
            raise FitError("no")
        return whole(self, state, observations)

    monkeypatch.setattr(AdaCBG, "update", failing)
    for i in range(9):
        answer = house.decide(context={}, key=f"{i}")
        house.observe(answer.id, dict.fromkeys(answer.revealed, 0.5))
    house.learn()
    learner = house.learning._learners["prices"]
    assert learner.closed.rounds >= 8
    assert learner.facts(None)["failed_fits"] == 1
    assert house.replayed().good


@pytest.mark.parametrize("kind", ["paper", "natural"])
def test_an_epoch_is_learnt_as_the_library_learns_it(kind: str, tmp_path: Any) -> None:
    """To the byte, also where not all arms were on offer: the paper's lambda_m asks how many candidates there were."""
    form = {"radius": "paper", "coverage": "paper"} if kind == "paper" else {}
    house = housed(tmp_path, learner={"kind": "AdaCBG", **form}, noise=0.5)
    core = Core("prices", house.bandits["prices"])
    loop, rng, names = Loop.start(core.learner, core.problem), random.Random(5), list(core.slot)
    for t in range(33):
        context, offered = visitor(rng), rng.sample(names, rng.choice([1, 1, 2, 3]))
        answer = house.decide(context=context, key=f"visit-{t}", available=offered)
        rewards = {arm: purchase(rng, arm) for arm in answer.revealed}
        house.observe(answer.id, rewards)
        house.learn()
        seen = sorted((core.slot[arm], reward) for arm, reward in rewards.items())
        mask = np.array([[name in offered for name in names]])
        row = core.encode(context, None)[None]
        played = Played(t, row, np.array([core.slot[answer.arm]]), np.zeros((1, 0)), mask)
        logged = unpack(house.store.find([("prices", answer.id)])[0].body)
        q = np.frombuffer(logged.q)[[arm for arm, _ in seen]].tolist()
        news = News([t] * len(seen), [arm for arm, _ in seen], [reward for _, reward in seen], q)
        loop = loop.take(played, news)
    closed = house.learning._learners["prices"].closed
    if loop.left == 0:
        loop = loop.ready()
    assert closed.rounds == loop.learnt >= 16
    service, library = (core.named(Snapshot("", state, 0, 0, 0)) for state in (closed.state, loop.state))
    assert service[1] == library[1]
