"""Learners that learn in every round: one round is decided, what it reveals is learnt, and so on.

In terms of the interface their epochs are one round long. For the simulator they also `play` many rounds one after
another in a single compiled loop, with the same results as `decide` and `update` to the last bit, as one kernel
plays a round for both. Rewards that come late are learnt when they come, with the probabilities of
their own round.
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from graphbandit.base.array_types import ArmMasks, Contexts, PerObservation, RoundsByArms
from graphbandit.base.checks import BOOL, INTEGER, as_in_kernels, everyone_always
from graphbandit.base.declared import Declared, limits
from graphbandit.base.direct_calls import DirectCall, kernels_of
from graphbandit.base.shapes import Float
from graphbandit.base.trusted import trusted, tuple_of
from graphbandit.errors import GraphError, HorizonError, InputError, SettingError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.kernel_forms import kernel_batches
from graphbandit.learners.base import GivenUniforms, Learner
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decisions import Columns, Decisions, decisions_of_kernel, no_notes
from graphbandit.rounds.observations import Observations
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import BEST, Words

if TYPE_CHECKING:
    from graphbandit.kernels.learners.base import Inputs, Outputs


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundState(Declared):
    """What every state of such a learner has: the problem, and the rounds that are learnt."""

    problem: Problem
    rounds: int = field(metadata=limits(at_least=0))


State = TypeVar("State", bound=RoundState)


_NO_REWARDS = np.empty((0, 0))


class EveryRoundLearner(Learner[State], Generic[State]):
    """A learner whose state changes with every round.

    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.
    """

    forgets = False
    """No: all rewards count the same."""

    _told_words: ClassVar[tuple[str, ...]] = ()
    """What the kernel writes into `Outputs.told`."""

    @abstractmethod
    def _run(
        self, state: State, contexts: Contexts, graphs: FeedbackGraphs, inputs: "Inputs", outputs: "Outputs"
    ) -> State:
        """Decide the rounds and, if `inputs.learn`, learn each before the next; the state after them."""

    @abstractmethod
    def _learn(self, state: State, observations: Observations) -> State:
        """The state after the round `state.rounds` and any late news; the arrays are checked."""

    @staticmethod
    def _after(state: State, arrays: Any, played: int) -> State:
        """The state after these rounds; a family's arrays have the names of its state's fields."""
        fields = arrays._asdict()
        fields["problem"], fields["rounds"], fields["in_kernels"] = state.problem, state.rounds + played, arrays
        return trusted(type(state), fields)

    def rounds_until_update(self, state: State) -> int:
        """One, or none at the end of the horizon."""
        return min(1, self._rounds_left(state))

    def choose(self, state: State, shown: Shown, rng: np.random.Generator) -> Decisions:
        """The next round."""
        outputs, _ = self._played(state, shown, rng, None)
        return _decisions(outputs, shown.available, state.rounds, self._said)

    @cached_property
    def _said(self) -> Words | None:
        """The words of decisions, if the kernel tells all of them."""
        return {BEST: "best", **dict(zip(self._told_words, _TOLD, strict=False))} if self._told_words else None

    def play(
        self, state: State, shown: Shown, rewards: RoundsByArms, rng: np.random.Generator
    ) -> tuple[Decisions, State]:
        """The next n rounds, each learnt from before the next; `rewards` are looked at where they are revealed.

        What `decide` and `update` give in turn, to the last bit, many times as fast.
        """
        self.check_shown(state.problem, shown)
        n_arms, left = state.problem.n_arms, self._rounds_left(state)
        if len(shown) > left:
            raise InputError(f"{len(shown)} rounds were asked for; expected at most {left} before the horizon")
        if rewards.shape != (len(shown), n_arms):
            raise InputError(f"rewards has shape {rewards.shape}; expected ({len(shown)}, {n_arms})")
        assert not self.floor  # which is not in the compiled loop; `Loop` decides round by round
        outputs, after = self._played(state, shown, rng, rewards)
        self.check_rewards(rewards[shown.feedback_graphs._revealed(outputs.integers[:, 0])])
        decisions = _decisions(outputs, shown.available, state.rounds)
        if not self._is_ours:
            decisions.check(shown, n_arms)
        return decisions, after

    def update(self, state: State, observations: Observations) -> State:
        """The state after the next round, and any late news of earlier ones."""
        observations.check(state.problem.n_arms)
        if not self._rounds_left(state):
            raise HorizonError(
                f"round {state.rounds} is the last of the problem's horizon; expected no update after it"
            )
        rounds = observations.rounds
        if not len(rounds) or rounds.item(-1) != state.rounds:
            last = int(rounds[-1]) if len(rounds) else "none"
            raise InputError(
                f"the observations hold rounds up to {last}; expected all of rounds {state.rounds} to {state.rounds}"
            )
        self.check_rewards(observations.rewards)
        return self._learn(state, observations)

    def _played(
        self, state: State, shown: Shown, rng: np.random.Generator, rewards: RoundsByArms | None
    ) -> tuple["Outputs", State]:
        kernels = kernels_of("learners.base")
        n, n_arms, available = len(shown.contexts), state.problem.n_arms, shown.available
        masks = everyone_always(n_arms) if available is None else as_in_kernels(available, np.bool_)
        given = _NO_REWARDS if rewards is None else as_in_kernels(rewards)
        tables, explored = np.empty((n, 3, n_arms)), np.empty((n, n_arms), BOOL)
        integers, numbers = np.empty((n, 2), INTEGER), np.empty((n, 3))
        words = len(self._told_words) if rewards is None else 0
        notes = np.empty((n, self.n_notes)) if self.n_notes else no_notes(n)
        told = np.empty((n, words, n_arms))
        outputs = tuple_of(kernels.Outputs, (tables, explored, integers, numbers, notes, told))
        # numbers drawn elsewhere are not put back
        place = None if isinstance(rng, GivenUniforms) else rng.bit_generator.state
        try:
            inputs = tuple_of(kernels.Inputs, (masks, rng.random(n), given, rewards is not None))
            graphs: Any = shown.graphs  # the door let no others in
            return outputs, self._run(state, shown.contexts, graphs, inputs, outputs)
        except BaseException:
            if place is not None:
                rng.bit_generator.state = place
            raise

    def _rounds_left(self, state: State) -> int:
        """Rounds until the horizon; practically endless without one."""
        return 2**62 if state.problem.horizon is None else state.problem.horizon - state.rounds


def run_rounds(
    kernels: ModuleType,
    graphs: FeedbackGraphs,
    rounds: int,
    settings: Any,
    arrays: Any,
    inputs: "Inputs",
    outputs: "Outputs",
    *,
    run: DirectCall | None = None,
    ready: bool = False,
) -> None:
    """Let the kernels of a family play the rounds, `rounds` being the number of those before them.

    - `run`: the kernel `run` of a family whose settings always have the same types; None (default): the one for the
      types of these settings.
    - `ready`: whether the arrays are those that a kernel has filled, or copies of them; False by default.
    """
    run = _run_of(kernels, *map(type, settings)) if run is None else run
    if not ready:
        arrays = tuple_of(type(arrays), [as_in_kernels(array, array.dtype) for array in arrays])
    failed, first = kernels.DONE, 0
    for _, stored in kernel_batches(graphs):
        failed = run.call(stored, first, rounds + first, settings, arrays, inputs, outputs)
        if failed != kernels.DONE:
            break
        first += len(stored.place)
    if failed != kernels.DONE:
        raise GraphError(
            f"the graph of round {failed} of the batch has an arm on offer that no arm on offer reveals; "
            "this learner expects every arm to be revealed by one"
        )


@cache
def _run_of(kernels: ModuleType, *settings: type) -> DirectCall:
    """The kernel `run` of a family for settings of these types: one learner has an int where another has a float."""
    return DirectCall(kernels.__name__.removeprefix("graphbandit.kernels."), "run")


def observation_probabilities_of(observations: Observations) -> PerObservation:
    """The probability with which each reward was revealed; raises if it is missing."""
    q = observations.observation_probabilities
    if q is None or q.shape != observations.rewards.shape:
        found = "none" if q is None else f"an array of shape {q.shape}"
        raise InputError(
            f"the observation probabilities are {found}; expected one for each of {observations.n_observed} rewards"
        )
    if not ((q > 0) & (q <= 1 + 1e-6)).all():
        wrong = q[~((q > 0) & (q <= 1 + 1e-6))][0]
        raise InputError(
            f"the observations have an observation probability of {wrong}; expected numbers above 0 and up to 1"
        )
    return as_in_kernels(q)


def notes_of(observations: Observations, n_notes: int) -> Float[np.ndarray, "n notes"]:
    """The learner's own notes of each round; raises where they are missing."""
    notes, expected = observations.notes, (len(observations), n_notes)
    if notes is None or notes.shape != expected or not np.isfinite(notes).all():
        found = "none" if notes is None else f"an array of shape {notes.shape}"
        raise InputError(f"the notes of the observations are {found}; expected finite numbers of shape {expected}")
    return as_in_kernels(notes)


