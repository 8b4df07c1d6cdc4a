"""The terms of a round: what each estimator computes from p, G, the revealed rewards and a target.

A target d(a) is a policy pi(a), or the difference of two policies. With q(a) = sum_j p(j) G[j, a] and
w(a) = d(a) / q(a) where a was revealed, else 0:

    IPS, graph-IPS    sum_a w(a) y(a)                                   (IPS: only the arm played, q = p)
    DR, graph-DR      sum_a d(a) f(a) + sum_a w(a) (y(a) - f(a))
    direct            sum_a d(a) f(a)
    graph-balanced    sum_a w(A, a) y(a), with the weights of least variance for the guess f

Intervals that hold at any number of rounds use terms that are bounded from below, however large the weights are.
Rewards lie in [lo, hi]. Let b(a) = lo where d(a) >= 0 and hi elsewhere. In

    sum_a d(a) b(a) + sum_a w(a) (y(a) - b(a))

every summand of the second sum is at least 0. A model f may replace b as far as the bound allows: in each round f is
moved towards b until the smallest value that any arm and any rewards could give is at least sum_a d(a) b(a) - slack.
The mean of a term is the value of the target for any f, so this only costs variance, and only where weights are heavy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graphbandit.base.shapes import Bool, Float
from graphbandit.errors import LogError
from graphbandit.evaluation.group_sums import Terms
from graphbandit.graphs import ProbabilisticGraphs
from graphbandit.graphs.products import dense_graphs, times_graphs
from graphbandit.logs.batch import LogBatch


@dataclass(frozen=True, eq=False)
class Seen:
    """The rewards of a batch that an estimator uses, and the probability with which each was revealed.

    Without `side`, only the reward of the arm played is used, with the probability p of playing it.
    """

    batch: LogBatch
    side: bool

    @cached_property
    def revealed(self) -> Bool[np.ndarray, "n arms"]:
        """Which rewards are used."""
        return self.batch.revealed if self.side else self.batch.revealed_of_played

    @cached_property
    def q(self) -> Float[np.ndarray, "n arms"]:
        """The probability that each reward is revealed; nan where the log does not tell."""
        if self.side:
            return self.batch.q
        batch = self.batch
        if batch.probabilities is not None and batch.all_known.all():
            return batch.probabilities
        known = np.full(batch.rewards.shape, np.nan) if batch.probabilities is None else batch.probabilities.copy()
        rows = np.flatnonzero(~batch.all_known)
        known[rows, batch.actions[rows]] = batch.probability[rows]
        return known

    def largest(self, cells: Float[np.ndarray, "n arms"]) -> Float[np.ndarray, " n"] | None:
        """The largest sum of the cells that one arm reveals, over the arms that may be played.

        It is nan in rounds where the log does not tell, and None if it never does.
        """
        p = self.batch.probabilities
        if p is None:
            return None
        if self.side:
            if self.batch.graphs is None:
                return None
            graphs = self.batch.graphs
            if isinstance(graphs, ProbabilisticGraphs):  # every edge that may be present
                graphs = ProbabilisticGraphs((graphs.stored > 0).astype(np.float64), graphs.index)
            cells = times_graphs(cells, graphs, transposed=True)
        found: Float[np.ndarray, " n"] = np.where(p > 0, cells, 0.0).max(axis=1)
        return found if self.batch.all_known.all() else np.where(self.batch.all_known, found, np.nan)


def uses_side_observations(method: str) -> bool:
    """Whether a method uses the rewards of arms that were not played."""
    return method.startswith("graph-") or method == "direct"


def weights_of(
    target: Float[np.ndarray, "n arms"],
    seen: Seen,
    *,
    largest_weight: float | None = None,
    shrink: float | None = None,
) -> Float[np.ndarray, "n arms"]:
    """w(a) = d(a) / q(a) where a is revealed; cut to `largest_weight`, or shrunk to shrink w / (w^2 + shrink)."""
    used = seen.revealed & (target != 0)
    w = np.zeros(target.shape)
    np.divide(target, seen.q, out=w, where=used)
    if largest_weight is not None:
        np.clip(w, -largest_weight, largest_weight, out=w)
    if shrink is not None:
        w = shrink * w / (w * w + shrink)
    return w


def value_terms(
    method: str,
    target: Float[np.ndarray, "n arms"],
    seen: Seen,
    weights: Float[np.ndarray, "n arms"],
    model: Float[np.ndarray, "n arms"] | None,
    noise: float,
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """The estimator's term of each round, and the sum of its weights."""
    y = np.where(seen.revealed, seen.batch.rewards, 0.0)
    total = weights.sum(axis=1)
    if method in ("ips", "snips", "graph-ips", "graph-snips"):
        return (weights * y).sum(axis=1), total
    assert model is not None
    direct = (target * model).sum(axis=1)
    if method == "direct":
        return direct, total
    if method == "graph-balanced":
        balanced = balanced_weights(target, seen, model, noise)
        return (balanced * y).sum(axis=1), balanced.sum(axis=1)
    return direct + (weights * (y - model)).sum(axis=1), total


