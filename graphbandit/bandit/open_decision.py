"""A decision that still awaits rewards, and the check of what is handed back for it."""

import hashlib
import math
import operator
import reprlib
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from graphbandit.bandit.own_arms import RoundArms
from graphbandit.base.arm_names import ArmNames, shown
from graphbandit.base.checks import LARGEST
from graphbandit.base.shapes import Float, Int
from graphbandit.base.trusted import trusted, tuple_of
from graphbandit.errors import ObservationError
from graphbandit.learners.played import News, Played
from graphbandit.rounds.decision import Decision


@dataclass(frozen=True, eq=False)
class OpenDecision:
    """A decision that awaits rewards.

    - `played`: its round, as the learner will be told of it.
    - `revealed`: the arms whose rewards may come, ascending, and the probabilities that they would,
      `observation_probabilities`.
    - `seen`: those that have come. The only thing here that changes.
    - `arms`: the arms of the round, where it brought its own.
    - `made_by`: the copy of the bandit that decided it; None (default): it came from a file.
    """

    played: Played
    revealed: Int[np.ndarray, " revealed"]
    observation_probabilities: Float[np.ndarray, " revealed"]
    seen: set[int] = field(default_factory=set)
    arms: RoundArms | None = None
    made_by: str | None = None

    def is_of(self, decision: Decision) -> bool:
        """Whether this is the decision's round, not an equal one that another copy of the bandit decided."""
        if decision.sealed is self:
            return True
        return decision.seal == self.seal and self.made_by in (None, decision.made_by)

    def copied(self) -> "OpenDecision":
        """The same decision, whose further rewards are counted apart from this one's."""
        return trusted(OpenDecision, {**self.__dict__, "seen": set(self.seen)})

    @cached_property
    def seal(self) -> str:
        """A digest of the round: its context, action, and what it reveals with which probabilities."""
        digest = hashlib.blake2b(self.played.contexts.tobytes(), digest_size=8)
        digest.update(self.played.actions.tobytes())
        digest.update(self.revealed.tobytes())
        digest.update(self.observation_probabilities.tobytes())
        return digest.hexdigest()

    @property
    def awaited(self) -> Int[np.ndarray, " awaited"]:
        """The arms whose rewards have not come yet."""
        return np.array([arm for arm in self.revealed.tolist() if arm not in self.seen], dtype=np.int64)

    def news(self, rewards: Mapping[int, float], names: ArmNames | None = None) -> News:
        """These rewards, checked: of revealed arms, none of them given before, finite numbers.

        - `rewards`: by number of arm.
        - `names`: the names of the arms, for messages; None (default): they have none.
        """
        plain = self._plain_news(rewards)
        if plain is not None:
            return plain
        number, seen = self.played.first, self.seen
        found: dict[int, float] = {}
        arms = [whole_number(key) for key in rewards]
        q = self._observation_probabilities([arm for arm in arms if arm is not None])
        for (key, value), arm in zip(rewards.items(), arms, strict=True):
            if arm is None:
                expected = "a whole number" if names is None else "its name or number"
                raise ObservationError(f"arm is {key!r}; expected {expected}")
            if arm not in q:
                some = shown(names, *self.revealed[:12].tolist()).removeprefix("arm ")
                more = ", ..." if len(self.revealed) > 12 else ""
                raise ObservationError(
                    f"decision {number} did not reveal {shown(names, arm)}; it revealed {some}{more}"
                )
            if arm in seen or arm in found:
                raise ObservationError(f"the reward of {shown(names, arm)} of decision {number} was given already")
            fine = type(value) is float and abs(value) <= LARGEST
            found[arm] = value if fine else _reward(number, shown(names, arm), value)
        return News([number] * len(found), list(found), list(found.values()), [q[arm] for arm in found])

    def _plain_news(self, rewards: Mapping[int, float]) -> News | None:
        """`news` of finite rewards by number of arm, as most are, checked together; None if there is anything else."""
        given = list(rewards.values())
        if {*map(type, rewards)} != {int} or {*map(type, given)} != {float} or not abs(sum(given)) <= LARGEST:
            return None
        if max(given) > LARGEST or min(given) < -LARGEST or not self.seen.isdisjoint(rewards):
            return None
        arms = list(rewards)
        if len(arms) == len(self.revealed) and arms == self.revealed.tolist():
            q = self.observation_probabilities.tolist()
        else:
            known = self._observation_probabilities(arms)
            q = [known[arm] for arm in arms if arm in known]
            if len(q) < len(arms):
                return None
        return tuple_of(News, ([self.played.first] * len(arms), arms, given, q))

    def _observation_probabilities(self, arms: list[int]) -> dict[int, float]:
        """The probabilities of all revealed arms or, where few are asked for, of those of these arms alone."""
        revealed = self.revealed
        if len(revealed) <= 8 * len(arms) + 64:
            return dict(zip(revealed.tolist(), self.observation_probabilities.tolist(), strict=True))
        places = ((arm, bisect_left(revealed, arm)) for arm in arms)
        found = ((arm, place) for arm, place in places if place < len(revealed) and revealed[place] == arm)
        return {arm: float(self.observation_probabilities[place]) for arm, place in found}


def whole_number(value: object) -> int | None:
    """`value` as a whole number, None if it is none."""
    try:
        return None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _reward(number: int, arm: str, value: Any) -> float:
    try:
        reward = math.nan if isinstance(value, str | bytes) or np.ndim(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        reward = math.nan
    if not abs(reward) <= LARGEST:
        raise ObservationError(
            f"the reward of {arm} of decision {number} is {reprlib.repr(value)}; "
            f"expected a finite number up to {LARGEST:g} in size"
        )
    return reward
