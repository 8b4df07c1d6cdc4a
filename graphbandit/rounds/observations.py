"""What a learner learns from: rounds, and the rewards that were revealed in them.

Throughout the package n is the number of rounds of a batch, K the number of arms, and rounds are counted from 0 since
the start of a run. Arrays have the round as their first axis.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from graphbandit.base.checks import LARGEST, first_not_finite, within
from graphbandit.base.shapes import Bool, Float, Int, Shaped
from graphbandit.errors import InputError, ObservationError


@dataclass(frozen=True, kw_only=True, eq=False)
class Observations:
    """The rounds a learner has not yet learnt from, and every reward that was revealed in them.

    Rewards are sorted by round, then arm, whatever order they came in, so that sums over them are the same to the last
    bit. Rounds before those the learner expects are late news of rounds it has passed already. Actions, observation
    probabilities and notes travel with the rewards and not in the learner's state, so news may be as late as it likes;
    `Bandit` and `simulate` always fill them in.

    - `contexts`: one row a round.
    - `rounds`: the number of each round, ascending, no round twice.
    - `rows`: the row of `rounds` that a reward belongs to.
    - `arms`, `rewards`: whose reward it is, and the reward.
    - `available`: the arms on offer in each round; None (default): all.
    - `actions`: the arm that was played in each round; None (default): not known.
    - `observation_probabilities`: q, the probability of each reward to be revealed when its round was decided; None
      (default): not known.
    - `notes`: what the learner noted down in each round, its `Decisions.notes`; None (default): nothing.
    """

    contexts: Shaped[np.ndarray, "n ..."]
    rounds: Int[np.ndarray, " n"]
    rows: Int[np.ndarray, " observed"]
    arms: Int[np.ndarray, " observed"]
    rewards: Float[np.ndarray, " observed"]
    available: Bool[np.ndarray, "n arms"] | None = None
    actions: Int[np.ndarray, " n"] | None = None
    observation_probabilities: Float[np.ndarray, " observed"] | None = None
    notes: Float[np.ndarray, "n notes"] | None = None

    def __len__(self) -> int:
        return len(self.rounds)

    @property
    def n_observed(self) -> int:
        """How many rewards there are."""
        return len(self.rewards)

    def check(self, n_arms: int) -> None:
        """Raise unless the arrays fit each other and the arms; kernels trust them."""
        if self.__dict__.get("checked") == n_arms:
            return
        n, k = len(self), self.n_observed
        fits = len(self.contexts) == n and self.rows.shape == self.arms.shape == self.rewards.shape == (k,)
        if not fits or (self.available is not None and self.available.shape != (n, n_arms)):
            raise InputError(
                f"the observations have {len(self.contexts)} contexts for {n} rounds, and {len(self.rows)} rows, "
                f"{len(self.arms)} arms and {k} rewards; expected as many of each"
            )
        for name, places, size in (("rows", self.rows, n), ("arms", self.arms, n_arms)):
            if k and _reach_beyond(places, size):
                found = f"{places.min()} to {places.max()}"
                raise InputError(f"the observations have {name} {found}; expected 0 to {size - 1}")
        if not within(self.rewards, LARGEST):
            where = first_not_finite(self.rewards, largest=LARGEST)
            raise ObservationError(
                f"the observed rewards have {where}; expected finite numbers up to {LARGEST:g} in size"
            )

    @classmethod
    def from_masks(
        cls,
        contexts: Shaped[np.ndarray, "n ..."],
        revealed: Bool[np.ndarray, "n arms"],
        rewards: Float[np.ndarray, "n arms"],
        *,
        first_round: int = 0,
        available: Bool[np.ndarray, "n arms"] | None = None,
        actions: Int[np.ndarray, " n"] | None = None,
        observation_probabilities: Float[np.ndarray, "n arms"] | None = None,
        notes: Float[np.ndarray, "n notes"] | None = None,
    ) -> "Observations":
        """Observations of consecutive rounds from dense arrays.

        - `contexts`: one row a round.
        - `revealed`: whether an arm's reward was seen, shape (n, arms).
        - `rewards`: shape (n, arms); those that were not revealed are not looked at.
        - `first_round`: the number of the first round, 0 by default.
        - `available`: the arms on offer, shape (n, arms); None (default): all.
        - `actions`, `observation_probabilities`, `notes`: as in the `Decisions`, for learners that weight rewards by
          how likely they were to be seen; None (default): not known.

        >>> seen = Observations.from_masks(np.zeros((1, 2)), np.array([[True, False]]), np.array([[0.5, 9.0]]))
        >>> seen.arms, seen.rewards
        (array([0]), array([0.5]))
        """
        rows, arms = np.nonzero(revealed)
        rounds = np.arange(first_round, first_round + len(contexts))
        return cls(
            contexts=contexts,
            rounds=rounds,
            rows=rows,
            arms=arms,
            rewards=rewards[rows, arms],
            available=available,
            actions=actions,
            observation_probabilities=None
            if observation_probabilities is None
            else observation_probabilities[rows, arms],
            notes=notes,
        )

    @classmethod
    def concatenate(cls, parts: "list[Observations]") -> "Observations":
        """Parts of consecutive, ascending rounds as one."""
        starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
        moved = [replace(part, rows=part.rows + start) for part, start in zip(parts, starts, strict=True)]
        columns = {field.name: [getattr(part, field.name) for part in moved] for field in fields(cls)}
        # what some part does not know is not known of the whole
        known = {name: arrays for name, arrays in columns.items() if not any(array is None for array in arrays)}
        return cls(**{name: np.concatenate(arrays) for name, arrays in known.items()})

    def between(self, first: int, stop: int) -> "Observations":
        """The rewards of some rounds.

        - `first`, `stop`: the rounds first .. stop - 1.
        """
        if len(self) and first <= self.rounds[0] and self.rounds[-1] < stop:
            return self
        low, high = np.searchsorted(self.rounds, [first, stop])
        return self.take(int(low), int(high))

    def take(self, low: int, high: int) -> "Observations":
        """The rewards of some rows of `contexts`.

        - `low`, `high`: the rows low .. high - 1.
        """
        if low <= 0 and high >= len(self.rounds):
            return self
        start, end = np.searchsorted(self.rows, [low, high])
        return Observations(
            contexts=self.contexts[low:high],
            rounds=self.rounds[low:high],
            rows=self.rows[start:end] - low,
            arms=self.arms[start:end],
            rewards=self.rewards[start:end],
            available=None if self.available is None else self.available[low:high],
            actions=None if self.actions is None else self.actions[low:high],
            observation_probabilities=None
            if self.observation_probabilities is None
            else self.observation_probabilities[start:end],
            notes=None if self.notes is None else self.notes[low:high],
        )


def _reach_beyond(places: Int[np.ndarray, " n"], size: int) -> bool:
    """Whether some are below 0, or `size` and above; a few are compared in Python, which is faster."""
    if len(places) <= 32:
        listed = places.tolist()
        return not 0 <= min(listed) <= max(listed) < size
    # as unsigned integers, those below 0 are too large
    return bool(np.maximum.reduce(places.astype(np.int64, copy=False).view(np.uint64)) >= size)
