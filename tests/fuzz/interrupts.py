"""Interrupts at random moments: a call has happened, or it has not, and the bandit goes on either way.

The moment is an instruction of the package at which Python looks for signals, drawn at random from all that the call
runs: the same again with the same seed. Real signals come too, wherever they like.
"""

import copy
import dis
import gc
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import graphbandit as gb
from graphbandit.errors import GraphBanditError
from tests.fuzz.driver import Case, Defect, Part
from tests.fuzz.operations import decided
from tests.fuzz.subjects import Subject, fitting_pair, graph
from tests.helpers.bandits import content

PACKAGE = str(Path(gb.__file__).parent)
MOMENTS = 12
"""Interrupts of each call."""


class Interrupted(BaseException):
    """In place of KeyboardInterrupt."""


@cache
def moments(code: CodeType) -> frozenset[int]:
    """Where signals are looked for: at the begin of a function, at a call, at a jump back.

    Not at the call that ends a `with`, which Python makes together with what is before: it has None three times.
    """
    found, loaded = set(), 0
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name.startswith("LOAD_CONST") and instruction.argval is None:
            loaded += 1
            continue
        if name in ("PRECALL", "PUSH_NULL"):
            continue
        if name == "RESUME" or name.startswith("JUMP_BACKWARD") or (name.startswith("CALL") and loaded < 3):
            found.add(instruction.offset)
        loaded = 0
    return frozenset(found)


class Instructions:
    """Counts the instructions of the package that a call runs, and interrupts it at one of them."""

    def __init__(self, at: int = -1) -> None:
        self.at, self.count = at, 0

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self._step

    def _step(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "opcode" and frame.f_lasti in moments(frame.f_code):
            self.count += 1
            if self.count == self.at:
                raise Interrupted
        return self._step

    def run(self, call: Callable[[], Any]) -> bool:
        """Whether the call was interrupted."""
        sys.settrace(self._enter)
        try:
            call()
        except Interrupted:
            return True
        finally:
            sys.settrace(None)
        return False


def by_signal(call: Callable[[], Any], after: float) -> bool:
    """Whether the call was stopped by a signal that came so many seconds after it began."""

    def interrupt(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()  # what is raised in a callback of the collector is swallowed there
    try:
        signal.setitimer(signal.ITIMER_REAL, max(after, 1e-6))
        try:
            call()
            return False
        except Interrupted:
            return True
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Interrupted:  # between the call and the end of the timer
        return False
    finally:
        signal.signal(signal.SIGALRM, before)
        gc.enable()


def calls(one: Subject, bandit: gb.Bandit, rng: np.random.Generator) -> dict[str, Callable[[gb.Bandit], Any]]:
    """Calls that change a bandit."""
    n_arms = bandit.problem.n_arms
    shown = graph(one, rng, n_arms)
    rows, one_row = one.contexts(rng, 5, n_arms), one.contexts(rng, 1, n_arms)[0]
    number = bandit.open_decisions[-1]
    rewards = {int(arm): 0.5 for arm in bandit.awaited(number)}
    actions = rng.integers(n_arms, size=5)
    found: dict[str, Callable[[gb.Bandit], Any]] = {
        "decide": lambda b: b.decide(one_row, shown),
        "decide with a key": lambda b: b.decide(one_row, shown, key="k"),
        "decide_batch": lambda b: b.decide_batch(rows, shown),
        "observe": lambda b: b.observe(number, rewards),
        "forget": lambda b: b.forget(number),
        "learn": lambda b: b.learn(rows, np.full(5, 0.5), actions=actions),
        "refit": lambda b: b.refit(),
        "add_arms": lambda b: b.add_arms(2),
        "retire_arms": lambda b: b.retire_arms([0]),
    }
    if shown is not None:
        made = bandit.decider().decide(one_row, shown)
        found["take"] = lambda b: b.take([made])
    return found


def free(bandit: gb.Bandit) -> bool:
    """Whether another thread can use the bandit."""

    def use() -> bool:
        got = bandit._lock.acquire(timeout=5)
        if got:
            bandit._lock.release()
        return got

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(use).result()


def run(case: Case) -> None:
    one, rng = fitting_pair(case), case.rng
    start = one.bandit(seed=1)
    for _ in range(int(rng.integers(2, 9))):
        decision = decided(
            start, one.contexts(rng, 1, start.problem.n_arms)[0], graph(one, rng, start.problem.n_arms), None
        )
        if rng.random() < 0.7 and len(decision.revealed):
            start.observe(decision, {int(decision.revealed[0]): 0.5})
    while not start.open_decisions:
        decided(start, one.contexts(rng, 1, start.problem.n_arms)[0], graph(one, rng, start.problem.n_arms), None)
    before = content(start, case.folder)
    for name, call in calls(one, start, rng).items():
        done = copy.deepcopy(start)
        watch, began = Instructions(), time.perf_counter()
        try:
            call(done)  # compiles what it needs: a compiler that is interrupted may not recover
            done, began = copy.deepcopy(start), time.perf_counter()
            watch.run(lambda done=done, call=call: call(done))
        except GraphBanditError:
            continue
        seconds, after = time.perf_counter() - began, content(done, case.folder)
        for _ in range(MOMENTS):
            tried = copy.deepcopy(start)
            if rng.random() < 0.7:
                stopped = Instructions(int(rng.integers(1, watch.count + 1))).run(lambda t=tried, c=call: c(t))
                kind = "an instruction"
            else:
                stopped = by_signal(lambda t=tried, c=call: c(t), float(rng.uniform(0, 0.3 * seconds)))
                kind = "a signal"
            case.count(f"calls interrupted at {kind}" if stopped else "calls that ended first")
            if not free(tried):
                raise Defect(f"{name}: the bandit stays locked after an interrupt")
            if (found := content(tried, case.folder)) not in (before, after):
                raise Defect(f"{name} is half done after an interrupt")
            if found == before and stopped:
                call(tried)
                if content(tried, case.folder) != after:
                    raise Defect(f"{name} is not the same when it is done again after an interrupt")


PART = Part("interrupts at random instructions and by signals", 2, run)
