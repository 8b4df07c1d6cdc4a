"""What a bandit makes of a round that its learner has decided: a `Decision` to hand out, and what it keeps of it."""

from typing import NamedTuple

import numpy as np

from graphbandit.bandit.open_decisions import OpenDecision
from graphbandit.bandit.own_arms import RoundArms
from graphbandit.base.arms import ArmNames
from graphbandit.base.shapes import Int, Shaped
from graphbandit.base.values import trusted, tuple_of
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


def made_round(
    maker: Maker,
    number: int,
    batch: Decisions,
    row: int,
    contexts: Shaped[np.ndarray, "n ..."],
    revealed: Int[np.ndarray, " revealed"],
    key: str | None = None,
    own: RoundArms | None = None,
) -> tuple[Decision, OpenDecision | None]:
    """A round of a batch as decision `number`, and the entry of one that awaits rewards; None if it reveals nothing."""
    _, identity, copy, arms = maker
    action, probability = batch.action.item(row), batch.probability.item(row)
    if not probability > 0.0:  # numbers that a file has brought in, where each was fine by itself
        raise InputError(
            f"the learner drew arm {action} with probability {probability}; expected one above 0: "
            "what it knows is damaged"
        )
    entry = None
    if len(revealed):
        # it keeps nothing else of its batch alive
        if len(contexts) == 1:
            played = tuple_of(Played, (number, contexts, batch.action, batch.notes, None))
        else:
            one = slice(row, row + 1)
            played = Played(number, contexts[one].copy(), batch.action[one].copy(), batch.notes[one].copy(), None)
        entry = trusted(
            OpenDecision,
            {
                "played": played,
                "revealed": revealed,
                "propensities": batch.observation_probabilities[row].take(revealed),
                "seen": set(),
                "arms": own,
                "made_by": copy,
            },
        )
    fields = {
        "id": number,
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
