"""What goes wrong around a service: full disks, databases that go away, clocks that jump, two learners, a stop."""

import random
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.postgres import Postgres
from graphbandit.service import learn_all
from graphbandit.service.learn_all import Learning
from graphbandit.service.learn_one import LogLearner
from graphbandit.service.protocol import Refusal
from graphbandit.service.reader import Reader
from graphbandit.service.request_decider import RequestDecider
from graphbandit.service.rows import Kind
from graphbandit.service.store import open_store
from graphbandit.service.writer import Clock
from tests.helpers.waiting import wait_until
from tests.service.house import House, configured, housed
from tests.service.servers import PRICES, Server, serving
from tests.service.test_learn_one import play


def test_a_full_disk_refuses_and_goes_on(tmp_path: Path) -> None:
    """SQLite says that it is full: the request is refused, nothing of it is there, and later it succeeds."""
    house = housed(tmp_path)
    play(house, random.Random(0), 50)
    pages = house.store.execute("PRAGMA page_count")[0][0]
    house.store.execute(f"PRAGMA max_page_count = {pages}")
    rows, refused = house.store.last()[0], None
    for i in range(2000):
        _, answer = house.asked(context={}, key=f"full-{i}")
        if isinstance(answer, Refusal):
            refused = i
            break
        rows += 1
    assert refused is not None
    assert isinstance(answer, Refusal)
    assert answer.status == 503
    assert b"graphbandit_commit_failures_total 1.0" in house.writer.metrics.text()
    assert "full" in answer.detail
    assert house.store.last()[0] == rows, "what was acknowledged is there, and nothing else"
    house.store.execute("PRAGMA max_page_count = 1000000")
    assert house.decide(context={}, key=f"full-{refused}").id == f"full-{refused}"
    house.learn()
    assert house.replayed().good


def test_clocks_may_jump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's clock may be set while the service runs, or between two runs: time never goes back in the log."""
    clock = Clock(after=0.0)
    before = clock.now()
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 1e6)
    assert before <= clock.now() < before + 5
    assert Clock(after=before).now() >= before, "a clock set back since the last row"
    monkeypatch.setattr(time, "time", lambda: real() + 1e6)
    assert before <= clock.now() < before + 5
    monkeypatch.undo()
    house = housed(tmp_path, window=20, default_reward=0.0)
    rng = random.Random(1)
    for _ in range(6):
        play(house, rng, 40, restarts=True)
        house.clock.time += rng.choice([-500.0, 0.0, 500.0])
    times = [row.time for row in house.store.read(0, limit=10**6)]
    assert times == sorted(times)
    assert house.replayed().good


def test_one_learner_at_a_time(database: str) -> None:
    house = House(database, configured().bandits)
    play(house, random.Random(2), 60)
    other_store = open_store(database)
    other = Learning(other_store, house.bandits)
    assert not other.take_over(), "the first has the lease"
    house.learning.give_up()
    assert other.take_over()
    play_on = house.decide(context={}, key="after")
    house.observe(play_on.id, dict.fromkeys(play_on.revealed, 0.5))
    while other.step():
        pass
    assert house.replayed().good
    other_store.close()
    house.close()


def test_a_late_learner_that_lost_its_lease_does_no_harm(tmp_path: Path) -> None:
    """Even two at once publish the same snapshots, as these are a function of the log."""
    house = housed(tmp_path)
    play(house, random.Random(3), 100)
    house.store.execute("DELETE FROM leases")
    second = Learning(house.store, house.bandits)
    assert second.take_over()
    house.learning = second
    play(house, random.Random(4), 100)
    house.store.execute("DELETE FROM leases")
    while house.learning.step():
        pass
    assert house.replayed().good


@pytest.mark.parametrize("damage", ["cut", "changed", "all"])
def test_a_damaged_snapshot_is_made_again(damage: str, tmp_path: Path) -> None:
    """Deciders go on with the one before it, and the learner makes it once more from the log, under the same name."""
    house = housed(tmp_path)
    play(house, random.Random(8), 200)
    newest = house.store.snapshot(house.store.newest_hash("prices") or "")
    assert newest is not None
    assert newest.data is not None
    wrong = {"cut": newest.data[:100], "changed": newest.data[:-1] + b"x", "all": b""}[damage]
    which, values = ("hash = ?", (newest.hash,)) if damage != "all" else ("bandit = ?", ("prices",))
    house.store.execute(f"UPDATE snapshots SET data = ? WHERE {which}", (wrong, *values))
    decider = RequestDecider(house.bandits)
    assert decider.refresh(house.store) == []
    assert decider.snapshots["prices"].rounds == 0, "it decides, with what it has"
    house.learning = house.new_learning()
    house.learn()
    assert decider.refresh(house.store) == ["prices"]
    made = house.store.snapshot(newest.hash)
    assert made is not None
    assert made.data == newest.data
    assert house.replayed().good