def bounded_terms(
    target: Float[np.ndarray, "n arms"],
    seen: Seen,
    weights: Float[np.ndarray, "n arms"],
    model: Float[np.ndarray, "n arms"] | None,
    reward_range: tuple[float, float],
    slack: Float[np.ndarray, " n"],
) -> Float[np.ndarray, " n"]:
    """Terms of mean sum_a d(a) f*(a) that are never below sum_a d(a) b(a) - slack."""
    low, high = reward_range
    base = np.where(target >= 0, low, high)
    guess = base if model is None else _guess(target, seen, base, np.clip(model, low, high), slack)
    y = np.where(seen.revealed, seen.batch.rewards, guess)
    found: Float[np.ndarray, " n"] = (target * guess).sum(axis=1) + (weights * (y - guess)).sum(axis=1)
    return found


def _guess(
    target: Float[np.ndarray, "n arms"],
    seen: Seen,
    base: Float[np.ndarray, "n arms"],
    model: Float[np.ndarray, "n arms"],
    slack: Float[np.ndarray, " n"],
) -> Float[np.ndarray, "n arms"]:
    """b + s (f - b), with the largest s up to 1 that keeps the term's smallest value above sum d b - slack."""
    away = model - base
    heavy = np.zeros(target.shape)
    q = seen.q
    np.divide(np.abs(target * away), q, out=heavy, where=(target != 0) & (q > 0))
    worst = seen.largest(heavy)
    if worst is None:
        return base
    drop = (target * away).sum(axis=1) - worst
    scale = np.where(np.isnan(worst), 0.0, 1.0)
    np.divide(slack, -drop, out=scale, where=drop < -slack)
    return np.asarray(base + scale[:, None] * away)


def terms(
    method: str,
    target: Float[np.ndarray, "n arms"],
    seen: Seen,
    model: Float[np.ndarray, "n arms"] | None,
    *,
    noise: float = 1.0,
    largest_weight: float | None = None,
    shrink: float | None = None,
    reward_range: tuple[float, float] | None = None,
    slack: Float[np.ndarray, " n"] | None = None,
) -> Terms:
    """All terms of a batch of rounds; the bounded ones only if `reward_range` is given.

    With `largest_weight` or `shrink` the bounded terms use no model, because then smaller weights can only widen the
    interval.
    """
    weights = weights_of(target, seen, largest_weight=largest_weight, shrink=shrink)
    value, total = value_terms(method, target, seen, weights, model, noise)
    if reward_range is None:
        none = np.zeros(len(seen.batch))
        return Terms(value, total, none, none)
    assert slack is not None
    helper = model if method in ("dr", "graph-dr", "direct") and largest_weight is None and shrink is None else None
    return Terms(
        value,
        total,
        bounded_terms(target, seen, weights, helper, reward_range, slack),
        -bounded_terms(-target, seen, -weights, helper, reward_range, slack),
    )


def balanced_weights(
    target: Float[np.ndarray, "n arms"], seen: Seen, guess: Float[np.ndarray, "n arms"], noise: float
) -> Float[np.ndarray, "n arms"]:
    """The weights w(A, a) of the arm A played that minimise the variance if the rewards are r = `guess` plus noise.

    Among all w(j, a) with sum_j p(j) G[j, a] w(j, a) = d(a), minimise
    sum_j p(j) ((sum_a G[j, a] w(j, a) r(a))^2 + s2 sum_a G[j, a] w(j, a)^2), s2 = `noise`. The solution is
    w(j, a) = (m(a) - z(j) r(a)) / s2 with z(j) = sum_a G[j, a] r(a) m(a) / (s2 + sum_a G[j, a] r(a)^2), where m solves
    (diag(q) - diag(r) G' diag(p / (s2 + G r^2)) G diag(r)) m = s2 d. With r = 0 it is graph-IPS.
    """
    batch = seen.batch
    if batch.probabilities is None or batch.graphs is None or not batch.all_known.all():
        raise LogError(
            "the log lacks graphs or the probabilities of all arms; method='graph-balanced' expects both",
            table="decisions",
            row=batch.first_row + int(np.argmin(batch.all_known & (batch.graphs is not None))),
        )
    n, n_arms = target.shape
    result = np.zeros((n, n_arms))
    step = max(1, (1 << 20) // (n_arms * n_arms))
    for start in range(0, n, step):
        part = slice(start, start + step)
        p, r, q, d = batch.probabilities[part], guess[part], batch.q[part], target[part]
        graph = dense_graphs(batch.graphs, batch.graphs.index[part])
        spread = noise + np.einsum("nja,na->nj", graph, r * r)
        scaled = graph * r[:, None, :]
        system = -np.matmul(scaled.transpose(0, 2, 1), (p / spread)[:, :, None] * scaled)
        places = np.arange(n_arms)
        system[:, places, places] += np.where(q > 0, q, 1.0)
        solution = np.linalg.solve(system, (noise * np.where(q > 0, d, 0.0))[:, :, None])[:, :, 0]
        rows, played = np.arange(len(p)), batch.actions[part]
        z = (scaled[rows, played] * solution).sum(axis=1) / spread[rows, played]
        result[part] = np.where(seen.revealed[part], (solution - z[:, None] * r) / noise, 0.0)
    return result
