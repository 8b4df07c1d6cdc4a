"""The functions of planning check what they are given before a kernel sees it."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import GraphError, InputError, SettingError, SolverError
from tests.helpers.refusals import NAN, check_refused, odd

K = 4
EVERYTHING = gb.graphs.complete(K)


def explore(graph=EVERYTHING, candidates=(True,) * K, gaps=(0.0,) * K):
    return lambda: gb.exploration_set(graph, candidates, gaps)


def baseline(explored=(0, 1), gaps=(0.0, 1.0, 1.0), gamma=1.0, **kwargs):
    return lambda: gb.planning.inverse_gap_baseline(explored, gaps, gamma, **kwargs)


def program(graph=EVERYTHING, p=(0.7, 0.1, 0.1, 0.1), gaps=(0.0, 1.0, 1.0, 1.0), **kwargs):
    return lambda: gb.solve_sampling_lp(graph, p, gaps, **kwargs)


REFUSED = {
    **odd("gamma", baseline, negative=-1.0),
    "explore: no graph": (explore(np.eye(K)), GraphError, "graph is a ndarray; expected a FeedbackGraph"),
    "explore: arms": (explore(candidates=[0, 1]), InputError, "candidates is an array of int64 of shape (2,)"),
    "explore: short": (explore(candidates=[True]), InputError, "candidates is an array of bool of shape (1,)"),
    "explore: ragged": (explore(candidates=[[True], []]), InputError, "candidates has rows of different lengths"),
    "explore: gaps short": (explore(gaps=[0.0]), InputError, "gaps has shape (1,); expected (4,), one number an arm"),
    "explore: gaps NaN": (explore(gaps=[0, 0, NAN, 0]), InputError, "gaps has nan at [2]; expected finite numbers"),
    "explore: gaps text": (explore(gaps="none"), InputError, "gaps has type <U4; expected numbers"),
    "baseline: no gaps": (baseline(gaps=[]), InputError, "gaps has shape (0,); expected (1,)"),
    "baseline: negative gap": (baseline(gaps=[0, -1, 0]), InputError, "gaps has -1.0 at arm 1; expected gaps"),
    "baseline: gaps square": (baseline(gaps=np.zeros((2, 2))), InputError, "gaps has shape (2, 2)"),
    "baseline: twice": (baseline([1, 1]), InputError, "explored is [1, 1]; expected every arm once"),
    "baseline: no such arm": (baseline([3]), InputError, "explored is [3]; expected arm numbers from 0 to 2"),
    "baseline: negative arm": (baseline([-1]), InputError, "explored is [-1]; expected arm numbers"),
    "baseline: huge arm": (baseline([2**40]), InputError, f"explored is [{2**40}]; expected arm numbers"),
    "baseline: half an arm": (baseline([0.5]), InputError, "explored is [0.5]; expected arm numbers"),
    "baseline: a mask": (baseline([True, False, True]), InputError, "explored is [True, False, True]; expected arm"),
    "baseline: text": (baseline("all"), InputError, "explored is 'all'; expected arm numbers"),
    "baseline: ragged": (baseline([[0], [1, 2]]), InputError, "explored has rows of different lengths"),
    "baseline: best outside": (baseline(best=3), InputError, "best is 3; expected an arm, from 0 to 2"),
    "baseline: best negative": (baseline(best=-1), InputError, "best is -1; expected an arm"),
    "baseline: best a float": (baseline(best=1.0), InputError, "best is 1.0; expected an arm"),
    "baseline: best a boolean": (baseline(best=True), InputError, "best is True; expected an arm"),
    "program: no graph": (program(np.eye(K)), GraphError, "graph is a ndarray; expected a FeedbackGraph"),
    "program: gaps short": (program(gaps=[0.0, 1.0]), InputError, "gaps has shape (2,); expected (4,)"),
    "program: gaps NaN": (program(gaps=[0, NAN, 1, 1]), InputError, "gaps has nan at [1]; expected finite numbers"),
    "program: gaps negative": (program(gaps=[0, -1, 1, 1]), InputError, "gaps has -1.0 at arm 1"),
    "program: no gap is 0": (program(gaps=[0.5, 1, 1, 1]), InputError, "best is arm 0; expected an available"),
    "program: best outside": (program(best=4), InputError, "best is 4; expected an arm, from 0 to 3"),
    "program: best text": (program(best="0"), InputError, "best is '0'; expected an arm"),
    "program: best has a gap": (program(best=1), InputError, "best is arm 1; expected an available arm of gap 0"),
    "program: best not on offer": (
        program(available=[False, True, True, True]), InputError, "best is arm 1; expected an available arm of gap 0",
    ),
    "program: nothing on offer": (program(available=[False] * K), InputError, "available offers no arm"),
    "program: mask short": (program(available=[True]), InputError, "available has shape (1, 1); expected (1, 4)"),
    "program: no distribution": (program(p=[0.5] * K), InputError, "baseline has smallest entry 0.5 and sum 2"),
    "program: baseline negative": (program(p=[2, -1, 0, 0]), InputError, "baseline has smallest entry -1 and sum 1"),
    "program: baseline NaN": (program(p=[NAN, 1, 0, 0]), InputError, "baseline has nan at [0]"),
    "program: baseline on no offer": (
        program(p=[0.9, 0, 0, 0.1], available=[True, True, True, False]), InputError, "a distribution over available",
    ),
    "program: nothing asked": (program(p=None), InputError, "baseline and demand are both None; expected one of them"),
    "program: demand NaN": (program(p=None, demand=[0, NAN, 0, 0]), InputError, "demand has nan at [1]"),
    "program: demand short": (program(p=None, demand=[0.1]), InputError, "demand has shape (1,); expected (4,)"),
    "program: demand of 2": (program(p=None, demand=[0, 2, 0, 0]), SolverError, "no solution"),
    "program: never revealed": (
        program(gb.FeedbackGraph.from_dense(np.zeros((K, K)), require_loops=False), None, demand=[0, 0.1, 0, 0]),
        SolverError, "no solution",
    ),
    "program: solver": (program(solver="cplex"), SettingError, "solver is 'cplex'; expected one of 'auto', 'simplex'"),
    "program: no solver": (program(solver=None), SettingError, "solver is None; expected one of 'auto'"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused(call, error, message):
    check_refused(call, error, message)
