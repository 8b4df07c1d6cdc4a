"""Calls that a bandit must refuse, or take; either way with a typed error, and without a change where it refuses."""

from collections.abc import Callable
from typing import Any

import numpy as np

import graphbandit as gb
from tests.fuzz.subjects import Subject

NAN, INF = float("nan"), float("inf")
HUGE = (1e308, -1e308, 1e200, NAN, INF, -INF)
STRANGE: tuple[Any, ...] = (
    None, True, -1, 2**63, 10**400, 0.5, NAN, "x", "", b"x", 1j, [], {}, [[1], [1, 2]], object(), np.ones((0, 3)),
    np.array(["a"]), np.array([None]), np.datetime64("2020-01-01"), slice(3), lambda: 3, gb, ..., {"a": 1}, (1, "a"),
)  # fmt: skip

Call = Callable[[gb.Bandit], object]


def strange(rng: np.random.Generator) -> Any:
    """Something that fits nowhere."""
    return STRANGE[rng.integers(len(STRANGE))]


def bad_call(one: Subject, bandit: gb.Bandit, graph: Any, rng: np.random.Generator) -> tuple[str, Call]:
    """A call that is wrong in one way, with a name for it."""
    n_arms = bandit.problem.n_arms
    context = one.contexts(rng, 1, n_arms)[0]
    number = bandit.open_decisions[-1] if bandit.open_decisions else 0
    kind = rng.integers(14)
    odd = strange(rng)
    if kind == 0:
        context.flat[rng.integers(context.size)] = HUGE[rng.integers(len(HUGE))]
        return "a number out of range in a context", lambda b: b.decide(context, graph)
    if kind == 1:
        return "a strange context", lambda b: b.decide(odd, graph)
    if kind == 2:
        return "a context of another shape", lambda b: b.decide(np.ones((*context.shape, 2)), graph)
    if kind == 3:
        other = gb.graphs.complete(n_arms + int(rng.choice([-1, 1, 70])))
        return "a graph of another size", lambda b: b.decide(context, other)
    if kind == 4:
        return "a strange graph", lambda b: b.decide(context, odd)
    if kind == 5:
        return "strange arms on offer", lambda b: b.decide(context, graph, available=odd)
    if kind == 6:
        offered = np.zeros(n_arms + int(rng.integers(2)), dtype=bool)
        return "no arm on offer", lambda b: b.decide(context, graph, available=offered)
    if kind == 7:
        reward = odd if rng.random() < 0.5 else HUGE[rng.integers(len(HUGE))]
        return "a strange reward", lambda b: b.observe(number, {0: reward})
    if kind == 8:
        arm = odd if rng.random() < 0.5 else int(rng.choice([-1, n_arms, 10**9]))
        return "a reward of a strange arm", lambda b: b.observe(number, {arm: 0.5} if _hashable(arm) else odd)
    if kind == 9:
        return "a strange decision", lambda b: b.observe(odd, {0: 0.5})
    if kind == 10:
        rows = one.contexts(rng, 3, n_arms)
        rows[1].flat[0] = HUGE[rng.integers(len(HUGE))]
        return "a batch with a bad row", lambda b: b.decide_batch(rows, graph)
    if kind == 11:
        rows = one.contexts(rng, 2, n_arms)
        wrong = (
            {"actions": [0, n_arms]},
            {"rewards": [NAN, INF]},
            {"rewards": odd},
            {"actions": odd},
            {"graphs": odd},
        )
        settings = {"actions": [0, 0], "rewards": [0.5, 0.5], **wrong[rng.integers(len(wrong))]}
        return "strange past rows", lambda b: b.learn(rows, **settings)
    if kind == 12:
        calls = (
            lambda b: b.add_arms(odd),
            lambda b: b.retire_arms(odd),
            lambda b: b.take(odd),
            lambda b: b.forget(odd),
        )
        return "a strange change of arms, decision or key", calls[rng.integers(len(calls))]
    return "a strange file", lambda b: b.save(odd)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
