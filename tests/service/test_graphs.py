"""Graphs over the wire: edges, names, and probabilities of edges."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import ConfigurationError
from graphbandit.service import Client
from graphbandit.service.core import Core, FieldError
from graphbandit.service.export import export
from tests.service.house import configured, housed, purchase, visitor
from tests.service.servers import serving

ARMS = ["7.99", "8.99", "9.99"]
MATRIX = [[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.25, 0.5, 0.0]]
MAYBE: dict[str, Any] = {"learner": "IDSG", "graphs": {"maybe": {"probabilities": MATRIX}}}

SERVED = """
[bandits.prices]
arms = ["7.99", "8.99", "9.99"]
graph = { probabilities = [[1, 0, 0], [0.5, 1, 0], [0.25, 0.5, 1]] }

[bandits.sure]
arms = ["a", "b"]
learner = "UCBN"
noise = 0.5
"""


def test_probabilities_are_planned_with_logged_and_replayed(tmp_path: Path) -> None:
    """Named, sent along and mixed with sure graphs; the draws are those of a bandit's decider."""
    house, rng = housed(tmp_path, **MAYBE), random.Random(0)
    features = gb.Features({"country": ["DE", "FR"], "basket": "number"}, absent="missing")
    shape = gb.LinearClass(n_arms=3, dimension=features.size, parameters="per-arm")
    bandit = gb.Bandit(gb.IDSG(), gb.Problem(arms=ARMS, features=features, function_class=shape))
    graph = gb.ProbabilisticGraph(MATRIX)
    for step in range(40):
        asked: Any = [{"probabilities": MATRIX}, "maybe", None][step % 3]
        context, key = visitor(rng), f"visit-{step}"
        answer = house.decide(context=context, key=key, graph=asked)
        if step == 0:
            own = bandit.decider(name=answer.snapshot).decide(context, graph, key=key)
            assert (own.arm, own.probability) == (answer.arm, answer.probability)
            assert [ARMS[a] for a in own.revealed] == answer.revealed
        if asked is not None:
            row = np.array(MATRIX)[ARMS.index(answer.arm)]
            assert set(answer.revealed) <= {arm for arm, p in zip(ARMS, row, strict=True) if p > 0}
        seen = [arm for arm in answer.revealed if rng.random() < 0.7]
        house.observe(key, {arm: purchase(rng, arm) for arm in seen}, final=True)
        house.learn()
    outcome = house.replayed()
    assert outcome.differing == []
    assert outcome.equal == outcome.snapshots > 2
    export(house.store, "prices", house.bandits["prices"], tmp_path / "logs")
    batch = next(iter(gb.evaluation.Log.read(tmp_path / "logs").batches()))
    assert isinstance(batch.graphs, gb.ProbabilisticGraphs)
    np.testing.assert_array_equal(batch.graphs[0].matrix, MATRIX)
    house.close()


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ({"probabilities": [[1.0]]}, "3 lists of 3 numbers"),
        ({"probabilities": [[1, 0, 0], [0, 1, 0], [0, 0, 1.5]]}, "1.5 that '9.99' reveals '9.99'"),
        ({"probabilities": [[1, 0, 0], [0, 1, 0], [0, 0, "x"]]}, "'x' that '9.99'"),
        ({"probabilities": [[1, 0, 0], [0, 1, 0], [0, 0, True]]}, "True that '9.99'"),
        ({"probabilities": "all"}, "3 lists of 3 numbers"),
        ({"probabilities": MATRIX, "edges": []}, "has the keys"),
        ({"edge": []}, "'edge'"),
        ({"edges": [], "loops": 1}, "true or false"),
        ("nobody", "expected one of loops, complete, maybe"),
    ],
)
def test_what_is_wrong_with_a_graph_is_named(graph: Any, message: str) -> None:
    core = Core("prices", configured(**MAYBE).bandits["prices"])
    with pytest.raises(FieldError, match=message) as caught:
        core.asked("key", {}, None, graph, None)
    assert caught.value.field == "graph"


def test_probabilities_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="cannot plan"):
        Core("prices", configured(**{**MAYBE, "learner": "UCBN"}).bandits["prices"])
    waiting = {"window": 60, "default_reward": 0.0}
    Core("prices", configured(**MAYBE, **waiting).bandits["prices"])  # all diagonal entries are 0 or 1
    with pytest.raises(ConfigurationError, match="stands for each reward that does not come"):
        Core("prices", configured(**MAYBE, **waiting, default_for="revealed").bandits["prices"])


def test_over_http() -> None:
    with serving(SERVED) as server, Client(server.url) as client:
        prices = client["prices"]
        own = prices.decide(key="own")
        sent = prices.decide({}, gb.ProbabilisticGraph(MATRIX), key="sent")
        sure = prices.decide({}, gb.FeedbackGraph.from_dense(np.ones((3, 3))), key="sure")
        both = server.post("/v1/prices/decide", [{"graph": "complete"}, {"graph": {"probabilities": MATRIX}}])
        assert both.status_code == 200
        assert sure.revealed == tuple(ARMS)
        assert prices.explain(sent)["graph"] == {"probabilities": MATRIX}
        prices.observe(own, {own.arm: 0.5})
        for bandit, graph in (("prices", {"probabilities": [[2.0]]}), ("sure", {"probabilities": [[1, 0], [0, 1]]})):
            refused = server.post(f"/v1/{bandit}/decide", {"graph": graph})
            assert (refused.status_code, refused.json()["field"]) == (422, "graph")
            assert refused.headers["content-type"] == "application/problem+json"
        assert server.replay().exit_code == 0
