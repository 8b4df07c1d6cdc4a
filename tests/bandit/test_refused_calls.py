"""Bad input is refused with a typed error that names the wrong value, and leaves the bandit as it was."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import (
    GraphError,
    HorizonError,
    InputError,
    ObservationError,
    SavedFileError,
    SettingError,
    UnknownDecisionError,
)
from tests.helpers.bandits import content, refuse
from tests.helpers.refusals import INF, NAN, check_refused, odd
from tests.helpers.small_bandits import DRAWN, GRAPH, INSTANCE, LEARNERS, PLAYED, D, K, batch, decide, make, played

NO_EDGES = gb.FeedbackGraph.from_edges([], K, require_loops=False)


class Whole:
    """Something with an index that is no int, and so is another key of a dictionary than an equal one."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


@pytest.fixture(scope="module")
def undisturbed():
    return played(make(), PLAYED, PLAYED + 12)


def decide_batch(contexts=None, graphs=GRAPH, **kwargs):
    return lambda bandit: bandit.decide_batch(batch() if contexts is None else contexts, graphs, **kwargs)


def observe(decision, rewards):
    return lambda bandit: bandit.observe(decision, rewards)


CALLS = {
    "context: NaN": (decide((0.0, NAN)), InputError, "contexts have nan at [0, 1]; expected finite"),
    "context: infinite": (decide((-INF, 0.0)), InputError, "contexts have -inf at [0, 0]"),
    "context: overflows": (decide((1e308, 0.0)), InputError, "contexts have 1e+308 at [0, 0]; expected finite"),
    "context: wider than float64": (
        decide(np.array(["1e4000", "0"], dtype=np.longdouble)), InputError, "contexts have inf at [0, 0]",
    ),
    "context: too long": (decide((0.0, 0.0, 0.0)), InputError, "the context has shape (3,); expected (2,)"),
    "context: too short": (decide((0.0,)), InputError, "the context has shape (1,); expected (2,)"),
    "context: a number": (decide(0.5), InputError, "the context has shape (); expected (2,)"),
    "context: a batch": (decide(batch()), InputError, "the context has shape (3, 2); expected (2,)"),
    "context: text": (decide("north"), InputError, "the context has type <U5; expected numbers"),
    "context: numbers as text": (decide(["0", "1"]), InputError, "the context has type <U1; expected numbers"),
    "context: None": (decide(None), InputError, "the context has shape (1,); expected (2,) as before"),
    "context: a dictionary": (decide({"x": 1}), InputError, "the context has type object; expected numbers"),
    "context: complex": (decide([1j, 0]), InputError, "the context has type complex128; expected numbers"),
    "context: ragged": (decide([[0.0], [0.0, 1.0]]), InputError, "the context has rows of different lengths"),
    "graph: None": (decide(graph=None), GraphError, "there is no graph; expected one with every round"),
    "graph: text": (decide(graph="star"), GraphError, "graph is a str; expected a FeedbackGraph"),
    "graph: a batch": (decide(graph=DRAWN.graphs), GraphError, "graph is a FeedbackGraphs; expected a FeedbackGraph"),
    "graph: 5 arms": (decide(graph=gb.graphs.complete(5)), GraphError, "the graphs have 5 arms; expected 4"),
    "graph: no loops": (decide(graph=NO_EDGES), GraphError, "no arm on offer reveals arm 0, 1, 2, 3"),
    "mask: short": (decide(available=[True] * 3), InputError, "available has shape (1, 3); expected (1, 4) or (4,)"),
    "mask: two rows": (decide(available=np.ones((2, K), bool)), InputError, "available has shape (2, 4)"),
    "mask: a boolean": (decide(available=True), InputError, "available has shape (); expected (1, 4) or (4,)"),
    "mask: numbers": (decide(available=[1, 0, 1, 1]), InputError, "available is [1, 0, 1, 1], which may be"),
    "mask: text": (decide(available="all"), InputError, "available is 'all'; expected a list of arms"),
    "mask: ragged": (decide(available=[[True], [True] * 2]), InputError, "available has rows of different lengths"),
    "mask: no arm": (decide(available=[False] * K), InputError, "available offers no arm in round 0"),
    "batch: NaN": (decide_batch(batch(bad=NAN)), InputError, "contexts have nan at [1, 0]; expected finite"),
    "batch: a number": (decide_batch(0.5), InputError, "contexts are a single number"),
    "batch: one context": (decide_batch(np.zeros(D)), InputError, "the context has shape (); expected (2,)"),
    "batch: wide": (decide_batch(np.zeros((3, 5))), InputError, "the context has shape (5,); expected (2,)"),
    "batch: ragged": (decide_batch([[0.0], [0.0, 0.0]]), InputError, "contexts have rows of different lengths"),
    "batch: too few graphs": (decide_batch(graphs=DRAWN.graphs[:2]), InputError, "3 contexts came with 2 graphs"),
    "batch: a list of too few graphs": (decide_batch(graphs=[GRAPH] * 2), InputError, "3 contexts came with 2 graphs"),
    "batch: no graph": (decide_batch(graphs=None), GraphError, "there is no graph; expected one"),
    "batch: an empty mask": (
        decide_batch(available=[[True] * K, [True] * K, [False] * K]), InputError, "offers no arm in round 2",
    ),
    "batch: fails epochs later": (
        decide_batch(batch(40), gb.FeedbackGraphs.pool([GRAPH, NO_EDGES], [0] * 39 + [1])), GraphError, "reveals arm 0",
    ),
    "id: negative": (observe(-1, {0: 1.0}), UnknownDecisionError, "no decision has id -1; ids so far are 0 to 10"),
    "id: too large": (observe(PLAYED, {0: 1.0}), UnknownDecisionError, "no decision has id 11"),
    "id: far too large": (observe(10**30, {0: 1.0}), UnknownDecisionError, f"no decision has id {10**30}"),
    "id: text": (observe("9", {0: 1.0}), UnknownDecisionError, "no decision has the key '9'"),
    "id: a float": (observe(9.0, {0: 1.0}), UnknownDecisionError, "decision is 9.0; expected a Decision, its id"),
    "id: a boolean": (observe(True, {0: 1.0}), UnknownDecisionError, "decision is True; expected a Decision"),
    "id: None": (observe(None, {0: 1.0}), UnknownDecisionError, "decision is None; expected a Decision"),
    "id: forgotten": (observe(7, {0: 1.0}), ObservationError, "decision 7 awaits no more rewards"),
    "id: complete": (observe(5, {0: 1.0}), ObservationError, "decision 5 awaits no more rewards"),
    "forget: unknown": (lambda b: b.forget(99), UnknownDecisionError, "no decision has id 99"),
    "forget: text": (lambda b: b.forget("x"), UnknownDecisionError, "no decision has the key 'x'"),
    "forget: twice": (lambda b: b.forget(7), ObservationError, "decision 7 awaits no more rewards"),
    "awaited: unknown": (lambda b: b.awaited(-3), UnknownDecisionError, "no decision has id -3"),
    "awaited: complete": (lambda b: b.awaited(0), ObservationError, "decision 0 awaits no more rewards"),
    "rewards: a list": (observe(10, [1.0, 2.0]), ObservationError, "rewards is a list; expected a mapping"),
    "rewards: a number": (observe(10, 0.5), ObservationError, "rewards is a float; expected a mapping"),
    "rewards: an array": (observe(10, np.ones(K)), ObservationError, "rewards is a ndarray; expected a mapping"),
    "rewards: None": (observe(10, None), ObservationError, "rewards is a NoneType; expected a mapping"),
    "rewards: twice": (observe(9, {1: 1.0, 2: 1.0}), ObservationError, "arm 2 of decision 9 was given already"),
    "rewards: twice at once": (
        observe(10, {Whole(1): 1.0, Whole(1): 2.0}), ObservationError, "arm 1 of decision 10 was given already",
    ),
    "rewards: no such arm": (observe(10, {0: 1.0, 4: 1.0}), ObservationError, "decision 10 did not reveal arm 4"),
    "rewards: negative arm": (observe(10, {-1: 1.0}), ObservationError, "decision 10 did not reveal arm -1"),
    "rewards: arm as text": (observe(10, {0: 1.0, "1": 1.0}), ObservationError, "arm is '1', but the arms have no"),
    "rewards: arm as float": (observe(10, {1.0: 1.0}), ObservationError, "arm is 1.0; expected a whole number"),
    "rewards: arm as boolean": (observe(10, {True: 1.0}), ObservationError, "arm is True; expected a whole number"),
    "rewards: NaN": (observe(10, {0: 1.0, 1: NAN}), ObservationError, "arm 1 of decision 10 is nan; expected a finite"),
    "rewards: infinite": (observe(10, {0: 1.0, 1: INF}), ObservationError, "arm 1 of decision 10 is inf; expected"),
    "rewards: square overflows": (observe(10, {1: 1e200}), ObservationError, "is 1e+200; expected a finite number up"),
    "rewards: huge integer": (observe(10, {1: 10**400}), ObservationError, "arm 1 of decision 10 is 1000"),
    "rewards: text": (observe(10, {1: "0.5"}), ObservationError, "arm 1 of decision 10 is '0.5'; expected a finite"),
    "rewards: bytes": (observe(10, {1: b"1"}), ObservationError, "arm 1 of decision 10 is b'1'; expected a finite"),
    "rewards: None for an arm": (observe(10, {1: None}), ObservationError, "arm 1 of decision 10 is None; expected"),
    "rewards: array for an arm": (observe(10, {1: np.ones(1)}), ObservationError, "is array([1.]); expected a finite"),
    "rewards: complex": (observe(10, {1: 1j}), ObservationError, "arm 1 of decision 10 is 1j; expected a finite"),
    "save: a number": (lambda b: b.save(3), SavedFileError, "path is 3; expected the name of a file"),
    "save: None": (lambda b: b.save(None), SavedFileError, "path is None; expected the name of a file"),
    "save: impossible name": (lambda b: b.save("a\0b"), SavedFileError, "cannot be written: embedded null byte"),
    "save: too long a name": (lambda b: b.save("x" * 999), SavedFileError, "cannot be written"),
    "save: no directory": (lambda b: b.save("/no/such/place.gb"), SavedFileError, "the folder /no/such does not exist"),
    "save: a directory": (lambda b: b.save("/"), SavedFileError, "/ cannot be written"),
    "save: unwritable": (lambda b: b.save("/proc/bandit.gb"), SavedFileError, "/proc/bandit.gb cannot be written"),
    "save: below a file": (lambda b: b.save(f"{__file__}/x.gb"), SavedFileError, "x.gb cannot be written"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), CALLS.values(), ids=CALLS)
