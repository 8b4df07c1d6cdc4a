"""Demands are written twice, for kernels and for rounds planned in Python: both agree on random rounds."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.base.program_constants import COVERAGES
from graphbandit.graphs.kernel_forms import kernel_graph, listed_graph
from graphbandit.kernels.jit import for_python
from graphbandit.kernels.planning import demands as kernels
from graphbandit.kernels.planning import exploration
from graphbandit.kernels.planning.certificate import Program
from graphbandit.planning.demands import Limits, ceilings_of, chances_of, demand_of_candidates

set_chances = for_python(exploration.set_chances)
NOTHING, TIGHT = np.empty(0), COVERAGES.index("tight")


@pytest.mark.parametrize("form", [kernel_graph, listed_graph])
def test_kernels_and_python_make_the_same_demands(form):
    rng, limited = np.random.default_rng(0), 0
    for trial in range(200):
        n_arms = int(rng.choice([1, 2, 9, 70, 130, 513]))
        graph = gb.graphs.erdos_renyi(n_arms, 0.1, rng=rng)
        gaps = rng.random(n_arms) * rng.choice([0.01, 1.0])
        best = int(rng.integers(n_arms))
        gaps[best] = 0.0
        candidates, available = rng.random(n_arms) < 0.5, rng.random(n_arms) < 0.8
        candidates[best] = available[best] = True
        candidates &= available
        size, gamma, doubt = int(rng.integers(1, n_arms + 1)), float(rng.uniform(0.0, 100.0)), float(rng.random())
        deviations = rng.random(n_arms) * (rng.random(n_arms) < 0.9) if trial % 3 else NOTHING
        told = rng.dirichlet(np.ones(n_arms)) if trial % 3 == 2 else NOTHING

        chances = chances_of(candidates, gaps, deviations, told)
        limits = None
        if chances.any():
            ceilings = ceilings_of(graph, available, gaps, chances)
            if len(deviations):
                ceilings[deviations <= 0.0] = 1.0
            limits, limited = Limits(doubt * chances, ceilings), limited + 1
        expected = demand_of_candidates(candidates, gaps, best, size, gamma, limits)

        found = np.empty(n_arms)
        known = set_chances(candidates, gaps, deviations, told, found)
        assert known == (limits is not None)
        np.testing.assert_allclose(found, chances, rtol=1e-13, atol=1e-300)
        beliefs = exploration.Beliefs(gaps, found, known, doubt)
        program = Program(form(graph), np.empty(n_arms), gaps, best, available)
        task, scratch = kernels.Task(program, candidates, beliefs, deviations), np.empty(n_arms, dtype=np.int32)
        kernels.set_demand(task, TIGHT, size, gamma, np.zeros(n_arms), scratch, np.empty(n_arms))
        np.testing.assert_allclose(program.demand, expected, rtol=1e-12)
    assert limited > 50
