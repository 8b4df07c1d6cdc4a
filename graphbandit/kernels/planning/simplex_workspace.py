"""What a solve of the covering LP writes to: one record of arrays, allocated once and used again and again."""

from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphbandit.kernels.jit import kernel

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int32]

inlined: Any = partial(kernel, forceinline=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Decorator of the parts of a pivot. In a small LP they take less time than a call with twenty arrays, or than
counting references to those: so they are inlined, and count none, for which they must not allocate."""


class Incidence(NamedTuple):
    """Who covers what, as two lists of lists that say the same thing."""

    col_ptr: Indices
    col_rows: Indices
    """``col_rows[col_ptr[j]:col_ptr[j+1]]`` are the rows that column j covers."""
    row_ptr: Indices
    row_cols: Indices
    """``row_cols[row_ptr[i]:row_ptr[i+1]]`` are the columns that cover row i."""


class Workspace(NamedTuple):
    """Arrays over the columns j, the rows i (some with the sum row as row R), and the places of the basis."""

    cost: Floats
    """c, in units of about the largest"""
    reduced_cost: Floats
    """d_j = c_j - y_R - sum_{i covered by j} y_i, 0 for basic columns"""
    alpha: Floats
    """the pivot row on the columns"""
    place_of_column: Indices
    """m when j = basic[m], -1 when j is not basic"""

    demand: Floats
    """b, in units of about the largest"""
    slack: Floats
    """s_i = sum_{j covers i} p_j - b_i, 0 for binding rows"""
    scale: Floats
    """the unit of a row in the weights: its number of columns, 1 for the sum row"""
    slack_weight: Floats
    """steepest-edge weights of the slacks"""
    change: Floats
    """(R, 2): what a pivot does to a slack and to its weight"""
    place_of_row: Indices
    """r when i = binding[r], -1 when i does not bind"""

    binding: Indices
    basic: Indices
    value: Floats
    """p of the basic columns"""
    value_weight: Floats
    """their steepest-edge weights"""
    dual: Floats
    """y of the binding rows"""
    w: Floats
    """the pivot row on the binding rows"""
    scaled_w: Floats
    """w times scale"""
    nonzero: Indices
    """the places where w is not 0"""
    v: Floats
    """by how much each basic column falls per unit of the entering variable"""
    tau: Floats
    """scaled_w inverse"""
    places: Indices
    """scratch: where a column meets the binding rows, or a row the basic columns"""

    inverse: Floats
    """room for the inverse; a solve that needs more allocates more, for itself"""


@kernel()
def workspace(n_columns: int, n_rows: int) -> Workspace:
    """Allocate a workspace for LPs of up to `n_columns` columns and `n_rows` rows.

    A workspace belongs to one thread at a time. It serves any number of LPs, and no answer depends on what an earlier
    LP left in it.
    """
    most_basic = min(n_columns, n_rows + 1)
    capacity = min((most_basic + 7) // 8 * 8, 72)
    return Workspace(
        np.empty(n_columns),  # cost
        np.empty(n_columns),  # reduced_cost
        np.empty(n_columns),  # alpha
        np.empty(n_columns, np.int32),  # place_of_column
        np.empty(n_rows),  # demand
        np.empty(n_rows),  # slack
        np.empty(n_rows + 1),  # scale
        np.empty(n_rows),  # slack_weight
        np.empty((n_rows, 2)),  # change
        np.empty(n_rows + 1, np.int32),  # place_of_row
        np.empty(most_basic, np.int32),  # binding
        np.empty(most_basic, np.int32),  # basic
        np.empty(most_basic),  # value
        np.empty(most_basic),  # value_weight
        np.empty(most_basic),  # dual
        np.empty(most_basic),  # w
        np.empty(most_basic),  # scaled_w
        np.empty(most_basic, np.int32),  # nonzero
        np.empty(most_basic),  # v
        np.empty(most_basic),  # tau
        np.empty(most_basic, np.int32),  # places
        np.empty((capacity, capacity)),  # inverse
    )