def test_a_refused_call_leaves_the_bandit_as_it_was(call, error, message, undisturbed, tmp_path):
    bandit = make()
    refuse(bandit, call, error, message, tmp_path)
    assert played(bandit, PLAYED, PLAYED + 12) == undisturbed


def test_ids_are_refused_before_the_first_decision(tmp_path):
    bandit = gb.Bandit(gb.learners.Uniform(), gb.Problem(n_arms=2))
    refuse(bandit, observe(0, {}), UnknownDecisionError, "no decision has id 0; there are no decisions yet", tmp_path)


def test_rounds_beyond_the_horizon_are_refused(tmp_path):
    bandit = make(horizon=PLAYED + 2)
    refuse(bandit, decide_batch(), HorizonError, "round 14 was asked for, but the problem's horizon is 13", tmp_path)
    bandit.decide_batch(batch(2), GRAPH)
    refuse(bandit, decide(), HorizonError, "round 14 was asked for", tmp_path)


def test_an_empty_batch_is_no_rounds_and_not_refused(tmp_path):
    bandit = make()
    before = content(bandit, tmp_path)
    assert bandit.decide_batch(np.zeros((0, D)), GRAPH) == bandit.decide_batch([], DRAWN.graphs[:0]) == []
    assert content(bandit, tmp_path) == before


