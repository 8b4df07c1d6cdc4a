"""The compiled simplex: LPs worked by hand, and thousands of random ones, each with a certificate made here.

GRAPHBANDIT_STRESS=50000 in the environment raises the number of random LPs.
"""

import os
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog

from graphbandit.kernels.graphs.incidence import Incidence
from graphbandit.kernels.planning.simplex import INFEASIBLE, OPTIMAL, certify, solve_covering_lp
from graphbandit.kernels.planning.simplex_basis import enlarged, refactorise
from graphbandit.kernels.planning.simplex_workspace import Scratch, scratch, workspace
from tests.helpers.lp_instances import (
    COVERAGES,
    FAMILIES,
    CoveringLP,
    random_costs,
    random_graph,
    random_sampling_lp,
    sampling_lp,
)

RANDOM_LPS = int(os.environ.get("GRAPHBANDIT_STRESS", "2500"))
SIZES = (2, 3, 5, 10, 20, 50, 100, 200)
SHARES = (0.04, 0.06, 0.1, 0.25, 0.25, 0.2, 0.08, 0.02)


class Answer(NamedTuple):
    status: int
    objective: float
    gap: float
    pivots: int
    p: np.ndarray
    y: np.ndarray


def solve(lp: CoveringLP, work: Scratch | None = None) -> Answer:
    n_rows, n_columns = lp.A.shape
    p, y = np.full(n_columns, np.nan), np.full(n_rows, np.nan)
    if work is None:
        work = scratch(n_columns, n_rows)
    return Answer(*solve_covering_lp(Incidence(*lp.incidence()), lp.c, lp.b, lp.best, p, y, work), p, y)


def assert_optimal(lp: CoveringLP, answer: Answer) -> None:
    """The certificate, from the matrix and with nothing of the package: feasible p, and a y that proves its cost."""
    assert answer.status == OPTIMAL
    p, y = answer.p, answer.y
    assert p.min() >= 0
    assert abs(p.sum() - 1) <= 1e-12
    assert (lp.b - lp.A @ p).max(initial=0.0) <= 1e-9
    assert y.min(initial=0.0) >= 0
    cost = float(lp.c @ p)
    bound = float(lp.b @ y + (lp.c - y @ lp.A).min())
    assert abs(cost - bound) <= 1e-9 * max(cost, 1e-6 * lp.c.max())
    assert answer.objective == pytest.approx(cost, rel=1e-12)
    assert answer.gap <= 1e-9


