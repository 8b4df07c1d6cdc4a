"""The one interface of all learners.

A learner is a frozen, keyword-only dataclass of settings. What it has learnt is a separate `State` value:

    state = learner.init(problem)
    while rounds are left:
        n         = at most learner.rounds_until_update(state)
        decisions = learner.decide(state, shown, rng)                  # n rounds, changes nothing
        ...                                                            # play, collect what is revealed
        state     = learner.update(state, observations)                # once `rounds_until_update` rounds are played

Given the state, the rounds until the next update are independent of each other: they can be decided one by one, in
batches of any size, or in parallel, with the same decisions. Each round takes one uniform number from `rng`.

Input is checked once, at the door. A `Shown` is checked when it is built; `Learner.decide` and the loop that `Bandit`
and `simulate` share (`learners.loop`) check that it fits the learner and its problem, and then call `choose`, which
trusts it. An algorithm implements `init`, `choose`, `update` and `rounds_until_update`, and no checks.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar, final

import numpy as np

from graphbandit.base.arm_names import shown as named
from graphbandit.base.array_types import ArmMasks, Contexts, PerRound, RoundsByArms
from graphbandit.base.checks import as_in_kernels, check_within, kernel_numbers, numbers, optional_number
from graphbandit.base.shapes import Float, Shaped
from graphbandit.base.signatures import Readable
from graphbandit.errors import GraphError, InputError, SettingError
from graphbandit.function_classes.base import Drawer, Draws, FunctionClass, Predictor, Prospector, Prospects
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.probabilistic import ProbabilisticGraphs
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import LateWords, Words, arrays_of

State = TypeVar("State")


class GivenUniforms(np.random.Generator):
    """A random stream whose uniform numbers were drawn elsewhere; a learner takes one a round from it."""

    def __init__(self, uniforms: PerRound) -> None:
        super().__init__(np.random.PCG64(0))
        self._uniforms = uniforms

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """The numbers that were given."""
        return self._uniforms


@dataclass(frozen=True, kw_only=True)
class Learner(ABC, Generic[State]):
    """Settings of a learner; `graphbandit.learners.base` says how it is used.

    A state may be any value. It needs the attribute `problem` if `decide` is called directly, and must be a savable
    dataclass to be saved.

    - `floor`: every arm on offer is observed with this probability at least, at the least expected regret
      (`planning/floor.py`), so that what is logged can be evaluated later; None (default): no floor. Where the graph
      does not allow as much, `coverage_factor` of the decision says which share it does, and an arm that no arm on
      offer reveals is left out.

    What the methods take:

    - `problem`: what the learner is told.
    - `state`: what it knows, which no method changes.
    - `shown`: the rounds to decide.
    - `rng`: the stream that arms are drawn from.
    - `observations`: the rewards revealed since the last update.
    - `decisions`, `made`: the decisions for the rounds shown.
    """

    floor: float | None = None

    _is_ours: ClassVar[bool] = True
    _chooses_as_ours: ClassVar[bool] = True
    says_as_ours: ClassVar[bool] = True
    """Whether `words` is the package's own, so that words that `choose` has given already can stand for it."""
    _says_at_once: ClassVar[bool] = True

    __signature__ = Readable()

    def __new__(cls, *settings: object, floor: float | None = None, **others: object) -> "Learner[State]":
        """Check the floor here, as learners have a `__post_init__` of their own."""
        optional_number("floor", floor, at_least=0.0, at_most=1.0)
        return super().__new__(cls)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # tests show that the package's own learners decide rightly; what others decide is checked in every round
        cls._is_ours = cls.__module__.partition(".")[0] == "graphbandit"
        cls._chooses_as_ours = cls.choose.__module__.partition(".")[0] == "graphbandit"
        cls.says_as_ours = cls.words.__module__.partition(".")[0] == "graphbandit"
        cls._says_at_once = cls.late_words is Learner.late_words

    # What a learner can do is a property for each question. Subclasses answer with one, or with a constant.
    @property
    def draws_once(self) -> bool:
        """Whether `choose` is known to take one uniform number a round from its stream, and nothing else."""
        return self._chooses_as_ours

    @property
    def needs_loops(self) -> bool:
        """Whether every arm must reveal itself (default: no)."""
        return False

    @property
    def plans_with_probabilities(self) -> bool:
        """Whether it takes `ProbabilisticGraphs` in place of graphs (default: no)."""
        return False

    @property
    def plans_without_graphs(self) -> bool:
        """Whether it takes rounds without a graph, None in place of graphs (default: no)."""
        return False

    @property
    def takes_own_arms(self) -> bool:
        """Whether rounds may bring their own arms (default: no): then nothing may be known by an arm's number."""
        return False

    @property
    def forgets(self) -> bool:
        """Whether it follows the problem's half-life (default: yes); a loop warns where it does not."""
        return True

    @abstractmethod
    def init(self, problem: Problem) -> State:
        """What is known before the first round."""

    @abstractmethod
    def choose(self, state: State, shown: Shown, rng: np.random.Generator) -> Decisions:
        """Decide rounds that have been checked, at most `rounds_until_update(state)` of them.

        Changes nothing but the place in `rng`, which moves on by one uniform number a round:
        `Decisions.from_probabilities` draws it.
        """

    @abstractmethod
    def update(self, state: State, observations: Observations) -> State:
        """The state after the next `rounds_until_update(state)` rounds and any late news of earlier ones."""

    @abstractmethod
    def rounds_until_update(self, state: State) -> int:
        """How many more rounds are decided with this state; 0 when the horizon is reached."""

    @final
    def decide(self, state: State, shown: Shown, rng: np.random.Generator) -> Decisions:
        """Decide the rounds shown. Changes nothing but the place in `rng`, which moves on by one number a round."""
        problem = getattr(state, "problem", None)
        if not isinstance(problem, Problem):
            raise SettingError(f"the state {type(state).__name__} has no problem; expected one, as an attribute of it")
        self.check_shown(problem, shown)
        left = self.rounds_until_update(state)
        if len(shown) > left:
            raise InputError(f"{len(shown)} rounds were asked for; expected at most {left} before the next update")
        return self.chosen(problem, state, shown, rng)

    @final
    def check_shown(self, problem: Problem, shown: Shown) -> None:
        """Raise unless these rounds fit the problem and have graphs that this learner can plan with."""
        if not isinstance(shown, Shown):
            raise InputError(f"shown is a {type(shown).__name__}; expected a Shown of contexts and graphs")
        graphs = shown.graphs
        if not (
            isinstance(graphs, FeedbackGraphs)
            or (isinstance(graphs, ProbabilisticGraphs) and self.plans_with_probabilities)
            or self.plans_without_graphs
        ):
            if graphs is None:
                raise GraphError(
                    "there is no graph; expected one with every round, or one for all as Bandit(..., graph=...): "
                    f"graphs.bandit({problem.n_arms}) where every arm reveals only itself; or "
                    "gb.learners.LateGraph, which plans without one"
                )
            others = " or ProbabilisticGraphs" if self.plans_with_probabilities else ""
            raise GraphError(
                f"graphs is a {type(graphs).__name__}; expected FeedbackGraphs{others}: "
                "learners that plan with the probabilities of edges are IDSG and, with tight coverage, AdaCBG; "
                "gb.learners.LateGraph of one of them plans without a graph"
            )
        n_arms = shown.n_arms
        if n_arms is not None and n_arms != problem.n_arms:
            what = "available has" if graphs is None else "the graphs have"
            raise GraphError(f"{what} {n_arms} arms; expected {problem.n_arms}")
        if self.needs_loops and isinstance(graphs, FeedbackGraphs) and not graphs.has_all_loops:
            t, graph = next((t, graph) for t, graph in enumerate(graphs) if not graph.has_all_loops)
            arms = named(problem.arms, *graph.arms_without_loop[:8].tolist())
            raise GraphError(
                f"the graph of round {t} of the batch lacks the self-loop of {arms}; "
                "this learner expects every arm to reveal itself"
            )

    @final
    def chosen(self, problem: Problem, state: State, shown: Shown, rng: np.random.Generator) -> Decisions:
        """What `choose` gives, with the floor; decisions of a learner from outside the package are checked."""
        if self.floor:
            from graphbandit.planning.floor import (
                with_floor,
            )  # few learners have a floor, and its programs take long to import

            assert shown.graphs is not None  # learners that plan without refuse a floor
            uniforms = rng.random(len(shown))
            decisions = self._checked(self.choose(state, shown, GivenUniforms(uniforms)), problem, shown)
            return with_floor(decisions, self.floor, graphs=shown.graphs, available=shown.available, uniforms=uniforms)
        decisions = self.choose(state, shown, rng)
        return decisions if self._is_ours else self._checked(decisions, problem, shown)

    def _checked(self, decisions: object, problem: Problem, shown: Shown) -> Decisions:
        """The decisions; InputError unless a learner from outside the package has decided the rounds shown."""
        if not isinstance(decisions, Decisions):
            name, found = type(self).__name__, type(decisions).__name__
            raise InputError(f"{name} decided a {found}; expected Decisions, as from_probabilities makes them")
        if not self._is_ours:
            decisions.check(shown, problem.n_arms)
        return decisions

    @final
    def in_words(self, state: State, shown: Shown, decisions: Decisions) -> Decisions:
        """Attach `words` to the decisions. Learners from outside the package pass theirs to `from_probabilities`."""
        if not self._chooses_as_ours:
            return decisions
        if not self._says_at_once and self.late_words:
            return decisions.telling(LateWords(partial(self._arrays_in_words, state, shown, decisions)))
        known = decisions.__dict__  # nobody has seen the decisions yet
        known["words"] = self.words(state, shown, decisions)
        if "told" in known:
            del known["told"]
        return decisions

    def _arrays_in_words(
        self, state: State, shown: Shown, made: Decisions
    ) -> Mapping[str, Shaped[np.ndarray, "n ..."]]:
        return arrays_of(self.words(state, shown, made), made)

    @property
    def late_words(self) -> bool:
        """Whether words wait until they are asked for (default: no): decisions then keep the state, if it is small."""
        return False

    def words(self, state: State, shown: Shown, made: Decisions) -> Words:
        """What the learner says of these decisions, for `Decision.explain` (default: what `choose` has told).

        A row of words is an array, or the name of a field of the decisions, which is looked up when it is asked for.
        """
        return made.told

    def postpone(self, state: State, observations: Observations) -> State:
        """The state after the same rounds when `update` has failed to fit them: all data, and the last good estimate.

        The next update fits all of it. A learner that fits nothing has nothing to postpone.
        """
        return self.update(state, observations)

    @property
    def n_notes(self) -> int:
        """How many numbers it notes down in a round (default: none). A learner with notes learns only from its own
        rounds.
        """
        return 0

    def grown(self, state: State, problem: Problem) -> State:
        """The state for a problem with more arms behind the old ones: these stay as known, the new are unknown."""
        raise SettingError(
            f"{type(self).__name__} cannot take more arms while it learns; expected another learner, such as IDSG, or "
            "arms that are there from the start and retired until they are wanted"
        )

    @property
    def refits(self) -> bool:
        """Whether it can learn in the middle of an epoch (default: no); it then has a method `refit`."""
        return False

    def refit(self, state: State, observations: Observations) -> State:
        """The state after these rounds, fewer than an epoch's, and any late news; the epoch goes on with it."""
        raise SettingError(f"{type(self).__name__} learns only at the end of an epoch; expected a learner that refits")

    def check_rewards(self, rewards: Float[np.ndarray, " rewards"]) -> None:
        """Raise ObservationError at a reward that this learner cannot take; most take any finite number."""
        return


