"""A slow, literal build of AdaCB.G, FALCON and modified RegCB.G: the judge of the fast one.

It shares no code with the package. One small function stands for one formula, in the order and with the
symbols of the algorithm's statement; whoever doubts a decision of the package reads the same decision here. Each
learner is written out from its first line to its last, what it has in common with another included, so that it can be
compared with its statement alone.

Arms and functions are numbered from 0, rounds and epochs from 1: round t is entry t - 1 of an array.
``G[j, a]`` is true when playing j reveals a. ``F`` is the number of functions, ``K`` that of all arms, ``N``
that of the arms on offer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Vector = NDArray[np.float64]
Graph = NDArray[np.bool_]
Mask = NDArray[np.bool_] | None

# ---------------------------------------------------------------------------------------------------------
# Schedule
# ---------------------------------------------------------------------------------------------------------


def n_epochs(T: int) -> int:
    """M = ceil(log2 T), and at least one."""
    M = 1
    while 2**M < T:
        M += 1
    return M


def tau(m: int) -> int:
    """tau_0 = 0, tau_m = 2^m: the last round of epoch m."""
    return 0 if m == 0 else 2**m


def split(m: int) -> int:
    """t_0 = 0, t_m = (tau_m + tau_{m-1}) / 2: the split points 1, 3, 6, 12, ..."""
    return 0 if m == 0 else (tau(m) + tau(m - 1)) // 2


def epoch_of(t: int) -> int:
    """The epoch m with tau_{m-1} + 1 <= t <= tau_m."""
    m = 1
    while t > tau(m):
        m += 1
    return m


def terms(m: int, T: int, delta: float, horizon_known: bool) -> tuple[int, int, float]:
    """(T, M, delta) at epoch m; without a horizon these are tau_m, m and delta / (m (m + 1))."""
    if horizon_known:
        return T, n_epochs(T), delta
    return tau(m), m, delta / (m * (m + 1))


# ---------------------------------------------------------------------------------------------------------
# At the start of epoch m
# ---------------------------------------------------------------------------------------------------------


def beta(m: int, M: int, F: int, K: int, T: int, delta: float) -> float:
    """beta_m = 16 (M - m + 1) log(2 |F| K^2 T^2 / delta)."""
    return 16 * (M - m + 1) * math.log(2 * F * K**2 * T**2 / delta)


def sharp_radius(sigma: float, F: int, delta: float) -> float:
    """2 sigma^2 log(|F| / delta), for all rounds at once."""
    return 2 * sigma**2 * math.log(F / delta)


def mu(m: int, M: int, delta: float) -> float:
    """mu_m = 64 log(4 M / delta) / n_m with n_m = tau_m - tau_{m-1}."""
    return 64 * math.log(4 * M / delta) / (tau(m) - tau(m - 1))


def squared_loss(data: Data, last: int) -> Vector:
    """L(f) for every f: sum over rounds 1..last and over the observed a of (f(x, a) - y_a)^2."""
    L = np.zeros(data.F)
    for t in range(1, last + 1):
        for a in data.revealed[t - 1]:
            L += (data.values[t - 1, :, a] - data.rewards[t - 1, a]) ** 2
    return L


def least_squares(data: Data, m: int) -> int | None:
    """fhat_m: argmin of the loss over rounds 1..tau_{m-1}, ties to the lowest index; none in epoch 1."""
    if m == 1:
        return None
    return argmax_lowest(-squared_loss(data, tau(m - 1)))


def version_space(data: Data, last: int, radius: float) -> list[int]:
    """{ f : L(f) <= min L + radius }, L over rounds 1..last."""
    L = squared_loss(data, last)
    return [f for f in range(data.F) if L[f] <= min(L) + radius]


def disagreement_share(sets: list[list[int]]) -> float:
    """nu: the share of the rounds whose candidate set has more than one arm."""
    return sum(len(A) > 1 for A in sets) / len(sets)


def scale_factor(w: float, w_before: float) -> float:
    """lambda_m = w_m / sqrt(w_{m-1})."""
    return w / math.sqrt(w_before)


# ---------------------------------------------------------------------------------------------------------
# In each round
# ---------------------------------------------------------------------------------------------------------


def on_offer(available: Mask, K: int) -> list[int]:
    """The arms on offer; no mask means all of them."""
    return [a for a in range(K) if available is None or available[a]]


def argmax_lowest(values: Vector, available: Mask = None) -> int:
    """The arm on offer with the largest value; ties go to the lowest index."""
    arms = on_offer(available, len(values))
    best = arms[0]
    for a in arms:
        if values[a] > values[best]:
            best = a
    return best


def estimated_gaps(v: Vector, best: int) -> Vector:
    """Step 1: c(a) = v(best) - v(a); at least 0 for arms on offer, of no meaning for the others."""
    return v[best] - v


def candidates(values: Vector, members: Iterable[int], available: Mask = None) -> list[int]:
    """Step 2: A(x; F_m) = { argmax_a f(x, a) : f in F_m }, sorted; ``values[f, a]`` is f(x, a)."""
    return sorted({argmax_lowest(values[f], available) for f in members})


def by_gap(arms: Iterable[int], gaps: Vector) -> list[int]:
    """The arms by ascending gap, ties by lowest index."""
    return sorted(arms, key=lambda a: (gaps[a], a))


def exploration_set(G: Graph, candidates: Iterable[int], gaps: Vector) -> list[int]:
    """Step 3: walk the candidates by ascending gap, take an arm unless one taken before reveals it."""
    S: list[int] = []
    for a in by_gap(candidates, gaps):
        if not any(G[j, a] for j in S):
            S.append(a)
    return S


def gamma(size: int, rounds: int, eta: float, lam: float, K: int, F: int, T: int, delta: float) -> float:
    """Step 4: lambda sqrt(eta size rounds / (2 log(2 K |F| T^2 / delta))).

    AdaCB.G: size = |S|, rounds = tau_{m-1} - tau_{m-2}. RegCB.G: size = |S|, rounds = tau_{m-1}, lambda = 1.
    FALCON and the inverse-gap baseline: size = N, rounds = tau_{m-1}, lambda = 1.
    """
    return lam * math.sqrt(eta * size * rounds / (2 * math.log(2 * K * F * T**2 / delta)))


def rest_on_best(ptilde: Vector, best: int) -> Vector:
    """Step 5, last line: ptilde(best) = 1 - the rest. What is below 1e-15 is rounding, and is 0."""
    rest = 1 - math.fsum(ptilde)
    ptilde[best] = rest if rest >= 1e-15 else 0.0
    return ptilde


def baseline(S: list[int], best: int, gamma: float, gaps: Vector, K: int) -> Vector:
    """Step 5: ptilde(a) = 1 / (|S| + gamma c(a)) on S other than best, 0 off S, the rest on best."""
    ptilde = np.zeros(K)
    for a in S:
        if a != best:
            ptilde[a] = 1 / (len(S) + gamma * gaps[a])
    return rest_on_best(ptilde, best)


def inverse_gap(best: int, gamma: float, gaps: Vector, available: Mask = None) -> Vector:
    """FALCON: p(a) = 1 / (N + gamma c(a)) for arms on offer other than best, the rest on best."""
    arms = on_offer(available, len(gaps))
    p = np.zeros(len(gaps))
    for a in arms:
        if a != best:
            p[a] = 1 / (len(arms) + gamma * gaps[a])
    return rest_on_best(p, best)


def paper_demand(G: Graph, ptilde: Vector) -> Vector:
    """Step 6: b(a) = max over j with G[j, a] of ptilde(j), for every arm (the LP leaves out best's row)."""
    K = len(ptilde)
    return np.array([max((ptilde[j] for j in range(K) if G[j, a]), default=0.0) for a in range(K)])


def tight_demand(candidates: Iterable[int], best: int, size: int, gamma: float, gaps: Vector) -> Vector:
    """Tight coverage: 1 / (|S| + gamma c(a)) for candidates other than best, 0 for all other arms."""
    b = np.zeros(len(gaps))
    for a in candidates:
        if a != best:
            b[a] = 1 / (size + gamma * gaps[a])
    return b


def solve_lp(G: Graph, demand: Vector, gaps: Vector, best: int, available: Mask = None) -> tuple[Vector, float]:
    """Step 6: min sum p c  s.t.  sum_{j : G[j, a]} p(j) >= b(a) for a != best, p >= 0, sum p = 1.

    The variables are the arms on offer; every arm other than best has its row.
    """
    K = len(gaps)
    arms = on_offer(available, K)
    rows = [a for a in range(K) if a != best]
    solution = linprog(
        c=gaps[arms],
        A_ub=-G[np.ix_(arms, rows)].T.astype(float),
        b_ub=-demand[rows],
        A_eq=np.ones((1, len(arms))),
        b_eq=[1.0],
        bounds=(0, None),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert solution.status == 0, solution.message
    p = np.zeros(K)
    p[arms] = np.maximum(solution.x, 0)
    return p, expected_gap(p, gaps)


def expected_gap(p: Vector, gaps: Vector) -> float:
    """The objective of the LP, sum_a p(a) c(a)."""
    return math.fsum(p[a] * gaps[a] for a in range(len(p)) if p[a] > 0)


def observation_probabilities(G: Graph, p: Vector) -> Vector:
    """q(a) = sum over j with G[j, a] of p(j)."""
    K = len(p)
    return np.array([math.fsum(p[j] for j in range(K) if G[j, a]) for a in range(K)])


def draw(p: Vector, uniform: float) -> int:
    """Step 7: the first arm a of positive p with p(0) + ... + p(a) > u sum(p); if none, the last such arm."""
    total = sum(p)
    cumulative = 0.0
    last = -1
    for a in range(len(p)):
        if p[a] > 0:
            cumulative += p[a]
            last = a
            if cumulative > uniform * total:
                break
    return last


# ---------------------------------------------------------------------------------------------------------
# Gamma from the width of the version space
# ---------------------------------------------------------------------------------------------------------


def widths(values: Vector, members: list[int], fhat: int, best: int, available: Mask = None) -> Vector:
    """w(a) = max over f in F_m of |(f - fhat)(x, a) - (f - fhat)(x, best)| for arms on offer, else 0."""
    w = np.zeros(values.shape[1])
    for a in on_offer(available, len(w)):
        for f in members:
            at_a = values[f, a] - values[fhat, a]
            at_best = values[f, best] - values[fhat, best]
            w[a] = max(w[a], abs(at_a - at_best))
    return w


def width_bound(gamma: float, size: int, q: Vector, w: Vector) -> float:
    """B(gamma) = 2 s / gamma + (gamma / 4) sum_a q(a) w(a)^2."""
    return 2 * size / gamma + gamma / 4 * math.fsum(q * w**2)


def width_gamma(size: int, w: Vector, q_of: Callable[[float], Vector]) -> float:
    """The best by B of gamma_0 2^k, k = 0..10, gamma_0 = sqrt(8 s / W), W = sum w^2; infinite if W = 0.

    Bounds within a relative 1e-12 of the smallest count as equal: the smallest k of them is taken.
    """
    W = math.fsum(w**2)
    if W <= 0:
        return math.inf
    gammas = [math.sqrt(8 * size / W) * 2**k for k in range(11)]
    bounds = [width_bound(g, size, q_of(g), w) for g in gammas]
    as_small = min(bounds) * (1 + 1e-12)
    return next(g for g, bound in zip(gammas, bounds, strict=True) if bound <= as_small)


# ---------------------------------------------------------------------------------------------------------
# Learners
# ---------------------------------------------------------------------------------------------------------


@dataclass
class Data:
    """All that happens in a run, and what was revealed of it so far (``revealed[t - 1]`` for round t)."""

    values: Vector
    graphs: Graph
    rewards: Vector
    available: NDArray[np.bool_] | None
    T: int
    revealed: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        _, self.F, self.K = self.values.shape

    def available_at(self, t: int) -> Mask:
        """The mask of round t."""
        return None if self.available is None else self.available[t - 1]


@dataclass
class Epoch:
    """What is fixed at an epoch's first round."""

    m: int
    T: int
    M: int
    delta: float
    fhat: int | None
    members: list[int]
    w: float = 1.0
    lam: float = 1.0


@dataclass
class Record:
    """One round, decided: everything a comparison may ask for.

    ``lam`` is 1 where lambda_m is not used. ``demand`` is the right-hand side of the LP, None where no LP was
    solved. ``kind`` tells how ``exploration_set`` came about: "inverse-gap" means all arms on offer.
    """

    t: int
    epoch: int
    available: list[int]
    best: int
    gaps: Vector
    candidates: list[int]
    members: list[int]
    exploration_set: list[int]
    kind: Literal["exploration-set", "inverse-gap"]
    gamma: float
    lam: float
    baseline: Vector
    demand: Vector | None
    p: Vector
    q: Vector
    objective: float
    action: int = -1
    revealed: list[int] = field(default_factory=list)


class Learner:
    """The loop that the three learners share; each says how it starts an epoch and how it decides a round."""

    def start_epoch(self, m: int, data: Data, before: Epoch | None) -> Epoch:
        raise NotImplementedError

    def decide(self, t: int, epoch: Epoch, data: Data) -> Record:
        raise NotImplementedError

    def run(
        self,
        values: Vector,
        graphs: Graph,
        rewards: Vector,
        uniforms: Vector,
        T: int | None = None,
        available: NDArray[np.bool_] | None = None,
    ) -> list[Record]:
        """Play all rounds given, at most T; T is the horizon, by default the number of rounds given."""
        assert all(G.diagonal().all() for G in graphs), "every arm must reveal itself"
        data = Data(values, graphs, rewards, available, T=len(values) if T is None else T)
        records = []
        epoch = None
        for t in range(1, min(data.T, len(values)) + 1):
            m = epoch_of(t)
            if t == tau(m - 1) + 1:
                epoch = self.start_epoch(m, data, epoch)
            assert epoch is not None
            record = self.decide(t, epoch, data)
            record.action = draw(record.p, uniforms[t - 1])
            record.revealed = [a for a in range(data.K) if graphs[t - 1, record.action, a]]
            data.revealed.append(record.revealed)
            records.append(record)
        return records


def estimates(t: int, epoch: Epoch, data: Data) -> Vector:
    """Step 1: v = fhat_m(x_t, .); zero for every arm in epoch 1, where there is no estimate."""
    return np.zeros(data.K) if epoch.fhat is None else data.values[t - 1, epoch.fhat]


@dataclass
class AdaCBG(Learner):
    """AdaCB.G, with the project's settings; the defaults are the paper's."""

    delta: float = 0.1
    eta: float = 1.0
    radius: Literal["paper", "sharp"] = "paper"
    coverage: Literal["paper", "tight"] = "paper"
    gamma: Literal["paper", "width"] = "paper"
    baseline: Literal["exploration-set", "inverse-gap"] = "exploration-set"
    use_candidates: bool = True
    use_scale_factor: bool = True
    use_lp: bool = True
    sigma: float = 1.0
    horizon_known: bool = True

    def start_epoch(self, m: int, data: Data, before: Epoch | None) -> Epoch:
        """fhat_m, F_m, w_m = nu_m + mu_m, lambda_m, in this order."""
        T, M, delta = terms(m, data.T, self.delta, self.horizon_known)
        fhat = least_squares(data, m)
        members = self._members(m, T, M, delta, data)
        if before is not None and self.radius == "sharp":  # the paper's radius nests by itself
            members = [f for f in members if f in before.members] or members
        w = self._nu(m, members, data) + mu(m, M, delta)
        lam = 1.0
        lam_is_used = self.use_scale_factor and self.gamma == "paper" and self.baseline == "exploration-set"
        if before is not None and lam_is_used:
            lam = scale_factor(w, before.w)
        return Epoch(m, T, M, delta, fhat, members, w, lam)

    def _members(self, m: int, T: int, M: int, delta: float, data: Data) -> list[int]:
        """F_m, from rounds 1..t_{m-1}, or 1..tau_{m-1} if gamma follows the width; F_1 = F."""
        if m == 1:
            return list(range(data.F))
        last = tau(m - 1) if self.gamma == "width" else split(m - 1)
        if self.radius == "sharp":
            return version_space(data, last, sharp_radius(self.sigma, data.F, self.delta))
        return version_space(data, last, beta(m, M, data.F, data.K, T, delta))

    def _candidates(self, t: int, members: list[int], data: Data) -> list[int]:
        """A(x_t; F_m), or all arms on offer if candidates are not used."""
        if self.use_candidates:
            return candidates(data.values[t - 1], members, data.available_at(t))
        return on_offer(data.available_at(t), data.K)

    def _nu(self, m: int, members: list[int], data: Data) -> float:
        """nu_m over rounds t_{m-1} + 1 .. tau_{m-1}; nu_1 = 1."""
        if m == 1:
            return 1.0
        rounds = range(split(m - 1) + 1, tau(m - 1) + 1)
        return disagreement_share([self._candidates(t, members, data) for t in rounds])

    def decide(self, t: int, epoch: Epoch, data: Data) -> Record:
        """Steps 1 to 6."""
        G, available = data.graphs[t - 1], data.available_at(t)
        # 1. Estimates, best, gaps.
        v = estimates(t, epoch, data)
        best = argmax_lowest(v, available)
        c = estimated_gaps(v, best)
        # 2. Candidates.
        A = self._candidates(t, epoch.members, data)
        # 3. Exploration set; of an inverse-gap baseline, all arms on offer.
        S = by_gap(on_offer(available, data.K), c) if self.baseline == "inverse-gap" else exploration_set(G, A, c)

        # 5. and 6. Baseline and sampling LP, for a given gamma.
        def sample(g: float) -> tuple[Vector, Vector | None, Vector]:
            """(ptilde, b, p); b is None where no LP is solved."""
            if self.baseline == "inverse-gap":
                ptilde = inverse_gap(best, g, c, available)
            else:
                ptilde = baseline(S, best, g, c, data.K)
            if ptilde[best] >= 1 - 1e-15:
                return ptilde, None, play(best, data.K)
            if epoch.m == 1 or not self.use_lp:
                return ptilde, None, ptilde
            b = paper_demand(G, ptilde)
            if self.coverage == "tight":
                b = tight_demand(A, best, len(S), g, c)
            p, _ = solve_lp(G, b, c, best, available)
            return ptilde, b, p

        # 4. Gamma.
        if epoch.m == 1:
            g = 0.0
        elif self.gamma == "width":
            assert epoch.fhat is not None
            w = widths(data.values[t - 1], epoch.members, epoch.fhat, best, available)
            g = width_gamma(len(S), w, q_of=lambda g: observation_probabilities(G, sample(g)[2]))
            g = math.sqrt(self.eta) * g
        else:
            rounds = tau(epoch.m - 1) - tau(epoch.m - 2)
            if self.baseline == "inverse-gap":
                rounds = tau(epoch.m - 1)
            g = gamma(len(S), rounds, self.eta, epoch.lam, data.K, data.F, epoch.T, epoch.delta)

        if math.isinf(g):
            ptilde, b, p = play(best, data.K), None, play(best, data.K)
        else:
            ptilde, b, p = sample(g)
        return Record(
            t=t,
            epoch=epoch.m,
            available=on_offer(available, data.K),
            best=best,
            gaps=c,
            candidates=A,
            members=epoch.members,
            exploration_set=S,
            kind=self.baseline,
            gamma=g,
            lam=epoch.lam,
            baseline=ptilde,
            demand=b,
            p=p,
            q=observation_probabilities(G, p),
            objective=expected_gap(p, c),
        )


def play(arm: int, K: int) -> Vector:
    """The distribution that plays one arm."""
    p = np.zeros(K)
    p[arm] = 1.0
    return p


@dataclass
class Baseline(Learner):
    """What FALCON and the modified RegCB.G share: no candidates, no lambda, no LP. Each says where it explores and how.

    gamma_t = sqrt(eta |S| tau_{m-1} / (2 log(2 K |F| T^2 / delta))), and 0 in epoch 1.
    """

    delta: float = 0.1
    eta: float = 1.0
    horizon_known: bool = True
    kind = ""

    def explored(self, G: Graph, arms: list[int], c: Vector) -> list[int]:
        raise NotImplementedError

    def distribution(self, S: list[int], best: int, g: float, c: Vector) -> Vector:
        raise NotImplementedError

    def start_epoch(self, m: int, data: Data, before: Epoch | None) -> Epoch:
        """fhat_m from all observations."""
        T, M, delta = terms(m, data.T, self.delta, self.horizon_known)
        return Epoch(m, T, M, delta, least_squares(data, m), members=list(range(data.F)))

    def decide(self, t: int, epoch: Epoch, data: Data) -> Record:
        """p explores S with gamma_t."""
        G, available = data.graphs[t - 1], data.available_at(t)
        v = estimates(t, epoch, data)
        best = argmax_lowest(v, available)
        c = estimated_gaps(v, best)
        arms = on_offer(available, data.K)
        S = self.explored(G, arms, c)
        g = 0.0
        if epoch.m > 1:
            g = gamma(len(S), tau(epoch.m - 1), self.eta, 1.0, data.K, data.F, epoch.T, epoch.delta)
        p = self.distribution(S, best, g, c)
        # The fields of a record are written out here and in AdaCBG, where almost each of them is another.
        return Record(
            t=t,
            epoch=epoch.m,
            available=arms,
            best=best,
            gaps=c,
            candidates=arms,
            members=epoch.members,
            exploration_set=S,
            kind=self.kind,
            gamma=g,
            lam=epoch.lam,
            baseline=p,
            demand=None,
            p=p,
            q=observation_probabilities(G, p),
            objective=expected_gap(p, c),
        )


class Falcon(Baseline):
    """FALCON: inverse-gap weighting over all arms on offer, so |S| is their number; ignores the graph when choosing."""

    kind = "inverse-gap"

    def explored(self, G: Graph, arms: list[int], c: Vector) -> list[int]:
        return by_gap(arms, c)

    def distribution(self, S: list[int], best: int, g: float, c: Vector) -> Vector:
        return inverse_gap(best, g, c, np.isin(np.arange(len(c)), S))


class RegCBG(Baseline):
    """Modified RegCB.G: p = ptilde on the exploration set of all arms on offer."""

    kind = "exploration-set"

    def explored(self, G: Graph, arms: list[int], c: Vector) -> list[int]:
        return exploration_set(G, arms, c)

    def distribution(self, S: list[int], best: int, g: float, c: Vector) -> Vector:
        return baseline(S, best, g, c, len(c))


# ---------------------------------------------------------------------------------------------------------
# What must hold
# ---------------------------------------------------------------------------------------------------------


def dual_bound(G: Graph, demand: Vector, gaps: Vector, best: int, arms: list[int]) -> float:
    """A lower bound of the LP's optimum, by its dual: max b'y + z  s.t.  sum_{a : G[j, a]} y(a) + z <= c(j).

    y >= 0 has an entry for every arm but best, j runs over the arms on offer. Whatever y the solver gives,
    the largest z it allows is computed here, so the bound holds without trust in the solver.
    """
    rows = [a for a in range(len(gaps)) if a != best]
    reveals = G[np.ix_(arms, rows)].astype(float)
    solution = linprog(
        c=-np.append(demand[rows], 1.0),
        A_ub=np.hstack([reveals, np.ones((len(arms), 1))]),
        b_ub=gaps[arms],
        bounds=[(0, None)] * len(rows) + [(None, None)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert solution.status == 0, solution.message
    y = np.maximum(solution.x[:-1], 0)
    z = min(gaps[arms] - reveals @ y)
    return float(demand[rows] @ y + z)


def check_round(record: Record, G: Graph, tolerance: float = 1e-9) -> None:
    """Assert all that "What must hold" says of a single round."""
    check_best(record)
    check_exploration_set(record, G)
    check_distribution(record.baseline, record.available, tolerance)
    check_distribution(record.p, record.available, tolerance)
    assert np.allclose(record.q, observation_probabilities(G, record.p), rtol=0, atol=1e-12)
    check_lp(record, G, tolerance)
    check_implicit_problem(record, tolerance)
    if record.action >= 0:
        assert record.p[record.action] > 0
        assert record.revealed == [a for a in range(len(G)) if G[record.action, a]]


def check_best(record: Record) -> None:
    """Best is the lowest arm on offer of those without a gap; candidates are arms on offer, in order."""
    assert record.best == min(a for a in record.available if record.gaps[a] == 0)
    assert all(record.gaps[a] >= 0 for a in record.available)
    assert record.candidates
    assert record.candidates == sorted(set(record.candidates) & set(record.available))


def check_exploration_set(record: Record, G: Graph) -> None:
    """No arm of S is revealed by an earlier one; each candidate is, by an arm of S of no larger gap."""
    S, c = record.exploration_set, record.gaps
    assert by_gap(S, c) == S
    assert len(set(S)) == len(S)
    if record.kind == "inverse-gap":
        assert sorted(S) == record.available
        return
    assert set(S) <= set(record.candidates)
    for i, a in enumerate(S):
        assert not any(G[j, a] for j in S[:i])
    for a in record.candidates:
        assert any(G[j, a] and c[j] <= c[a] for j in S)
    if (G == G.T).all():
        assert not any(G[i, j] for i in S for j in S if i != j), "S is an independent set"


def check_distribution(p: Vector, available: list[int], tolerance: float) -> None:
    """p >= 0, sum p = 1, nothing on arms that are not on offer."""
    assert (p >= 0).all()
    assert abs(math.fsum(p) - 1) <= tolerance
    assert all(p[a] == 0 for a in range(len(p)) if a not in available)


def check_lp(record: Record, G: Graph, tolerance: float) -> None:
    """p and ptilde meet every row; p costs no more than ptilde, and no more than the dual bound allows."""
    objective = expected_gap(record.p, record.gaps)
    scale = max(1.0, abs(objective))
    assert abs(record.objective - objective) <= tolerance * scale
    assert objective <= expected_gap(record.baseline, record.gaps) + tolerance * scale
    b = record.demand
    if b is None:
        return
    rows = [a for a in range(len(record.p)) if a != record.best]
    of_baseline = observation_probabilities(G, record.baseline)
    assert all(record.q[a] >= b[a] - tolerance for a in rows)
    assert all(of_baseline[a] >= b[a] - tolerance for a in rows)
    bound = dual_bound(G, b, record.gaps, record.best, record.available)
    assert abs(objective - bound) <= tolerance * scale


def check_implicit_problem(record: Record, tolerance: float) -> None:
    """sum p c <= (|S| - 1) / gamma; for candidates a != best, 1 / q(a) <= |S| + gamma c(a).

    The first takes best to be in S. It need not be: fhat_m is fitted to more rounds than F_m, and may lie
    outside it. Then all |S| terms of ptilde, each below 1 / gamma in cost, are there: |S| / gamma.
    """
    size, c = len(record.exploration_set), record.gaps
    if math.isinf(record.gamma):
        assert record.p[record.best] == 1
        return
    if record.gamma > 0:
        others = size - 1 if record.best in record.exploration_set else size
        bound = others / record.gamma
        assert record.objective <= bound + tolerance * max(1.0, bound)
    for a in record.candidates:
        if a != record.best:
            assert record.q[a] >= 1 / (size + record.gamma * c[a]) - tolerance
