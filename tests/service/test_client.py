"""The client, sync and async, against a real server; what is written for `Bandit` works with it."""

import asyncio
import random
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

import graphbandit as gb
from graphbandit.errors import InputError, ServiceError, SettingError
from graphbandit.service import AsyncClient, Client, RemoteDecision
from tests.service.servers import PRICES, Server, serving

EDGES = [("9.99", "8.99"), ("9.99", "7.99"), ("8.99", "7.99")]

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


def test_values_and_arms_as_a_bandit_takes_them(client: Client) -> None:
    """NumPy and pandas in, arms by name or number; what cannot be sent is refused here."""
    bandit = client["prices"]
    row = pd.Series({"country": "DE", "basket": np.int64(3)})
    decision = bandit.decide(row, key="series")
    assert bandit.explain(decision)["context"] == {"country": "DE", "basket": 3}
    bandit.observe(decision, {np.int64(decision.action): np.float64(0.5)})
    bandit.observe(decision, pd.Series({decision.arm: 0.5}))
    for rewards, message in ((0.5, "a mapping from arm"), ({7: 1.0}, "a number below 3"), ({None: 1.0}, "a name")):
        with pytest.raises(InputError, match=message):
            bandit.observe(decision, rewards)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="what JSON can hold"):
        bandit.decide({"country": object()})
    with pytest.raises(SettingError, match="http://"):
        Client("127.0.0.1:8765")
    with pytest.raises(ServiceError, match="'planet', which is not a feature; expected 'country', 'basket'"):
        bandit.decide({"planet": "Mars"})


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
    rank = {"actions": [{"id": "a"}]}  # no bandit answers it here: 404 means that the token was taken
    for key, status in (("website-website-website", 404), ("reader-reader-reader", 403), ("wrong", 401)):
        headers = {"ocp-apim-subscription-key": key}
        assert server.post("/personalizer/v1.0/rank", rank, **headers).status_code == status
        assert server.post("/v1/prices/decide", {}, **headers).status_code == 401
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
            await bandit.forget(decisions[0])
            assert (await bandit.explain(decisions[0]))["final"]
            assert (await bandit.status())["bandit"] == "prices"
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


def test_decisions_are_those_of_a_bandit() -> None:
    """Over some epochs: the same state, snapshot and key give the decision that `Bandit.decider` makes."""
    features = gb.Features({"country": ["DE", "FR"], "basket": "number"}, absent="missing")
    arms = ["7.99", "8.99", "9.99"]
    shape = gb.LinearClass(n_arms=3, dimension=features.size, parameters="per-arm")
    edges = [(arms.index(a), arms.index(b)) for a, b in EDGES]
    bandit = gb.Bandit(
        gb.AdaCBG(),
        gb.Problem(arms=arms, features=features, function_class=shape),
        graph=gb.FeedbackGraph.from_edges(edges, 3, add_loops=True),
    )
    rng = random.Random(7)
    with serving(PRICES) as fresh, Client(fresh.url) as client:
        remote = client["prices"]
        snapshots = set()
        for i in range(40):
            context = {"country": rng.choice(["DE", "FR", "PT"]), "basket": round(rng.random(), 3)}
            learnt = bandit.decider().learnt
            while remote.status["rounds"] < learnt:
                time.sleep(0.02)
            over_http = remote.decide(context, key=f"visit-{i}")
            here = bandit.decider(name=over_http.snapshot).decide(context, key=f"visit-{i}")
            assert (over_http.arm, over_http.probability) == (here.arm, here.probability)
            assert over_http.revealed == tuple(arms[a] for a in here.revealed)
            rewards = {arm: round(rng.random(), 3) for arm in over_http.revealed}
            bandit.take([here])
            bandit.observe(here, rewards)
            remote.observe(over_http, rewards)
            snapshots.add(over_http.snapshot)
        assert len(snapshots) > 2
        assert fresh.replay().exit_code == 0