def predictor_of(functions: FunctionClass[Any, Any, Any], model: Any) -> Predictor:
    """The model's mean rewards, checked, as kernels trust them: one finite number for each context and arm."""
    ours = _is_ours(functions)
    predict = functions.predictor(model) if ours else FunctionClass.predictor(functions, model)
    within, checks = ours and functions.stays_within(model), functions.predict_checks
    if within and checks:
        return predict

    def checked(contexts: Contexts) -> RoundsByArms:
        if not checks:
            functions.check_contexts(contexts)
        values = predict(contexts)
        return values if within else _checked_values(functions, values, contexts)

    return checked


def drawer_of(functions: FunctionClass[Any, Any, Any], draws: Draws) -> Drawer:
    """The values of draws; they need not be finite."""
    ours = _is_ours(functions)
    draw = functions.drawer(draws) if ours else FunctionClass.drawer(functions, draws)
    if ours and functions.draws_fit:
        return draw
    count, n_arms = len(draws), functions.n_arms

    def checked(contexts: Contexts) -> Float[np.ndarray, "n draws arms"]:
        values = kernel_numbers("the draws", draw(contexts), has="have")
        if values.shape != (len(contexts), count, n_arms):
            expected = (len(contexts), count, n_arms)
            raise InputError(f"the function class gave draws of shape {values.shape}; expected {expected}")
        return values

    return checked


