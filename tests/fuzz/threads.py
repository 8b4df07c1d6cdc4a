"""Several threads at once: one bandit is decided and rewarded by all, programs and fits run side by side."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import graphbandit as gb
from tests.fuzz.driver import Case, Defect, Part
from tests.fuzz.operations import check, decided
from tests.fuzz.subjects import fitting_pair, graph

THREADS, ROUNDS = 4, 12


def together(work: list[Callable[[], Any]]) -> list[Any]:
    """What these functions return when each runs in a thread of its own."""
    begin = threading.Barrier(len(work))

    def run(call: Callable[[], Any]) -> Any:
        begin.wait()
        return call()

    with ThreadPoolExecutor(len(work)) as pool:
        return list(pool.map(run, work))


def share(case: Case) -> None:
    """One bandit, several threads: every round has one id, every reward is taken once."""
    one, rng = fitting_pair(case), case.rng
    bandit, n_arms = one.bandit(), one.problem.n_arms
    rows = one.contexts(rng, THREADS * ROUNDS, n_arms)
    shown = [graph(one, rng, n_arms) for _ in rows]
    rewards = rng.random((len(rows), n_arms))

    def work(first: int) -> list[gb.Decision]:
        made = []
        for t in range(first, first + ROUNDS):
            decision = decided(bandit, rows[t], shown[t], None)
            check(decision, None if one.learner.plans_without_graphs else shown[t], None)
            bandit.observe(decision, {int(a): float(rewards[t, a]) for a in decision.revealed}, final=True)
            made.append(decision)
        return made

    made = together([lambda first=first: work(first) for first in range(0, len(rows), ROUNDS)])
    ids = sorted(decision.id for part in made for decision in part)
    if ids != list(range(len(rows))) or bandit.rounds != len(rows) or bandit.open_decisions:
        raise Defect(f"ids are {ids}, {bandit.rounds} rounds, open {bandit.open_decisions}")
    bandit.save(case.folder / "shared.gb")
    one.load(case.folder / "shared.gb").decide(rows[0], shown[0])
    case.count("decisions of a shared bandit", len(rows))


def programs(case: Case) -> None:
    """The same programs in several threads have the same bits as one after the other."""
    n, rng = 12, case.rng
    graphs = [gb.graphs.random_graph(n, density=0.15, rng=rng) for _ in range(30)]
    gaps = rng.random((30, n))
    gaps -= gaps.min(axis=1, keepdims=True)

    def solve() -> list[bytes]:
        found = []
        for one, row in zip(graphs, gaps, strict=True):
            answer = gb.solve_sampling_lp(one, None, row, demand=np.full(n, 0.05))
            found.append(answer.probabilities.tobytes())
            found.append(gb.planning.solve_squarecb_program(one, row, 20.0).probabilities.tobytes())
        return found

    alone = solve()
    for found in together([solve] * THREADS):
        if found != alone:
            raise Defect("a program has another answer in a thread")
    case.count("programs in threads", 2 * len(graphs) * THREADS)


def run(case: Case) -> None:
    if case.number % 4 == 3:
        programs(case)
    else:
        share(case)


PART = Part("one bandit and many programs in several threads", 3, run)