def highs(lp: CoveringLP):
    scale = lp.c.max() or 1.0
    result = linprog(
        lp.c / scale,
        A_ub=-lp.A.astype(float),
        b_ub=-lp.b,
        A_eq=np.ones((1, len(lp.c))),
        b_eq=[1.0],
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return result.status, result.fun, scale


# --- Worked by hand ----------------------------------------------------------------------------------------

LOOPS = [[0, 1, 0], [0, 0, 1]]
BY_HAND = {
    "nothing asked": ([[1, 1]], [0.0], [0.0, 1.0], [1.0, 0.0]),
    "less than nothing asked": ([[0, 1]], [-0.5], [0.0, 1.0], [1.0, 0.0]),
    "one arm": ([[1]], [0.5], [0.0], [1.0]),
    "all is asked of one": ([[0, 1]], [1.0], [0.0, 2.0], [0.0, 1.0]),
    "loops only": (LOOPS, [0.2, 0.3], [0.0, 1.0, 2.0], [0.5, 0.2, 0.3]),
    "loops only, just possible": (LOOPS, [0.4, 0.6], [0.0, 1.0, 2.0], [0.0, 0.4, 0.6]),
    "a hub covers its leaves": ([[0, 1, 1, 0], [0, 1, 0, 1]], [0.2, 0.3], [0, 1, 1.5, 1.5], [0.7, 0.3, 0.0, 0.0]),
    "a hub too dear": ([[0, 1, 1, 0], [0, 1, 0, 1]], [0.2, 0.3], [0, 3, 1, 1], [0.5, 0.0, 0.2, 0.3]),
    "a hub in part": ([[0, 1, 1, 0], [0, 1, 0, 1]], [0.2, 0.3], [0, 3, 2, 2], [0.7, 0.2, 0.0, 0.1]),
    "half of each side of a triangle": (
        [[0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1]],
        [0.2, 0.2, 0.2],
        [0, 1, 1, 1],
        [0.7, 0.1, 0.1, 0.1],
    ),
    "the sum binds": ([[1, 0, 1], [0, 1, 1]], [0.95, 0.1], [0, 1, 3], [0.9, 0.05, 0.05]),
    "best does not pay": ([[0, 1, 1], [0, 1, 0], [0, 0, 1]], [1.0, 0.3, 0.2], [0, 1, 2], [0.0, 0.8, 0.2]),
    "free cover": ([[0, 1, 1]], [0.4], [0.0, 0.0, 1.0], [0.6, 0.4, 0.0]),
}


@pytest.mark.parametrize("case", BY_HAND)
def test_worked_by_hand(case):
    A, b, c, p = BY_HAND[case]
    lp = CoveringLP(A=np.array(A, dtype=bool), b=np.array(b), c=np.array(c, dtype=float), best=0)
    answer = solve(lp)
    assert_optimal(lp, answer)
    assert_allclose(answer.p, p, rtol=0, atol=1e-14)


def test_duals_worked_by_hand():
    A, b, c, _ = BY_HAND["the sum binds"]
    lp = CoveringLP(A=np.array(A, dtype=bool), b=np.array(b), c=np.array(c, dtype=float), best=0)
    y = solve(lp).y
    assert_allclose(y, [2.0, 3.0], rtol=1e-12)  # columns 0 to 2: y0 + yR = 0, y1 + yR = 1, y0 + y1 + yR = 3
    *_, dual_of_sum = certify(Incidence(*lp.incidence()), lp.c, lp.b, solve(lp).p, y, np.empty(2), np.empty(3))
    assert dual_of_sum == pytest.approx(-2.0)


def test_no_rows_at_all():
    lp = CoveringLP(A=np.zeros((0, 3), dtype=bool), b=np.zeros(0), c=np.array([1.0, 0.0, 2.0]), best=1)
    answer = solve(lp)
    assert_optimal(lp, answer)
    assert_array_equal(answer.p, [0, 1, 0])
    assert answer.pivots == 0


@pytest.mark.parametrize(
    ("A", "b"),
    [
        pytest.param([[1, 1]], [1.1], id="more than everything"),
        pytest.param([[0, 0]], [0.1], id="nobody covers it"),
        pytest.param([[0, 1, 0], [0, 0, 1]], [0.5, 0.6], id="together too much"),
        pytest.param([[0, 1, 0], [0, 0, 1]], [0.5, 0.5 + 1e-7], id="together a little too much"),
        pytest.param([[0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1]], [0.7, 0.7, 0.7], id="an odd cycle"),
    ],
)
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_infeasible(A, b, scale):
    c = np.arange(len(A[0])) * scale
    assert solve(CoveringLP(A=np.array(A, dtype=bool), b=np.array(b), c=c, best=0)).status == INFEASIBLE


def test_rounding_is_not_infeasibility():
    lp = CoveringLP(A=np.eye(11, dtype=bool)[1:], b=np.full(10, 0.1 + 1e-15), c=np.arange(11.0), best=0)
    assert lp.b.sum() > 1
    assert_optimal(lp, solve(lp))


# --- Random LPs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_random_lps_are_solved_and_certified(family):
    work = scratch(300, 300)
    for n in range(RANDOM_LPS // len(FAMILIES)):
        rng = np.random.default_rng([n, FAMILIES.index(family)])
        lp = random_sampling_lp(family, int(rng.choice(SIZES, p=SHARES)), rng)
        answer = solve(lp, work)
        assert_optimal(lp, answer)
        status, objective, scale = highs(lp)
        assert status == 0
        assert answer.objective / scale == pytest.approx(objective, rel=1e-8, abs=1e-9)


@given(data=st.data(), n_rows=st.integers(0, 6), n_columns=st.integers(1, 6))
@settings(max_examples=300, deadline=None)
def test_any_small_lp(data, n_rows, n_columns):
    """Degenerate, infeasible and duplicated as hypothesis likes them; the verdict is that of HiGHS."""
    eighths = st.integers(0, 8).map(lambda n: n / 8)
    A = np.array(
        data.draw(
            st.lists(st.lists(st.booleans(), min_size=n_columns, max_size=n_columns), min_size=n_rows, max_size=n_rows)
        ),
        dtype=bool,
    ).reshape(n_rows, n_columns)
    c = np.array(data.draw(st.lists(eighths, min_size=n_columns, max_size=n_columns)))
    best = data.draw(st.integers(0, n_columns - 1))
    c[best] = 0.0
    lp = CoveringLP(
        A=A, b=np.array(data.draw(st.lists(eighths, min_size=n_rows, max_size=n_rows)), dtype=float), c=c, best=best
    )
    answer = solve(lp)
    status, objective, scale = highs(lp) if n_rows else (0, 0.0, 1.0)
    if status == 2:
        assert answer.status == INFEASIBLE
    else:
        assert_optimal(lp, answer)
        assert answer.objective == pytest.approx(scale * objective, abs=1e-9)


# --- What the answer must not depend on --------------------------------------------------------------------


def example(family: str, K: int = 60, coverage: str = "paper", seed: int = 0) -> CoveringLP:
    rng = np.random.default_rng(seed)
    return sampling_lp(random_graph(family, K, rng), random_costs("normal", K, rng), 30.0, coverage)


@pytest.mark.parametrize("coverage", COVERAGES)
@pytest.mark.parametrize("family", FAMILIES)
def test_units_of_the_costs(family, coverage):
    lp = example(family, coverage=coverage)
    answer = solve(lp)
    for power in (-40, 40):
        scaled = solve(lp._replace(c=lp.c * 2.0**power))
        assert_array_equal(scaled.p, answer.p)
        assert_array_equal(scaled.y, answer.y * 2.0**power)
    for factor in (1e-9, 1e-3, 1e9):
        scaled_lp = lp._replace(c=lp.c * factor)
        scaled = solve(scaled_lp)
        assert_optimal(scaled_lp, scaled)
        assert scaled.objective == pytest.approx(answer.objective * factor, rel=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_units_of_the_demands(family):
    lp = example(family, coverage="tight")
    lp = lp._replace(b=lp.b / 100, A=lp.A & (np.arange(60) != lp.best))  # so small, and best no help: all is linear
    answer = solve(lp)
    for factor in (1e-9, 1e-3):
        scaled = solve(lp._replace(b=lp.b * factor))
        assert scaled.status == OPTIMAL
        assert scaled.objective == pytest.approx(answer.objective * factor, rel=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_order_of_rows_and_columns(family):
    lp = example(family)
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(lp.A.shape[0]), rng.permutation(lp.A.shape[1])
    shuffled = CoveringLP(lp.A[rows][:, columns], lp.b[rows], lp.c[columns], int(np.flatnonzero(columns == lp.best)[0]))
    assert solve(shuffled).objective == pytest.approx(solve(lp).objective, rel=1e-12)


@pytest.mark.parametrize("K", [12, 200])  # 200: the inverse outgrows its room
def test_same_bits_whatever_the_workspace_held(K):
    lps = [example(family, K) for family in FAMILIES]
    fresh = [solve(lp) for lp in lps]
    dirty = scratch(2 * K, 3 * K)
    for array in dirty:
        array.fill(np.nan if array.dtype.kind == "f" else 12345)
    for lp, answer in [*zip(lps, fresh, strict=True), *zip(lps[::-1], fresh[::-1], strict=True)]:
        again = solve(lp, dirty)
        assert again[:4] == answer[:4]
        assert_array_equal(again.p, answer.p)
        assert_array_equal(again.y, answer.y)


@njit
def solve_compiled(col_ptr, col_rows, row_ptr, row_cols, c, b, best, p, y, work):
    return solve_covering_lp(Incidence(col_ptr, col_rows, row_ptr, row_cols), c, b, best, p, y, work)


@pytest.mark.parametrize("family", FAMILIES)
def test_same_bits_from_compiled_code(family):
    lp = example(family)
    answer = solve(lp)
    p, y = np.empty(60), np.empty(len(lp.b))
    assert solve_compiled(*lp.incidence(), lp.c, lp.b, lp.best, p, y, scratch(60, len(lp.b))) == answer[:4]
    assert_array_equal(p, answer.p)
    assert_array_equal(y, answer.y)


# --- The certificate and the parts ---------------------------------------------------------------------------


def certificate(lp: CoveringLP, p, y):
    coverage, price = np.empty(lp.A.shape[0]), np.empty(lp.A.shape[1])
    infeasibility, gap, objective, _ = certify(Incidence(*lp.incidence()), lp.c, lp.b, p, y, coverage, price)
    assert_allclose(coverage, lp.A @ p, atol=1e-15)
    assert_allclose(price, np.maximum(y, 0) @ lp.A, atol=1e-12)
    return infeasibility, gap, objective


def test_certificate_sees_what_is_wrong():
    lp = example("random")
    _, objective, _, _, p, y = solve(lp)
    infeasibility, gap, cost = certificate(lp, p, y)
    assert max(infeasibility, gap) < 1e-12
    assert cost == objective

    used = int(np.argmax(p * (lp.c > 0)))
    moved = p.copy()
    moved[used] -= 1e-6
    moved[lp.best] += 1e-6
    assert certificate(lp, moved, y)[0] > 1e-9  # cheaper, but a row is short
    moved = p.copy()
    moved[lp.best] -= 1e-6
    moved[used] += 1e-6
    assert certificate(lp, moved, y)[1] > 1e-9  # feasible, but too dear
    assert certificate(lp, p * (1 + 1e-8), y)[0] > 1e-9
    assert certificate(lp, p, y * (1 + 1e-6))[1] > 1e-9  # prices above costs
    assert certificate(lp, p, np.where(y == y.max(), -1.0, y))[1] > 1e-9
    negative = p.copy()
    negative[[used, lp.best]] += np.array([-1, 1]) * (p[used] + 1e-6)
    assert certificate(lp, negative, y)[0] >= 1e-6
    assert certificate(lp, np.full_like(p, np.nan), y)[1] != 0


@njit
def refactorise_compiled(inverse, k, incidence, room, n_columns, n_rows, basic, place_of_row):
    work = workspace(room, n_columns, n_rows)
    work.basic[:k] = basic
    work.place_of_row[:] = place_of_row
    return refactorise(inverse, k, incidence, work)


@njit
def enlarged_compiled(inverse):
    return enlarged(inverse)


@pytest.mark.parametrize("K", [5, 40])
def test_inverse_from_scratch(K):
    rng = np.random.default_rng(K)
    lp = CoveringLP(A=rng.random((K, K + 3)) < 0.5, b=np.ones(K), c=np.ones(K + 3), best=0)
    k = K - 1
    binding = np.concatenate([[K], rng.permutation(K)[: k - 1]])
    basic = rng.permutation(K + 3)[:k]
    matrix = np.vstack([lp.A, np.ones(K + 3)])[binding][:, basic]
    place_of_row = np.full(K + 1, -1)
    place_of_row[binding] = np.arange(k)
    inverse = np.empty((k, k))
    arguments = (inverse, k, Incidence(*lp.incidence()), scratch(K + 3, K), K + 3, K, basic, place_of_row)
    assert refactorise_compiled(*arguments)
    assert_allclose(inverse, np.linalg.inv(matrix).T, atol=1e-10)
    basic[1] = basic[0]
    assert not refactorise_compiled(*arguments)


def test_room_for_the_inverse():
    inverse = np.random.default_rng(0).random((72, 72))
    larger = enlarged_compiled(inverse)
    assert min(larger.shape) > 2 * 72
    assert_array_equal(larger[:72, :72], inverse)
