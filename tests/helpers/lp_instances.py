"""Sampling LPs to test solvers on: random feedback graphs of five families, and what the algorithm asks of them.

Nothing here uses the package, so that solver and instances cannot share a mistake.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FAMILIES = ("star", "cliques", "random", "social", "directed")
COSTS = ("normal", "ties", "zeros", "equal", "spread", "none")
COVERAGES = ("paper", "tight")


class CoveringLP(NamedTuple):
    """min c.p  subject to  A p >= b,  p >= 0,  sum p = 1.  A[i, j]: column j covers row i; column `best` costs 0."""

    A: NDArray[np.bool_]
    b: NDArray[np.float64]
    c: NDArray[np.float64]
    best: int

    def incidence(self) -> tuple[NDArray[np.int32], ...]:
        """(col_ptr, col_rows, row_ptr, row_cols)"""
        return *_lists(self.A.T), *_lists(self.A)


def _lists(matrix: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    pointers = np.concatenate([[0], matrix.sum(axis=1).cumsum()]).astype(np.int32)
    return pointers, np.nonzero(matrix)[1].astype(np.int32)


def random_graph(family: str, K: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """G[j, a]: playing j reveals a. Self-loops always; symmetric but for "directed"."""
    G = np.eye(K, dtype=bool)
    if family == "star":
        hub = rng.integers(K)
        G[hub, :] = G[:, hub] = True
    elif family == "cliques":
        group = rng.permutation(K) % 5
        G = group[:, None] == group[None, :]
    elif family == "random":
        j, a = rng.integers(K, size=(2, int(np.ceil(0.05 * K * K))))
        G[j, a] = G[a, j] = True
    elif family == "social":  # preferential attachment: every newcomer joins up to two arms, popular ones more often
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


def random_costs(kind: str, K: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Gaps to the best of K estimates, at least one of them 0."""
    if kind == "normal":
        v = rng.standard_normal(K)
    elif kind == "ties":
        v = rng.integers(3, size=K) / 2
    elif kind == "zeros":
        v = np.where(rng.random(K) < 0.5, 1.0, rng.random(K))
    elif kind == "equal":
        v = np.zeros(K)
        v[rng.integers(K)] = 1.0
    elif kind == "spread":
        v = -(10.0 ** rng.uniform(-9, 9, size=K))
    elif kind == "none":
        v = np.zeros(K)
    else:
        raise ValueError(kind)
    return v.max() - v


def exploration_set(G: NDArray[np.bool_], c: NDArray[np.float64], candidates: NDArray[np.int64]) -> list[int]:
    """Walk the candidates by ascending cost; take each that no arm taken before reveals."""
    taken: list[int] = []
    revealed = np.zeros(len(c), dtype=bool)
    for a in candidates[np.lexsort((candidates, c[candidates]))]:
        if not revealed[a]:
            taken.append(int(a))
            revealed |= G[a]
    return taken


def sampling_lp(
    G: NDArray[np.bool_],
    c: NDArray[np.float64],
    gamma: float,
    coverage: str = "paper",
    candidates: NDArray[np.int64] | None = None,
) -> CoveringLP:
    """The LP of one round, with rows only for arms of which something is asked. `candidates`: all arms."""
    K = len(c)
    best = int(np.argmin(c))
    if candidates is None:
        candidates = np.arange(K)
    S = exploration_set(G, c, candidates)
    if coverage == "paper":
        ptilde = np.zeros(K)
        ptilde[S] = 1 / (len(S) + gamma * c[S])
        ptilde[best] = 0.0
        ptilde[best] = max(1 - ptilde.sum(), 0.0)
        b = np.where(G, ptilde[:, None], 0.0).max(axis=0)
    else:
        b = np.zeros(K)
        b[candidates] = 1 / (len(S) + gamma * c[candidates])
    b[best] = 0.0
    rows = np.flatnonzero(b > 0)
    return CoveringLP(A=G.T[rows], b=b[rows], c=c, best=best)


def duplicated(lp: CoveringLP, rng: np.random.Generator) -> CoveringLP:
    """The same LP with a third of its rows and columns twice."""
    n_rows, n_columns = lp.A.shape
    rows = np.concatenate([np.arange(n_rows), rng.permutation(n_rows)[: n_rows // 3]])
    columns = np.concatenate([np.arange(n_columns), rng.permutation(n_columns)[: n_columns // 3]])
    return CoveringLP(A=lp.A[rows][:, columns], b=lp.b[rows], c=lp.c[columns], best=lp.best)


def random_sampling_lp(family: str, K: int, rng: np.random.Generator) -> CoveringLP:
    """Anything a round may bring and much that it never will: ties, no costs, gamma from 0 to 1e9, few candidates."""
    G = random_graph(family, K, rng)
    c = random_costs("normal" if rng.random() < 0.5 else str(rng.choice(COSTS)), K, rng)
    gamma = 10 ** (rng.uniform(0, 4) if rng.random() < 0.6 else rng.uniform(-6, 9))
    if rng.random() < 0.05:
        gamma = 0.0
    candidates = None
    if rng.random() < 0.5:
        candidates = np.union1d(np.flatnonzero(rng.random(K) < rng.random()), np.argmin(c))
    lp = sampling_lp(G, c, gamma, str(rng.choice(COVERAGES)), candidates)
    return duplicated(lp, rng) if rng.random() < 0.1 else lp
