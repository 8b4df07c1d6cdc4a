"""The one interface of all learners.

A learner is a frozen, keyword-only dataclass of settings. What it has learnt is a separate `State` value:

    state = learner.init(problem)
    while rounds are left:
        n         = at most learner.rounds_until_update(state)
        decisions = learner.decide(state, contexts, graphs, rng)       # n rounds, changes nothing
        ...                                                            # play, collect what is revealed
        state     = learner.update(state, observations)                # once `rounds_until_update` rounds are played

Given the state, the rounds until the next update are independent of each other: they can be decided one by one, in
batches of any size, or in parallel, and are the same decisions. Each round takes one uniform number from `rng`.
"""

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np

from graphbandit.base.checks import LARGEST, available_array, first_not_finite, numbers
from graphbandit.base.shapes import Bool, Float, Shaped
from graphbandit.errors import GraphError, InputError, SettingError
from graphbandit.function_classes.base import FunctionClass
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.probabilistic import ProbabilisticGraphs
from graphbandit.learners.problem import Problem, check_function_class
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations

State = TypeVar("State")


class Learner(ABC, Generic[State]):
    """Settings of a learner; see the module for how it is used."""

    @property
    def plans_with_odds(self) -> bool:
        """Whether `decide` takes `ProbabilisticGraphs` too."""
        return False

    @abstractmethod
    def init(self, problem: Problem) -> State:
        """What is known before the first round."""

    @abstractmethod
    def decide(
        self,
        state: State,
        contexts: Shaped[np.ndarray, "n ..."],
        graphs: FeedbackGraphs,
        rng: np.random.Generator,
        *,
        available: Bool[np.ndarray, "n arms"] | None = None,
    ) -> Decisions:
        """Decide n rounds. Changes nothing but the place in `rng`, which moves on by n uniform numbers."""

    @abstractmethod
    def update(self, state: State, observations: Observations) -> State:
        """The state after the next `rounds_until_update(state)` rounds and any late news of earlier ones."""

    def postpone(self, state: State, observations: Observations) -> State:
        """The state after the same rounds when `update` has failed to fit them: all data, and the last good estimate.

        The next update fits all of it. A learner that fits nothing has nothing to postpone.
        """
        return self.update(state, observations)

    @abstractmethod
    def rounds_until_update(self, state: State) -> int:
        """How many more rounds are decided with this state; 0 when the horizon is reached."""

    def notes(
        self,
        state: State,
        contexts: Shaped[np.ndarray, "n ..."],
        graphs: FeedbackGraphs | ProbabilisticGraphs | None,
        decisions: Decisions,
    ) -> Float[np.ndarray, "n notes"]:
        """What `update` is to be given back as `Observations.notes`, a row for each of these rounds just decided.

        For what depends on the graph or the probabilities of a round; most learners need nothing, a row of length 0.
        """
        return np.empty((len(decisions), 0))

    def check_rewards(self, rewards: Float[np.ndarray, " rewards"]) -> None:
        """Raise ObservationError at a reward that this learner cannot take; most take any finite number."""
        return


def function_class_of(own: FunctionClass[Any, Any, Any] | None, problem: Problem) -> FunctionClass[Any, Any, Any]:
    """The learner's own function class if it names one, else the problem's."""
    if own is not None:
        check_function_class(own, problem.n_arms)
        return own
    if problem.function_class is None:
        raise SettingError("function_class is None in both the learner and the problem; expected one in either")
    return problem.function_class


