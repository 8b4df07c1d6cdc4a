"""The convex program of SquareCB.G (Zhang, Zhang, Vrousgou, Luo and Mineiro 2023): estimation bought with regret.

    minimise    sum_a p(a) l(a) + z                                        over distributions p and numbers z
    subject to  (1 / gamma) sum_b (1[b = a] - p(b))^2 / q(b)  <=  l(a) + z            for every available arm a
                q(b) = sum of p over the arms that reveal b,   p(j) = 0 for arms not available

with l the estimated losses. Its value is the decision-estimation coefficient of the round: whatever the truth is, the
regret of the round exceeds what the error of the estimate accounts for by at most this value. The program depends on
the losses and gamma only through c(a) = gamma (l(a) - min l), and gamma times the value is between 0 and about the
number of arms. It was tested with gamma up to 1e5, on losses of order 1; far beyond that, rounding errors may dominate,
and the answer is a feasible point with a larger certified gap. `kernels.planning.squarecb` has the method, an
interior-point method made for this program. A certificate that needs no p judges its answers: for a distribution w over
the constraints and any numbers r and rho

    gamma * optimum  >=  sum_a w(a) (2 r(a) - c(a))  +  min over available j of
        [ c(j) - 2 w(j) r(j) + 2 (1 - w(j)) rho(j) - sum over b revealed by j of (w(b) r(b)^2 + (1 - w(b)) rho(b)^2) ]

as u^2 / q >= 2 r u - r^2 q for every r. It is equality at the optimum, with r = (1 - p) / q and rho = p / q there.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphbandit.base.array_types import ArmMasks, Offers, PerArm, PerRound, RoundIndices, RoundsByArms
from graphbandit.base.checks import LARGEST, available_array, check_within, numbers, setting_number
from graphbandit.base.direct_calls import DirectCall, kernels_of
from graphbandit.base.program_constants import ACCEPTED, SUMS_TO_ONE
from graphbandit.base.shapes import Float
from graphbandit.errors import GraphError, InputError
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.kernel_forms import kernel_batches, kernel_graph
from graphbandit.planning.counters import count
from graphbandit.planning.exploration import arm_array, check_graph

ARM_LIMIT = 2000
"""The most arms on offer: each step solves a dense system with as many unknowns."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SquareCBSolution:
    """An answer of the program with its certificate.

    - `probabilities`, `observation_probabilities`: p and q.
    - `z`: the part of the objective that is not sum_a p(a) l(a).
    - `objective`: the value of the program at p.
    - `duality_gap`: how far that is above a proven lower bound, relative to the objective, or to 1 / gamma where that
      is larger.
    - `iterations`: how many steps the solver took.
    - `weights`, `outer_slopes`, `inner_slopes`: w, r and rho, which prove the lower bound; see `squarecb_bound`.
    """

    probabilities: PerArm
    observation_probabilities: PerArm
    z: float
    objective: float
    duality_gap: float
    iterations: int
    weights: PerArm
    outer_slopes: PerArm
    inner_slopes: PerArm


@dataclass(frozen=True, kw_only=True, eq=False)
class SquareCBSolutions:
    """The answers of n programs, one row each.

    - `probabilities`, `objective`, `duality_gap`, `iterations`: of each program, as in `SquareCBSolution`.
    """

    probabilities: RoundsByArms
    objective: PerRound
    duality_gap: PerRound
    iterations: RoundIndices

    def __len__(self) -> int:
        return len(self.objective)