def noise_of(own: float | None, problem: Problem) -> float:
    """The learner's own sub-Gaussian scale of the rewards if it names one, else the problem's."""
    noise = problem.noise if own is None else own
    if noise is None:
        raise SettingError(
            "noise is None in both the learner and the problem; expected one in either (0.5 does for rewards in [0, 1])"
        )
    return float(noise)


def _decisions(outputs: "Outputs", available: ArmMasks | None, rounds: int, words: Words | None = None) -> Decisions:
    known: dict[str, Any] = {"notes": outputs.notes, "rounds": rounds}
    if words is not None:
        known["words"] = words
    if available is not None:
        known["candidates"] = np.array(available)
    action, probability = outputs.integers[:, 0], outputs.numbers[:, 0]
    return decisions_of_kernel(action, probability, outputs.tables[:, 1], outputs, _FIELDS, known)


_TOLD = ("first words", "second words")
_FIELDS: Columns = {
    "probabilities": lambda outputs: np.ascontiguousarray(outputs.tables[:, 0]),
    "gaps": lambda outputs: np.ascontiguousarray(outputs.tables[:, 2]),
    "best": lambda outputs: outputs.integers[:, 1],
    "exploration_set": lambda outputs: outputs.explored,
    "gamma": lambda outputs: outputs.numbers[:, 1],
    "objective": lambda outputs: outputs.numbers[:, 2],
    _TOLD[0]: lambda outputs: outputs.told[:, 0],
    _TOLD[1]: lambda outputs: outputs.told[:, 1],
}
"""The fields of decisions in what the kernel has filled, and its words."""
