"""HiGHS on a sampling program: through scipy.optimize.linprog, and directly, in the best mode found.

Found by trial: the dual simplex without presolve is several times faster than with it, and faster than the primal
simplex; which pricing is fastest depends on the program and is found anew for each kind of program. Tolerances are
1e-10, as the exact answer is wanted, and there is one thread.
"""

import time
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from tests.helpers.lp_instances import CoveringLP

MODES = ("new model", "new numbers", "run")
"""What is timed of highspy: the program handed over as arrays, solved and read; the same when the graph is in it
already and only costs and demands change; and the solving alone."""

PRICINGS = {"steepest edge": 2, "devex": 1, "dantzig": 0, "automatic": -1}


class Scipy:
    """linprog on the matrix as it takes it faster: dense or sparse."""

    def __init__(self) -> None:
        self.form = "dense"

    def tune(self, programs: list[CoveringLP]) -> None:
        """Choose the form of the matrix that makes these programs fastest."""

        def spent(form: str) -> float:
            self.form = form
            return float(np.median([min(self.solve(lp)[0] for _ in range(2)) for lp in programs]))

        self.form = min(("dense", "sparse"), key=spent)

    def solve(self, lp: CoveringLP) -> tuple[float, float]:
        """(seconds of one call, optimum)"""
        matrix, ones = -lp.A.astype(float), np.ones((1, len(lp.c)))
        if self.form == "sparse":
            matrix, ones = csr_array(matrix), csr_array(ones)
        start = time.perf_counter()
        result = linprog(
            lp.c,
            A_ub=matrix,
            b_ub=-lp.b,
            A_eq=ones,
            b_eq=[1.0],
            bounds=(0, None),
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        return time.perf_counter() - start, float(result.fun)


class Highs:
    """One HiGHS object, used again and again."""

    def __init__(self) -> None:
        try:
            import highspy
        except ImportError:
            self.installed, self.pricing = False, "not installed"
            return
        self.installed, self.pricing = True, "automatic"
        self.infinity = highspy.kHighsInf
        self.highs = highspy.Highs()
        options: dict[str, Any] = {
            "output_flag": False,
            "threads": 1,
            "presolve": "off",
            "solver": "simplex",
            "simplex_strategy": 1,  # dual
            "primal_feasibility_tolerance": 1e-10,
            "dual_feasibility_tolerance": 1e-10,
        }
        for name, value in options.items():
            self.highs.setOptionValue(name, value)

    def tune(self, programs: list[CoveringLP]) -> None:
        """Choose the pricing that solves these programs fastest."""
        if not self.installed:
            return

        def spent(name: str) -> float:
            self.highs.setOptionValue("simplex_dual_edge_weight_strategy", PRICINGS[name])
            return float(np.median([min(self.solve(lp, "run") for _ in range(2)) for lp in programs]))

        self.pricing = min(PRICINGS, key=spent)
        self.highs.setOptionValue("simplex_dual_edge_weight_strategy", PRICINGS[self.pricing])

    def solve(self, lp: CoveringLP, mode: str) -> float:
        """Seconds of one solve from the slack basis."""
        highs, (n_rows, n_columns) = self.highs, lp.A.shape
        matrix = np.vstack([lp.A, np.ones((1, n_columns), dtype=bool)])
        starts = np.concatenate([[0], matrix.sum(axis=0).cumsum()]).astype(np.int32)
        rows = np.nonzero(matrix.T)[1].astype(np.int32)
        lower, upper = np.append(lp.b, 1.0), np.append(np.full(n_rows, self.infinity), 1.0)
        zeros, infinite = np.zeros(n_columns), np.full(n_columns, self.infinity)
        ones, continuous = np.ones(len(rows)), np.zeros(n_columns, dtype=np.int32)
        all_columns, all_rows = np.arange(n_columns, dtype=np.int32), np.arange(n_rows + 1, dtype=np.int32)

        def hand_over(costs: np.ndarray, demands: np.ndarray) -> None:
            highs.passModel(
                n_columns, n_rows + 1, len(rows), 1, 1, 0.0, costs, zeros, infinite, demands, upper,
                starts, rows, ones, continuous,
            )  # fmt: skip

        if mode == "run":
            hand_over(lp.c, lower)
        elif mode == "new numbers":
            hand_over(zeros, np.append(np.zeros(n_rows), 1.0))
        start = time.perf_counter()
        if mode == "new model":
            hand_over(lp.c, lower)
        elif mode == "new numbers":
            highs.changeColsCost(n_columns, all_columns, lp.c)
            highs.changeRowsBounds(n_rows + 1, all_rows, lower, upper)
        highs.run()
        if mode != "run":
            np.array(highs.getSolution().col_value)
        return time.perf_counter() - start
