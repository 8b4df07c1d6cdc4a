"""Decisions that deciders have made elsewhere, as rounds of their bandit."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from graphbandit.bandit.keys import Keys
from graphbandit.bandit.open_decision import OpenDecision
from graphbandit.bandit.own_arms import RoundArms
from graphbandit.errors import InputError, UnknownDecisionError
from graphbandit.learners.loop import Loop
from graphbandit.learners.played import News, Played
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decision import Decision


def decided_elsewhere(decisions: object, identity: str) -> list[Decision]:
    """The decisions as a list, if deciders of the bandit with this identity made all of them."""
    if not isinstance(decisions, Iterable):
        raise InputError(f"decisions is a {type(decisions).__name__}; expected a list of decisions of a Decider")
    given = list(decisions)
    for decision in given:
        _check_taken(decision, identity)
    return given


def _check_taken(decision: object, identity: str) -> None:
    if not isinstance(decision, Decision) or decision.key is None or decision.context is None:
        raise InputError(f"{decision!r} cannot be taken; expected a decision of a Decider")
    if decision.bandit != identity:
        raise UnknownDecisionError(
            f"the decision was made for bandit {decision.bandit!r}; expected one of bandit {identity!r}"
        )


def take(
    loop: Loop, known: Keys, decisions: Sequence[Decision], made_by: str
) -> tuple[Loop, dict[str, Decision], dict[int, OpenDecision]]:
    """Let the decisions whose keys are new be the next rounds; `made_by` is the copy of the bandit that takes them.

    Returns the loop after them, the new decisions by their keys, and those of them that await rewards.
    """
    made: dict[str, Decision] = {}
    opened: dict[int, OpenDecision] = {}
    for decision in decisions:
        played, entry, one = _as_round(decision, loop.rounds, loop.problem, made_by)
        key = str(one.key)
        before = made.get(key) or known.get(key)
        if before is None:
            loop = loop.take(played, News([], [], [], []))
            made[key] = one
            if entry is not None:
                opened[one.id] = entry
        elif (before.action, before.seal) != (one.action, one.seal):
            raise InputError(f"the key {key!r} is that of another decision, {before!r}; expected another key")
    return loop, made, opened


def _as_round(
    decision: Decision, number: int, problem: Problem, made_by: str
) -> tuple[Played, OpenDecision | None, Decision]:
    """A decider's decision as the round of this number: how it was played, what it awaits, and with its id."""
    batch, row = decision.batch, slice(decision.row, decision.row + 1)
    mask, context = decision.available, decision.context
    assert context is not None  # a decider's decision has it
    if mask is not None and mask.shape[1] < problem.n_arms:  # arms were added since; they were not on offer
        mask = np.pad(mask, ((0, 0), (0, problem.n_arms - mask.shape[1])))
    played = Played(number, context.copy(), batch.action[row].copy(), batch.notes[row].copy(), mask)
    revealed = decision.revealed.copy()
    entry = None
    if len(revealed):
        q = batch.observation_probabilities[decision.row, revealed]
        own = None if problem.capacity is None else RoundArms(batch.probabilities.shape[1], decision.arms)
        entry = OpenDecision(played._replace(available=None), revealed, q, arms=own, made_by=made_by)
    sealed = "" if entry is None else entry.seal
    arms = problem.arms if problem.capacity is None else decision.arms
    known = {"id": number, "arms": arms, "sealed": sealed, "made_by": made_by}
    made = replace(decision, **known, context=None, available=None, graph=None)  # type: ignore[arg-type]
    return played, entry, made
