"""SquareCB (Foster and Rakhlin 2020): inverse-gap weighting, online oracle; the graph only feeds the estimate."""

from dataclasses import dataclass

import numpy as np

from graphbandit.base.array_types import RoundsByArms
from graphbandit.base.saved_files import savable
from graphbandit.learners.epochs.base import EpochState
from graphbandit.learners.oracles import OracleLearner, OracleName
from graphbandit.planning.sampled_rounds import SamplingRule, sample_rounds
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.shown import Shown


# the settings are those of OracleLearner, listed in both docstrings so that help() shows them
@savable
@dataclass(frozen=True, kw_only=True)
class SquareCB(OracleLearner):
    """p(a) = 1 / (K + gamma c(a)) for a != best, the rest on best, K counting the arms on offer.

    It plays like `Falcon`, with an oracle that learns each round and a gamma that is a power of time, as in SquareCBG.

    - `oracle`: "offline": the function class, fitted at the start of each epoch. "vaw" (default), "ridge", "ogd":
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
    >>> bandit = Bandit(SquareCB(), Problem(n_arms=2))
    >>> bandit.observe(bandit.decide([1.0], graphs.complete(2)), {0: 1.0, 1: 0.0})
    >>> bandit.decide([1.0], graphs.complete(2)).probabilities  # estimates 1/3 and 0: 1 / (2 + 10/3) on arm 1
    array([0.8125, 0.1875])
    """

    oracle: OracleName = "vaw"

    def sample(self, state: EpochState, values: RoundsByArms, shown: Shown, rng: np.random.Generator) -> Decisions:
        """Inverse-gap weighting over the arms on offer."""
        rule = SamplingRule(explore="all", coverage="none", rate=self.gamma_of(state), flat=True)
        return sample_rounds(
            rule,
            values=values,
            candidates=None,
            graphs=shown.graphs,  # type: ignore[arg-type]  # the door let nothing else in
            uniforms=rng.random(len(values)),
            epoch=state.epoch,
            available=shown.available,
        )
