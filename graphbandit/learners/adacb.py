"""AdaCB.G on loops: what AdaCB.G is where no arm reveals another, close to AdaCB (Foster et al. 2021)."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np

from graphbandit.base.saved_files import savable
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.generators.bandit import bandit
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.learners.adacb_g import AdaCBG, AdaCBGState, Radius, settings_of_paper
from graphbandit.learners.base import Learner
from graphbandit.learners.epochs.base import AnyFunctionClass
from graphbandit.learners.problem import Problem
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.drawn_arms import draw
from graphbandit.rounds.observations import Observations
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import Words


@savable
@dataclass(frozen=True, kw_only=True)
class AdaCB(Learner[AdaCBGState]):
    """p(a) = 1 / (|A| + gamma c(a)) for every candidate a != best of A = A(x; F_m), the rest on best.

    It is AdaCB.G on the graph of only self-loops: the exploration set is all candidates, and with the paper's gamma
    the sampling program's answer is its baseline, the formula above. It learns from every reward the graph reveals and
    ignores the graph when choosing, so it takes any graph. F_m, lambda_m, gamma and doubt are those of `AdaCBG`.

    This is not AdaCB of Foster, Rakhlin, Simchi-Levi & Xu (2021, algorithm 1) to the letter: to our knowledge, that
    has one gamma an epoch, from the number of all arms, while gamma here follows the candidates of each round. Tables
    call it "AdaCB.G on loops".

    - `radius`: how F_m is cut, "natural" (default), "sharp" or "paper", as in `AdaCBG`.
    - `eta`: strength of exploitation; gamma^2 is in proportion to it. None (default): that of `AdaCBG`.
    - `gamma`: "natural" or "paper", as in `AdaCBG`. None (default): "paper" if `radius` is, else "natural".
    - `doubt`: candidates are also played with at least this share of the probability that they are best, as in
      `AdaCBG`; 0.2 by default.
    - `delta`: probability of failure, 0.1 by default.
    - `radius_factor`: widens the radius, for a class that holds the truth only nearly; 1 by default.
    - `epoch_growth`: factor between the ends of epochs; None (default): that of `AdaCBG`.
    - `function_class`: the functions that may be the truth; None (default): those of the problem.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    ``AdaCB.paper()`` has the radius, gamma and epochs of ``AdaCBG.paper()``.

    >>> AdaCB.paper(eta=2.0).radius
    'paper'
    """

    radius: Radius = "natural"
    eta: float | None = None
    gamma: Literal["natural", "paper"] | None = None
    doubt: float = 0.2
    delta: float = 0.1
    radius_factor: float = 1.0
    epoch_growth: float | None = None
    function_class: AnyFunctionClass | None = None

    refits = True

    def __post_init__(self) -> None:
        self._on_loops  # noqa: B018  # refuses bad settings

    @classmethod
    def paper(cls, **settings: Any) -> "AdaCB":
        """The radius, gamma and epochs of Gong & Zhang's Algorithm 1.

        - `settings`: all others, such as `eta` or `delta`; `radius` and `gamma` are refused.
        """
        return cls(**settings_of_paper("AdaCB", ("radius", "gamma"), settings))

    @cached_property
    def _on_loops(self) -> AdaCBG:
        gamma = self.gamma or ("paper" if self.radius == "paper" else "natural")
        return AdaCBG(
            radius=self.radius,
            gamma=gamma,
            eta=self.eta,
            doubt=self.doubt,
            delta=self.delta,
            radius_factor=self.radius_factor,
            epoch_growth=self.epoch_growth,
            linear_program=gamma == "natural",  # the paper's program would give its baseline back
            function_class=self.function_class,
        )

    @property
    def takes_own_arms(self) -> bool:
        """Whether rounds may bring their own arms, which depends on the function class."""
        return self._on_loops.takes_own_arms

    def init(self, problem: Problem) -> AdaCBGState:
        """F_1 = F, and no estimate yet."""
        return self._on_loops.init(problem)

    def rounds_until_update(self, state: AdaCBGState) -> int:
        """Rounds until the epoch, or the horizon, ends."""
        return self._on_loops.rounds_until_update(state)

    def choose(self, state: AdaCBGState, shown: Shown, rng: np.random.Generator) -> Decisions:
        """Chosen as if no arm revealed another; the observation probabilities are those of the graphs shown."""
        loops = FeedbackGraphs.repeat(_loops(state.problem.n_arms), len(shown))
        chosen = self._on_loops.choose(state, shown.with_graphs(loops), rng)
        _, observed = draw(chosen.probabilities, shown.feedback_graphs, np.zeros(len(shown)))
        return chosen.seen_with(observed)

    def words(self, state: AdaCBGState, shown: Shown, made: Decisions) -> Words:
        """What the learner says of these decisions, for `Decision.explain`."""
        return self._on_loops.words(state, shown, made)

    def update(self, state: AdaCBGState, observations: Observations) -> AdaCBGState:
        """End the epoch: fhat and F_m from everything that was revealed."""
        return self._on_loops.update(state, observations)

    def postpone(self, state: AdaCBGState, observations: Observations) -> AdaCBGState:
        """End the epoch with all of its data; fhat and F_m stay as they were."""
        return self._on_loops.postpone(state, observations)

    def grown(self, state: AdaCBGState, problem: Problem) -> AdaCBGState:
        """fhat and F_m for all arms; the epoch goes on."""
        return self._on_loops.grown(state, problem)

    def refit(self, state: AdaCBGState, observations: Observations) -> AdaCBGState:
        """fhat and F_m from all data so far; the epoch goes on."""
        return self._on_loops.refit(state, observations)


@lru_cache(maxsize=64)
def _loops(n_arms: int) -> FeedbackGraph:
    """The graph of all decisions; what is worked out from it is kept with it."""
    return bandit(n_arms)
