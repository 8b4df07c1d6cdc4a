"""SquareCB.G (Zhang, Zhang, Vrousgou, Luo and Mineiro 2023): each round the convex program of its estimate."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.learners.epochs.base import AnyFunctionClass, EpochState
from graphbandit.learners.oracles import OracleLearner, OracleName
from graphbandit.planning.squarecb_program import solve_squarecb_programs
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.shown import Shown


@savable
@dataclass(frozen=True, kw_only=True)
class SquareCBG(OracleLearner):
    """p is the optimum of `squarecb_program` at the losses -fhat(x, a), solved exactly and certified.

    Before anything is learnt all losses are equal, and p reveals as much as it can. Arms need not reveal themselves,
    but each arm on offer must be revealed by an arm on offer. Vowpal Wabbit uses the same power of time for gamma, with
    scale 1 where there are graphs; the theory asks for sqrt(alpha T / regret of the oracle), which grows at the same
    rate.

    - `oracle`: "offline" (default): the function class, fitted at the start of each epoch. "vaw", "ridge", "ogd":
      online linear regression (`function_classes.online`), which learns every round, as in the paper.
    - `gamma`: "power" (default): gamma_scale * (rounds learnt from) ^ gamma_exponent. A number: that gamma from the
      first update on. Before it, gamma is 1.
    - `gamma_scale`, `gamma_exponent`: 10 and 1/2 by default, as in Vowpal Wabbit's SquareCB without graphs.
    - `regularisation`: of the online oracles, 1 by default.
    - `epoch_growth`: factor between the ends of epochs, 2 by default; for oracle "offline".
    - `function_class`: the functions that may be the truth, for oracle "offline"; None (default): those of the problem.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> from graphbandit import Bandit, Problem, graphs
    >>> bandit = Bandit(SquareCBG(oracle="vaw"), Problem(n_arms=3))
    >>> bandit.decide([1.0], graphs.star(3, hub=1)).probabilities.round(4)
    array([0.3596, 0.2808, 0.3596])
    """

    oracle: OracleName = "offline"
    gamma: float | Literal["power"] = "power"
    gamma_scale: float = 10.0
    gamma_exponent: float = 0.5
    regularisation: float = 1.0
    epoch_growth: float = 2.0
    function_class: AnyFunctionClass | None = None

    def sample(
        self, state: EpochState, values: Float[np.ndarray, "n arms"], shown: Shown, rng: np.random.Generator
    ) -> Decisions:
        """One convex program a round."""
        n, gamma, available = len(values), self.gamma_of(state), shown.available
        answers = solve_squarecb_programs(-values, shown.feedback_graphs, np.full(n, gamma), available=available)
        best = np.argmax(values if available is None else np.where(available, values, -np.inf), axis=1)
        return Decisions.from_probabilities(
            answers.probabilities,
            graphs=shown.graphs,
            rng=rng,
            epoch=state.epoch,
            best=best,
            gaps=values[np.arange(n), best][:, None] - values,
            available=available,
            gamma=gamma,
            duality_gap=answers.duality_gap,
            solver="interior-point",
        )
