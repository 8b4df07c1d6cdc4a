"""Export and compaction: the log as Parquet, and a replay that begins where compaction has cut."""

import json
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import tomli_w

from graphbandit.errors import ConfigurationError, DatabaseError, SettingError
from graphbandit.service import maintenance
from graphbandit.service.processes import prepare
from graphbandit.service.rows import Kind
from graphbandit.service.store import MIGRATIONS, VERSION, open_store
from tests.service.house import PRICES, House, configured
from tests.service.test_learn_one import play


@pytest.fixture
def house(tmp_path: Path) -> House:
    found = House(str(tmp_path / "bandits.db"), configured().bandits)
    (tmp_path / "bandits.toml").write_text(tomli_w.dumps({"bandits": {"prices": PRICES}}))
    play(found, random.Random(5), 300)
    return found


def test_export(house: House, tmp_path: Path) -> None:
    log = tmp_path / "bandits.toml", house.store.url
    ((name, outcome),) = maintenance.export_all(*log, tmp_path / "out")
    decisions = pq.read_table(tmp_path / "out" / "prices" / "decisions").to_pylist()
    rewards = pq.read_table(tmp_path / "out" / "prices" / "rewards").to_pylist()
    assert (name, outcome.decisions, outcome.rewards) == ("prices", len(decisions), len(rewards))
    assert len(decisions) + outcome.inactive == house.count(Kind.DECISION)
    assert outcome.inactive > 0
    assert all(sum(row["probabilities"]) == pytest.approx(1) for row in decisions)
    assert all(row["probabilities"][row["action"]] == row["probability"] for row in decisions)
    stamp = json.loads((tmp_path / "out" / "prices" / "log.json").read_text())
    assert (stamp["format"], stamp["version"], stamp["n_arms"]) == ("graphbandit-log", 1, 3)
    with pytest.raises(SettingError, match="not empty"):
        list(maintenance.export_all(*log, tmp_path / "out"))


def test_compaction(house: House, tmp_path: Path) -> None:
    before = house.count(Kind.DECISION)
    newest = house.store.newest_hash("prices")
    log = tmp_path / "bandits.toml", house.store.url
    words = list(maintenance.compact(*log, 100.0, tmp_path / "archive"))
    left = house.count(Kind.DECISION)
    assert left < before
    moved = pq.read_table(next((tmp_path / "archive").iterdir()) / "decisions")
    assert f"{moved.num_rows} decisions" in words[0]
    assert moved.num_rows + left == before
    for key in moved["key"].to_pylist():
        assert not house.store.find([("prices", key)])
    assert house.store.newest_hash("prices") == newest
    house.learning = house.new_learning()
    assert house.replayed().good
    play(house, random.Random(6), 200, restarts=True)
    outcome = house.replayed()
    assert outcome.good, outcome
    assert outcome.snapshots >= 1
    gone = moved.to_pylist()[0]["key"]
    answer = house.observe(gone, {"7.99": 1.0})
    assert getattr(answer, "status", None) == 404
    again = list(maintenance.compact(*log, 1e6, tmp_path / "archive"))
    assert again == ["prices: nothing to move"]


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "bandits.db"))
    assert store.migrate() == 0
    assert store.migrate() == VERSION, "nothing to do the second time"
    store.execute("UPDATE schema_version SET version = ?", (VERSION + 1,))
    with pytest.raises(DatabaseError, match="newer"):
        store.migrate()
    store.close()


def test_an_older_schema_is_brought_up_to_date(database: str) -> None:
    """A log of the first version: its rows stay, and what is asked for every second is found by an index."""
    house = House(database, configured().bandits)
    play(house, random.Random(11), 80)
    rows = house.store.read(0, limit=10**6)
    for name in ("configuration", "decision", "activation"):
        house.store.execute(f"DROP INDEX log_{name}")
    house.store.execute("UPDATE schema_version SET version = 1")
    with pytest.raises(DatabaseError, match="start the service once"):
        list(maintenance.replay_all(Path("bandits.toml"), database))
    assert (house.store.migrate(), house.store.version()) == (1, len(MIGRATIONS))
    assert house.store.read(0, limit=10**6) == rows
    assert house.replayed().good
    if not database.startswith("postgresql"):
        for sql in (_statement(house, "newest"), _statement(house, "configuration")):
            plan = str(house.store.execute("EXPLAIN QUERY PLAN " + sql, ("prices", 99)))
            assert "USING INDEX log_" in plan
            assert "TEMP B-TREE" not in plan, "it does not read and sort all rows"
    house.close()


def _statement(house: House, method: str) -> str:
    """The SQL that a method of the store runs."""
    asked: list[str] = []
    whole = house.store._rows
    house.store._rows = lambda sql, values: asked.append(sql) or whole(sql, values)  # type: ignore
    _ = house.store.newest("prices", Kind.DECISION, 12) if method == "newest" else house.store.configuration("prices")
    del house.store._rows
    return asked[0]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"learner": "Falcon"}, "learner"),
        ({"noise": 1.0}, "noise"),
        ({"half_life": 100.0}, "half_life"),
        ({"longest_epoch": 7}, "longest_epoch"),
        ({"features": {"basket": "number"}}, "features"),
        ({"arms": ["8.99", "7.99", "9.99"]}, "arms"),
        ({"arms": ["7.99", "9.99"], "graph": "loops"}, "arms"),
        ({"arms": ["7.99", "8.99", "9.99", "10.99"]}, "arms"),
        ({"window": 5, "default_reward": 0.0}, "default_reward"),
    ],
)
def test_changes_that_the_log_does_not_allow(change: dict[str, object], field: str, tmp_path: Path) -> None:
    url = str(tmp_path / "bandits.db")
    prepare(configured(), url).close()
    prepare(configured(window=5, baseline="7.99"), url).close()
    with pytest.raises(ConfigurationError, match="a log already") as caught:
        prepare(configured(**change), url)
    assert caught.value.field == f"bandits.prices.{field}"


def test_arms_come_and_go_within_the_capacity(tmp_path: Path) -> None:
    url = str(tmp_path / "bandits.db")
    first = House(url, configured(capacity=5, learner="IDSG").bandits)
    play(first, random.Random(7), 120)
    first.close()
    arms = ["7.99", "8.99", "9.99", "10.99"]
    after = configured(capacity=5, learner="IDSG", arms=arms, retired=["7.99"])
    prepare(after, url).close()
    house = House(url, after.bandits)
    house.clock.time += 1e6
    played = set()
    for i in range(80):
        answer = house.decide(context={"basket": i / 80}, key=f"new-{i}")
        house.observe(answer.id, {arm: float(arm) / 20 for arm in answer.revealed})
        played.add(answer.arm)
        house.learn()
    assert "7.99" not in played
    assert "10.99" in played
    outcome = house.replayed()
    assert outcome.good, outcome
