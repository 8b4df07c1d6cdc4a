"""The routes of a real server: decide, observe, activate, explain, refuse."""

import json
import logging
import re
import warnings
from collections.abc import Iterator

import pytest

from graphbandit.service import json_logging
from tests.helpers.waiting import wait_until
from tests.service.servers import PERSONALIZER, PRICES, Server, serving

MORE = """
[service.limits]
body_bytes = 20000
batch = 50
arms = 10
seconds = 1.5
connections = 200

[bandits.catalogue]
arms = ["a", "b", "c"]
capacity = 5
retired = ["c"]
graphs = { wide = "complete" }
learner = "AdaCBG"

[bandits.apprentice]
arms = ["old", "new"]
mode = "apprentice"
learner = "AdaCBG"

[bandits.slow]
arms = ["a", "b"]
window = 0.6
default_reward = 0.0
learner = "AdaCBG"
"""
MORE += PERSONALIZER + 'learner = "AdaCBG"\n'


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(PRICES + MORE) as running:
        yield running
        assert running.replay().exit_code == 0
        assert running.stop() == 0


def test_the_same_key_is_the_same_decision(server: Server) -> None:
    request = {"key": "visit-17", "context": {"country": "DE", "basket": 2}}
    first = server.post("/v1/prices/decide", request)
    assert first.status_code == 200
    answer = first.json()
    assert set(answer) == {"id", "arm", "probability", "revealed", "snapshot"}
    assert answer["id"] == "visit-17"
    other = {"key": "visit-17", "context": {"country": "FR", "basket": 9}}
    assert server.post("/v1/prices/decide", other).json() == answer
    assert server.post("/v1/prices/decide", [request, request]).json() == [answer, answer]


def test_rewards_once(server: Server) -> None:
    decision = server.post("/v1/prices/decide", {"context": {}}).json()
    arm, rewards = decision["arm"], dict.fromkeys(decision["revealed"], 0.5)
    assert server.post("/v1/prices/observe", {"id": decision["id"], "rewards": {arm: 0.5}}).json()["new"] == 1
    again = server.post("/v1/prices/observe", {"id": decision["id"], "rewards": rewards})
    assert (again.status_code, again.json()["new"]) == (200, len(rewards) - 1)
    conflict = server.post("/v1/prices/observe", {"id": decision["id"], "rewards": {arm: 0.6}})
    assert (conflict.status_code, conflict.json()["field"]) == (409, f"rewards.{arm}")
    assert conflict.headers["content-type"] == "application/problem+json"
    unknown = server.post("/v1/prices/observe", {"id": decision["id"], "rewards": {"12": 1}})
    assert (unknown.status_code, unknown.json()["field"]) == (422, "rewards.12")
    assert unknown.json()["detail"] == "no arm is called '12'; expected some of 7.99, 8.99, 9.99"
    assert "Another reward was recorded before" in conflict.json()["title"]
    assert server.post("/v1/prices/observe", {"id": "nobody", "rewards": {arm: 1}}).status_code == 404


