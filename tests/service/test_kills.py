"""kill -9 of deciders, writer and learner at random moments under load: nothing acknowledged is lost or doubled.

GRAPHBANDIT_KILLS says how often (4 by default, each of them once; 1,000 for the promise).
"""

import contextlib
import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import httpx

from graphbandit.service.rows import Kind, unpack
from graphbandit.service.store import open_store
from tests.helpers.waiting import wait_until
from tests.service.servers import PRICES, Server

KILLS = int(os.environ.get("GRAPHBANDIT_KILLS", "4"))


class Visitors(threading.Thread):
    """Asks, observes, asks again with the same key, and remembers every answer it got."""

    def __init__(self, server: Server, number: int) -> None:
        super().__init__()
        self.server, self.number = server, number
        self.stopping = threading.Event()
        self.decided: dict[str, dict[str, Any]] = {}
        self.rewarded: dict[tuple[str, str], float] = {}
        self.wrong: list[str] = []

    def run(self) -> None:
        rng = random.Random(self.number)
        count = 0
        client = httpx.Client(base_url=self.server.url, timeout=5, trust_env=False)
        while not self.stopping.is_set():
            count += 1
            key = f"visitor-{self.number}-{count}"
            try:
                context = {"country": rng.choice(["DE", "FR"]), "basket": rng.random()}
                for _ in range(rng.randint(1, 2)):
                    answer = client.post("/v1/prices/decide", json={"key": key, "context": context})
                    if answer.status_code == 200:
                        if self.decided.setdefault(key, answer.json()) != answer.json():
                            self.wrong.append(f"{key}: another decision than before")
                    elif answer.status_code != 503:
                        self.wrong.append(answer.text)
                if key not in self.decided:
                    continue
                for arm in self.decided[key]["revealed"]:
                    body = {"id": key, "rewards": {arm: round(rng.random(), 6)}}
                    for _ in range(rng.randint(1, 2)):
                        answer = client.post("/v1/prices/observe", json=body)
                        if answer.status_code == 200:
                            self.rewarded[key, arm] = body["rewards"][arm]
                        elif answer.status_code != 503:
                            self.wrong.append(answer.text)
            except httpx.TransportError:
                time.sleep(0.02)
        client.close()


def test_nothing_acknowledged_is_lost(database: str, tmp_path: Path) -> None:
    server = Server(tmp_path, PRICES, "--workers", "2", "--database", database).start()
    visitors = [Visitors(server, number) for number in range(3)]
    for visitor in visitors:
        visitor.start()
    rng = random.Random(0)
    roles = ["decider-0", "decider-1", "writer", "learner"]
    turns = [role for _ in range(-(-KILLS // len(roles))) for role in rng.sample(roles, len(roles))][:KILLS]
    killed: list[int] = []
    try:
        while turns:
            time.sleep(rng.random() * 0.3)
            children = server.children()
            acknowledged = sum(len(visitor.decided) for visitor in visitors)
            if turns[0] in children:  # else it has not come back yet
                with contextlib.suppress(ProcessLookupError):
                    os.kill(children[turns[0]], signal.SIGKILL)
                    killed.append(children[turns.pop(0)])
            more = acknowledged + 5
            wait_until(lambda more=more: sum(len(v.decided) for v in visitors) >= more, "it comes back", 60)
        wait_until(lambda: set(server.children()) == set(roles), "all are back", 60)
        assert not set(killed) & set(server.children().values())
    finally:
        for visitor in visitors:
            visitor.stopping.set()
        for visitor in visitors:
            visitor.join()
        time.sleep(1.0)
        server.stop()
    assert [wrong for visitor in visitors for wrong in visitor.wrong] == []
    store = open_store(database)
    rows = store.read(0, limit=10**7, bandit="prices")
    store.close()
    assert len(killed) == KILLS
    assert [row.position for row in rows] == sorted({row.position for row in rows})
    decisions = [row for row in rows if row.kind == Kind.DECISION]
    logged = {row.key: unpack(row.body) for row in decisions}
    assert len(logged) == len(decisions), "a decision is there twice"
    rewards = [(row.key, row.arm, row.reward) for row in rows if row.kind == Kind.REWARD]
    assert len({(key, arm) for key, arm, _ in rewards}) == len(rewards), "a reward is there twice"
    by_arm = {(key, arm): reward for key, arm, reward in rewards}
    acknowledged = 0
    for visitor in visitors:
        for key, answer in visitor.decided.items():
            body = logged[key]
            assert (body.arm, body.probability, body.snapshot) == (
                answer["arm"],
                answer["probability"],
                answer["snapshot"],
            )
        for (key, arm), reward in visitor.rewarded.items():
            assert by_arm[key, arm] == reward
        acknowledged += len(visitor.decided) + len(visitor.rewarded)
    outcome = server.replay()
    assert outcome.exit_code == 0, outcome.stdout + outcome.stderr
    print(f"{type(store).__name__}: {KILLS} killed, {acknowledged} acknowledged, 0 lost; {outcome.stdout.strip()}")
    assert acknowledged > 20
