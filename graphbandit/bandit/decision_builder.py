"""What a bandit makes of rounds that its learner has decided: decisions to hand out, and what it keeps of them."""

import os
import secrets
from collections.abc import Iterable, Sequence

import numpy as np

from graphbandit.bandit.open_decision import OpenDecision
from graphbandit.bandit.own_arms import RoundArms, with_own_arms
from graphbandit.base.arm_names import ArmNames
from graphbandit.base.shapes import Int
from graphbandit.base.trusted import trusted
from graphbandit.errors import InputError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.learners.played import Played
from graphbandit.rounds.decision import Decision
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.shown import Graphs, Shown

_this_process = [os.getpid()]
"""The number of this process."""

if hasattr(os, "register_at_fork"):  # asking the system takes as long as all else about who decides
    os.register_at_fork(after_in_child=lambda: _this_process.__setitem__(0, os.getpid()))


class DecisionBuilder:
    """Builds the decisions of one copy of a bandit.

    - `identity`: the bandit's name, which all of its copies share.
    """

    def __init__(self, identity: str) -> None:
        self._identity, self._copy = identity, secrets.token_hex(4)
        self._process, self._name = -1, ""

    @property
    def name(self) -> str:
        """The name of this copy in this process; a process that was forked has another one."""
        if self._process != _this_process[0]:
            process = _this_process[0]
            self._process, self._name = process, f"{self._copy}-{process}"
        return self._name

    def rounds(
        self,
        batch: Decisions,
        shown: Shown,
        first: int,
        arms: ArmNames | None,
        keys: Sequence[str | None],
        own: Sequence[RoundArms] | None,
    ) -> tuple[list[Decision], dict[int, OpenDecision]]:
        """The rounds of a batch as single decisions of consecutive ids, and by their ids those that await rewards.

        - `batch`: what the learner has decided.
        - `shown`: what it was shown.
        - `first`: the id of the first round.
        - `arms`: the names of the problem's arms.
        - `keys`: the caller's name for each decision.
        - `own`: the arms of each round, where rounds bring their own.
        """
        made, opened = [], {}
        columns = batch.action.tolist(), may_reveal(shown.graphs, batch), keys
        for row, (action, revealed, key) in enumerate(zip(*columns, strict=True)):
            part, its = slice(row, row + 1), None if own is None else own[row]
            # it keeps nothing else of the batch alive
            arrays = [array[part].copy() for array in (shown.contexts, batch.action, batch.notes)]
            played = Played(first + row, arrays[0], arrays[1], arrays[2], None)
            one, entry = self.round(batch, row, action, revealed, played, arms, key, its)
            made.append(one if its is None else with_own_arms(one, its))
            if entry is not None:
                opened[played.first] = entry
        return made, opened

    def round(
        self,
        batch: Decisions,
        row: int,
        action: int,
        revealed: Int[np.ndarray, " revealed"],
        played: Played,
        arms: ArmNames | None,
        key: str | None = None,
        own: RoundArms | None = None,
    ) -> tuple[Decision, OpenDecision | None]:
        """The decision of one round, and what is kept of it until its rewards come: nothing if it reveals none.

        - `batch`, `row`: the decisions, and where this one is.
        - `action`: the arm that was drawn.
        - `revealed`: the arms whose rewards may come.
        - `played`: the round as it was played; its number is the decision's id.
        - `arms`: the names of the problem's arms.
        - `key`: the caller's name for it; None (default): none.
        - `own`: the arms of the round, where it brought its own; None (default): it did not.
        """
        probability = batch.probability.item(row)
        if not probability > 0.0:  # numbers that a file has brought in, where each was fine by itself
            raise InputError(
                f"the learner drew arm {action} with probability {probability}; expected one above 0: "
                "what it knows is damaged"
            )
        entry, name = None, self._name if self._process == _this_process[0] else self.name
        if len(revealed):
            entry = trusted(
                OpenDecision,
                {
                    "played": played,
                    "revealed": revealed,
                    "observation_probabilities": batch.observation_probabilities[row][revealed],
                    "seen": set(),
                    "arms": own,
                    "made_by": name,
                },
            )
        fields = {
            "id": played.first,
            "action": action,
            "probability": probability,
            "revealed": revealed.copy(),  # the caller's own
            "bandit": self._identity,
            "batch": batch,
            "row": row,
            "arms": arms,
            "key": key,
            "sealed": entry or "",
            "made_by": name,
        }  # all others are None
        return trusted(Decision, fields), entry


def may_reveal(graphs: Graphs | None, decisions: Decisions) -> Iterable[Int[np.ndarray, " revealed"]]:
    """The arms whose rewards may come, for each round: those revealed or, if that is not known yet, all that may be.

    Do not write to the arrays.
    """
    if isinstance(graphs, FeedbackGraphs):
        if len(graphs.index) == 1 and graphs.is_packed:
            return (graphs.first_revealed(decisions.action.item()),)
        masks = graphs._revealed(decisions.action)
    else:
        masks = decisions.observation_probabilities > 0.0
        if graphs is not None:
            masks &= graphs._revealed(decisions.action)
    return (mask.nonzero()[0] for mask in masks)