def test_a_batch_is_done_as_a_whole_or_not_at_all(server: Server) -> None:
    decisions = server.post("/v1/prices/decide", [{"context": {}}, {"context": {}}]).json()
    good = {"id": decisions[0]["id"], "rewards": {decisions[0]["arm"]: 1}}
    refused = server.post("/v1/prices/observe", [good, {"id": "nobody", "rewards": {"7.99": 1}}])
    assert (refused.status_code, refused.json()["index"]) == (404, 1)
    assert server.post("/v1/prices/observe", good).json()["new"] == 1, "nothing of the batch was done"
    refused = server.post("/v1/prices/decide", [{"key": "whole", "context": {}}, {"context": {"basket": "x"}}])
    assert (refused.status_code, refused.json()["field"], refused.json()["index"]) == (422, "context", 1)
    assert server.get("/v1/prices/decisions/whole").status_code == 404
    assert server.get("/v2/prices").json()["detail"] == "there is no path /v2/prices; the page /docs lists all of them"


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("/v1/none/decide", {}, 404, "bandit"),
        ("/v1/prices/decide", {"contexts": {}}, 422, "contexts"),
        ("/v1/prices/decide", {"context": {"age": 3}}, 422, "context"),
        ("/v1/prices/decide", {"context": [1, 2]}, 422, "context"),
        ("/v1/prices/decide", {"context": {"basket": 1e300}}, 422, "context"),
        ("/v1/prices/decide", {"context": {}, "available": ["12"]}, 422, "available"),
        ("/v1/prices/decide", {"context": {}, "available": []}, 422, "available"),
        ("/v1/prices/decide", {"context": {}, "graph": "summer"}, 422, "graph"),
        ("/v1/prices/decide", {"context": {}, "graph": {"edges": [["7.99", "x"]]}}, 422, "graph"),
        ("/v1/prices/decide", {"context": {}, "graph": {"edges": [["7.99"]]}}, 422, "graph"),
        ("/v1/prices/decide", {"context": {}, "graph": {"vertices": []}}, 422, "graph"),
        ("/v1/prices/decide", {"context": {}, "arms": ["a"]}, 422, "arms"),
        ("/v1/prices/decide", {"context": {}, "arm": "7.99"}, 422, "arm"),
        ("/v1/prices/decide", {"context": {}, "key": ""}, 422, "key"),
        ("/v1/prices/decide", {"context": {}, "key": "a\u0000b"}, 422, "key"),
        ("/v1/prices/decide", {"context": {}, "key": "x" * 300}, 422, "key"),
        ("/v1/prices/decide", [], 422, None),
        ("/v1/prices/decide", [{"context": {}}] * 51, 422, None),
        ("/v1/prices/observe", {"id": "a", "rewards": {"7.99": "much"}}, 422, "rewards"),
        ("/v1/prices/observe", {"id": "a", "rewards": {"7.99": 1e9}}, 422, "rewards"),
        ("/v1/prices/observe", {"rewards": {}}, 422, "id"),
        ("/v1/prices/activate", {"id": "nobody"}, 404, "id"),
        ("/v1/apprentice/decide", {"context": {}}, 422, "arm"),
        ("/v1/apprentice/decide", {"context": {}, "arm": "x"}, 422, "arm"),
        ("/v1/apprentice/decide", {"context": {}, "arm": "old", "probability": 0}, 422, "probability"),
        ("/v1/personalizer/decide", {"context": {}}, 422, "arms"),
        ("/v1/personalizer/decide", {"context": {}, "arms": ["a", "a"]}, 422, "arms"),
        ("/v1/personalizer/decide", {"context": {}, "arms": list("abcde")}, 422, "arms"),
        ("/v1/personalizer/decide", {"context": {}, "arms": [str(i) for i in range(11)]}, 422, "arms"),
        ("/v1/personalizer/decide", {"arms": [{"name": "a", "features": {"x": 1e300}}]}, 422, "arms"),
        ("/personalizer/v1.0/rank", {"actions": []}, 422, "actions"),
        ("/personalizer/v1.0/rank", {"actions": [{"id": "a"}, {"id": "a"}]}, 422, "actions"),
        ("/personalizer/v1.0/rank", {"actions": [{"id": "a"}], "excludedActions": ["a"]}, 422, "excludedActions"),
        ("/personalizer/v1.0/rank", {"actions": [{"id": "a"}], "excludedActions": ["b"]}, 422, "excludedActions"),
        ("/personalizer/v1.0/events/none/reward", {"value": 1}, 404, "id"),
    ],
)
def test_wrong_requests_are_refused_with_the_field(
    server: Server, path: str, body: object, status: int, field: str | None
) -> None:
    before = server.get("/v1/prices").json()["settings"]
    answer = server.post(path, body)
    assert (answer.status_code, answer.json().get("field")) == (status, field), answer.text
    assert answer.json()["status"] == status
    assert "index" not in answer.json(), "only in batches"
    assert ("error" in answer.json()) == path.startswith("/personalizer/"), "where its clients look"
    assert answer.headers["content-type"] == "application/problem+json"
    assert server.get("/v1/prices").json()["settings"] == before
    if isinstance(body, dict) and path.startswith("/v1/prices"):
        good = {"id": "a"} if "rewards" in body or "id" in body else {"context": {}}
        batch = server.post(path, [body, good]).json()
        assert (batch["status"], batch["field"], batch["index"]) == (status, field, 0)


