"""Many sampling programs at once: the rounds of an epoch, solved in parallel threads that do not hold the GIL."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphbandit.checks import first_not_finite, numbers, setting_integer
from graphbandit.errors import InputError
from graphbandit.graph_batches import FeedbackGraphs
from graphbandit.sampling_lp import ROW_LIMIT, paper_demand, solve_program
from graphbandit.shapes import Float, Int
from graphbandit.types import SOLVERS


@dataclass(frozen=True, kw_only=True, eq=False)
class SamplingSolutions:
    """The answers of n sampling programs; `solver` holds positions in `types.SOLVERS`."""

    probabilities: Float[np.ndarray, "n arms"]
    observation_probabilities: Float[np.ndarray, "n arms"]
    objective: Float[np.ndarray, " n"]
    duality_gap: Float[np.ndarray, " n"]
    solver: Int[np.ndarray, " n"]

    def __len__(self) -> int:
        return len(self.objective)


def solve_sampling_lps(
    graphs: FeedbackGraphs,
    baselines: npt.ArrayLike,
    gaps: npt.ArrayLike,
    *,
    demands: npt.ArrayLike | None = None,
    threads: int = 1,
) -> SamplingSolutions:
    """`solve_sampling_lp` for n rounds: baselines p~ and gaps of shape (n, arms), and a graph for each.

    The best arm of a round is that of the smallest gap, which must be 0. `demands` replaces those of the paper. The
    answers are the same for any number of threads.

    >>> from graphbandit import graph_generators
    >>> stars = FeedbackGraphs.repeat(graph_generators.star(6, hub=0), 2)
    >>> gaps, baseline = np.array([0.1, 0, 1, 1, 1, 1]), np.array([0, 0.6, 0.1, 0.1, 0.1, 0.1])
    >>> solve_sampling_lps(stars, np.stack([baseline] * 2), np.stack([gaps, 2 * gaps])).objective.round(12)
    array([0.01, 0.02])
    """
    costs, starts = _rows("gaps", gaps, graphs), _rows("baselines", baselines, graphs)
    workers = setting_integer("threads", threads, at_least=1)
    best = np.argmin(costs, axis=1)
    n = len(graphs)
    if n and costs.min(axis=1).any():
        t = int(np.argmax(costs.min(axis=1) != 0))
        raise InputError(f"the smallest gap of round {t} is {costs[t].min()}; expected 0, that of the best arm")
    if demands is None:
        wanted = np.stack([paper_demand(graphs[t], starts[t], int(best[t])) for t in range(n)]) if n else costs
    else:
        wanted = _rows("demands", demands, graphs).copy()
        wanted[np.arange(n), best] = 0.0
    p, q = np.empty_like(costs), np.empty_like(costs)
    found = np.full((n, 3), np.nan)
    solver = np.full(n, SOLVERS.index("simplex"))
    if graphs.is_packed:
        from graphbandit.kernels.program import solve_programs

        def solve(part: slice) -> None:
            solve_programs(
                graphs.words, graphs.index[part], wanted[part], costs[part], best[part], ROW_LIMIT,
                p[part], q[part], found[part],
            )  # fmt: skip

        cuts = np.linspace(0, n, workers + 1).astype(int).tolist()
        parts = [slice(first, stop) for first, stop in itertools.pairwise(cuts)]
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(solve, parts))
    everyone = np.ones(graphs.n_arms, dtype=np.bool_)
    for t in np.flatnonzero(found[:, 0] != 0).tolist():
        answer = solve_program(graphs[t], wanted[t], costs[t], int(best[t]), everyone, start=starts[t])
        p[t], q[t] = answer.probabilities, answer.observation_probabilities
        found[t, 1:] = answer.objective, answer.duality_gap
        solver[t] = SOLVERS.index(answer.solver)
    return SamplingSolutions(
        probabilities=p,
        observation_probabilities=q,
        objective=found[:, 1],
        duality_gap=found[:, 2],
        solver=solver,
    )


def _rows(name: str, value: npt.ArrayLike, graphs: FeedbackGraphs) -> Float[np.ndarray, "n arms"]:
    array = np.ascontiguousarray(numbers(name, value))
    if array.shape != (len(graphs), graphs.n_arms):
        raise InputError(f"{name} has shape {array.shape}; expected ({len(graphs)}, {graphs.n_arms})")
    if not np.isfinite(array).all():
        raise InputError(f"{name} has {first_not_finite(array)}; expected finite numbers")
    if (array < 0).any():
        place = tuple(np.argwhere(array < 0)[0].tolist())
        raise InputError(f"{name} has {array[place]} at {place}; expected no negative numbers")
    return array
