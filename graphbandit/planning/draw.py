"""From probabilities to decisions, for learners that find their probabilities by a rule of their own.

`rounds.sample_rounds` is for learners that share the sampling program; this is for all others.
"""

import numpy as np

from graphbandit.base.checks import setting_choice
from graphbandit.base.programs import SOLVERS
from graphbandit.base.shapes import Bool, Float, Int
from graphbandit.errors import InputError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.probabilistic import ProbabilisticGraphs
from graphbandit.planning.kernel_graphs import kernel_graph
from graphbandit.rounds.decisions import Decisions

TOLERANCE = 1e-9
"""How far the probabilities of a round may be from summing to one."""


def decisions_from_probabilities(
    probabilities: Float[np.ndarray, "n arms"],
    *,
    graphs: FeedbackGraphs | ProbabilisticGraphs,
    uniforms: Float[np.ndarray, " n"],
    epoch: int,
    best: Int[np.ndarray, " n"],
    gaps: Float[np.ndarray, "n arms"],
    available: Bool[np.ndarray, "n arms"] | None = None,
    candidates: Bool[np.ndarray, "n arms"] | None = None,
    exploration_set: Bool[np.ndarray, "n arms"] | None = None,
    baseline: Float[np.ndarray, "n arms"] | None = None,
    gamma: Float[np.ndarray, " n"] | float = float("nan"),
    duality_gap: Float[np.ndarray, " n"] | float = float("nan"),
    solver: str = "none",
) -> Decisions:
    """Decisions that play arm a of round t with probability `probabilities[t, a]`.

    One uniform number a round draws its arm, by inverse transform. q(a) = sum of p(j) over the arms j that reveal a
    (each times its probability, where edges have one) follows from the graphs, `objective` = sum_a p(a) c(a) from the
    gaps. What a learner has no word for stands at: every available arm for `candidates` and `exploration_set`, the
    probabilities themselves for `baseline`, and not a number for `gamma` and `duality_gap`.

    >>> from graphbandit import graphs
    >>> stars = FeedbackGraphs.repeat(graphs.star(3, hub=0), 2)
    >>> p = np.array([[0.2, 0.8, 0.0], [0.2, 0.8, 0.0]])
    >>> decisions = decisions_from_probabilities(
    ...     p, graphs=stars, uniforms=np.array([0.1, 0.9]), epoch=1, best=np.array([1, 1]), gaps=np.zeros((2, 3))
    ... )
    >>> decisions.action, decisions.probability, decisions.observation_probabilities[0]
    (array([0, 1]), array([0.2, 0.8]), array([1. , 1. , 0.2]))
    """
    n, n_arms = len(graphs), graphs.n_arms
    offered = np.ones((n, n_arms), dtype=np.bool_) if available is None else np.array(available)
    p = np.ascontiguousarray(probabilities, dtype=np.float64)
    if p.shape != (n, n_arms) or uniforms.shape != (n,):
        raise InputError(
            f"probabilities has shape {p.shape} and uniforms {uniforms.shape}; expected ({n}, {n_arms}) and ({n},)"
        )
    _check_distributions(p, offered)
    setting_choice("solver", solver, SOLVERS)
    actions, observed = draw(p, graphs, uniforms)
    return Decisions(
        action=actions,
        probability=p[np.arange(n), actions],
        probabilities=p,
        observation_probabilities=observed,
        best=best,
        gaps=gaps,
        baseline=p if baseline is None else baseline,
        candidates=offered if candidates is None else candidates,
        exploration_set=offered if exploration_set is None else exploration_set,
        gamma=np.full(n, gamma) if np.ndim(gamma) == 0 else np.asarray(gamma),
        epoch=np.full(n, epoch),
        objective=(p * gaps).sum(axis=1),
        duality_gap=np.full(n, duality_gap) if np.ndim(duality_gap) == 0 else np.asarray(duality_gap),
        solver=np.full(n, SOLVERS.index(solver)),
    )


def draw(
    probabilities: Float[np.ndarray, "n arms"],
    graphs: FeedbackGraphs | ProbabilisticGraphs,
    uniforms: Float[np.ndarray, " n"],
) -> tuple[Int[np.ndarray, " n"], Float[np.ndarray, "n arms"]]:
    """The arm of every round, and all observation probabilities q, from arrays that have been checked already."""
    from graphbandit.kernels.planning import draw as kernels

    observed, actions = np.empty_like(probabilities), np.empty(len(graphs), dtype=np.int64)
    if isinstance(graphs, ProbabilisticGraphs):
        kernels.draw_weighted(graphs.stored, graphs.index, probabilities, uniforms, observed, actions)
    elif graphs.is_packed:
        kernels.draw_packed(graphs.words, graphs.index, probabilities, uniforms, observed, actions)
    else:
        for t in range(len(graphs)):
            graph = kernel_graph(graphs[t])
            actions[t] = kernels.draw_listed(graph, probabilities[t], float(uniforms[t]), observed[t])
    return actions, observed


def uniform_over(mask: Bool[np.ndarray, "n arms"]) -> Float[np.ndarray, "n arms"]:
    """The same probability for every arm of the mask.

    >>> uniform_over(np.array([[True, False, True]]))
    array([[0.5, 0. , 0.5]])
    """
    return np.asarray(mask / mask.sum(axis=1, keepdims=True))


def _check_distributions(p: Float[np.ndarray, "n arms"], available: Bool[np.ndarray, "n arms"]) -> None:
    """Raise unless every round has a distribution over its available arms: kernels trust it."""
    good = ((p >= 0) & (available | (p == 0))).all(axis=1) & (np.abs(p.sum(axis=1) - 1.0) <= TOLERANCE)
    if not good.all():
        t = int(np.argmin(good))
        raise InputError(
            f"the probabilities of round {t} of the batch have smallest entry {p[t].min():g}, sum {p[t].sum():.12g} "
            f"and {p[t][~available[t]].sum():g} on arms not available; expected a distribution over those available"
        )
