"""The journal of a bandit: all that changes in it, and the change that a call is about to make.

A call works its change out, notes it down, and then does it. If it is interrupted before the note, nothing has happened
but that it may have drawn random numbers, which the next call takes back. After the note, the next call does the rest.
"""

import copy
import math
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from graphbandit.bandit.arm_changes import GraphAndRetired
from graphbandit.bandit.bandit_log import BanditLog
from graphbandit.bandit.open_decision import OpenDecision
from graphbandit.bandit.open_decisions import OpenDecisions
from graphbandit.errors import FitError
from graphbandit.features import Tally
from graphbandit.learners.base import GivenUniforms, Learner
from graphbandit.learners.loop import Loop
from graphbandit.rounds.decision import Decision
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.shown import Shown

_NOTHING_OPENED: Mapping[int, OpenDecision] = MappingProxyType({})

_ONE: Mapping[str, Any] = MappingProxyType({})
"""Stands for where the random stream was before the one number that is kept, if any."""


class Change(NamedTuple):
    """What a call changes in a bandit; doing it twice is the same as once.

    - `loop`: the loop from now on.
    - `opened`: decisions that await rewards; none by default.
    - `keyed`: decisions that have keys; none by default.
    - `closed`: decisions that await no more rewards; none by default.
    - `forgotten`: how many decisions are forgotten by then; None (default): as many as before.
    - `tally`: the tally from now on; None (default): as before.
    - `entry`, `seen`: an open decision, and its arms whose rewards have come; None and nothing by default.
    - `graph_and_retired`: the graph and the retired arms from now on; None (default): as before.
    - `logged`: whether rows are staged in the log; False by default.
    """

    loop: Loop
    opened: Mapping[int, OpenDecision] = _NOTHING_OPENED
    keyed: Sequence[Decision] = ()
    closed: Sequence[int] = ()
    forgotten: int | None = None
    tally: Tally | None = None
    entry: OpenDecision | None = None
    seen: Collection[int] = ()
    graph_and_retired: GraphAndRetired | None = None
    logged: bool = False


class Journal:
    """What a bandit has at one moment, and the change under way. Its methods are called under the bandit's lock.

    - `loop`: the learner on its way through the rounds.
    - `open_decisions`: the decisions that await rewards.
    - `graph_and_retired`: the graph of rounds that bring none, and the retired arms, kept as `graph` and `retired`.
    - `tally`: what was unknown or missing in the contexts so far.
    - `rng`: the stream that arms are drawn from.

    `checks_rewards` says whether the learner takes only some rewards. `log` is the log that the bandit writes to; None
    at first. `noted` is a change that may not be finished; `before` is where the random stream was when a call began
    that has noted nothing yet. Both are None if nothing is unfinished.
    """

    def __init__(
        self,
        loop: Loop,
        open_decisions: OpenDecisions,
        graph_and_retired: GraphAndRetired,
        tally: Tally,
        rng: np.random.Generator,
    ) -> None:
        self.loop, self.open_decisions, self.tally, self.rng = loop, open_decisions, tally, rng
        self.graph, self.retired = graph_and_retired
        self.log: BanditLog | None = None
        self.checks_rewards = type(loop.learner).check_rewards is not Learner.check_rewards
        self._draws_once = loop.learner.draws_once
        self.noted: Change | None = None
        self.before: Mapping[str, Any] | None = None
        self._uniform = np.array([np.nan])  # draws the arm of a single round; nan unless a round is being decided
        self._given = GivenUniforms(self._uniform)

    @property
    def graph_and_retired(self) -> GraphAndRetired:
        """Both, as the functions that add arms take them."""
        return GraphAndRetired(self.graph, self.retired)

    def copied(self) -> "Journal":
        """The same, which changes apart from this. It writes to no log: the folder is this one's."""
        loop, rng = self.settled(), copy.deepcopy(self.rng)
        return Journal(loop, self.open_decisions.copied(), self.graph_and_retired, self.tally, rng)

    def __reduce__(self) -> tuple[type, tuple[Any, ...]]:
        return Journal, (self.loop, self.open_decisions, self.graph_and_retired, self.tally, self.rng)

    def settled(self) -> Loop:
        """The loop, once what an interrupted call has left behind is done or undone."""
        if self.noted is not None:
            self.do(self.noted)
        elif self.before is not None:
            if self.before is _ONE:
                self.before = self.rng.bit_generator.state if np.isnan(self._uniform[0]) else _one_back(self.rng)
            self._uniform[0] = np.nan
            self.rng.bit_generator.state = self.before
            self.before = None
        return self.loop

    def decide(self, shown: Shown) -> tuple[Decisions, Loop]:
        """Let the learner decide rounds, and return the loop after them.

        The random numbers that it takes can be taken back until the change is noted down.
        """
        try:
            if len(shown.contexts) > 1 or not self._draws_once:
                self.before = self.rng.bit_generator.state
                decisions, loop = self.loop.decide(shown, self.rng)
            else:
                self.before = _ONE
                self.rng.random(out=self._uniform)  # an interrupt comes before or after it
                decisions, loop = self.loop.decide(shown, self._given)
        except FitError as error:
            error.add_note("The bandit keeps its last good model: decide again to go on with it.")
            self.loop = self.loop.postponing(error)
            raise
        decisions.action.setflags(write=False)  # the loop has them, too
        if decisions.notes.size:
            decisions.notes.setflags(write=False)
        return decisions, loop

    def do(self, change: Change) -> None:
        """Note a change down, from which moment on it has happened, and do it."""
        self.noted = change
        loop, opened, keyed, closed, forgotten, tally, entry, seen, graph_and_retired, logged = change
        open_decisions = self.open_decisions
        for number, one in opened.items():
            open_decisions.opened[number] = one
        for decision in keyed:
            open_decisions.keys.add(decision, awaits=decision.id in opened)
        if entry is not None:
            entry.seen.update(seen)
        for number in closed:
            open_decisions.close(number)
        if forgotten is not None:
            open_decisions.forgotten = forgotten
        if graph_and_retired is not None:
            self.graph, self.retired = graph_and_retired
        if tally is not None:
            self.tally = tally
        if logged and self.log is not None:
            self.log.commit()
        self.loop = loop
        self._uniform[0] = math.nan
        self.before = self.noted = None


def _one_back(rng: np.random.Generator) -> Mapping[str, Any]:
    """Where the random stream was before its last uniform number."""
    back = np.random.PCG64()
    back.state = rng.bit_generator.state  # type: ignore[assignment]
    back.advance(-1)
    return {**rng.bit_generator.state, "state": back.state["state"]}