def _is_ours(functions: FunctionClass[Any, Any, Any]) -> bool:
    """Whether this is a class of the package; one that extends it may evaluate in ways of its own."""
    return type(functions).__module__.partition(".")[0] == "graphbandit"


def _checked_values(functions: FunctionClass[Any, Any, Any], given: Any, contexts: Contexts) -> RoundsByArms:
    values = numbers("the prediction of the function class", given)
    expected = (len(contexts), functions.n_arms)
    if values.shape != expected:
        raise InputError(f"the function class predicts values of shape {values.shape}; expected {expected}")
    check_within("the function class predicts", values, of="values")
    return as_in_kernels(values)


def candidates_of(
    functions: FunctionClass[Any, Any, Any], space: Any, contexts: Contexts, available: ArmMasks | None
) -> ArmMasks:
    """The class's candidates, checked, as kernels trust them: one boolean for each context and arm."""
    return _checked_candidates(functions, functions.candidates(space, contexts, available), contexts)


def prospector_of(functions: FunctionClass[Any, Any, Any], model: Any, space: Any, noise: float | None) -> Prospector:
    """What the class says of rounds, checked; rewards of 0 without a model."""
    if model is None:

        def nothing(contexts: Contexts, available: ArmMasks | None) -> Prospects:
            functions.check_contexts(contexts)
            values = np.zeros((len(contexts), functions.n_arms))
            return Prospects(values, candidates_of(functions, space, contexts, available))

        return nothing
    prospects: Prospector = partial(functions.prospects, model, space, noise=noise)
    if _is_ours(functions):
        prospects = functions.prospector(model, space, noise)
        if functions.stays_within(model):
            return prospects

    def checked(contexts: Contexts, available: ArmMasks | None) -> Prospects:
        values, candidates, *others = prospects(contexts, available)
        known = [None if array is None else _checked_values(functions, array, contexts) for array in others]
        return Prospects(
            _checked_values(functions, values, contexts), _checked_candidates(functions, candidates, contexts), *known
        )

    return checked


