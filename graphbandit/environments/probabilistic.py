"""Any environment with edge probabilities, which learners may know before they decide."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import numbers, setting_boolean, setting_choice, setting_number
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float
from graphbandit.environments.base import Environment, Instance, Rounds, WrappedEnvironment, check_repeat
from graphbandit.environments.blocks import BLOCK, BlockInstance
from graphbandit.errors import SettingError
from graphbandit.graphs.graph import PACKED_LIMIT
from graphbandit.graphs.probabilistic import ProbabilisticGraphs
from graphbandit.learners.problem import Problem

ShownGraphs = Literal["probabilities", "nothing", "graphs"]


@dataclass(frozen=True, kw_only=True, eq=False)
class ProbabilisticEnvironment(WrappedEnvironment):
    """The rounds of another environment, whose edges are present with a probability.

    An edge from j to a of the round's graph is present with probability B[j, a], drawn in each round independently of
    everything else. With p = `probability` and c = `concentration`, B[j, a] is p, or is drawn once a repeat from
    Beta(c p, c (1 - p)), whose mean is p.

    - `environment`: the environment that draws the rounds; its graphs say which edges are possible.
    - `probability`: the probability of every edge, 0.5 by default; or the matrix B.
    - `concentration`: how close the edge probabilities are to `probability` (2 with 0.5: uniform); None (default): all
      are equal to it.
    - `keep_loops`: whether self-loops are always present; True by default.
    - `shown`: what learners are shown before they decide: the edge "probabilities" (default), which are 0 where the
      graph has no edge, "nothing", or the "graphs" that were drawn.
    """

    probability: float | Float[np.ndarray, "arms arms"] = 0.5
    concentration: float | None = None
    keep_loops: bool = True
    shown: ShownGraphs = "probabilities"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.environment, ProbabilisticEnvironment):
            raise SettingError("environment has edge probabilities already; expected one whose graphs are known")
        if self.n_arms > PACKED_LIMIT:
            raise SettingError(
                f"environment has {self.n_arms} arms; expected at most {PACKED_LIMIT} with edge probabilities"
            )
        if isinstance(self.probability, np.ndarray):
            if self.probability.shape != (self.n_arms, self.n_arms):
                expected = (self.n_arms, self.n_arms)
                raise SettingError(f"probability has shape {self.probability.shape}; expected {expected}, or a number")
            ProbabilisticGraphs.repeat(self.probability, 1)  # refuses numbers outside [0, 1]
            if self.concentration is not None:
                raise SettingError("concentration comes with a matrix of probabilities; expected a single one with it")
        elif setting_number("probability", self.probability, at_least=0.0) > 1.0:
            raise SettingError(f"probability is {self.probability!r}; expected a number from 0 to 1")
        elif self.concentration is not None:
            setting_number("concentration", self.concentration, above=0.0)
            if not 0.0 < self.probability < 1.0:
                raise SettingError(f"probability is {self.probability!r}; expected it inside 0 to 1 with concentration")
        setting_boolean("keep_loops", self.keep_loops)
        setting_choice("shown", self.shown, get_args(ShownGraphs))

    def instance(self, seed: int, repeat: int = 0) -> "ProbabilisticInstance":
        """The instance of the other environment, with edge probabilities B."""
        check_repeat(seed, repeat)
        shape = self.n_arms, self.n_arms
        if self.concentration is None:
            present = np.array(np.broadcast_to(self.probability, shape), dtype=np.float64)
        else:
            mean, total = float(self.probability), self.concentration
            rng = stream(seed, "uncertain", repeat, "probabilities")
            present = rng.beta(total * mean, total * (1.0 - mean), shape)
        if self.keep_loops:
            np.fill_diagonal(present, 1.0)
        return ProbabilisticInstance(
            environment=self,
            inner=self.environment.instance(seed, repeat),
            seed=seed,
            repeat=repeat,
            present=present,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ProbabilisticInstance(BlockInstance):
    """One repeat; `present[j, a]` is B[j, a], the probability of the edge from j to a if the graph has it."""

    stream_name = "uncertain"  # renaming the stream would change every draw

    environment: ProbabilisticEnvironment
    inner: Instance
    present: Float[np.ndarray, "arms arms"]

    def problem(self, horizon: int | None) -> Problem:
        """What the other environment tells learners."""
        return self.inner.problem(horizon)

    def _block(self, number: int) -> Rounds:
        end, limit = (number + 1) * BLOCK, self.environment.n_rounds
        given = self.inner.rounds(number * BLOCK, end if limit is None else min(end, limit))
        whole = ProbabilisticGraphs.from_graphs(given.graphs)
        probabilistic = ProbabilisticGraphs(whole.stored * self.present, whole.index)
        shown = self.environment.shown
        return replace(
            given,
            graphs=probabilistic.sample(self.draws("edges", number)),
            probabilistic=probabilistic if shown == "probabilities" else None,
            hidden=shown == "nothing",
        )


# The settings have their lines here and in the class, because `help` of either shows only its own.
def probabilistic(
    environment: Environment,
    *,
    probability: "float | npt.ArrayLike" = 0.5,
    concentration: float | None = None,
    keep_loops: bool = True,
    shown: ShownGraphs = "probabilities",
) -> ProbabilisticEnvironment:
    """Make a `ProbabilisticEnvironment`: the rounds of another environment, with edge probabilities.

    - `environment`: the environment that draws the rounds; its graphs say which edges are possible.
    - `probability`: the probability of every edge, 0.5 by default; or the matrix B.
    - `concentration`: how close the edge probabilities are to `probability` (2 with 0.5: uniform); None (default): all
      are equal to it.
    - `keep_loops`: whether self-loops are always present; True by default.
    - `shown`: what learners are shown before they decide: the edge "probabilities" (default), which are 0 where the
      graph has no edge, "nothing", or the "graphs" that were drawn.

    >>> from graphbandit import environments
    >>> rounds = probabilistic(environments.paper(n_arms=3, graph="complete"), probability=0.4).instance(0).rounds(0, 2)
    >>> rounds.probabilistic[0].matrix
    array([[1. , 0.4, 0.4],
           [0.4, 1. , 0.4],
           [0.4, 0.4, 1. ]])
    >>> rounds.graphs[0].to_dense().astype(int)
    array([[1, 1, 1],
           [0, 1, 0],
           [0, 1, 1]])
    """
    is_number = isinstance(probability, bool | int | float | str | None) or np.ndim(probability) == 0
    return ProbabilisticEnvironment(
        environment=environment,
        probability=probability if is_number else numbers("probability", probability),  # type: ignore[arg-type]
        concentration=concentration,
        keep_loops=keep_loops,
        shown=shown,
    )
