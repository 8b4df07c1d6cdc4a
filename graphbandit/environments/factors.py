"""Low-rank factors of a table with missing entries: least squares over the known ones, or 0 for the others."""

from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float

if TYPE_CHECKING:
    import scipy.sparse

SWEEPS = 10
"""Alternations of least squares; what they minimise changes little after five."""

SUBSPACE_SWEEPS = 60
"""Sweeps of subspace iteration."""


def factorize(
    entries: "scipy.sparse.csr_array[np.float64]",
    known: "scipy.sparse.csr_array[np.float64]",
    *,
    rank: int,
    ridge: float,
) -> tuple[Float[np.ndarray, "rows rank"], Float[np.ndarray, "columns rank"]]:
    """U and V that make sum over known (i, j) of (entries_ij - u_i'v_j)^2 + ridge (|u_i|^2 + |v_j|^2) small.

    So a row's penalty grows with the number of its entries (Zhou et al. 2008). Each sweep solves for all u given V,
    then for all v given U. `known` has a 1 where an entry is known, of value 0 or not. The start is always the
    same, and sums are taken in a fixed order: same entries, same bits.
    """
    right = stream(0, "factors").standard_normal((entries.shape[1], rank)) / np.sqrt(rank)
    columns, known_columns = entries.T.tocsr(), known.T.tocsr()
    left = _solved(entries, known, right, ridge)
    right = _solved(columns, known_columns, left, ridge)
    for _ in range(SWEEPS - 1):
        left = _solved(entries, known, right * _balance(left, right, known), ridge)
        right = _solved(columns, known_columns, left, ridge)
    return left, right


def _balance(
    left: Float[np.ndarray, "rows rank"],
    right: Float[np.ndarray, "columns rank"],
    known: "scipy.sparse.csr_array[np.float64]",
) -> float:
    """The factor c for which (left / c, right c) has the least penalty; without it, sweeps find it slowly."""
    penalties = [float((known.sum(axis=axis) * (side**2).sum(axis=1)).sum()) for axis, side in ((1, left), (0, right))]
    return (penalties[0] / penalties[1]) ** 0.25 if min(penalties) > 0 else 1.0


def principal_factors(entries: "scipy.sparse.csr_array[np.float64]", *, rank: int) -> Float[np.ndarray, "rows factors"]:
    """The left singular vectors of the `rank` largest singular values, or of as many as there are.

    Entries that are not known count as 0. Subspace iteration: U becomes an orthonormal basis of entries entries' U,
    turned onto its longest directions. Only products with the sparse matrix and
    decompositions of rank x rank matrices are needed, whose sums have a fixed order, so the bits do not depend on a
    machine's threads. The largest entry of each vector is positive.
    """
    columns = entries.T.tocsr()
    left = stream(0, "factors").standard_normal((entries.shape[0], min(rank, *entries.shape)))
    for _ in range(SUBSPACE_SWEEPS):
        left = _orthonormal(np.asarray(entries @ (columns @ left)))
    largest = np.abs(left).argmax(axis=0)
    return left * np.where(np.take_along_axis(left, largest[None], axis=0) < 0, -1.0, 1.0)


def _orthonormal(vectors: Float[np.ndarray, "rows rank"]) -> Float[np.ndarray, "rows found"]:
    """A basis of the same space, the longest direction first; directions without length are dropped."""
    lengths, directions = np.linalg.eigh(np.einsum("nr,ns->rs", vectors, vectors))
    found = lengths > 1e-12 * lengths[-1]
    basis: Float[np.ndarray, "rows found"] = np.einsum(
        "nr,rs->ns", vectors, directions[:, found] / np.sqrt(lengths[found])
    )
    return basis[:, ::-1]


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
