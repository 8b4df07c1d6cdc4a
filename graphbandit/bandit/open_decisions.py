"""The decisions of a bandit that await rewards, in bounded number, found by themselves, their ids or their keys."""

import sys
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import SupportsIndex

from graphbandit.bandit.keys import Keys
from graphbandit.bandit.open_decision import OpenDecision, whole_number
from graphbandit.bandit.own_arms import RoundArms
from graphbandit.errors import ForgottenDecisionsWarning, ObservationError, UnknownDecisionError
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decision import Decision

AnyDecision = Decision | SupportsIndex | str
"""A decision, its id, or its key."""


class OpenDecisions:
    """Open decisions by id, oldest first, and all that are known by keys.

    - `identity`: the bandit's name, which its decisions carry.
    - `keys`: the decisions by key.
    - `max_open`: how many may be open.
    - `forget_after`: forget them this many rounds later; None: never.
    - `opened`: those that are open; none by default.
    - `forgotten`: how many were forgotten; 0 by default.
    """

    def __init__(
        self,
        identity: str,
        keys: Keys,
        max_open: int,
        forget_after: int | None,
        opened: Iterable[tuple[int, OpenDecision]] = (),
        forgotten: int = 0,
    ) -> None:
        self.identity, self.keys, self.max_open, self.forget_after = identity, keys, max_open, forget_after
        self.opened, self.forgotten = OrderedDict(opened), forgotten
        self._warned = False

    def copied(self) -> "OpenDecisions":
        """The same decisions, which change apart from these."""
        opened = ((number, entry.copied()) for number, entry in self.opened.items())
        keys = self.keys.copied()
        return OpenDecisions(self.identity, keys, self.max_open, self.forget_after, opened, self.forgotten)

    def close(self, number: int) -> None:
        """The decision of this id awaits no more rewards."""
        self.opened.pop(number, None)
        self.keys.end(number)

    def outdated(self, opened: Mapping[int, OpenDecision], rounds: int) -> tuple[Sequence[int], int | None]:
        """The decisions to be forgotten once these are open, oldest first, and how many are forgotten by then.

        It warns the first time that there are too many. Nothing has changed by then and it does not warn again, so if
        the warning is turned into an error, the caller can repeat the call.
        """
        excess = len(self.opened) + len(opened) - self.max_open
        if excess <= 0 and self.forget_after is None:
            return (), None
        oldest = -1 if self.forget_after is None else rounds - self.forget_after
        found: list[int] = []
        for number in chain(self.opened, opened):
            if len(found) >= excess and number >= oldest:
                break
            found.append(number)
        if found and found[-1] >= oldest and not self.forgotten and not self._warned:
            self._warned = True
            warnings.warn(
                f"more than max_open = {self.max_open} decisions await rewards, so the oldest are forgotten from now "
                "on; hand rewards back with observe(), close decisions with observe(..., final=True), or set max_open",
                ForgottenDecisionsWarning,
                stacklevel=_calls_within_package(),
            )
        return found, self.forgotten + len(found)

    def number(self, decision: AnyDecision, rounds: int) -> int:
        """The id of a decision that this bandit has made in its first `rounds` rounds."""
        if type(decision) is Decision and decision.bandit == self.identity:
            known = self.opened.get(decision.id)
            if known is not None and decision.sealed is known:  # by far the most common: its own, still open
                return decision.id
        if isinstance(decision, str):
            return self.keys.number(decision)
        number = decision.id if isinstance(decision, Decision) else whole_number(decision)
        if number is None:
            raise UnknownDecisionError(
                f"decision is {decision!r}; expected a Decision, its id, a whole number, or its key"
            )
        if isinstance(decision, Decision):
            if decision.bandit != self.identity:
                raise UnknownDecisionError(
                    f"decision {number} was made by bandit {decision.bandit!r}; "
                    f"expected one of bandit {self.identity!r}"
                )
            if number == -1 and decision.key is not None:
                if decision.key not in self.keys:
                    raise UnknownDecisionError(
                        f"decision {decision.key!r} is a decider's; expected it to be taken first, by take([decision])"
                    )
                return self.keys.number(decision.key)
        if not 0 <= number < rounds:
            so_far = f"ids so far are 0 to {rounds - 1}" if rounds else "there are no decisions yet"
            raise UnknownDecisionError(f"no decision has id {number}; {so_far}")
        entry = self.opened.get(number)
        if isinstance(decision, Decision) and entry is not None and not entry.is_of(decision):
            raise UnknownDecisionError(
                f"decision {number} is not the one that this bandit has made under this id; "
                "expected one of its own: another copy of it goes on from the same file"
            )
        return number

    def entry(self, number: int, decision: AnyDecision) -> OpenDecision:
        """The open decision of this id; `decision` is what the caller has handed in for it."""
        if number in self.opened:
            return self.opened[number]
        why = "all came, it revealed none, or it was closed by forget() or final=True"
        if isinstance(decision, Decision):
            why = (
                "all came, or it was closed by forget() or final=True" if len(decision.revealed) else "it revealed none"
            )
        if self.forgotten and why != "it revealed none":
            why += f", or is one of the {self.forgotten} forgotten because of max_open or forget_after"
        raise ObservationError(f"decision {number} awaits no more rewards: {why}")

    def arms(self, number: int, decision: AnyDecision, problem: Problem) -> RoundArms:
        """The arms of the round of this id, which has brought its own."""
        entry = self.opened.get(number)
        if entry is not None and entry.arms is not None:
            return entry.arms
        return RoundArms(problem.n_arms, decision.arms if isinstance(decision, Decision) else None)


def _calls_within_package() -> int:
    """The `stacklevel` of a warning by the function that asks, so that it points at the code that called the package.

    Counted, because `decide`, its keys, `decide_batch` and `take` get here by different numbers of calls.
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "graphbandit":
        frame, level = frame.f_back, level + 1
    return level
