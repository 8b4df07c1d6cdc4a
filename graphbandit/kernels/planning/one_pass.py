"""Whole rounds: from estimates and candidates to a drawn arm, the probabilities and what explains them."""

from typing import NamedTuple

import numpy as np

from graphbandit.base.array_types import Offers, PerRound, RoundsByArms
from graphbandit.base.program_constants import COVER_ARMS, EXPLORES, SOLVERS
from graphbandit.base.shapes import Float, Int
from graphbandit.kernels.graphs.adjacency import Graphs, graph_of, observation_probabilities
from graphbandit.kernels.graphs.domination import call_size_with_cover
from graphbandit.kernels.jit import kernel
from graphbandit.kernels.planning.certificate import Program
from graphbandit.kernels.planning.demands import PAPER_COVERAGE, Task, call_demand
from graphbandit.kernels.planning.exploration import (
    Beliefs,
    best_arm,
    call_exploration_set,
    draw_arm,
    set_baseline,
    set_chances,
)
from graphbandit.kernels.planning.program import SOLVED, Room, Solvers, call_program

ALL, BEST = EXPLORES.index("all"), EXPLORES.index("best")
NONE, TRIVIAL, SIMPLEX = SOLVERS.index("none"), SOLVERS.index("trivial"), SOLVERS.index("simplex")
PENDING, BARE = -1, -2
"""Written instead of a solver if the program is left to the caller; BARE if the baseline may not meet its demands."""

GAMMAS = 11
"""How many values of gamma, each twice the one before, the width rule tries."""


class Rule(NamedTuple):
    """`planning.sampled_rounds.SamplingRule` for kernels: positions in `EXPLORES` and `COVERAGES` in place of names."""

    explore: int
    coverage: int
    rate: float
    flat: bool
    doubt: float
    exploration_set: int
    """the address of `greedy_exploration_set`; 0 if candidates are not explored"""
    cover: int
    """the address of `size_with_cover`; 0 if |S| is not compared with the size of a cover"""
    demand: int
    """the address of `set_demand`; 0 if the baseline is played"""


class Rounds(NamedTuple):
    """The input of the rounds, one row each."""

    values: RoundsByArms
    candidates: Offers
    """one mask for all rounds, or one for each"""
    available: Offers
    """one mask for all rounds, or one for each"""
    widths: Float[np.ndarray, "n arms_or_none"]
    """without columns if gamma is not chosen by widths"""
    deviations: Float[np.ndarray, "n arms_or_none"]
    """standard deviations of the gaps; without columns if they are not used"""
    chances: Float[np.ndarray, "n arms_or_none"]
    """the probability that an arm is best, if the class gives it; else without columns"""
    uniforms: PerRound


class Outcome(NamedTuple):
    """The results, one row a round: the fields of `Decisions`."""

    tables: Float[np.ndarray, "n 5 arms"]
    """p, q, the gaps, the baseline, and the exploration set: 1 for its arms, 0 elsewhere"""
    integers: Int[np.ndarray, "n 3"]
    """action, best, solver"""
    numbers: Float[np.ndarray, "n 5"]
    """probability, gamma, objective, duality gap, and the coverage factor: 1 unless the graph is weakly observable"""

    # each property is one of the tables, for Python; kernels take them by number
    @property
    def probabilities(self) -> RoundsByArms:
        """p."""
        return self.tables[:, 0]

    @property
    def observed(self) -> RoundsByArms:
        """q."""
        return self.tables[:, 1]

    @property
    def gaps(self) -> RoundsByArms:
        """c."""
        return self.tables[:, 2]

    @property
    def baseline(self) -> RoundsByArms:
        """p-tilde."""
        return self.tables[:, 3]

    @property
    def explored(self) -> RoundsByArms:
        """S, as ones."""
        return self.tables[:, 4]


