"""The memory of a solve of the covering LP: three arrays, allocated once, reused and cut into pieces."""

from typing import NamedTuple, TypeAlias

import numpy as np
from numba import types
from numpy.typing import NDArray

from graphbandit.kernels.jit import inner

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int32]


class Scratch(NamedTuple):
    """Room for one LP at a time; it belongs to one thread. No answer depends on what an earlier LP left in it."""

    floats: Floats
    integers: Indices
    inverse: Floats
    """(capacity, capacity): a solve that needs more allocates a larger one for itself"""


SCRATCH = types.NamedTuple((types.float64[::1], types.int32[::1], types.float64[:, ::1]), Scratch)
"""Its type, for signatures."""


def scratch(n_columns: int, n_rows: int) -> Scratch:
    """Room for LPs of up to this many columns and rows. Pages that no LP reaches are never touched."""
    most_basic = min(n_columns, n_rows + 1) + 7 & -8
    capacity = min(most_basic, 72)
    return Scratch(
        np.empty(3 * n_columns + 6 * n_rows + 1 + 8 * most_basic),
        np.empty(n_columns + n_rows + 2 + 4 * most_basic, dtype=np.int32),
        np.empty((capacity, capacity)),
    )


class Workspace(NamedTuple):
    """Arrays over the columns j, the rows i (some with the sum row as row R), and the places of the basis.

    The last have room for a multiple of eight: loops over octets run beyond k. There w, v and tau are 0.
    """

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
    """(2 R): what a pivot does to the slack of row i, at 2 i, and to its weight, at 2 i + 1"""
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
    """scratch: places at which a column meets binding rows, or a row basic columns; the entry after them is unused"""
    step: Floats
    """w over the pivot entry"""


@inner(forceinline=True)
def workspace(scratch: Scratch, n_columns: int, n_rows: int) -> Workspace:
    """Cut the scratch into the arrays of one LP."""
    floats, integers, most = scratch.floats, scratch.integers, min(n_columns, n_rows + 1) + 7 & -8
    rows = 3 * n_columns
    basis = rows + 6 * n_rows + 1
    places = n_columns + n_rows + 1
    return Workspace(
        floats[:n_columns],  # cost
        floats[n_columns : 2 * n_columns],  # reduced_cost
        floats[2 * n_columns : rows],  # alpha
        integers[:n_columns],  # place_of_column
        floats[rows : rows + n_rows],  # demand
        floats[rows + n_rows : rows + 2 * n_rows],  # slack
        floats[rows + 2 * n_rows : rows + 3 * n_rows + 1],  # scale
        floats[rows + 3 * n_rows + 1 : rows + 4 * n_rows + 1],  # slack_weight
        floats[rows + 4 * n_rows + 1 : basis],  # change
        integers[n_columns:places],  # place_of_row
        integers[places : places + most],  # binding
        integers[places + most : places + 2 * most],  # basic
        floats[basis : basis + most],  # value
        floats[basis + most : basis + 2 * most],  # value_weight
        floats[basis + 2 * most : basis + 3 * most],  # dual
        floats[basis + 3 * most : basis + 4 * most],  # w
        floats[basis + 4 * most : basis + 5 * most],  # scaled_w
        integers[places + 2 * most : places + 3 * most],  # nonzero
        floats[basis + 5 * most : basis + 6 * most],  # v
        floats[basis + 6 * most : basis + 7 * most],  # tau
        integers[places + 3 * most : places + 4 * most + 1],  # places
        floats[basis + 7 * most : basis + 8 * most],  # step
    )