def solve_squarecb_program(
    graph: FeedbackGraph, losses: "npt.ArrayLike", gamma: float, *, available: "npt.ArrayLike | None" = None
) -> SquareCBSolution:
    """Solve SquareCB.G's program for one round, with a certificate.

    Every arm on offer must be revealed by an arm on offer, itself or another; otherwise the program has no finite
    value.

    - `graph`: who reveals whom.
    - `losses`: l, the estimated loss of each arm.
    - `gamma`: the exploration parameter.
    - `available`: the arms on offer, a boolean mask; None (default): all.

    The hub of a star costs little and reveals all arms, so exploration goes through it. With self-loops only, the
    optimum is known, p(a) = 1 / (lambda + gamma (l(a) - min l)), and its value is (K - 1) / gamma.

    >>> from graphbandit import graphs
    >>> losses = [0.1, 0.0, 1.0, 1.0, 1.0, 1.0]
    >>> star = solve_squarecb_program(graphs.star(6, hub=0), losses, gamma=50.0)
    >>> star.probabilities.round(4), round(star.objective, 6)
    (array([0.0204, 0.9796, 0.    , 0.    , 0.    , 0.    ]), 0.002056)
    >>> alone = solve_squarecb_program(graphs.bandit(6), losses, gamma=50.0)
    >>> round(alone.objective, 9), bool(alone.duality_gap <= 1e-9)
    (0.1, True)
    """
    check_graph(graph)
    n = graph.n_arms
    estimates = np.array(_bounded("losses", arm_array("losses", losses, n)))
    scale = setting_number("gamma", gamma, above=0.0, below=LARGEST)
    mask = available_array(available, 1, n)
    offered = np.ones(n, dtype=np.bool_) if mask is None else np.array(mask[0])
    _check_size(offered[None])
    p, certificates, found = _solve(
        FeedbackGraphs.repeat(graph, 1), estimates[None], offered[None], np.array([scale]), certificates=True
    )
    q = np.empty(n)
    _observation_probabilities.call(kernel_graph(graph), p[0], q)
    objective, gap, iterations = found[0].tolist()
    return SquareCBSolution(
        probabilities=p[0],
        observation_probabilities=q,
        z=objective - float(p[0] @ estimates),
        objective=objective,
        duality_gap=gap,
        iterations=int(iterations),
        weights=certificates[0, 0],
        outer_slopes=certificates[0, 1],
        inner_slopes=certificates[0, 2],
    )


def solve_squarecb_programs(
    graphs: FeedbackGraphs, losses: "npt.ArrayLike", gammas: "npt.ArrayLike", *, available: ArmMasks | None = None
) -> SquareCBSolutions:
    """`solve_squarecb_program` for n rounds.

    - `graphs`: the graph of each round.
    - `losses`: l, of shape (n, K).
    - `gammas`: the exploration parameter of each round.
    - `available`: the arms on offer in each round, boolean of shape (n, K); None (default): all.

    >>> from graphbandit import graphs
    >>> pairs = FeedbackGraphs.repeat(graphs.bandit(2), 2)
    >>> solve_squarecb_programs(pairs, [[0.0, 0.5], [0.3, 0.0]], [2.0, 4.0]).objective.round(9)
    array([0.5 , 0.25])
    """
    if not isinstance(graphs, FeedbackGraphs):
        raise GraphError(f"graphs is a {type(graphs).__name__}; expected FeedbackGraphs")
    n, n_arms = len(graphs), graphs.n_arms
    estimates = np.ascontiguousarray(_bounded("losses", numbers("losses", losses)))
    scales = np.ascontiguousarray(_bounded("gammas", numbers("gammas", gammas)))
    if estimates.shape != (n, n_arms) or scales.shape != (n,):
        raise InputError(
            f"losses has shape {estimates.shape} and gammas {scales.shape}; expected ({n}, {n_arms}) and ({n},)"
        )
    if n and scales.min() <= 0.0:
        raise InputError(f"gammas has {scales.min()} at round {np.argmin(scales)}; expected numbers above 0")
    given = available_array(available, n, n_arms)
    masks = np.ones((1, n_arms), dtype=np.bool_) if given is None else np.array(given)
    _check_size(masks)
    p, _, found = _solve(graphs, estimates, masks, scales, certificates=False)
    return SquareCBSolutions(
        probabilities=p, objective=found[:, 0], duality_gap=found[:, 1], iterations=found[:, 2].astype(np.int64)
    )


