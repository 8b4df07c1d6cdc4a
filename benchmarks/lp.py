"""The sampling program: the compiled simplex against HiGHS, called directly (highspy) and through scipy.

All contenders get the same program as arrays built beforehand. Measured of ours are one solve inside a compiled loop,
its certificate included, and one Python call of `solve_sampling_lp`. All solve from scratch: each round has its own
graph, so there is no earlier basis to start from. Every answer of ours is checked here, from the matrix alone.
"""

import ctypes
import time
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import graphbandit as gb
from benchmarks.lp_rivals import MODES, Highs, Scipy
from benchmarks.settings import Settings
from benchmarks.timing import Progress, no_collection, ratio, summary, timed
from tests.helpers.lp_instances import FAMILIES, CoveringLP, random_costs, random_graph, sampling_lp

CHUNK = 10
"""Programs that one contender solves before the next has its turn."""


class Program(NamedTuple):
    """One program in the forms that the contenders take."""

    lp: CoveringLP
    graph: gb.FeedbackGraph
    demand: np.ndarray


class Packed(NamedTuple):
    """Several programs behind one another, as a compiled loop takes them."""

    integers: np.ndarray
    """the incidence lists: col_ptr, col_rows, row_ptr, row_cols of the first program, then of the next"""
    floats: np.ndarray
    """c, b, and room for p and y"""
    places: np.ndarray
    """(programs, 11): where the four lists start and the last ends, where the four vectors do, and `best`"""

    @classmethod
    def of(cls, portion: list[Program]) -> "Packed":
        """Pack these programs."""
        integers: list[np.ndarray] = []
        floats: list[np.ndarray] = []
        places, first_integer, first_float = [], 0, 0
        for lp, _, _ in portion:
            lists, vectors = lp.incidence(), (lp.c, lp.b, np.empty(len(lp.c)), np.empty(len(lp.b)))
            ends = first_integer + np.cumsum([0, *map(len, lists)]), first_float + np.cumsum([0, *map(len, vectors)])
            places.append([*ends[0], *ends[1], lp.best])
            first_integer, first_float = int(ends[0][-1]), int(ends[1][-1])
            integers += lists
            floats += vectors
        return cls(np.concatenate(integers), np.concatenate(floats), np.array(places))

    def answer(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """(p, y) of program i, once it is solved."""
        at = self.places[i]
        return self.floats[at[7] : at[8]], self.floats[at[8] : at[9]]


def programs(family: str, n_arms: int, coverage: str, rng: np.random.Generator) -> Iterator[Program]:
    """Random programs without end: all arms candidates, normal estimates, gamma from 1 to 1000."""
    while True:
        revealed = random_graph(family, n_arms, rng)
        lp = sampling_lp(revealed, random_costs("normal", n_arms, rng), 10 ** rng.uniform(0, 3), coverage)
        demand = np.zeros(n_arms)
        demand[np.arange(n_arms) != lp.best] = lp.b
        yield Program(lp, gb.FeedbackGraph.from_dense(revealed), demand)


@cache
def compiled_loop() -> Any:
    """A loop over programs that looks at the clock before and after each solve, with no Python in between."""
    import numba

    from graphbandit.kernels.graphs.incidence import Incidence
    from graphbandit.kernels.planning.simplex import solve_covering_lp

    clock = ctypes.CDLL(None).clock_gettime
    clock.argtypes = [ctypes.c_int, ctypes.c_void_p]
    clock.restype = ctypes.c_int
    monotonic = time.CLOCK_MONOTONIC

    @numba.njit
    def solve_all(integers: Any, floats: Any, places: Any, work: Any, seconds: Any) -> int:
        unsolved = 0
        stamp = np.empty(2, np.int64)
        for i in range(len(seconds)):
            at = places[i]
            clock(monotonic, stamp.ctypes)
            begin, fraction = stamp[0], stamp[1]
            status, _, _, _ = solve_covering_lp(
                Incidence(
                    integers[at[0] : at[1]], integers[at[1] : at[2]], integers[at[2] : at[3]], integers[at[3] : at[4]]
                ),
                floats[at[5] : at[6]], floats[at[6] : at[7]], at[10],
                floats[at[7] : at[8]], floats[at[8] : at[9]], work,
            )  # fmt: skip
            clock(monotonic, stamp.ctypes)
            seconds[i] = (stamp[0] - begin) + 1e-9 * (stamp[1] - fraction)
            unsolved += status != 0
        return unsolved

    return solve_all


def run(settings: Settings, progress: Progress) -> list[dict[str, Any]]:
    """One row for each family, number of arms and coverage."""
    cells = [(family, n_arms, "paper") for n_arms in settings.lp_arms for family in FAMILIES]
    middle = 50 if 50 in settings.lp_arms else settings.lp_arms[0]
    cells += [(family, middle, "tight") for family in FAMILIES]
    rows = []
    for done, (family, n_arms, coverage) in enumerate(cells):
        progress(f"LP {family} {n_arms}", done, len(cells))
        rows.append(measure(family, n_arms, coverage, settings))
    return rows


def measure(family: str, n_arms: int, coverage: str, settings: Settings) -> dict[str, Any]:
    """One row: the contenders take turns, `CHUNK` programs each, until the time is up."""
    from graphbandit.kernels.planning.simplex_workspace import scratch

    source = programs(family, n_arms, coverage, np.random.default_rng([n_arms, FAMILIES.index(family)]))
    chunk = CHUNK if n_arms <= 200 else 2
    work, loop, highs, scipy = scratch(n_arms, n_arms), compiled_loop(), Highs(), Scipy()
    first = [next(source) for _ in range(3 if n_arms <= 200 else 1)]
    for rival in (highs, scipy):
        rival.tune([program.lp for program in first])
    samples: dict[str, list[float]] = {name: [] for name in ("ours", "call", *MODES, "scipy")}
    worst = {"infeasibility": 0.0, "gap": 0.0, "difference_from_highs": 0.0}
    warm_up = first[:1]  # solved first in every turn, and not counted: the contender before left cold caches
    unsolved = 0
    end = time.perf_counter() + settings.lp_seconds
    with no_collection():
        while not samples["ours"] or (time.perf_counter() < end and len(samples["ours"]) < settings.lp_instances):
            portion = [next(source) for _ in range(min(chunk, settings.lp_instances))]
            packed, seconds = Packed.of(portion), np.empty(len(portion))
            loop(*Packed.of(warm_up), work, np.empty(len(warm_up)))
            unsolved += loop(*packed, work, seconds)
            samples["ours"] += seconds.tolist()
            samples["call"] += [timed(call, program)[0] for program in warm_up + portion][len(warm_up) :]
            for mode in MODES if highs.installed else ():
                samples[mode] += [highs.solve(program.lp, mode) for program in warm_up + portion][len(warm_up) :]
            for lp, _, _ in warm_up:
                scipy.solve(lp)
            for i, (lp, _, _) in enumerate(portion):
                spent, optimum = scipy.solve(lp)
                samples["scipy"].append(spent)
                check(lp, *packed.answer(i), optimum, worst)
    times = {name: summary(values) for name, values in samples.items() if values}
    best_mode = min((mode for mode in MODES[:2] if mode in times), key=lambda m: times[m]["median"], default=None)
    ratios = {"scipy": ratio(times["scipy"], times["ours"]), "call_scipy": ratio(times["scipy"], times["call"])}
    if best_mode is not None:
        ratios["highspy"] = ratio(times[best_mode], times["ours"])
        ratios["call_highspy"] = ratio(times[MODES[0]], times["call"])
    return {
        "family": family,
        "n_arms": n_arms,
        "coverage": coverage,
        "times": times,
        "ratios": ratios,
        "highspy_mode": best_mode if best_mode is not None else "not installed",
        "highspy_pricing": highs.pricing,
        "scipy_matrix": scipy.form,
        "unsolved": unsolved,
        **worst,
    }


def call(program: Program) -> gb.planning.SamplingSolution:
    """One Python call, from checked input to certified answer."""
    return gb.solve_sampling_lp(program.graph, None, program.lp.c, demand=program.demand)


def check(lp: CoveringLP, p: np.ndarray, y: np.ndarray, optimum: float, worst: dict[str, float]) -> None:
    """The certificate of the compiled answer, from the matrix and with nothing of the package."""
    cost = float(lp.c @ p)
    bound = float(lp.b @ y + (lp.c - y @ lp.A).min())
    scale = max(cost, 1e-6 * float(lp.c.max()))
    found = {
        "infeasibility": max(abs(float(p.sum()) - 1), float(-p.min()), float((lp.b - lp.A @ p).max(initial=0.0)), 0.0),
        "gap": abs(cost - bound) / scale if scale > 0 else 0.0,
        "difference_from_highs": abs(cost - optimum) / scale if scale > 0 else 0.0,
    }
    if y.min(initial=0.0) < 0:
        found["gap"] = float("inf")
    for name, value in found.items():
        worst[name] = max(worst[name], value)
