"""What is kept of rounds until a learner has learnt from them: how they were played, and the rewards that came."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from graphbandit.base.array_types import ArmMasks, Contexts, ObservationIndices, PerObservation, RoundIndices
from graphbandit.base.checks import FLOAT, INTEGER
from graphbandit.base.shapes import Float
from graphbandit.base.trusted import trusted
from graphbandit.rounds.observations import Observations

Item = TypeVar("Item")


class Played(NamedTuple):
    """Consecutive rounds from `first` on as they were played: what a learner is told of them beside their rewards."""

    first: int
    contexts: Contexts
    actions: RoundIndices
    notes: Float[np.ndarray, "n notes"]
    available: ArmMasks | None

    def part(self, low: int, high: int) -> "Played":
        """The rounds low .. high - 1 of these."""
        mask = None if self.available is None else self.available[low:high]
        rows = slice(low, high)
        return Played(self.first + low, self.contexts[rows], self.actions[rows], self.notes[rows], mask)


class News(NamedTuple):
    """Rewards that came: reward k is of arm `arms[k]` in round `rounds[k]`, and was revealed
    with the probability `observation_probabilities[k]`.

    Columns are arrays where rewards come by the thousand, and lists where they come a few at a time.
    """

    rounds: ObservationIndices | list[int]
    arms: ObservationIndices | list[int]
    rewards: PerObservation | list[float]
    observation_probabilities: PerObservation | list[float]

    def part(self, low: int, high: int) -> "News":
        """The rewards low .. high - 1 of these."""
        one = slice(low, high)
        return News(self.rounds[one], self.arms[one], self.rewards[one], self.observation_probabilities[one])


class NewsColumns(NamedTuple):
    """All news, each column an array."""

    rounds: ObservationIndices
    arms: ObservationIndices
    rewards: PerObservation
    observation_probabilities: PerObservation

    @classmethod
    def of(cls, news: "Chain[News]") -> "NewsColumns":
        """The columns of news in the order they came."""
        items = [*news]
        kinds = (np.int64, np.int64, np.float64, np.float64)
        if all(isinstance(item.arms, list) for item in items):
            columns = items[0] if len(items) == 1 else [[*chain(*(item[k] for item in items))] for k in range(4)]
            flat: list[Any] = [np.array(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True)]
        else:
            flat = [_joined([np.asarray(item[k], dtype=kind) for item in items]) for k, kind in enumerate(kinds)]
        return cls(*flat)

    def ordered(self, n_arms: int) -> "NewsColumns":
        """The same rewards, sorted by round and arm."""
        place = self.rounds * n_arms + self.arms
        if (place[1:] > place[:-1]).all():
            return self
        order = np.argsort(place)
        return NewsColumns(*(column[order] for column in self))


class Chain(Generic[Item]):
    """A sequence that only grows, as a value: `plus` gives a longer one, and the shorter one stays what it is.

    Both look at the same list, so n items added one by one take O(n) time and memory. The list is copied where two
    values grow out of the same one.

    >>> one = Chain([1, 2])
    >>> two, other = one.plus(3), one.plus(4)
    >>> list(one), list(two), list(other)
    ([1, 2], [1, 2, 3], [1, 2, 4])
    """

    __slots__ = ("_items", "_length", "first", "last")

    first: Item | None
    """The first item; None if there is none."""
    last: Item | None
    """The last one."""

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items = list(items)
        self._length = len(self._items)
        self.first, self.last = (self._items[0], self._items[-1]) if self._items else (None, None)

    def plus(self, item: Item) -> "Chain[Item]":
        """This sequence and one item more."""
        items = self._items
        if not self._length:
            items = []  # nobody fills the list of an empty sequence, so that one can serve all
        elif len(items) != self._length:
            items = items[: self._length]
        items.append(item)
        longer: Chain[Item] = Chain.__new__(Chain)
        longer._items, longer._length = items, self._length + 1
        longer.first, longer.last = items[0], item
        return longer

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items[: self._length])


NOTHING: Chain[Any] = Chain()
"""No rounds, or no rewards."""


def observations_of(late: "Chain[Played]", waiting: "Chain[Played]", news: "Chain[News]", n_arms: int) -> Observations:
    """Rounds and rewards as a learner learns them: by round and arm, whatever order they came in.

    `late` are rounds that were learnt before, some maybe more than once, and `waiting` those that come next.
    """
    if waiting._length == news._length == 1 and not late._length:
        found = _of_one_round(waiting.first, news.first, n_arms)
        if found is not None:
            return found
    parts = [*waiting]
    if len(late):
        passed = {one.first: one for one in late}
        parts = [*(passed[t] for t in sorted(passed)), *parts]
    rounds = _joined([np.arange(part.first, part.first + len(part.actions)) for part in parts])
    told = NewsColumns.of(news)
    if len(news) != 1 or not _in_order(news.first):
        told = told.ordered(n_arms)
    found = trusted(
        Observations,
        {
            "contexts": _joined([part.contexts for part in parts]),
            "rounds": rounds,
            "rows": rounds.searchsorted(told.rounds),
            "arms": told.arms,
            "rewards": told.rewards,
            "available": _masks(parts, n_arms),
            "actions": _joined([part.actions for part in parts]),
            "observation_probabilities": told.observation_probabilities,
            "notes": _joined([part.notes for part in parts]),
        },
    )
    found.check(n_arms)
    found.__dict__["checked"] = n_arms  # once is enough: nobody else has these arrays
    return found


def _of_one_round(played: Played | None, news: News | None, n_arms: int) -> Observations | None:
    """One round and a few rewards of it, by ascending arm, as learners of every round see it; None if it is not."""
    if played is None or news is None or len(played.actions) != 1 or not _in_order(news):
        return None
    rounds, arms, rewards, q = news
    if rounds[0] != played.first:
        return None
    return trusted(
        Observations,
        {
            "contexts": played.contexts,
            "rounds": np.array([played.first]),
            "rows": np.zeros(len(arms), INTEGER),
            "arms": np.array(arms, INTEGER),
            "rewards": np.array(rewards, FLOAT),
            "available": played.available,
            "actions": played.actions,
            "observation_probabilities": np.array(q, FLOAT),
            "notes": played.notes,
            "checked": n_arms,  # contexts and rewards were checked one by one when they came
        },
    )


def _in_order(news: News | None) -> bool:
    """Whether these are a few rewards of one round, by ascending arm; False for arrays, which take the general way."""
    if news is None:
        return False
    rounds, arms, *_ = news
    if type(rounds) is not list or type(arms) is not list or not arms:
        return False
    return rounds.count(rounds[0]) == len(rounds) and arms == sorted(arms)


def _joined(arrays: list[Any]) -> Any:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _masks(parts: list[Played], n_arms: int) -> ArmMasks | None:
    """Which arms were on offer; None if all were in all rounds."""
    if all(part.available is None for part in parts):
        return None
    masks: ArmMasks = _joined(
        [
            np.ones((len(part.actions), n_arms), dtype=np.bool_) if part.available is None else part.available
            for part in parts
        ]
    )
    return masks
