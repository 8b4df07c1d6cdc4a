"""Requests that arrive together are decided together, and each is answered for itself."""

import asyncio
from collections.abc import Coroutine, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from graphbandit.errors import InputError
from graphbandit.service.batcher import LARGEST, Batcher
from graphbandit.service.metrics import Metrics
from graphbandit.service.protocol import Decide, Operation, Refusal


class Recorder:
    """A decider and a log that remember what they were asked; a key that begins with "bad" is refused."""

    def __init__(self) -> None:
        self.batches: list[tuple[str, list[str]]] = []
        self.logged: list[list[Decide]] = []

    def decide(self, bandit: str, prepared: Sequence[Any]) -> list[bytes | InputError]:
        keys = [one.asked.key for one in prepared]
        self.batches.append((bandit, keys))
        if "defect" in keys:
            raise ZeroDivisionError
        return [InputError(key) if key.startswith("bad") else key.encode() for key in keys]

    async def submit(self, request: Sequence[Operation]) -> Any:
        self.logged.append(list(request))
        return [operation.key for operation in request]


def requests(*keys: str) -> list[Any]:
    return [SimpleNamespace(asked=SimpleNamespace(key=key)) for key in keys]


def answered(*asked: tuple[str, list[Any]]) -> tuple[Recorder, list[Any]]:
    """What becomes of requests that arrive at once."""
    recorder = Recorder()

    async def together() -> list[Any]:
        batcher = Batcher(recorder, recorder, Metrics())  # type: ignore[arg-type]
        waiting: list[Coroutine[Any, Any, Any]] = [batcher.decide(bandit, prepared) for bandit, prepared in asked]
        return await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), 30)

    return recorder, asyncio.run(together())


def test_one_batch_for_each_bandit_and_one_entry_in_the_log_for_each_request() -> None:
    recorder, answers = answered(("a", requests("1")), ("b", requests("2")), ("a", requests("3", "4")))
    assert recorder.batches == [("a", ["1", "3", "4"]), ("b", ["2"])]
    assert answers == [["1"], ["2"], ["3", "4"]]
    assert [Decide("a", "3", b"3"), Decide("a", "4", b"4")] in recorder.logged


def test_batches_have_a_largest_size_but_a_request_is_never_divided() -> None:
    many = [("a", requests(str(i), f"{i} too")) for i in range(50)]
    recorder, answers = answered(*many, ("a", requests(*map(str, range(LARGEST + 9)))), ("a", requests("last")))
    assert [len(keys) for _, keys in recorder.batches] == [64, 36, LARGEST + 9, 1]
    assert [len(answer) for answer in answers] == [2] * 50 + [LARGEST + 9, 1]


def test_a_refused_decision_refuses_its_request_and_no_other() -> None:
    recorder, (good, refused) = answered(("a", requests("good")), ("a", requests("fine", "bad", "bad too")))
    assert good == ["good"]
    assert refused == Refusal(422, "bad", "context", 1)
    assert recorder.logged == [[Decide("a", "good", b"good")]]


def test_a_defect_leaves_nobody_waiting() -> None:
    recorder, answers = answered(("a", requests("defect")), ("a", requests("with it")), ("b", requests("another")))
    assert [type(answer) for answer in answers] == [ZeroDivisionError, ZeroDivisionError, list]
    assert recorder.logged == [[Decide("b", "another", b"another")]]


@pytest.mark.parametrize("gone", ["first", "second"])
def test_who_has_hung_up_is_passed_over(gone: str) -> None:
    recorder = Recorder()

    async def hung_up() -> list[Any]:
        batcher = Batcher(recorder, recorder, Metrics())  # type: ignore[arg-type]
        tasks = {key: asyncio.create_task(batcher.decide("a", requests(key))) for key in ("first", "second")}
        await asyncio.sleep(0)  # both wait now
        tasks[gone].cancel()
        return await asyncio.wait_for(asyncio.gather(*tasks.values(), return_exceptions=True), 30)

    answers = asyncio.run(hung_up())
    assert sorted(map(str, answers)) == sorted(["", str([key for key in ("first", "second") if key != gone])])
