"""The seam between learners and kernels: estimates and candidates in, decisions out, for a whole batch."""

from dataclasses import dataclass

import numpy as np

from graphbandit.base.shapes import Bool, Float
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.planning.anytime import Effort
from graphbandit.planning.sampling_program import DEFAULT_EFFORT, ROW_LIMIT, paper_demand, solve_program, tight_demand
from graphbandit.rounds.decisions import SOLVERS, Decisions

COVERAGES = ("none", "paper", "tight")


@dataclass(frozen=True, kw_only=True)
class SamplingRule:
    """How probabilities follow from gaps, candidates and graph.

    `explore_all`: S is every available arm instead of the greedy exploration set. `coverage`: the demands of the
    sampling program, or "none" to play the baseline. `rate`: gamma = rate sqrt(|S|), or, with widths, gamma = rate
    times the gamma of the smallest bound. `effort`: for programs too large to be solved exactly.
    """

    explore_all: bool
    coverage: str
    rate: float
    effort: Effort = DEFAULT_EFFORT


def sample_rounds(
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
    """Steps 1 to 7 of every round of a batch. One uniform number a round draws its arm."""
    from graphbandit.kernels.planning import sampling as kernels
    from graphbandit.kernels.planning.exploration import draw_arm

    n, n_arms = values.shape
    probabilities, observed = np.empty((n, n_arms)), np.empty((n, n_arms))
    gaps, baseline = np.empty((n, n_arms)), np.empty((n, n_arms))
    explored = np.empty((n, n_arms), dtype=np.bool_)
    integers, numbers = np.empty((n, 3), dtype=np.int64), np.empty((n, 4))
    masks = np.ones((1, n_arms), dtype=np.bool_) if available is None else np.ascontiguousarray(available)
    width_rows = np.empty((n, 0)) if widths is None else widths
    coverage = COVERAGES.index(rule.coverage)
    if graphs.is_packed:
        kernels.decide_packed(
            graphs.words, graphs.index, values, candidates, masks, width_rows, rule.explore_all, coverage,
            rule.rate, uniforms, ROW_LIMIT, probabilities, observed, gaps, baseline, explored, integers, numbers,
        )  # fmt: skip
    else:
        for t in range(n):
            out, into = graphs[t].csr(), graphs[t].in_csr()
            action, best, gamma, objective, gap, solver = kernels.decide_listed(
                (out[0], out[1], into[0], into[1]), values[t], candidates[t], masks[t if len(masks) > 1 else 0],
                width_rows[t], rule.explore_all, coverage, rule.rate, float(uniforms[t]), ROW_LIMIT,
                probabilities[t], observed[t], gaps[t], baseline[t], explored[t],
            )  # fmt: skip
            integers[t] = action, best, solver
            numbers[t] = probabilities[t, action] if action >= 0 else np.nan, gamma, objective, gap
    for t in (integers[:, 2] == kernels.SOLVER_PENDING).nonzero()[0].tolist():
        best, gamma, mask = int(integers[t, 1]), float(numbers[t, 1]), masks[t if len(masks) > 1 else 0]
        if rule.coverage == "paper":
            demand = paper_demand(graphs[t], baseline[t], best)
        else:
            demand = tight_demand(candidates[t], gaps[t], best=best, size=int(explored[t].sum()), gamma=gamma)
        answer = solve_program(graphs[t], demand, gaps[t], best, mask, start=baseline[t], effort=rule.effort)
        probabilities[t], observed[t] = answer.probabilities, answer.observation_probabilities
        action = int(draw_arm(probabilities[t], float(uniforms[t])))
        integers[t] = action, best, SOLVERS.index(answer.solver)
        numbers[t] = probabilities[t, action], gamma, answer.objective, answer.duality_gap
    return Decisions(
        action=integers[:, 0],
        probability=numbers[:, 0],
        probabilities=probabilities,
        observation_probabilities=observed,
        best=integers[:, 1],
        gaps=gaps,
        baseline=baseline,
        candidates=candidates,
        exploration_set=explored,
        gamma=numbers[:, 1],
        epoch=np.full(n, epoch),
        objective=numbers[:, 2],
        duality_gap=numbers[:, 3],
        solver=integers[:, 2],
    )
