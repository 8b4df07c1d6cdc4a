"""SquareCB.G (Zhang, Zhang, Vrousgou, Luo and Mineiro 2023): a convex program of the estimate in each round."""

from dataclasses import dataclass

import numpy as np

from graphbandit.base.array_types import RoundsByArms
from graphbandit.base.saved_files import savable
from graphbandit.learners.epochs.base import EpochState
from graphbandit.learners.epochs.deciding import decided
from graphbandit.learners.oracles import OracleLearner, OracleName
from graphbandit.planning.squarecb_program import solve_squarecb_programs
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.shown import Shown


# the settings are those of OracleLearner, listed in both docstrings so that help() shows them
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
    - `gamma`: "power" (default): gamma_scale * (rounds learnt from) ^ gamma_exponent, divided by the span of the
      rewards where the class holds a + b f with every f. A number: that gamma, in units of 1 / reward, from the first
      update on. Before it, gamma is 1.
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

    def sample(self, state: EpochState, values: RoundsByArms, shown: Shown, rng: np.random.Generator) -> Decisions:
        """One convex program a round."""
        gamma = self.gamma_of(state)
        gammas = np.full(len(values), gamma)
        answers = solve_squarecb_programs(shown.feedback_graphs, -values, gammas, available=shown.available)
        certified = {"duality_gap": answers.duality_gap, "solver": "interior-point"}
        return decided(answers.probabilities, values, state, shown, rng, gamma=gamma, **certified)