def test_what_the_user_holds_is_not_what_the_bandit_holds(tmp_path):
    """Changing an array after handing it in, or after getting it, changes nothing."""
    alone, bandit = make(), make()
    context, mask = np.ones(D), np.ones(K, dtype=bool)
    alone.decide(np.ones(D), GRAPH, available=np.ones(K, dtype=bool))
    decision = bandit.decide(context, GRAPH, available=mask)
    context[:], mask[:], decision.revealed[:], decision.probabilities[:] = 9.0, False, 3, NAN
    assert content(alone, tmp_path) == content(bandit, tmp_path)


THREE_ARMS = gb.Problem(n_arms=3)


def built(learner=LEARNERS["uniform"], problem=THREE_ARMS, **settings):
    return lambda: gb.Bandit(learner, problem, **settings)


REFUSED = {
    "no learner": (built(gb.AdaCBG), SettingError, "a learner, such as IDSG()"),
    "no problem": (built(problem=3), SettingError, "problem is 3; expected a Problem"),
    "no class": (built(gb.Falcon()), SettingError, "function_class is None in both"),
    "odd class": (built(gb.Falcon(function_class="linear")), SettingError, "function_class is 'linear'"),
    "class of other arms": (built(gb.Falcon(function_class=INSTANCE.functions)), SettingError, "has 4 arms"),
    **odd("seed", built, but=["huge"], negative=-1),
    **odd("max_open", built, but=["huge"], zero=0),
    **odd("forget_after", built, but=["huge", "None"], zero=0),
    "identity": (built(identity=3), SettingError, "identity is 3; expected a name"),
}


@pytest.mark.parametrize(("call", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_settings_are_refused(call, error, message):
    check_refused(call, error, message)
