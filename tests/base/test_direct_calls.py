"""Kernels that are called without a look at their types."""

import sys
from types import SimpleNamespace

import numba
import numpy as np
import pytest

import graphbandit as gb
from graphbandit.base.direct_calls import DirectCall, kernels_of
from graphbandit.function_classes import FiniteModel
from graphbandit.function_classes.base import Prospects
from graphbandit.learners.base import predictor_of, prospector_of
from graphbandit.planning.sampled_rounds import SamplingRule, sample_rounds


@pytest.fixture
def kernels(monkeypatch):
    """A module of kernels."""
    module = SimpleNamespace()
    monkeypatch.setitem(sys.modules, "graphbandit.kernels.of_a_test", module)
    yield module
    kernels_of.cache_clear()


def test_the_first_call_looks_at_types_and_later_ones_do_not(kernels):
    @numba.njit
    def doubled(values):
        return values.sum() * 2.0

    kernels.doubled = doubled
    kernel = DirectCall("of_a_test", "doubled")
    assert kernel.call(np.full(3, 1.0)) == 6.0
    del kernels.doubled
    assert [kernel.call(np.full(3, value)) for value in (2.0, 3.0)] == [12.0, 18.0]
    assert kernel.call is doubled.overloads[doubled.signatures[0]].entry_point


def test_it_goes_to_the_code_of_the_types_it_was_called_with(kernels):
    @numba.njit
    def halved(value):
        return value / 2

    halved(3)
    kernels.halved = halved
    kernel = DirectCall("of_a_test", "halved")
    kernel.call(0.0)
    assert kernel.call(0.5) == 0.25  # the code for whole numbers would have taken 0


class InAnyLayout(gb.FiniteClass):
    """A class of one's own, which gives its values and candidates in some layout and type."""

    def __init__(self, values, candidates):
        super().__init__(lambda x: np.zeros((len(x), 2, 6)), n_functions=2, n_arms=6)
        self.given = values, candidates

    def predict(self, model, contexts):
        return self.given[0]

    def prospects(self, model, space, contexts, available=None, noise=None):
        return Prospects(*self.given)

    def stays_within(self, model):
        return True  # nobody relies on it


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
        (values, candidates),
        (np.asfortranarray(values), np.asfortranarray(candidates)),
        (read_only, candidates[::-1][::-1]),
        (values.astype(np.longdouble), candidates),
    ]
    made = []
    for functions in (InAnyLayout(*form) for form in forms):
        model, contexts = FiniteModel(index=0), np.zeros((40, 1))
        np.testing.assert_array_equal(predictor_of(functions, model)(contexts), values)
        found = prospector_of(functions, model, functions.version_space(functions.empty(), np.inf), None)(
            contexts, None
        )
        for array, kind in zip(found[:2], (np.float64, np.bool_), strict=True):
            assert array.dtype == kind
            assert array.flags.carray
        drawn = {"graphs": graphs, "uniforms": uniforms, "epoch": 3}
        made.append(sample_rounds(rule, values=found.values, candidates=found.candidates, **drawn).probabilities)
    for other in made[1:]:
        np.testing.assert_array_equal(made[0], other)