def test_json_that_is_none(server: Server) -> None:
    import httpx

    for data in (b"{", b"\xff\xfe", b'{"context": ' + b"[" * 5000 + b"]" * 5000 + b"}", b"null"):
        answer = httpx.post(f"{server.url}/v1/prices/decide", content=data, trust_env=False)
        assert answer.status_code in (400, 422), data[:20]
        assert answer.json()["status"] == answer.status_code
    assert server.post("/v1/prices/decide", {"context": {"country": "x" * 30000}}).status_code == 413
    assert server.get("/v1/prices/decide").status_code == 405
    assert server.get("/nowhere").json()["status"] == 404


def test_graphs_named_and_sent_along(server: Server) -> None:
    wide = server.post("/v1/catalogue/decide", {"graph": "wide"}).json()
    assert wide["revealed"] == ["a", "b", "c"]
    sent = server.post("/v1/catalogue/decide", {"graph": {"edges": [["a", "b"], ["b", "c"]]}}).json()
    assert sent["revealed"] == {"a": ["a", "b"], "b": ["b", "c"]}[sent["arm"]]
    assert {server.post("/v1/catalogue/decide", {}).json()["arm"] for _ in range(12)} == {"a", "b"}, "c is retired"
    assert server.post("/v1/catalogue/decide", {"available": ["b", "c"]}).json()["arm"] == "b"


def test_an_apprentice_plays_what_the_caller_chose(server: Server) -> None:
    answer = server.post("/v1/apprentice/decide", {"arm": "old", "probability": 0.25}).json()
    assert (answer["arm"], answer["probability"], answer["revealed"]) == ("old", 0.25, ["old"])
    assert answer["proposed"] in ("old", "new")
    found = server.get(f"/v1/apprentice/decisions/{answer['id']}").json()
    assert found["observation_probabilities"] == {"old": 0.25, "new": 0.0}


def test_deferred_activation(server: Server) -> None:
    decision = server.post("/v1/prices/decide", {"context": {}, "active": False}).json()
    assert not server.get(f"/v1/prices/decisions/{decision['id']}").json()["active"]
    assert server.post("/v1/prices/activate", {"id": decision["id"]}).json()["new"] == 1
    assert server.post("/v1/prices/activate", {"id": decision["id"]}).json()["new"] == 0
    assert server.get(f"/v1/prices/decisions/{decision['id']}").json()["active"]


def test_windows_close_without_traffic(server: Server) -> None:
    for _ in range(2):
        server.post("/v1/slow/decide", {})
    wait_until(lambda: server.get("/v1/slow").json()["rounds"] >= 2, "default rewards are learnt from")
    assert server.get("/v1/slow").json()["rounds"] == 2


def test_decisions_explain_themselves(server: Server) -> None:
    asked = {"context": {"country": "DE", "basket": 1}, "explain": True}
    decision = server.post("/v1/prices/decide", asked).json()
    found = server.get(f"/v1/prices/decisions/{decision['id']}").json()
    assert found["explanation"] == decision["explanation"]
    assert found["context"] == asked["context"]
    p = found["probabilities"]
    assert sum(p.values()) == pytest.approx(1)
    assert p[decision["arm"]] == decision["probability"] == found["explanation"]["probabilities"][decision["arm"]]
    assert all(found["observation_probabilities"][arm] > 0 for arm in decision["revealed"])


def test_every_bandit_has_an_example_that_works(server: Server) -> None:
    for bandit in server.get("/v1").json()["bandits"]:
        answer = server.post(f"/v1/{bandit['bandit']}/decide", bandit["example_request"])
        assert answer.status_code == 200, answer.text
    assert server.post("/v1/prices/decide", {"context": server.get("/v1/prices").json()["example_context"]}).is_success


