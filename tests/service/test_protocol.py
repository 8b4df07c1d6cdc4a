"""Random sequences of requests of two clients, against a model of ten lines.

GRAPHBANDIT_TEST_PROTOCOL says how many (600 by default, each of several requests).
"""

import os
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from graphbandit.service.protocol import Activate, Decide, Known, Observe, Operation, Refusal, apply, known_from
from graphbandit.service.rows import DecisionBody, Row, pack
from tests.service.house import House, configured

ARMS = ["a", "b", "c"]
SEQUENCES = int(os.environ.get("GRAPHBANDIT_TEST_PROTOCOL", "600"))


def body(revealed: list[str], active: bool) -> bytes:
    blank = DecisionBody(
        b"{}",
        None,
        None,
        None,
        None,
        active,
        "hash",
        1,
        revealed[0],
        1.0,
        b"",
        revealed,
        b"",
        b"",
        "a",
    )
    return pack(blank)


class Model:
    """What is promised: a key has one decision; an arm of it has one reward, which it revealed."""

    def __init__(self) -> None:
        self.decisions: dict[str, bytes] = {}
        self.rewards: dict[tuple[str, str], float] = {}

    def do(self, op: Operation) -> int:
        if isinstance(op, Decide):
            self.decisions.setdefault(op.key, op.body)
        elif op.key not in self.decisions:
            return 404
        elif isinstance(op, Observe):
            for arm, reward in op.rewards.items():
                if arm not in msgspec.msgpack.decode(self.decisions[op.key], type=DecisionBody).revealed:
                    return 422
                if self.rewards.setdefault((op.key, arm), reward) != reward:
                    return 409
        return 200

    def copy(self) -> "Model":
        other = Model()
        other.decisions, other.rewards = dict(self.decisions), dict(self.rewards)
        return other


keys = st.sampled_from(["k1", "k2", "k3"])
operations = st.one_of(
    st.builds(
        lambda key, revealed, active: Decide("bandit", key, body(revealed, active)),
        keys,
        st.lists(st.sampled_from(ARMS), min_size=1, unique=True),
        st.booleans(),
    ),
    st.builds(
        lambda key, rewards, final: Observe("bandit", key, rewards, final),
        keys,
        st.dictionaries(st.sampled_from(ARMS), st.sampled_from([0.0, 1.0]), max_size=2),
        st.booleans(),
    ),
    st.builds(lambda key: Activate("bandit", key), keys),
)
requests = st.lists(st.lists(operations, min_size=1, max_size=3), max_size=25)


def check(asked: list[list[Operation]], perform: Any, rows: Any) -> None:
    """Every request is done as the model does it, or refused with the same status and nothing changed."""
    model = Model()
    for request in asked:
        trial = model.copy()
        status = next((s for s in map(trial.do, request) if s != 200), 200)
        answer = perform(request)
        assert (answer.status if isinstance(answer, Refusal) else 200) == status
        if status == 200:
            model = trial
            for op, done in zip(request, answer, strict=True):
                assert not isinstance(op, Decide) or done.body == model.decisions[op.key]
        positions = [row.position for row in rows()]
        assert positions == sorted(set(positions))
    known = known_from(rows())
    assert {key: entry.body for (_, key), entry in known.items()} == model.decisions
    assert {(key, arm): r[0] for (_, key), e in known.items() for arm, r in e.rewards.items()} == model.rewards
    assert all(len(given) == 1 for entry in known.values() for given in entry.rewards.values())


@settings(max_examples=SEQUENCES, deadline=None)
@given(requests)
def test_the_protocol_keeps_its_promises(asked: list[list[Operation]]) -> None:
    known: dict[tuple[str, str], Known] = {}
    rows: list[Row] = []
    check(asked, lambda request: apply(request, known, rows, 1), lambda: rows)


@settings(max_examples=SEQUENCES // 15, deadline=None)
@given(asked=requests)
def test_on_a_real_log(asked: list[list[Operation]], tmp_path_factory: Any) -> None:
    house = House(str(tmp_path_factory.mktemp("log") / "log.db"), configured().bandits)
    check(asked, lambda request: house.do(*request), lambda: house.store.read(0, limit=10**6, bandit="bandit"))
    house.close()
