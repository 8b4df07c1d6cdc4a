"""Low-rank factors of a table of which only some entries are known, by alternating least squares."""

from typing import TYPE_CHECKING

import numpy as np

from graphbandit.seeds import stream
from graphbandit.shapes import Float

if TYPE_CHECKING:
    import scipy.sparse

SWEEPS = 20
"""Alternations; the fit changes little after ten."""


def factorize(
    entries: "scipy.sparse.csr_array[np.float64]", known: "scipy.sparse.csr_array[np.float64]", *, rank: int, ridge: float
) -> tuple[Float[np.ndarray, "rows rank"], Float[np.ndarray, "columns rank"]]:
    """U and V that make sum over known (i, j) of (entries_ij - u_i'v_j)^2 + ridge (sum n_i |u_i|^2 + sum m_j |v_j|^2) small.

    n_i and m_j are the numbers of known entries of a row and of a column (Zhou et al. 2008), so a row of few entries is
    shrunk no more than one of many. Each sweep solves for all u given V, then for all v given U. `known` has a 1 where an entry is known,
    of value 0 or not. The start is always the same, and sums are taken in a fixed order: same entries, same bits.
    """
    right = stream(0, "factors").standard_normal((entries.shape[1], rank)) / np.sqrt(rank)
    columns, known_columns = entries.T.tocsr(), known.T.tocsr()
    for _ in range(SWEEPS):
        left = _solved(entries, known, right, ridge)
        right = _solved(columns, known_columns, left, ridge)
    return left, right


def _solved(
    entries: "scipy.sparse.csr_array[np.float64]",
    known: "scipy.sparse.csr_array[np.float64]",
    other: Float[np.ndarray, "columns rank"],
    ridge: float,
) -> Float[np.ndarray, "rows rank"]:
    """Each row's ridge regression of its entries on the other side's factors; 0 for a row of no entries."""
    rank = other.shape[1]
    products = (other[:, :, None] * other[:, None, :]).reshape(len(other), rank * rank)
    gram = (known @ products).reshape(-1, rank, rank)
    weights = ridge * np.maximum(known.sum(axis=1), 1.0)
    gram += weights[:, None, None] * np.eye(rank)
    solved: Float[np.ndarray, "rows rank"] = np.linalg.solve(gram, (entries @ other)[:, :, None])[:, :, 0]
    return solved
