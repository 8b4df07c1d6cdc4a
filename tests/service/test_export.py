"""An exported log holds the rounds that the service has learnt from, with the probabilities they were played with."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from graphbandit.evaluation import Log, evaluate
from graphbandit.learners.played import News, Played
from graphbandit.service import export as export_module
from graphbandit.service.core import Core
from graphbandit.service.export import Exported, export
from graphbandit.service.processes import prepare
from graphbandit.service.rows import Kind
from tests.service.house import House, configured, housed
from tests.service.test_learn_one import MODES, play
from tests.service.test_own_arms import bandits


def exported(house: House, folder: Path) -> tuple[Log, Exported]:
    outcome = export(house.store, "prices", house.bandits["prices"], folder)
    log = Log.read(folder)
    log.summary()
    return log, outcome


def test_decisions_that_nobody_activated_are_left_out(tmp_path: Path) -> None:
    house = housed(tmp_path)
    for key, active in (("shown", True), ("deferred", False), ("never", False)):
        answer = house.decide(context={"basket": 0.5}, key=key, active=active)
        house.observe(answer.id, dict.fromkeys(answer.revealed, 1.0))
    house.activate("deferred")
    log, outcome = exported(house, tmp_path / "out")
    assert log.to_batch().columns["key"].tolist() == ["shown", "deferred"]
    assert (outcome.decisions, outcome.inactive, outcome.rewards) == (2, 1, log.summary().rewards)
    assert log.arms == ("7.99", "8.99", "9.99")
    assert log.to_batch().columns["given"].tolist() == ['{"basket":0.5}'] * 2


@pytest.mark.parametrize("default_for", ["played", "revealed"])
def test_default_rewards_are_filled_in(tmp_path: Path, default_for: str) -> None:
    house = housed(tmp_path, window=20, default_reward=0.25, default_for=default_for)
    answers = {key: house.decide(context={}, key=key) for key in ("quick", "slow", "silent")}
    house.observe("quick", {answers["quick"].arm: 0.9})
    house.clock.time += 30
    house.observe("slow", {answers["slow"].arm: 0.8})
    house.decide(context={}, key="new")
    log, outcome = exported(house, tmp_path / "out")
    batch = log.to_batch()
    played = batch.rewards[np.arange(3), batch.actions]
    assert played.tolist() == [0.9, 0.25, 0.25]
    assert (outcome.decisions, outcome.waiting, outcome.late) == (3, 1, 1)
    assert batch.columns["late"].tolist() == [None, f'{{"{answers["slow"].arm}":0.8}}', None]
    assert (log.summary().incomplete == 0) == (default_for == "revealed")
    assert evaluate(log, ["uniform"], method="ips", support="part")["uniform"].rounds == 3


@pytest.mark.parametrize("mode", ["plain", "default", "default for all revealed", "sum"])
def test_the_rounds_are_those_that_were_learnt(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = housed(tmp_path, **MODES[mode])
    play(house, random.Random(3), 300)
    learnt: list[tuple[Any, ...]] = []
    real = Core.learnt

    def recorded(core: Core, loop: Any, played: Played, late: Sequence[Played], news: News) -> Any:
        parts = [*late, played]
        contexts, actions = (
            np.concatenate(column) for column in zip(*((p.contexts, p.actions) for p in parts), strict=True)
        )
        for number, arm, reward, q in zip(*news, strict=True):
            row = number - parts[0].first
            learnt.append((*contexts[row].tolist(), int(actions[row]), int(arm), reward, round(q, 9)))
        return real(core, loop, played, late, news)

    monkeypatch.setattr(Core, "learnt", recorded)
    assert house.replayed().good
    batch = exported(house, tmp_path / "out")[0].to_batch()
    there = [
        (*batch.contexts[t].tolist(), int(batch.actions[t]), int(a), batch.rewards[t, a], round(batch.q[t, a], 9))
        for t, a in np.argwhere(batch.revealed)
    ]
    for one in learnt:
        there.remove(one)  # each is there, once
    assert len(learnt) > 50
    assert len(there) < len(learnt)


@pytest.mark.parametrize("probability", [None, 0.4])
def test_a_change_of_mode_keeps_probabilities(tmp_path: Path, probability: float | None) -> None:
    live, apprentice = configured(), configured(mode="apprentice")
    url = str(tmp_path / "log.db")
    keys = 0
    for settings in (live, apprentice, live):
        prepare(settings, url).close()
        house = House(url, settings.bandits)
        house.clock.time += 1e3 * keys
        for _ in range(30):
            own = {} if settings is live else {"arm": "8.99", "probability": probability}
            answer = house.decide(context={"basket": keys / 100}, key=f"visit-{keys}", **own)
            house.observe(answer.id, dict.fromkeys(answer.revealed, 0.5))
            house.learn()
            keys += 1
        last, house = house, None  # type: ignore[assignment]
    log, outcome = exported(last, tmp_path / "out")
    assert outcome.decisions == len(log) == 90
    batch = log.to_batch()
    assert batch.probabilities is not None
    assert batch.all_known[:30].all()
    assert batch.all_known[60:].all()
    assert batch.all_known[30:60].all() == (probability is None)
    assert batch.probability[30:60].tolist() == [1.0 if probability is None else 0.4] * 30
    stored = pq.read_table(tmp_path / "out" / "decisions")["proposed"].to_pylist()
    assert np.allclose(np.sum(stored, axis=1), 1.0)
    q = batch.q[30:60]
    if probability is None:  # 8.99 reveals itself and 7.99
        assert np.array_equal(q, [[1, 1, 0]] * 30)
    else:  # 9.99 reveals both, too, with a probability that only the caller knows
        assert np.isnan(q).all()
        assert evaluate(log[30:60], {"it": [0.0, 1.0, 0.0]}, method="ips")["it"].value == pytest.approx(0.5 / 0.4)
    for size in (7, 64):
        assert np.array_equal(np.concatenate([b.q for b in log.batches(size)]), batch.q, equal_nan=True)
    kept = {name: found.value for name, found in evaluate(log, ["proposed"], method="ips", support="part").items()}
    assert set(kept) == {"proposed"}


def test_the_same_whatever_is_in_memory_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = housed(tmp_path, window=20, default_reward=0.0)
    play(house, random.Random(4), 250)
    whole = exported(house, tmp_path / "whole")[0].to_arrow()
    asked: list[int] = []
    monkeypatch.setattr(export_module, "CHUNK", 7)
    find = house.store.find

    def counted(pairs: Any) -> Any:
        found = list(pairs)
        asked.append(len(found))
        return find(found)

    monkeypatch.setattr(house.store, "find", counted)
    parts = exported(house, tmp_path / "parts")[0].to_arrow()
    assert whole == parts
    assert max(asked) == 7


@pytest.mark.parametrize("graph", [{"edges": [["a", "b"]]}, {"probabilities": [[1.0, 0.5], [0.0, 1.0]]}])
def test_arms_of_the_request_have_their_names(tmp_path: Path, graph: dict[str, Any]) -> None:
    house = House(str(tmp_path / "log.db"), bandits())
    for step in range(20):
        arms = [{"name": name, "features": {"price": 0.1 * step, "kind": "food"}} for name in "ab"]
        sent = graph if step % 2 else None
        answer = house.decide("menu", context={"age": step}, key=f"visit-{step}", arms=arms, graph=sent)
        house.observe(answer.id, {answer.arm: 1.0}, bandit="menu")
        house.learn()
    export(house.store, "menu", house.bandits["menu"], tmp_path / "out")
    log = Log.read(tmp_path / "out")
    batch = log.to_batch()
    assert batch.columns["offered"].tolist() == [["a", "b"]] * 20
    assert batch.available is not None
    assert batch.available.tolist() == [[True, True, False, False, False]] * 20
    assert log.context_shape == batch.contexts.shape[1:]
    assert np.isfinite(batch.q[batch.revealed]).all()
    assert batch.columns["given"][3] == '{"age":3}'


def test_rows_are_read_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read that sorts reads all rows each time, and an export or a replay of many would never end."""
    store = housed(tmp_path).store
    asked: list[tuple[str, Any]] = []
    execute = store.execute
    monkeypatch.setattr(store, "execute", lambda sql, values=(): asked.append((sql, values)) or execute(sql, values))
    store.read(0, limit=10, bandit="prices", until=100)
    ((sql, values),) = asked
    plan = str(execute(f"EXPLAIN QUERY PLAN {sql}", values))
    assert "ORDER BY" not in plan
    assert "position>" in plan


def test_an_export_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = housed(tmp_path)
    play(house, random.Random(5), 50)
    monkeypatch.setattr(export_module._Exporter, "_rewards", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        exported(house, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("log.db")) == []
    assert house.count(Kind.DECISION) > 0
