"""Rounds of AdaCB.G in which an edge is there with a probability only. No bound is claimed.

With q(a) = sum_j p(j) P[j, a] in place of the sum over the arms that reveal a, the tight form of the sampling program
stays as it is. What changes is the exploration set: an arm is left out of S once those taken before reveal it with
probabilities that sum to 1. Each of them has a gap no larger than the arm's own, so with sure loops the baseline meets

    q(a) >= sum over j in S of P[j, a] / (|S| + gamma c(j))  >=  1 / (|S| + gamma c(a))          for every candidate a

and the program always has a solution. Without, it is that of `weak_graphs`: with all demands times the largest s that
it has a solution for, and a demand of best's own, max over j of P[j, best] / (|S| + gamma c(j)). A round whose
probabilities are all 0 or 1 is decided as its graph is, to the last bit.
"""

from typing import Any

import numpy as np

from graphbandit.base.shapes import Bool, Float
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.probabilistic import ProbabilisticGraphs
from graphbandit.planning.probabilistic_program import solve_uncertain_program
from graphbandit.planning.sampling import SamplingRule, sample_rounds
from graphbandit.planning.sampling_program import tight_demand
from graphbandit.planning.weak import interleaved, revealed_by_some, sample_weak_rounds
from graphbandit.rounds.decisions import SOLVERS, Decisions
from graphbandit.rounds.draw import draw


def sample_uncertain_rounds(
    rule: SamplingRule,
    *,
    values: Float[np.ndarray, "n arms"],
    candidates: Bool[np.ndarray, "n arms"],
    graphs: ProbabilisticGraphs,
    uniforms: Float[np.ndarray, " n"],
    epoch: int,
    available: Bool[np.ndarray, "n arms"] | None = None,
    widths: Float[np.ndarray, "n arms"] | None = None,
) -> Decisions:
    """`rounds.sample_rounds` for graphs of edge probabilities; the rule's coverage is "none" or "tight"."""
    used, index = np.unique(graphs.index, return_inverse=True)
    matrices = graphs.stored[used]
    is_sure = ((matrices == 0.0) | (matrices == 1.0)).all(axis=(1, 2))
    sure = is_sure[index]
    if not sure.any():
        return _sample(rule, values, candidates, graphs, uniforms, epoch, available, widths)

    def part(rounds: Bool[np.ndarray, " n"]) -> dict[str, Any]:
        arrays = {"values": values, "candidates": candidates, "uniforms": uniforms}
        masks = {"available": available, "widths": widths}
        return {name: None if array is None else array[rounds] for name, array in (arrays | masks).items()}

    edges = FeedbackGraphs.from_dense(matrices[is_sure] == 1.0, require_loops=False)
    known = edges[(np.cumsum(is_sure) - 1)[index[sure]]]
    sample = sample_rounds if known.has_all_loops else sample_weak_rounds
    decided = sample(rule, graphs=known, epoch=epoch, **part(sure))
    if sure.all():
        return decided
    return interleaved(sure, decided, _sample(rule, graphs=graphs[~sure], epoch=epoch, **part(~sure)))


def _sample(
    rule: SamplingRule,
    values: Float[np.ndarray, "n arms"],
    candidates: Bool[np.ndarray, "n arms"],
    graphs: ProbabilisticGraphs,
    uniforms: Float[np.ndarray, " n"],
    epoch: int,
    available: Bool[np.ndarray, "n arms"] | None,
    widths: Float[np.ndarray, "n arms"] | None,
) -> Decisions:
    """The same, whatever the probabilities are."""
    from graphbandit.kernels.planning.probabilistic import baselines

    n, n_arms = values.shape
    masks = np.ones((1, n_arms), dtype=np.bool_) if available is None else np.ascontiguousarray(available)
    gaps, baseline = np.empty((n, n_arms)), np.empty((n, n_arms))
    explored, best, gamma = np.empty((n, n_arms), dtype=np.bool_), np.empty(n, dtype=np.int64), np.empty(n)
    width_rows = np.empty((n, 0)) if widths is None else np.ascontiguousarray(widths)
    baselines(
        graphs.stored, graphs.index, values, candidates, masks, width_rows, rule.explore_all, rule.rate,
        gaps, baseline, explored, best, gamma,
    )  # fmt: skip
    probabilities, factor = baseline.copy(), np.ones(n)
    solver = np.full(n, SOLVERS.index("none" if rule.coverage == "none" else "trivial"))
    duality_gap = np.full(n, np.nan if rule.coverage == "none" else 0.0)
    for t in range(n):
        if rule.coverage == "none" or gamma[t] == np.inf:
            continue
        matrix, mask, arm = graphs.matrix(t), masks[t if len(masks) > 1 else 0], int(best[t])
        size = int(explored[t].sum())
        demand = _demand(matrix, candidates[t], mask, gaps[t], best=arm, size=size, gamma=float(gamma[t]))
        if (matrix[arm] >= demand).all():  # best reveals all that is asked for, and nothing is cheaper
            probabilities[t] = np.arange(n_arms) == arm
            continue
        answer, factor[t] = solve_uncertain_program(matrix, demand, gaps[t], arm, mask, start=baseline[t])
        probabilities[t], duality_gap[t] = answer.probabilities, answer.duality_gap
        solver[t] = SOLVERS.index(answer.solver)
    actions, observed = draw(probabilities, graphs, uniforms)
    return Decisions(
        action=actions,
        probability=probabilities[np.arange(n), actions],
        probabilities=probabilities,
        observation_probabilities=observed,
        best=best,
        gaps=gaps,
        baseline=baseline,
        candidates=candidates,
        exploration_set=explored,
        gamma=gamma,
        epoch=np.full(n, epoch),
        objective=(probabilities * gaps).sum(axis=1),
        duality_gap=duality_gap,
        solver=solver,
        coverage_factor=factor,
    )


def _demand(
    matrix: Float[np.ndarray, "arms arms"],
    candidates: Bool[np.ndarray, " arms"],
    available: Bool[np.ndarray, " arms"],
    gaps: Float[np.ndarray, " arms"],
    *,
    best: int,
    size: int,
    gamma: float,
) -> Float[np.ndarray, " arms"]:
    """The tight demand of the candidates that may be revealed, and that of best unless it surely reveals itself."""
    revealed = revealed_by_some(matrix, available)
    demand = tight_demand(candidates & revealed, gaps, best=best, size=size, gamma=gamma)
    if revealed[best] and matrix[best, best] < 1.0 and candidates.sum() > 1:
        demand[best] = (matrix[available, best] / (size + gamma * gaps[available])).max()
    return demand
