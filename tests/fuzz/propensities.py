"""Propensities against frequencies: arms are drawn as often as the recorded probabilities say."""

import numpy as np

import graphbandit as gb
from graphbandit.rounds.shown import Shown
from tests.fuzz.driver import Case, Defect, Part
from tests.fuzz.operations import decided
from tests.fuzz.subjects import fitting_pair, graph, mask

DRAWS = 3000
RARE = 1e-7
"""The chance at which right frequencies are called wrong."""


def tail(counts: np.ndarray, p: np.ndarray) -> float:
    """The chance that some arm's count is as far off or farther, by Bernstein's inequality and a union over arms."""
    n = counts.sum()
    off = np.abs(counts - n * p)
    with np.errstate(divide="ignore", invalid="ignore"):
        chances = 2 * np.exp(-(off**2) / (2 * n * p * (1 - p) + 2 * off / 3))
    chances = np.where(off < 1e-6 * n, 1.0, chances)
    return float(min(1.0, chances.min() * len(p)))


def run(case: Case) -> None:
    one, rng = fitting_pair(case), case.rng
    bandit, n_arms = one.bandit(), one.problem.n_arms
    truth = rng.random(n_arms)
    for _ in range(int(rng.integers(1, 25))):
        decision = decided(bandit, one.contexts(rng, 1, n_arms)[0], graph(one, rng, n_arms), None)
        bandit.observe(decision, {int(a): float(rng.random() < truth[a]) for a in decision.revealed}, final=True)
    loop = bandit._settled().ready()
    shown = graph(one, rng, n_arms)
    available = mask(rng, n_arms, shown)
    row = one.contexts(rng, 1, n_arms)
    size = max(1, min(DRAWS, loop.left))
    counts, p = np.zeros(n_arms), None
    for _ in range(-(-DRAWS // size)):
        rows = np.repeat(row, size, axis=0)
        graphs = None if shown is None else _repeated(shown, size)
        decisions = loop.learner.chosen(loop.problem, loop.state, Shown(rows, graphs, available), rng)
        if p is None:
            p = decisions.probabilities[0].copy()
        if (decisions.probabilities != p).any():
            raise Defect(f"the same round has other probabilities in another place of a batch: {one.name}")
        counts += np.bincount(decisions.action, minlength=n_arms)
    assert p is not None
    if (counts[p == 0] > 0).any() or tail(counts, p) < RARE:
        raise Defect(f"arms were drawn {counts / counts.sum()} of the time, with probabilities {p}: {one.name}")
    case.count("draws", int(counts.sum()))
    case.count("rounds drawn again and again")


def _repeated(shown: object, n: int) -> object:
    kind = gb.FeedbackGraphs if isinstance(shown, gb.FeedbackGraph) else gb.ProbabilisticGraphs
    return kind.repeat(shown, n)


PART = Part("recorded probabilities against frequencies", 8, run)
