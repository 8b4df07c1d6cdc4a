"""SquareCB.G's program written down literally for Clarabel, and random instances of it."""

import clarabel
import numpy as np
from scipy import sparse

KINDS = ("bandit", "complete", "star", "cliques", "random", "directed", "no loops", "robbers", "inventory")


def some_instance(rng, n_arms=None, kind=None, largest_gamma=1e5):
    """(losses, adjacency matrix, gamma); losses often tied.

    Without self-loops q(best) is about 1 / gamma and p(best)^2 / q(best) about gamma, which Clarabel cannot do beyond
    some hundreds; there gamma stays below 100.
    """
    n = int(rng.integers(2, 61)) if n_arms is None else n_arms
    kind = KINDS[rng.integers(len(KINDS))] if kind is None else kind
    losses = rng.random(n)
    if rng.random() < 0.3:
        losses = np.round(4 * losses) / 4
    graph = np.eye(n, dtype=bool)
    if kind == "complete":
        graph[:] = True
    elif kind == "star":
        graph[0], graph[:, 0] = True, True
    elif kind == "cliques":
        labels = rng.integers(max(1, n // 4), size=n)
        graph = labels[:, None] == labels
    elif kind in ("random", "directed"):
        edges = rng.random((n, n)) < rng.choice([0.1, 0.3, 0.7])
        graph |= edges | edges.T if kind == "random" else edges
    elif kind == "no loops":
        graph = rng.random((n, n)) < 0.4
        graph[rng.integers(n, size=n), np.arange(n)] = True
    elif kind == "robbers":
        graph = ~graph
    elif kind == "inventory":
        graph = np.tril(np.ones((n, n), dtype=bool))
    if not graph.diagonal().all():
        largest_gamma = min(largest_gamma, 100.0)
    return losses, graph, float(10 ** rng.uniform(0, np.log10(largest_gamma)))


def value(losses, graph, gamma, p):
    """p'l + z at the smallest feasible z, from the statement of the program; 0 / 0 counts as 0."""
    q = graph.T.astype(float) @ p
    n = len(p)
    z = -np.inf
    for a in range(n):
        total = 0.0
        for b in range(n):
            error = (float(a == b) - p[b]) ** 2
            if error > 0:
                total += error / q[b] if q[b] > 0 else np.inf
        z = max(z, total / gamma - losses[a])
    return p @ losses + z


def clarabel_value(losses, graph, gamma):
    """The optimum by Clarabel, to the smallest tolerance that it says it reached, and that tolerance.

    Where q(b) is tiny its cones are badly scaled; of a few powers of gamma times the gap of b as a scale one does.
    """
    for tolerance in (1e-11, 1e-10, 1e-9, 1e-8):
        for power in (1.0, 0.5, 0.0):
            solution = _by_clarabel(losses, graph, gamma, tolerance, power)
            if str(solution.status) == "Solved":
                return solution.obj_val / gamma, tolerance
    raise AssertionError(f"Clarabel says {solution.status} of {len(losses)} arms at gamma {gamma}")


def _by_clarabel(losses, graph, gamma, tolerance, power):
    """A second-order cone program in p, y, x and Z, in units of 1 / gamma.

    (s q + y / s, s q - y / s, 2 p) in the second-order cone says p^2 / q <= y for any scale s, and with x for y and
    1 - p for p that (1 - p)^2 / q <= x; constraint a is x(a) + sum over b != a of y(b) <= gamma l(a) + Z.
    """
    n = len(losses)
    costs = gamma * (losses - losses.min())
    reveal = graph.T.astype(float)
    eye, zero, one = np.eye(n), np.zeros((n, n)), np.ones((n, 1))
    rows, right = [np.hstack([one.T, np.zeros((1, 2 * n + 1))])], [np.ones(1)]
    rows.append(np.hstack([-eye, zero, zero, 0 * one]))
    right.append(np.zeros(n))
    rows.append(np.hstack([zero, np.ones((n, n)) - eye, eye, -one]))
    right.append(costs)
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)]
    for b in range(n):
        for inner in (True, False):
            scale = 1.0 if inner else (n + costs[b]) ** power
            epigraph = np.concatenate([eye[b] * inner, eye[b] * (not inner)])
            sums = np.concatenate([scale * reveal[b], epigraph / scale, [0.0]])
            differences = np.concatenate([scale * reveal[b], -epigraph / scale, [0.0]])
            double = np.concatenate([2 * eye[b] * (1 if inner else -1), np.zeros(2 * n + 1)])
            rows.append(-np.stack([sums, differences, double]))
            right.append(np.array([0.0, 0.0, 0.0 if inner else 2.0]))
            cones.append(clarabel.SecondOrderConeT(3))
    objective = np.concatenate([costs, np.zeros(2 * n), [1.0]])
    nothing = sparse.csc_matrix((3 * n + 1, 3 * n + 1))
    matrix, bounds = sparse.csc_matrix(np.vstack(rows)), np.concatenate(right)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    return clarabel.DefaultSolver(nothing, objective, matrix, bounds, cones, settings).solve()
