"""A service without a network: the decider, the writer and the learner in one thread, on a real database."""

import random
from pathlib import Path
from typing import Any

import msgspec

from graphbandit.service import configuration
from graphbandit.service.configuration import BanditSettings, Configuration
from graphbandit.service.learn_all import Learning
from graphbandit.service.messages import DecideAnswer, DecideRequest
from graphbandit.service.metrics import Metrics
from graphbandit.service.protocol import Activate, Answer, Decide, Observe, Operation, Refusal
from graphbandit.service.relearning import Replayed, replay
from graphbandit.service.request_decider import RequestDecider
from graphbandit.service.rows import Kind
from graphbandit.service.statistics import summary
from graphbandit.service.store import Store, open_store
from graphbandit.service.writer import Writer, configure

PRICES: dict[str, Any] = {
    "arms": ["7.99", "8.99", "9.99"],
    "graph": [["9.99", "8.99"], ["9.99", "7.99"], ["8.99", "7.99"]],
    "features": {"country": ["DE", "FR"], "basket": "number"},
    "learner": {"kind": "AdaCBG"},
}


def configured(**changes: Any) -> Configuration:
    return configuration.parse({"bandits": {"prices": {**PRICES, **changes}}}, Path("."))


class HandClock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.time = 4e9  # later than any real row, so that the configuration's row does not hold it back

    def now(self) -> float:
        return self.time


class House:
    """Writes one request at a time; time passes only when it is told to."""

    def __init__(self, url: str, bandits: dict[str, BanditSettings]) -> None:
        self.bandits = bandits
        self.store: Store = open_store(url)
        self.store.migrate()
        configure(self.store, {name: msgspec.json.encode(bandit) for name, bandit in bandits.items()})
        self.writer = Writer(self.store, bandits, Metrics())
        self.clock = HandClock()
        self.writer._clock = self.clock  # type: ignore[assignment]
        self.decider = RequestDecider(bandits)
        self.learning = self.new_learning()

    def new_learning(self) -> Learning:
        learning = Learning(self.store, self.bandits)
        self.store.execute("DELETE FROM leases")
        assert learning.take_over()
        return learning

    def do(self, *operations: Operation) -> Answer:
        answers: list[Answer] = []
        self.writer._write([(operations, answers.append)])
        return answers[0]

    def asked(self, bandit: str = "prices", **request: Any) -> tuple[str, Answer]:
        """The key of a decision, and what the writer answers."""
        message = msgspec.json.decode(msgspec.json.encode(request), type=DecideRequest)
        prepared = self.decider.prepare(bandit, message)
        body = self.decider.decide(bandit, [prepared])[0]
        if isinstance(body, Exception):
            raise body
        key = prepared.asked.key
        return key, self.do(Decide(bandit, key, body))

    def decide(self, bandit: str = "prices", **request: Any) -> DecideAnswer:
        key, answer = self.asked(bandit, **request)
        assert not isinstance(answer, Refusal)
        assert answer[0].body is not None
        return self.decider.answer(bandit, key, answer[0].body, request.get("explain", False))

    def observe(self, key: str, rewards: dict[str, float], *, bandit: str = "prices", final: bool = False) -> Answer:
        return self.do(Observe(bandit, key, rewards, final, self.bandits[bandit].aggregation))

    def activate(self, key: str, bandit: str = "prices") -> Answer:
        return self.do(Activate(bandit, key))

    def count(self, kind: Kind) -> int:
        """How many rows of a kind the log has."""
        return int(self.store.execute("SELECT COUNT(*) FROM log WHERE kind = ?", (int(kind),))[0][0])

    def tick(self) -> None:
        self.writer._last_time, self.writer._closes = 0.0, 1e18
        self.writer._tick()

    def learn(self) -> None:
        while self.learning.step():
            pass
        self.learning._publish()
        self.decider.refresh(self.store)

    def replayed(self, bandit: str = "prices") -> Replayed:
        """What comes of learning from the whole log again."""
        return replay(self.store, bandit, self.bandits[bandit])

    def summary(self) -> dict[str, Any]:
        """The figures of `prices`, as the page shows them."""
        return summary(self.learning._statistics["prices"].figures, self.bandits["prices"])

    def close(self) -> None:
        self.store.close()


def housed(folder: Path, **changes: Any) -> House:
    """A service of `prices` with these changes, and with its log in a folder."""
    return House(str(folder / "log.db"), configured(**changes).bandits)


def visitor(rng: random.Random) -> dict[str, Any]:
    return {"country": rng.choice(["DE", "FR", "PT"]), "basket": round(rng.random(), 3)}


def purchase(rng: random.Random, arm: str) -> float:
    return float(rng.random() < {"7.99": 0.8, "8.99": 0.6, "9.99": 0.3}[arm]) * float(arm) / 10