def test_personalizer(server: Server) -> None:
    rank = {
        "eventId": "event-1",
        "contextFeatures": [{"time": "morning"}, {"device": {"kind": "phone"}}],
        "actions": [{"id": "pasta", "features": [{"taste": "salty"}]}, {"id": "cake"}, {"id": "soup"}],
        "excludedActions": ["soup"],
        "deferActivation": True,
    }
    answer = server.post("/personalizer/v1.0/rank", rank)
    assert answer.status_code == 201
    found = answer.json()
    assert found["eventId"] == "event-1"
    assert found["ranking"][0]["id"] == found["rewardActionId"]
    assert {one["id"]: one["probability"] for one in found["ranking"]}["soup"] == 0
    assert sum(one["probability"] for one in found["ranking"]) == pytest.approx(1)
    assert server.post("/personalizer/v1.0/events/event-1/activate", {}).status_code == 204
    for _ in range(2):
        assert server.post("/personalizer/v1.0/events/event-1/reward", {"value": 0.5}).status_code == 204
    rewards = server.get("/v1/personalizer/decisions/event-1").json()["rewards"]
    assert [one["reward"] for one in rewards] == [0.5, 0.5], "their sum is learnt from"


def test_openapi_and_metrics(server: Server) -> None:
    document = server.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert set(document["paths"]["/v1/{bandit}/decide"]["post"]["responses"]) >= {"200", "422", "503"}
    assert "201" in document["paths"]["/personalizer/v1.0/rank"]["post"]["responses"]
    docs = server.get("/docs")
    assert "DecideRequest" in docs.text
    assert "`" not in docs.text
    assert "<code>key</code>: the same key again" in docs.text
    assert "<td>Another reward was recorded before</td>" in docs.text
    assert '<a href="./">' in docs.text
    assert docs.text.count("curl -s $SERVICE/") == 5
    assert "http://" not in docs.text
    assert "https://" not in docs.text
    server.post("/v1/prices/decide", {"context": {"country": "DE", "basket": 1}})
    wanted = (
        'graphbandit_log_rows_total{bandit="prices",kind="decision"}',
        'graphbandit_request_seconds_count{route="/v1/{bandit}/decide",status="200"}',
    )
    wait_until(lambda: all(name in server.get("/metrics").text for name in wanted), "counted a moment later")
    assert server.get("/health").json() == {"status": "up"}
    assert server.get("/ready").json() == {"status": "ready"}


def test_unknown_and_missing_values_are_counted(server: Server) -> None:
    """Once for each decision, however often it is asked for."""

    def counts() -> tuple[int, int]:
        found = server.get("/v1/prices").json()
        return found["unknown_categories"].get("country", 0), found["missing_values"].get("basket", 0)

    unknown, missing = counts()
    for key in ("tally-1", "tally-2", "tally-1"):
        assert server.post("/v1/prices/decide", {"key": key, "context": {"country": "PT"}}).status_code == 200
    wait_until(lambda: counts()[0] >= unknown + 2 and counts()[1] >= missing + 2, "the log is read a moment later")
    now = counts()
    text = server.get("/metrics").text
    assert f'graphbandit_unknown_categories{{bandit="prices",feature="country"}} {now[0]}.0' in text
    assert f'graphbandit_missing_values{{bandit="prices",feature="basket"}} {now[1]}.0' in text
    assert 'graphbandit_snapshot_age_seconds{bandit="prices"}' in text


def test_logs_are_json_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("graphbandit.service", "uvicorn.error"):
        for attribute in ("handlers", "propagate", "level"):  # to be put back
            monkeypatch.setattr(logging.getLogger(name), attribute, getattr(logging.getLogger(name), attribute))
    json_logging.start()
    json_logging.say("started", bandits=2)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with json_logging.learning("prices", ["7.99", "8.99"]):
            warnings.warn("the reward 9.5 of arm 1 is strange", stacklevel=1)
    try:
        raise ValueError("two\nlines")
    except ValueError:
        logging.getLogger("uvicorn.error").exception("a request has %s", "failed")
    told, warned, failed = map(json.loads, capsys.readouterr().err.splitlines())
    assert (warned["level"], warned["bandit"], warned["category"]) == ("warning", "prices", "UserWarning")
    assert warned["event"] == "the reward 9.5 of arm '8.99' is strange"
    assert {key: told[key] for key in ("level", "event", "bandits")} == {
        "level": "info",
        "event": "started",
        "bandits": 2,
    }
    assert (failed["level"], failed["event"]) == ("error", "a request has failed")
    assert "ValueError: two\nlines" in failed["error"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", told["time"])