def squarecb_bound(
    graph: FeedbackGraph,
    losses: "npt.ArrayLike",
    gamma: float,
    weights: "npt.ArrayLike",
    outer_slopes: "npt.ArrayLike",
    inner_slopes: "npt.ArrayLike",
    *,
    available: "npt.ArrayLike | None" = None,
) -> float:
    """A lower bound of the program's value, from any distribution w over the arms on offer and any numbers r and rho.

    - `graph`, `losses`, `gamma`: of the program, as in `solve_squarecb_program`.
    - `weights`: w, a distribution over the arms on offer.
    - `outer_slopes`, `inner_slopes`: r and rho, any numbers an arm.
    - `available`: the arms on offer, a boolean mask; None (default): all.

    >>> from graphbandit import graphs
    >>> pair = graphs.bandit(2)
    >>> answer = solve_squarecb_program(pair, [0.0, 1.0], 4.0)
    >>> certificate = (answer.weights, answer.outer_slopes, answer.inner_slopes)
    >>> round(squarecb_bound(pair, [0.0, 1.0], 4.0, *certificate), 8)
    0.25
    >>> squarecb_bound(pair, [0.0, 1.0], 4.0, [0.5, 0.5], [2.0, 1.0], [1.0, 1.0])
    -0.625
    """
    check_graph(graph)
    n = graph.n_arms
    scale = setting_number("gamma", gamma, above=0.0, below=LARGEST)
    mask = available_array(available, 1, n)
    offered = np.ones(n, dtype=np.bool_) if mask is None else mask[0]
    w, r, rho = (
        arm_array(name, value, n)
        for name, value in (("weights", weights), ("outer_slopes", outer_slopes), ("inner_slopes", inner_slopes))
    )
    if (w < 0).any() or (w[~offered] != 0).any() or abs(w.sum() - 1.0) > SUMS_TO_ONE:
        raise InputError(
            f"weights has smallest entry {w.min():g} and sum {w.sum():.12g}; expected a distribution over arms on offer"
        )
    estimates = arm_array("losses", losses, n)
    costs = scale * (estimates - estimates[offered].min())
    prices = np.where(offered, w * r * r + (1.0 - w) * rho * rho, 0.0)
    reduced = costs - 2.0 * w * r + 2.0 * (1.0 - w) * rho - graph.to_sparse().astype(np.float64) @ prices
    return float((w[offered] @ (2.0 * r - costs)[offered] + reduced[offered].min()) / scale)


def _bounded(name: str, array: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    check_within(f"{name} has", array)
    return array


def _check_size(masks: Offers) -> None:
    most = int(masks.sum(axis=1).max()) if len(masks) else 0
    if most > ARM_LIMIT:
        raise InputError(f"{most} arms are on offer; expected at most {ARM_LIMIT} for SquareCB.G's program")


_solve_one = DirectCall("planning.squarecb", "solve_rounds")
"""For one program: its arrays are made here and are writeable, so their types are always the same."""
_observation_probabilities = DirectCall("planning.single_steps", "observation_probabilities")


def _solve(
    graphs: FeedbackGraphs, losses: RoundsByArms, masks: Offers, gammas: PerRound, *, certificates: bool
) -> tuple[RoundsByArms, Float[np.ndarray, "n_or_1 3 arms"], Float[np.ndarray, "n 3"]]:
    """(p, certificates, (objective, gap, steps)) of every round; raises if one has no solution."""
    kernels = kernels_of("planning.squarecb")
    solve_rounds, address = _solve_one.call if certificates else kernels.solve_rounds, kernels.dense_pointer()
    n, n_arms = losses.shape
    p, found = np.empty((n, n_arms)), np.empty((n, 3))
    proofs = np.empty((n if certificates else 1, 3, n_arms))
    for part, stored in kernel_batches(graphs):
        some = masks[part] if len(masks) > 1 else masks
        where = proofs[part] if certificates else proofs
        solve_rounds(stored, losses[part], some, gammas[part], address, p[part], where, found[part])
    for t in np.flatnonzero(found[:, 2] < 0).tolist():
        raise GraphError(
            f"arm {-1 - int(found[t, 2])} is revealed by no arm on offer in round {t} of the batch; "
            "SquareCB.G expects each to be"
        )
    for _ in range(int((found[:, 1] > ACCEPTED).sum())):
        count("uncertified")
    return p, proofs, found
