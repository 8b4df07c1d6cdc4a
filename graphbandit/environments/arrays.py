"""An environment whose rounds are given as arrays, for data sets, replays and tests."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import (
    available_array,
    check_within,
    contexts_array,
    numbers,
    optional_number,
    setting_boolean,
)
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Bool, Float, Shaped
from graphbandit.environments.base import Environment, Instance, Rounds, check_repeat, check_rounds
from graphbandit.errors import GraphError, InputError
from graphbandit.function_classes.base import FunctionClass
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.learners.problem import Problem, check_function_class


@dataclass(frozen=True, kw_only=True, eq=False)
class ArrayEnvironment(Environment):
    """Rounds that are given as arrays. `from_arrays` builds it.

    - `contexts`: one row per round.
    - `rewards`: (n, K), the rewards of all arms.
    - `means`: (n, K), the expected rewards f*(x, a), from which regret is computed.
    - `graphs`: a batch with one graph for each round.
    - `available`: (n, K), whether an arm is available; None: all are.
    - `noise`: the sub-Gaussian scale that learners are told; None: nothing.
    - `function_class`: the function class that learners are told; None: none.
    - `shuffle`: whether each repeat has the rounds in its own random order.
    """

    contexts: Shaped[np.ndarray, "n ..."]
    rewards: Float[np.ndarray, "n arms"]
    means: Float[np.ndarray, "n arms"]
    graphs: FeedbackGraphs
    available: Bool[np.ndarray, "n arms"] | None
    noise: float | None
    function_class: FunctionClass[Any, Any, Any] | None
    shuffle: bool

    @property
    def n_arms(self) -> int:
        """K."""
        return int(self.means.shape[1])

    @property
    def n_rounds(self) -> int | None:
        """The number of rows of the arrays."""
        return len(self.contexts)

    def instance(self, seed: int, repeat: int = 0) -> "ArrayInstance":
        """The rounds in their order or, with `shuffle`, in a new random order for each repeat."""
        check_repeat(seed, repeat)
        n = len(self.contexts)
        order = stream(seed, "arrays", repeat, "order").permutation(n) if self.shuffle else np.arange(n)
        return ArrayInstance(environment=self, order=order)


@dataclass(frozen=True, kw_only=True, eq=False)
class ArrayInstance(Instance):
    """One pass through the arrays."""

    environment: ArrayEnvironment
    order: np.ndarray

    def problem(self, horizon: int | None) -> Problem:
        """The function class and the noise that were given with the arrays."""
        return Problem(
            n_arms=self.environment.n_arms,
            function_class=self.environment.function_class,
            horizon=horizon,
            noise=self.environment.noise,
        )

    def rounds(self, first: int, stop: int) -> Rounds:
        """The rows first .. stop - 1 of the order."""
        check_rounds(first, stop, at_most=len(self.order))
        given = self.environment
        rounds = Rounds(
            contexts=given.contexts,
            graphs=given.graphs,
            means=given.means,
            rewards=given.rewards,
            available=given.available,
        )
        return rounds[self.order[first:stop]]


def from_arrays(
    *,
    contexts: "npt.ArrayLike",
    rewards: "npt.ArrayLike",
    means: "npt.ArrayLike | None" = None,
    graphs: FeedbackGraph | FeedbackGraphs,
    available: "npt.ArrayLike | None" = None,
    noise: float | None = None,
    function_class: FunctionClass[Any, Any, Any] | None = None,
    shuffle: bool = False,
) -> ArrayEnvironment:
    """An environment whose n rounds are the rows of these arrays.

    - `contexts`: one row per round.
    - `rewards`: (n, K), the rewards of all arms; the learner sees those that the graph reveals.
    - `means`: (n, K), the expected rewards f*(x, a), from which regret is computed; None (default): the rewards
      themselves.
    - `graphs`: one graph for all rounds, or a batch with one for each.
    - `available`: (n, K), whether an arm is available; None (default): all are.
    - `noise`: the sub-Gaussian scale that learners are told; None (default): nothing.
    - `function_class`: the function class that learners are told; None (default): none.
    - `shuffle`: whether each repeat has the rounds in its own random order; False by default.

    >>> from graphbandit import graphs
    >>> env = from_arrays(contexts=np.zeros((4, 1)), graphs=graphs.complete(2), rewards=np.eye(4, 2))
    >>> env.n_arms, env.n_rounds
    (2, 4)
    """
    rows = contexts_array(contexts)
    reward_rows = _arm_rows("rewards", rewards, len(rows))
    n, n_arms = reward_rows.shape
    mean_rows = reward_rows if means is None else _arm_rows("means", means, n)
    batch = FeedbackGraphs.repeat(graphs, n) if isinstance(graphs, FeedbackGraph) else graphs
    if not isinstance(batch, FeedbackGraphs):
        raise GraphError(f"graphs is a {type(batch).__name__}; expected FeedbackGraphs or a FeedbackGraph")
    if mean_rows.shape != reward_rows.shape:
        raise InputError(f"means has shape {mean_rows.shape}; expected that of rewards, {reward_rows.shape}")
    if len(batch) != n or batch.n_arms != n_arms:
        raise InputError(f"graphs are {len(batch)} of {batch.n_arms} arms; expected {n} of {n_arms}")
    setting_boolean("shuffle", shuffle)
    optional_number("noise", noise, at_least=0.0)
    if function_class is not None:
        check_function_class(function_class, n_arms)
        function_class.check_contexts(rows)
    return ArrayEnvironment(
        contexts=rows,
        graphs=batch,
        means=mean_rows,
        rewards=reward_rows,
        available=available_array(available, n, n_arms),
        function_class=function_class,
        noise=noise,
        shuffle=shuffle,
    )


def _arm_rows(name: str, value: npt.ArrayLike, n: int) -> Float[np.ndarray, "n arms"]:
    array = numbers(name, value)
    if array.ndim != 2 or len(array) != n or array.shape[1] == 0:
        raise InputError(f"{name} has shape {array.shape}; expected ({n}, arms), one row for each context")
    check_within(f"{name} has", array)
    return array