def check_batch(
    n_arms: int,
    left: int,
    contexts: Shaped[np.ndarray, "n ..."],
    graphs: FeedbackGraphs | ProbabilisticGraphs,
    available: Bool[np.ndarray, "n arms"] | None,
    *,
    loops: bool,
    odds: bool = False,
) -> Bool[np.ndarray, "n arms"] | None:
    """The masks, one row a round. Raises unless all fits together, the problem, and the rounds left in the epoch.

    `loops`: every arm must reveal itself. `odds`: graphs of edge probabilities will do.
    """
    if not isinstance(contexts, np.ndarray) or contexts.ndim == 0:
        raise InputError(f"contexts is a {type(contexts).__name__}; expected an array with the round as its first axis")
    if not isinstance(graphs, FeedbackGraphs) and not (odds and isinstance(graphs, ProbabilisticGraphs)):
        raise GraphError(
            f"graphs is a {type(graphs).__name__}; expected FeedbackGraphs{' or ProbabilisticGraphs' if odds else ''}: "
            "learners that plan with the probabilities of edges are IDSG and, with tight coverage, AdaCBG; "
            "LateGraph of one of them plans without a graph"
        )
    mask = available_array(available, len(contexts), n_arms)
    if graphs.n_arms != n_arms:
        raise GraphError(f"the graphs have {graphs.n_arms} arms; expected {n_arms}")
    if len(graphs) != len(contexts):
        raise InputError(f"{len(contexts)} contexts came with {len(graphs)} graphs; expected one graph a round")
    if len(contexts) > left:
        raise InputError(f"{len(contexts)} rounds were asked for; expected at most {left} before the next update")
    if loops and isinstance(graphs, FeedbackGraphs) and not graphs.has_all_loops:
        for t, graph in enumerate(graphs):
            if not graph.has_all_loops:
                arms = ", ".join(map(str, graph.arms_without_loop[:8]))
                raise GraphError(
                    f"the graph of round {t} of the batch lacks the self-loop of arm {arms}; "
                    "this learner expects every arm to reveal itself"
                )
    return mask


def predicted(
    functions: FunctionClass[Any, Any, Any], model: Any, contexts: Shaped[np.ndarray, "n ..."]
) -> Float[np.ndarray, "n arms"]:
    """The model's mean rewards, checked, as kernels trust them: one finite number for each context and arm."""
    return _checked_values(functions, functions.predict(model, contexts), contexts)


def _checked_values(
    functions: FunctionClass[Any, Any, Any], given: Any, contexts: Shaped[np.ndarray, "n ..."]
) -> Float[np.ndarray, "n arms"]:
    values = numbers("the prediction of the function class", given)
    expected = (len(contexts), functions.n_arms)
    if values.shape != expected:
        raise InputError(f"the function class predicts values of shape {values.shape}; expected {expected}")
    if not (np.abs(values) <= LARGEST).all():
        where = first_not_finite(values, largest=LARGEST)
        raise InputError(f"the function class predicts {where}; expected finite values up to {LARGEST:g} in size")
    return values


def candidates_of(
    functions: FunctionClass[Any, Any, Any],
    space: Any,
    contexts: Shaped[np.ndarray, "n ..."],
    available: Bool[np.ndarray, "n arms"] | None,
) -> Bool[np.ndarray, "n arms"]:
    """The class's candidates, checked, as kernels trust them: one boolean for each context and arm."""
    return _checked_candidates(functions, functions.candidates(space, contexts, available), contexts)


def outlook_of(
    functions: FunctionClass[Any, Any, Any],
    model: Any,
    space: Any,
    contexts: Shaped[np.ndarray, "n ..."],
    available: Bool[np.ndarray, "n arms"] | None,
) -> tuple[Float[np.ndarray, "n arms"], Bool[np.ndarray, "n arms"]]:
    """The class's mean rewards and candidates, asked for together and checked; rewards of 0 without a model."""
    if model is None:
        return np.zeros((len(contexts), functions.n_arms)), candidates_of(functions, space, contexts, available)
    values, candidates = functions.outlook(model, space, contexts, available)
    return _checked_values(functions, values, contexts), _checked_candidates(functions, candidates, contexts)


def _checked_candidates(
    functions: FunctionClass[Any, Any, Any], mask: Bool[np.ndarray, "n arms"], contexts: Shaped[np.ndarray, "n ..."]
) -> Bool[np.ndarray, "n arms"]:
    expected = (len(contexts), functions.n_arms)
    if mask.dtype != np.bool_ or mask.shape != expected:
        raise InputError(
            f"the function class gave candidates of type {mask.dtype} and shape {mask.shape}; "
            f"expected booleans of shape {expected}"
        )
    return mask
