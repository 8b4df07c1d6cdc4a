"""Sampling LPs to test solvers on: random feedback graphs of five families, and the demands the paper puts on them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FAMILIES = ("star", "cliques", "random", "social", "directed")


class CoveringLP(NamedTuple):
    """min c.p  s.t.  A p >= b,  p >= 0,  sum p = 1.  A is kept dense, for solvers that want it, and as lists."""

    A: NDArray[np.bool_]
    c: NDArray[np.float64]
    b: NDArray[np.float64]
    best: int

    def lists(self) -> tuple[NDArray[np.int32], ...]:
        """(col_ptr, col_rows, row_ptr, row_cols)"""
        return *_lists(self.A.T), *_lists(self.A)


def _lists(B: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    pointers = np.concatenate([[0], B.sum(axis=1).cumsum()]).astype(np.int32)
    return pointers, np.nonzero(B)[1].astype(np.int32)


def random_graph(family: str, K: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """G[j, a]: playing j reveals a. Self-loops always; all but "directed" are symmetric."""
    G = np.eye(K, dtype=bool)
    if family == "star":
        hub = rng.integers(K)
        G[hub, :] = G[:, hub] = True
    elif family == "cliques":
        group = rng.integers(min(5, K), size=K)
        G |= group[:, None] == group[None, :]
    elif family == "random":
        pairs = rng.integers(K, size=(int(np.ceil(0.05 * K * K)), 2))
        G[pairs[:, 0], pairs[:, 1]] = G[pairs[:, 1], pairs[:, 0]] = True
    elif family == "social":
        ends = [0]
        for newcomer in range(1, K):
            for friend in {ends[rng.integers(len(ends))] for _ in range(2)}:
                G[newcomer, friend] = G[friend, newcomer] = True
                ends += [newcomer, friend]
    elif family == "directed":
        G |= rng.random((K, K)) < 0.1
    else:
        raise ValueError(family)
    return G


def exploration_set(G: NDArray[np.bool_], c: NDArray[np.float64], candidates: NDArray[np.int64]) -> list[int]:
    """Walk the candidates by ascending cost and take each that no arm taken before reveals."""
    taken: list[int] = []
    for a in candidates[np.lexsort((candidates, c[candidates]))]:
        if not G[taken, a].any():
            taken.append(int(a))
    return taken


def sampling_lp(
    G: NDArray[np.bool_],
    c: NDArray[np.float64],
    gamma: float,
    coverage: str,
    candidates: NDArray[np.int64] | None = None,
) -> CoveringLP:
    """The LP of one round, rows only where something is asked for; `coverage` is "paper" or "tight"."""
    K = len(c)
    best = int(np.argmin(c))
    if candidates is None:
        candidates = np.arange(K)
    S = exploration_set(G, c, candidates)
    ptilde = np.zeros(K)
    ptilde[S] = 1 / (len(S) + gamma * c[S])
    ptilde[best] = 0
    ptilde[best] = max(1 - ptilde.sum(), 0)
    if coverage == "paper":
        b = np.where(G, ptilde[:, None], 0).max(axis=0)
        rows = np.flatnonzero((b > 0) & (np.arange(K) != best))
    else:
        b = 1 / (len(S) + gamma * c)
        rows = np.setdiff1d(candidates, [best])
    return CoveringLP(np.ascontiguousarray(G[:, rows].T), c, b[rows], best)


def random_costs(kind: str, K: int, rng: np.random.Generator) -> NDArray[np.float64]:
    if kind == "normal":
        v = rng.standard_normal(K)
    elif kind == "ties":
        v = rng.integers(3, size=K) / 2
    elif kind == "zero":
        v = np.where(rng.random(K) < 0.5, 1.0, rng.random(K))
    elif kind == "equal":
        v = np.zeros(K)
        v[rng.integers(K)] = 1
    elif kind == "spread":
        v = -(10.0 ** rng.uniform(-9, 9, size=K))
    elif kind == "none":
        v = np.zeros(K)
    else:
        raise ValueError(kind)
    return v.max() - v


def random_sampling_lp(rng: np.random.Generator, K: int, family: str | None = None) -> CoveringLP:
    """Anything that a round may bring, and much that it will not."""
    if family is None:
        family = str(rng.choice(FAMILIES))
    G = random_graph(family, K, rng)
    c = random_costs(str(rng.choice(["normal"] * 5 + ["ties", "zero", "equal", "spread", "none"])), K, rng)
    gamma = 0.0 if rng.random() < 0.05 else 10 ** rng.uniform(-6, 9) if rng.random() < 0.4 else 10 ** rng.uniform(0, 4)
    candidates = None
    if rng.random() < 0.5:
        candidates = np.flatnonzero(rng.random(K) < rng.random())
        candidates = np.union1d(candidates, [int(np.argmin(c))])
    lp = sampling_lp(G, c, gamma, str(rng.choice(["paper", "tight"])), candidates)
    if rng.random() < 0.1:
        lp = duplicate(lp, rng)
    return lp


def duplicate(lp: CoveringLP, rng: np.random.Generator) -> CoveringLP:
    """Some rows and columns twice."""
    R, C = lp.A.shape
    rows = np.concatenate([np.arange(R), rng.integers(R, size=R // 3)]) if R else np.arange(0)
    columns = np.concatenate([np.arange(C), rng.integers(C, size=C // 3)])
    return CoveringLP(np.ascontiguousarray(lp.A[rows][:, columns]), lp.c[columns], lp.b[rows], lp.best)