def test_a_learner_that_fails_says_so_and_tries_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    house = housed(tmp_path)
    decision = house.decide(context={}, key="a")
    house.observe(decision.id, dict.fromkeys(decision.revealed, 0.5))
    house.learning.give_up()
    reader = Reader(house.store.clone(), house.decider, house.bandits)
    whole, failures = LogLearner.read, threading.Semaphore(0)

    def failing(self: LogLearner, row: Any) -> bool:
        failures.release()
        raise RuntimeError("a defect")

    monkeypatch.setattr(LogLearner, "read", failing)
    monkeypatch.setattr(learn_all, "RETRY", 0.2)
    stop, news = threading.Event(), threading.Event()
    thread = threading.Thread(target=learn_all.run, args=(house.store.clone(), house.bandits, stop, news))
    thread.start()
    try:
        assert all(failures.acquire(timeout=30) for _ in range(3)), "it tries again"
        monkeypatch.setattr(learn_all, "RETRY", 0.5)
        wait_until(lambda: not _at_work(reader), "the page shows that nobody learns")
        assert house.decide(context={}, key="b").id == "b", "decisions go on"
        monkeypatch.setattr(LogLearner, "read", whole)
        wait_until(lambda: _at_work(reader) and house.store.newest_hash("prices"), "it learns again")
    finally:
        stop.set()
        thread.join()
        reader.close()


def _at_work(reader: Reader) -> bool:
    reader._asked = 0.0
    reader.refresh()
    return bool(reader.bandit("prices")["learning"])


def test_the_database_goes_away_and_comes_back(postgres_server: Postgres) -> None:
    with serving(PRICES, "--database", postgres_server.database()) as server:
        acknowledged = {}
        for i in range(5):
            acknowledged[f"before-{i}"] = server.post("/v1/prices/decide", {"key": f"before-{i}", "context": {}}).json()
        postgres_server.stop()
        refused = server.post("/v1/prices/decide", {"key": "during", "context": {}})
        assert refused.status_code == 503
        assert refused.headers["retry-after"] == "1"
        assert server.get("/health").status_code == 200
        assert server.get("/ready").status_code == 503
        postgres_server.start()
        during = {"key": "during", "context": {}}
        wait_until(lambda: server.post("/v1/prices/decide", during).is_success, "it decides again")
        wait_until(lambda: server.get("/ready").is_success, "it is ready again")
        for key, answer in acknowledged.items():
            assert server.post("/v1/prices/decide", {"key": key, "context": {}}).json() == answer
        for i in range(12):
            key = f"after-{i}"
            decision = server.post("/v1/prices/decide", {"key": key, "context": {}}).json()
            server.post("/v1/prices/observe", {"id": key, "rewards": dict.fromkeys(decision["revealed"], 0.5)})
        wait_until(lambda: server.get("/v1/prices").json()["rounds"] >= 4, "the learner comes back")
        server.stop()
        assert server.replay().exit_code == 0


def test_a_stop_finishes_what_is_under_way(tmp_path: Path) -> None:
    server = Server(tmp_path, PRICES).start()
    acknowledged: list[str] = []
    stopping = threading.Event()

    def ask(number: int) -> None:
        with httpx.Client(base_url=server.url, timeout=20, trust_env=False) as client:
            for i in range(10000):
                if stopping.is_set():
                    return
                try:
                    if client.post("/v1/prices/decide", json={"key": f"{number}-{i}", "context": {}}).is_success:
                        acknowledged.append(f"{number}-{i}")
                except httpx.TransportError:
                    return

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    while len(acknowledged) < 30:
        time.sleep(0.01)
    assert server.stop() == 0
    stopping.set()
    for thread in threads:
        thread.join()
    store = open_store(str(tmp_path / "bandits.db"))
    logged = {row.key for row in store.read(0, limit=10**6, bandit="prices") if row.kind == Kind.DECISION}
    store.close()
    assert set(acknowledged) <= logged
