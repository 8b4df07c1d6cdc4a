"""Kernels that are called without a look at their types."""

import numba
import numpy as np

import graphbandit as gb
from graphbandit.base.at_once import AtOnce
from graphbandit.planning.sampling import SamplingRule, sample_rounds


def test_the_first_call_looks_at_types_and_later_ones_do_not():
    asked = []

    @numba.njit
    def doubled(values):
        return values.sum() * 2.0

    def find():
        asked.append(True)
        return doubled

    kernel = AtOnce(find)
    assert [kernel.call(np.full(3, value)) for value in (1.0, 2.0, 3.0)] == [6.0, 12.0, 18.0]
    assert len(asked) == 1
    assert kernel.call is doubled.overloads[doubled.signatures[0]].entry_point


def test_it_goes_to_the_code_of_the_types_it_was_called_with():
    @numba.njit
    def halved(value):
        return value / 2

    halved(3)
    kernel = AtOnce(lambda: halved)
    kernel.call(0.0)
    assert kernel.call(0.5) == 0.25  # the code for whole numbers would have taken 0


def test_arrays_in_any_layout_and_type_give_the_same_decisions():
    rng = np.random.default_rng(0)
    values, candidates = rng.normal(size=(40, 6)), rng.random((40, 6)) < 0.7
    candidates[:, 0] = True
    graphs = gb.FeedbackGraphs.repeat(gb.graphs.random_graph(6, 0.3, rng=rng), 40)
    rule = SamplingRule(explore="candidates", coverage="tight", rate=5.0)
    uniforms = rng.random(40)
    read_only = values.copy()
    read_only.flags.writeable = False
    forms = [
        (values, candidates, uniforms),
        (np.asfortranarray(values), np.asfortranarray(candidates), np.repeat(uniforms, 2)[::2]),
        (read_only, candidates[::-1][::-1], uniforms),
        (values.astype(np.longdouble), candidates.astype(np.int8), uniforms),
    ]
    made = [
        sample_rounds(rule, values=v, candidates=c, graphs=graphs, uniforms=u, epoch=3).probabilities
        for v, c, u in forms
    ]
    for other in made[1:]:
        np.testing.assert_array_equal(made[0], other)
