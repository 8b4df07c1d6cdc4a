"""Rounds decided one at a time are those of a batch, to the last bit, in every field."""

import copy
import pickle

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.rounds.decisions import ARRAYS

N_ARMS, DIMENSION, FUNCTIONS = 7, 3, 9
LEARNERS = {"IDS.G": gb.IDSG(draws=30), "AdaCB.G": gb.AdaCBG(), "greedy": gb.Greedy(), "LinUCB": gb.LinUCB()}


def problem_of(kind):
    if kind == "linear":
        functions = gb.LinearClass(n_arms=N_ARMS, dimension=DIMENSION)
    else:
        tables = np.random.default_rng(1).uniform(size=(FUNCTIONS, N_ARMS))
        functions = gb.FiniteClass(lambda x: x[:, :1, 0, None] * tables, n_functions=FUNCTIONS, n_arms=N_ARMS)
    return gb.Problem(n_arms=N_ARMS, function_class=functions, noise=0.3)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind", ["finite", "linear"])
@pytest.mark.parametrize("name", LEARNERS)
def test_one_round_at_a_time_is_a_batch(name, kind, masked):
    rng = np.random.default_rng(5)
    contexts, graph = rng.uniform(size=(60, N_ARMS, DIMENSION)), gb.graphs.star(N_ARMS, hub=2)
    masks = rng.random((60, N_ARMS)) < 0.7
    masks[:, 3] = True
    bandit = gb.Bandit(LEARNERS[name], problem_of(kind), graph=graph, identity="one")
    for t in range(40):
        made = bandit.decide(contexts[t])
        bandit.observe(made, {arm: float(contexts[t, arm, 0] + rng.normal()) for arm in made.revealed.tolist()})
    other, rest = copy.deepcopy(bandit), slice(40, 60)
    single = [bandit.decide(contexts[t], available=masks[t] if masked else None) for t in range(60)[rest]]
    batch = other.decide_batch(contexts[rest], available=masks[rest] if masked else None)
    for one, many in zip(single, batch, strict=True):
        assert (one.id, one.action, one.probability, one.seal) == (many.id, many.action, many.probability, many.seal)
        assert one.explain() == many.explain()
        np.testing.assert_array_equal(one.revealed, many.revealed)
        for field in ARRAYS:
            alone, among = getattr(one.batch, field)[one.row], getattr(many.batch, field)[many.row]
            assert (alone.dtype, alone.tobytes()) == (among.dtype, among.tobytes()), field
    assert bandit._journal.rng.bit_generator.state == other._journal.rng.bit_generator.state


def test_fields_that_are_worked_out_late_are_in_copies_and_pickles():
    bandit = gb.Bandit(gb.LinUCB(), problem_of("linear"), graph=gb.graphs.star(N_ARMS))
    batch = bandit.decide(np.ones((N_ARMS, DIMENSION))).batch
    for other in (copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
        for field in ARRAYS:
            np.testing.assert_array_equal(getattr(other, field), getattr(batch, field))
    assert batch.candidates.all()
    assert not batch.solver.any()
    assert batch.epoch.tolist() == [1]
