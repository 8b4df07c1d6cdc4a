"""The client, sync and async, against a real server; what is written for `Bandit` works with it."""

import asyncio
import random
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import graphbandit as gb
from graphbandit.errors import ServiceError
from graphbandit.service import AsyncClient, Client, RemoteDecision
from tests.service.servers import PRICES, Server, serving

TOKENS = """
[tokens.website]
token = "website-website-website"
scopes = ["decide", "observe", "read"]
[tokens.reader]
token = "reader-reader-reader"
scopes = ["read"]
[tokens.boss]
token = "boss-boss-boss-boss"
scopes = ["admin"]
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(PRICES + TOKENS) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server.url, token="website-website-website") as found:
        yield found


def everyday(bandit: Any, contexts: list[Any]) -> list[str]:
    """Code that does not know what kind of bandit it has."""
    played = []
    for context in contexts:
        decision = bandit.decide(context)
        bandit.observe(decision, dict.fromkeys(decision.revealed, 0.5))
        played.append(decision.action)
    return played


def test_code_for_a_bandit_works_with_the_client(client: Client) -> None:
    bandit = client["prices"]
    assert bandit.arms == ("7.99", "8.99", "9.99")
    assert set(everyday(bandit, [{"country": "DE"}] * 5)) <= {0, 1, 2}
    assert bandit.status["decisions"] >= 0


def test_the_same_key_again(client: Client) -> None:
    bandit = client["prices"]
    first = bandit.decide({"country": "DE"}, key="client-1")
    assert isinstance(first, RemoteDecision)
    assert bandit.decide({"country": "FR"}, key="client-1") == first
    bandit.observe(first, {first.arm: 1.0})
    bandit.observe(first, {first.arm: 1.0})
    with pytest.raises(ServiceError) as caught:
        bandit.observe(first, {first.arm: 0.0})
    assert (caught.value.status, caught.value.field) == (409, f"rewards.{first.arm}")
    assert bandit.explain(first)["rewards"][0]["reward"] == 1.0
    bandit.forget(first)
    assert bandit.explain(first)["final"]


def test_batches(client: Client) -> None:
    bandit = client["prices"]
    decisions = bandit.decide_batch([{"basket": i} for i in range(5)], keys=[f"batch-{i}" for i in range(5)])
    bandit.observe_batch((d, {d.arm: 0.5}) for d in decisions)
    assert bandit.explain("batch-3")["rewards"] != []


def test_scopes(server: Server, client: Client) -> None:
    for token, status in ((None, 401), ("wrong-wrong-wrong-wrong", 401), ("reader-reader-reader", 403)):
        with Client(server.url, token) as other, pytest.raises(ServiceError) as caught:
            other.request("POST", "/v1/prices/decide", {"context": {}})
        assert caught.value.status == status
    with Client(server.url, "reader-reader-reader") as other:
        assert other["prices"].status["bandit"] == "prices"
    with Client(server.url, "boss-boss-boss-boss") as other:
        assert other["prices"].decide({}).arm
    assert server.get("/metrics").status_code == 401
    assert server.get("/health").status_code == 200
    assert server.get("/v1", authorization="Basic boss-boss-boss-boss").status_code == 401


def test_async_calls_go_out_together(server: Server) -> None:
    async def main() -> list[RemoteDecision]:
        async with AsyncClient(server.url, "website-website-website") as client:
            bandit = client["prices"]
            await bandit.decide({}, key="async-first")
            decisions = await asyncio.gather(*(bandit.decide({"basket": i}, key=f"async-{i}") for i in range(150)))
            wrong = await asyncio.gather(
                bandit.decide({"nobody": 1}), bandit.decide({}, key="async-good"), return_exceptions=True
            )
            assert isinstance(wrong[0], ServiceError)
            assert isinstance(wrong[1], RemoteDecision), "one that is wrong does not stop the others"
            await asyncio.gather(*(bandit.observe(d, {d.arm: 1.0}) for d in decisions))
            return list(decisions)

    decisions = asyncio.run(main())
    assert [d.id for d in decisions] == [f"async-{i}" for i in range(150)]


def test_retries_survive_a_restart(server: Server, client: Client) -> None:
    """The client asks on while the server is away, with the same key."""
    bandit = client["prices"]
    rng = random.Random(0)
    before = bandit.decide({"basket": rng.random()}, key="restart-0")
    server.stop()
    timer = threading.Timer(0.5, server.start)
    timer.start()
    with Client(server.url, "website-website-website", retries=60) as patient:
        remote = type(bandit)(patient, "prices", bandit.arms)
        assert remote.decide({}, key="restart-0") == before
    timer.join()


def test_a_service_that_is_not_there() -> None:
    with Client("http://127.0.0.1:9", retries=1) as client, pytest.raises(ServiceError, match="cannot be reached"):
        client["prices"]


def test_decisions_are_those_of_the_library(server: Server, client: Client) -> None:
    """The same snapshot, key and context give the decision that the learner itself makes."""
    import numpy as np

    from graphbandit.rounds import Shown
    from graphbandit.service import configuration
    from graphbandit.service.core import Core, uniform
    from graphbandit.service.store import open_store

    bandit = client["prices"]
    context = {"country": "DE", "basket": 0.4}
    decision = bandit.decide(context, key="same")
    settings = configuration.read(server.path)
    core = Core("prices", settings.bandits["prices"])
    store = open_store(settings.default_database, read_only=True)
    row = store.snapshot(decision.snapshot)
    store.close()
    snapshot = core.initial() if row is None else core.restore(bytes(row.data or b""))
    graphs = gb.FeedbackGraphs.repeat(core.asked("same", context, None, None, None).graph, 1)
    shown = Shown(core.encode(context, None)[None], graphs)
    made = core.learner.decide(snapshot.state, shown, np.random.default_rng(0))
    p = made.probabilities[0]
    arm = int(np.searchsorted(np.cumsum(p), uniform(decision.snapshot, "same"), side="right"))
    assert (decision.action, decision.probability) == (arm, p[arm])
