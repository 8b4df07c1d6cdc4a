"""Numbers at extreme scales: contexts and rewards from tiny to huge, ties, one value only, graphs that hide a lot.

Every round is valid, so every round must be decided, with probabilities that are some. A fit that fails is told once,
and the bandit goes on with its last model; it is counted.
"""

from typing import Any

import numpy as np

import graphbandit as gb
from graphbandit.errors import FitError, InputError, ObservationError
from tests.fuzz.driver import Case, Defect, Part
from tests.fuzz.operations import check
from tests.fuzz.subjects import Subject, fitting_pair, graph, mask

ROUNDS = 40


def contexts(one: Subject, rng: np.random.Generator, kind: int, scale: float, n_arms: int) -> np.ndarray:
    """A context: usual, with one large number, nearly the same for all arms, or all zeros."""
    row = one.contexts(rng, 1, n_arms)[0]
    if kind == 1:
        row.flat[rng.integers(row.size)] *= 1e6
    elif kind == 2:
        row = np.ones_like(row) * (1 + 1e-12 * row)
    elif kind == 3:
        row = np.where(rng.random(row.shape) < 0.7, 0.0, row)
    return np.asarray(scale * row)


def run(case: Case) -> None:
    one, rng = fitting_pair(case), case.rng
    bandit, n_arms = one.bandit(), one.problem.n_arms
    scale = 10.0 ** rng.choice([-30, -12, -3, 0, 0, 1.5, 3, 5, 12, 29])
    kind = int(rng.integers(4))
    unit, offset = 10.0 ** rng.choice([-12, -3, 0, 0, 3, 12]), 10.0 ** rng.choice([-3, 0, 0, 9])
    case.told = f"contexts of size {scale:g} (kind {kind}), rewards of {unit:g} about {offset:g}: {one.name}"
    for _ in range(ROUNDS):
        shown = graph(one, rng, n_arms)
        available = mask(rng, n_arms, shown)
        try:
            decision = _decided(bandit, contexts(one, rng, kind, scale, n_arms), shown, available, case)
        except InputError as error:
            # a limit that the learner or class states, and tells before anything has changed
            if "expected finite numbers up to" in str(error) or "expects at most" in str(error):
                case.count("contexts refused at the door")
                return
            raise
        check(decision, None if one.learner.plans_without_graphs else shown, available)
        case.count("rounds")
        for arm in decision.revealed.tolist():
            reward = offset + unit * float(rng.choice([0.0, 1.0, rng.normal()]))
            try:
                bandit.observe(decision, {arm: reward})
            except ObservationError:  # a learner or class of bounded rewards
                case.count("rewards refused at the door")
                bandit.observe(decision, {arm: float(rng.random() < 0.5)})


def _decided(bandit: gb.Bandit, row: np.ndarray, shown: Any, available: Any, case: Case) -> gb.Decision:
    try:
        return bandit.decide(row, shown, available=available)
    except FitError:
        case.count("fits that failed, and were told")
    try:
        return bandit.decide(row, shown, available=available)
    except FitError as error:
        raise Defect(f"a fit was not put off: {error}") from error


PART = Part("contexts and rewards at extreme scales", 14, run)
