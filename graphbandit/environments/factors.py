"""Low-rank factors of a table with missing entries, which are either ignored or count as 0."""

from typing import TYPE_CHECKING

import numpy as np

from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float

if TYPE_CHECKING:
    import scipy.sparse

ITERATIONS = 10
"""Iterations of alternating least squares; the objective changes little after five."""

SUBSPACE_ITERATIONS = 60
"""Iterations of the subspace method."""


def factorize(
    entries: "scipy.sparse.csr_array[np.float64]",
    known: "scipy.sparse.csr_array[np.float64]",
    *,
    rank: int,
    ridge: float,
) -> tuple[Float[np.ndarray, "rows rank"], Float[np.ndarray, "columns rank"]]:
    """Find U and V that minimise sum over known (i, j) of (entries_ij - u_i'v_j)^2 + ridge (|u_i|^2 + |v_j|^2).

    The penalty of a row grows with the number of its entries (Zhou et al. 2008). Each iteration solves for all u given
    V, then for all v given U. `known` is 1 where an entry is known, even if the entry is 0. The start is always the
    same and sums have a fixed order, so the same entries give the same bits.
    """
    right = stream(0, "factors").standard_normal((entries.shape[1], rank)) / np.sqrt(rank)
    columns, known_columns = entries.T.tocsr(), known.T.tocsr()
    left = _solved(entries, known, right, ridge)
    right = _solved(columns, known_columns, left, ridge)
    for _ in range(ITERATIONS - 1):
        left = _solved(entries, known, right * _balance(left, right, known), ridge)
        right = _solved(columns, known_columns, left, ridge)
    return left, right


def _balance(
    left: Float[np.ndarray, "rows rank"],
    right: Float[np.ndarray, "columns rank"],
    known: "scipy.sparse.csr_array[np.float64]",
) -> float:
    """The factor c for which (left / c, right c) has the least penalty; iterations alone would find it slowly."""
    penalties = [float((known.sum(axis=axis) * (side**2).sum(axis=1)).sum()) for axis, side in ((1, left), (0, right))]
    return (penalties[0] / penalties[1]) ** 0.25 if min(penalties) > 0 else 1.0


def principal_factors(entries: "scipy.sparse.csr_array[np.float64]", *, rank: int) -> Float[np.ndarray, "rows factors"]:
    """The left singular vectors of the `rank` largest singular values, or of all of them if they are fewer.

    Unknown entries count as 0. Each step of the subspace iteration replaces U by an orthonormal basis of
    entries entries' U, the longest direction first. It needs only products with the sparse matrix and decompositions of
    rank x rank matrices, whose sums have a fixed order, so the bits do not depend on a machine's threads. The largest
    entry of each vector is positive.
    """
    columns = entries.T.tocsr()
    left = stream(0, "factors").standard_normal((entries.shape[0], min(rank, *entries.shape)))
    for _ in range(SUBSPACE_ITERATIONS):
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
    """The ridge regression of each row's entries on the factors of the other side; 0 for a row without entries."""
    rank = other.shape[1]
    products = (other[:, :, None] * other[:, None, :]).reshape(len(other), rank * rank)
    gram = (known @ products).reshape(-1, rank, rank)
    weights = ridge * np.maximum(known.sum(axis=1), 1.0)
    gram += weights[:, None, None] * np.eye(rank)
    return np.linalg.solve(gram, (entries @ other)[:, :, None])[:, :, 0]
