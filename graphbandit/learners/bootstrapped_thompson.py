"""Thompson sampling from the draws of any function class: a posterior, or bootstrap refits that stand for one."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphbandit.base.saved_files import savable
from graphbandit.learners.epochs.deciding import decided
from graphbandit.learners.epochs.plausible import (
    DrawingLearner,
    PlausibleState,
    check_drawn,
    draws_know_nothing,
    masks_of,
    values_of_draws,
)
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.drawn_arms import uniform_over
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import BEST, Words


@savable
@dataclass(frozen=True, kw_only=True)
class BootstrappedThompson(DrawingLearner):
    """Takes one of the epoch's draws by weight in each round and plays its best arm (Osband & Van Roy 2015).

    p(a) = sum of w_b over the draws b with argmax_j f_b(x, j) = a (lowest index on ties), so the propensities are exact
    and not estimated. For a finite class the draws are the whole posterior, and this is the sampling of Thompson
    (1933); from other classes at most `draws` functions are drawn at an epoch's start. It learns from every reward the
    graph reveals, and ignores the graph when choosing. Some classes cannot draw before they have seen rewards, or their
    draws then say that all arms are the same: with these, epoch 1 explores uniformly.

    - `draws`: how many functions are drawn of an infinite class, 200 by default.
    - `delta`: probability that noise the problem does not say is estimated too low, 0.1 by default.
    - `epoch_growth`: factor between the ends of epochs, 1.2 by default; smaller fits more often.
    - `seed`: names the stream that draws come from, 0 by default; give each repeat its own.
    - `function_class`: the functions that may be the truth; None (default): those of the problem.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    >>> from graphbandit import Bandit, FiniteClass, Problem, graphs
    >>> functions = FiniteClass(lambda x: np.array([[[1.0, 0], [0, 1.0], [2.0, 1]]]), n_functions=3, n_arms=2)
    >>> bandit = Bandit(BootstrappedThompson(), Problem(n_arms=2, function_class=functions, noise=0.5))
    >>> bandit.decide([0.0], graphs.bandit(2)).probabilities.round(4)
    array([0.6667, 0.3333])
    """

    takes_draws = True

    def prepared(self, state: PlausibleState) -> Any:
        """The functions, and the draws ready to be asked."""
        functions = self.functions(state.problem)
        return functions, values_of_draws(functions, state.plausible)

    def choose(self, state: PlausibleState, shown: Shown, rng: np.random.Generator) -> Decisions:
        """Each arm is played with a probability that is the weight of the draws that call it best."""
        from graphbandit.kernels.planning.information import best_arm_weights

        functions, values_in_parts = self.of_epoch(state)
        contexts = shown.contexts
        functions.check_contexts(contexts)
        masks = masks_of(shown, functions.n_arms)
        shape = len(contexts), functions.n_arms
        probabilities, means = np.zeros(shape), np.zeros(shape)
        same = np.ones(len(contexts), dtype=np.bool_)
        for part, values in values_in_parts(contexts):
            check_drawn(values)
            mask = masks if len(masks) == 1 else masks[part]
            best_arm_weights(values, state.plausible.weights, mask, probabilities[part], means[part], same[part])
        blind = same & draws_know_nothing(functions, state)
        probabilities[blind] = np.broadcast_to(uniform_over(masks), shape)[blind]
        explained = {"candidates": probabilities > 0, "exploration_set": probabilities > 0, "told": {"estimate": means}}
        return decided(probabilities, means, state, shown, rng, **explained)

    def words(self, state: PlausibleState, shown: Shown, made: Decisions) -> Words:
        """The estimates that `choose` has told."""
        return {BEST: made.best, "estimate": made.told["estimate"]}