def spreads_of(functions: FunctionClass[Any, Any, Any], name: str, given: Any, contexts: Contexts) -> RoundsByArms:
    """Widths or deviations that the class gave, as kernels trust them; infinite where nothing is known of an arm."""
    if _is_ours(functions):
        return as_in_kernels(given)
    spreads = numbers(f"the array of {name}", given)
    expected = (len(contexts), functions.n_arms)
    if spreads.shape != expected:
        raise InputError(f"the function class gave {name} of shape {spreads.shape}; expected {expected}")
    if not (spreads >= 0.0).all():
        wrong = spreads[~(spreads >= 0.0)][0]
        raise InputError(f"the function class gave {name} with {wrong}; expected numbers of at least 0")
    return as_in_kernels(spreads)


def _checked_candidates(functions: FunctionClass[Any, Any, Any], mask: ArmMasks, contexts: Contexts) -> ArmMasks:
    expected = (len(contexts), functions.n_arms)
    if mask.dtype != np.bool_ or mask.shape != expected:
        raise InputError(
            f"the function class gave candidates of type {mask.dtype} and shape {mask.shape}; "
            f"expected booleans of shape {expected}"
        )
    if not _is_ours(functions):
        mask = mask.copy()  # decisions keep it, and the class may fill the same array again
    return as_in_kernels(mask, np.bool_)