@kernel()
def decide_rounds(graphs: Graphs, rounds: Rounds, rule: Rule, solvers: Solvers, room: Room, outcome: Outcome) -> int:
    """Steps 1 to 7 of the algorithm for each round of a batch. Returns how many programs are left to the caller.

    gamma = rate sqrt(|S|), or rate if that is `flat`, or, where there are widths, rate times the gamma that makes the
    bound 2 |S| / gamma + (gamma / 4) sum_a q(a) w(a)^2 smallest. With `cover`, demands and gamma use the size of a
    cover instead of |S| if it is smaller. Where a program is left to the caller, `probabilities` has its demands.
    """
    n, n_arms = rounds.values.shape
    indices, floats = np.empty((2, n_arms), np.int32), np.empty((4, n_arms))
    scratch, order = indices[0], indices[1]
    demand, duals, chances, ceilings = floats[0], floats[1], floats[2], floats[3]
    pending = 0
    for t in range(n):
        graph = graph_of(graphs, t)
        values, widths = rounds.values[t], rounds.widths[t]
        candidates = rounds.candidates[t if rounds.candidates.shape[0] > 1 else 0]
        available = rounds.available[t if rounds.available.shape[0] > 1 else 0]
        probabilities, observed = outcome.tables[t, 0], outcome.tables[t, 1]
        gaps, baseline, explored = outcome.tables[t, 2], outcome.tables[t, 3], outcome.tables[t, 4]
        best = best_arm(values, available)
        size = 0
        for a in range(n_arms):
            gaps[a] = values[best] - values[a]
            explored[a] = 0.0
            order[size] = a
            size += available[a]
        if rule.explore == BEST:
            order[0] = best
            size = 1
        elif rule.explore != ALL:
            size = call_exploration_set(rule.exploration_set, (graph, candidates, gaps, scratch, order))
        for i in range(size):
            explored[order[i]] = 1.0
        amount = size
        if rule.cover != 0 and size > 1 and n_arms <= COVER_ARMS:
            amount = call_size_with_cover(rule.cover, (graph, candidates, available, size))

        known = set_chances(candidates, gaps, rounds.deviations[t], rounds.chances[t], chances)
        beliefs = Beliefs(gaps, chances, known, rule.doubt)
        squares = 0.0
        for a in range(widths.shape[0]):
            squares += widths[a] * widths[a]
        trials = GAMMAS if squares > 0.0 else 0
        trial = np.sqrt(8.0 * size / squares) if trials else 0.0
        gamma = rule.rate * (trial if trials else 1.0 if rule.flat else np.sqrt(amount))
        if widths.shape[0] > 0 and not trials:
            gamma = np.inf
        lowest_bound = np.inf
        solver, objective, gap = TRIVIAL, 0.0, 0.0
        for attempt in range(trials + 1):
            tried = trial if attempt < trials else gamma
            if tried == np.inf:
                for a in range(n_arms):
                    baseline[a] = 0.0
                baseline[best] = 1.0
            else:
                set_baseline(order, size, best, tried, beliefs, baseline)
            if rule.demand != 0 and baseline[best] < 1.0:
                program = Program(graph, demand, gaps, best, available)
                task = Task(program, candidates, beliefs, rounds.deviations[t])
                call_demand(rule.demand, (task, rule.coverage, amount, tried, baseline, scratch, ceilings))
                status, objective, gap = call_program(solvers.program, (program, solvers, room, probabilities, duals))
                bare = rule.coverage != PAPER_COVERAGE and (known or amount < size)
                solver = SIMPLEX if status == SOLVED else BARE if bare else PENDING
            else:
                objective = 0.0
                for a in range(n_arms):
                    probabilities[a] = baseline[a]
                    objective += baseline[a] * gaps[a]
                played_alone = rule.demand != 0 or tried == np.inf
                solver = TRIVIAL if played_alone else NONE
                gap = 0.0 if played_alone else np.nan
            if attempt < trials:
                # A program that is left to the caller is judged by its baseline, which is feasible as well.
                observation_probabilities(graph, baseline if solver < 0 else probabilities, observed)
                error = 0.0
                for a in range(n_arms):
                    error += observed[a] * widths[a] * widths[a]
                bound = 2.0 * size / trial + 0.25 * trial * error
                if bound < lowest_bound * (1.0 - 1e-12):
                    lowest_bound = bound
                    gamma = rule.rate * trial
                trial *= 2.0
        action = -1
        if solver < 0:
            pending += 1
            for a in range(n_arms):
                probabilities[a] = demand[a]
        else:
            observation_probabilities(graph, probabilities, observed)
            action = draw_arm(probabilities, rounds.uniforms[t])
        integers, numbers = outcome.integers[t], outcome.numbers[t]
        integers[0], integers[1], integers[2] = action, best, solver
        numbers[0] = probabilities[action] if action >= 0 else np.nan
        numbers[1], numbers[2], numbers[3], numbers[4] = gamma, objective, gap, 1.0
    return pending
