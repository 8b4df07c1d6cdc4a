"""What a bandit makes of a round that its learner has decided: a `Decision` to hand out, and what it keeps of it."""

import os
from typing import NamedTuple

import numpy as np

from graphbandit.bandit.open_decisions import OpenDecision
from graphbandit.bandit.own_arms import RoundArms
from graphbandit.base.arms import ArmNames
from graphbandit.base.shapes import Int
from graphbandit.base.values import trusted
from graphbandit.errors import InputError
from graphbandit.learners.played import Played
from graphbandit.rounds.decision import Decision
from graphbandit.rounds.decisions import Decisions


class Maker(NamedTuple):
    """Who decides: the process, the bandit's identity, the name of this copy of it there, and the names of the arms."""

    process: int
    identity: str
    copy: str
    arms: ArmNames | None


this_process = [os.getpid()]
"""The number of this process."""

if hasattr(os, "register_at_fork"):  # asking the system takes as long as all else that a round's maker takes
    os.register_at_fork(after_in_child=lambda: this_process.__setitem__(0, os.getpid()))


def made_round(
    maker: Maker,
    played: Played,
    batch: Decisions,
    row: int,
    action: int,
    revealed: Int[np.ndarray, " revealed"],
    key: str | None,
    own: RoundArms | None,
) -> tuple[Decision, OpenDecision | None]:
    """Make the decision of one round, and its entry among the open decisions, or None if it reveals nothing.

    - `played`: the round; its number is the decision's.
    - `batch`, `row`: the decisions, and where this one is.
    - `action`: the arm played, and `revealed`, what it reveals.
    - `key`: the caller's name of it.
    - `own`: the arms of the round, where it brought its own.
    """
    _, identity, copy, arms = maker
    probability = batch.probability.item(row)
    if not probability > 0.0:  # numbers that a file has brought in, where each was fine by itself
        raise InputError(
            f"the learner drew arm {action} with probability {probability}; expected one above 0: "
            "what it knows is damaged"
        )
    entry = None
    if len(revealed):
        # it keeps nothing of its batch alive but what `played` has
        observed = batch.observation_probabilities
        entry = trusted(
            OpenDecision,
            {
                "played": played,
                "revealed": revealed,
                "propensities": observed[row][revealed],
                "seen": set(),
                "arms": own,
                "made_by": copy,
            },
        )
    fields = {
        "id": played.first,
        "action": action,
        "probability": probability,
        "revealed": revealed.copy(),  # the caller's own
        "bandit": identity,
        "batch": batch,
        "row": row,
        "arms": arms,
        "key": key,
        "sealed": entry or "",
        "made_by": copy,
    }  # all others are None
    return trusted(Decision, fields), entry
