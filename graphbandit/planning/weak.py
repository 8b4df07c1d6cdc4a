"""Rounds of AdaCB.G on graphs in which some arm does not reveal itself, the paper's open question. No bound is claimed.

The tight form of the sampling program is asked for directly:

    minimise    sum_a p(a) c(a)
    subject to  q(a) >= s / (|S| + gamma c(a))         for every candidate a != best that an available arm reveals
                q(best) >= s / (|S| + gamma c(j))      if best does not reveal itself; j the cheapest arm that does
                p >= 0,  sum_a p(a) = 1

with s = 1 if that has a solution, and else the largest s with which it has (one more program). The decisions report s
as `coverage_factor`. `docs/weak-graphs.md` says why best has a row of its own, and what an arm nobody reveals means.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from graphbandit.base.shapes import Bool, Float
from graphbandit.errors import GraphError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.probabilistic import ProbabilisticGraphs
from graphbandit.planning.sampling import SamplingRule, sample_rounds
from graphbandit.planning.sampling_program import solve_scaled_program, tight_demand
from graphbandit.rounds.decisions import ARRAYS, SOLVERS, Decisions


def check_revealed(graphs: FeedbackGraphs | ProbabilisticGraphs, available: Bool[np.ndarray, "n arms"] | None) -> None:
    """Raise GraphError unless every arm on offer is revealed by one on offer."""
    everyone = np.ones(graphs.n_arms, dtype=np.bool_)
    for t in range(len(graphs)):
        offered = everyone if available is None else available[t]
        hidden = np.flatnonzero(
            offered & ~revealed_by_some(graphs[t] if isinstance(graphs, FeedbackGraphs) else graphs.matrix(t), offered)
        )
        if len(hidden):
            arms = ", ".join(map(str, hidden[:8]))
            raise GraphError(
                f"in the graph of round {t} of the batch no arm on offer reveals arm {arms}; expected one that does, "
                "or AdaCBG(unrevealed='ignore'), which asks nothing of what cannot be learnt"
            )


def sample_weak_rounds(
    rule: SamplingRule,
    *,
    values: Float[np.ndarray, "n arms"],
    candidates: Bool[np.ndarray, "n arms"],
    graphs: FeedbackGraphs,
    uniforms: Float[np.ndarray, " n"],
    epoch: int,
    available: Bool[np.ndarray, "n arms"] | None = None,
    widths: Float[np.ndarray, "n arms"] | None = None,
) -> Decisions:
    """`rounds.sample_rounds` for graphs of any kind: a round is decided by its own graph, whatever the others are."""
    offered = np.ones(values.shape, dtype=np.bool_) if available is None else available
    weak = np.array([not graph.has_all_loops for graph in graphs])

    def part(rounds: Bool[np.ndarray, " n"], rule: SamplingRule) -> Decisions:
        return sample_rounds(
            rule,
            values=values[rounds],
            candidates=candidates[rounds],
            graphs=graphs[rounds],
            uniforms=uniforms[rounds],
            epoch=epoch,
            available=None if available is None else available[rounds],
            widths=None if widths is None else widths[rounds],
        )

    # What the weak rounds are told of gaps, S and gamma is as ever; only their program is another.
    decided = part(weak, replace(rule, coverage="none"))
    if rule.coverage != "none":
        for i, t in enumerate(np.flatnonzero(weak).tolist()):
            if decided.gamma[i] < np.inf:
                _decide(decided, i, graphs[t], offered[t], float(uniforms[t]))
    return decided if weak.all() else interleaved(weak, decided, part(~weak, rule))


def _decide(
    decisions: Decisions,
    i: int,
    graph: FeedbackGraph,
    available: Bool[np.ndarray, " arms"],
    uniform: float,
) -> None:
    """Solve the program of round i and write its answer into the decisions."""
    from graphbandit.kernels.planning.exploration import draw_arm

    best, gamma, gaps = int(decisions.best[i]), float(decisions.gamma[i]), decisions.gaps[i]
    size, candidates = int(decisions.exploration_set[i].sum()), decisions.candidates[i]
    revealed = revealed_by_some(graph, available)
    demand = tight_demand(candidates & revealed, gaps, best=best, size=size, gamma=gamma)
    if revealed[best] and not graph[best, best] and candidates.sum() > 1:
        cheapest = min(gaps[j] for j in graph.revealed_by(best) if available[j])
        demand[best] = 1.0 / (size + gamma * cheapest)
    answer, factor = solve_scaled_program(graph, demand, gaps, best, np.ascontiguousarray(available))
    action = int(draw_arm(answer.probabilities, uniform))
    decisions.action[i], decisions.probability[i] = action, answer.probabilities[action]
    decisions.probabilities[i] = answer.probabilities
    decisions.observation_probabilities[i] = answer.observation_probabilities
    decisions.objective[i], decisions.duality_gap[i] = answer.objective, answer.duality_gap
    decisions.solver[i] = SOLVERS.index(answer.solver if demand.any() else "trivial")
    decisions.coverage_factor[i] = factor


def revealed_by_some(
    graph: FeedbackGraph | Float[np.ndarray, "arms arms"], available: Bool[np.ndarray, " arms"]
) -> Bool[np.ndarray, " arms"]:
    """The arms that some available arm reveals, or may reveal where edges have probabilities."""
    if isinstance(graph, np.ndarray):
        likely: Bool[np.ndarray, " arms"] = (graph[available] > 0.0).any(axis=0)
        return likely
    out = graph.to_sparse().tocsr()[np.flatnonzero(available)]
    return np.bincount(out.indices, minlength=graph.n_arms) > 0


def interleaved(first: Bool[np.ndarray, " n"], some: Decisions, others: Decisions) -> Decisions:
    """Two parts of a batch, put back in the order of rounds: `first` says which are of the first part."""
    whole: dict[str, Any] = {}
    for name in ARRAYS:
        one, two = getattr(some, name), getattr(others, name)
        whole[name] = np.empty((len(first), *one.shape[1:]), dtype=one.dtype)
        whole[name][first], whole[name][~first] = one, two
    return Decisions(**whole)
