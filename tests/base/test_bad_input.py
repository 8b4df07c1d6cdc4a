"""Bad input is refused with a typed error that names the wrong value, and the failing call changes nothing."""

import errno
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphbandit as gb
from graphbandit import environments
from graphbandit import graphs as graph_generators
from graphbandit.errors import (
    GraphBanditError,
    GraphError,
    HorizonError,
    InputError,
    ObservationError,
    SavedFileError,
    SettingError,
    SolverError,
    UnknownDecisionError,
)
from graphbandit.learners import Uniform
from graphbandit.rounds.shown import Shown
from tests.helpers.archives import entries, forged, npy, packed, places
from tests.helpers.bandits import content, play, refuse

K, D, PLAYED = 4, 2, 11
NAN, INF = float("nan"), float("inf")
INSTANCE = environments.paper(n_arms=K, graph="random", n_functions=3, dimension=D, density=0.1).instance(seed=5)
DRAWN = INSTANCE.rounds(0, 64)
GRAPH, EVERYTHING = DRAWN.graphs[0], graph_generators.complete(K)
NO_LOOPS = gb.FeedbackGraph.from_dense(1 - np.eye(K), require_loops=False)
NO_EDGES = gb.FeedbackGraph.from_edges([], K, require_loops=False)
LEARNERS = {
    "AdaCB.G": gb.AdaCBG(epoch_growth=2.0),
    "no candidates": gb.AdaCBG(candidate_set=False, epoch_growth=2.0),
    "IDS.G": gb.IDSG(epoch_growth=2.0),
    "IDS.G frequentist": gb.IDSG(form="frequentist", epoch_growth=2.0),
    "Thompson": gb.learners.BootstrappedThompson(epoch_growth=2.0),
    "RegCB": gb.learners.RegCB(),
    "AdaCB": gb.learners.AdaCB(),
    "epsilon-greedy": gb.learners.EpsilonGreedy(),
    "explore then commit": gb.learners.ExploreThenCommit(explore_rounds=2),
    "FALCON": gb.Falcon(),
    "RegCB.G": gb.RegCBG(),
    "greedy": gb.Greedy(),
    "uniform": Uniform(),
}


class Whole:
    """Something with an index that is no int, and so is another key of a dictionary than an equal one."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


def played(bandit, first, stop):
    """Rounds with prompt rewards; all that was decided, as bytes."""
    made = play(bandit, DRAWN, first, stop)
    return [(each.id, each.action, each.gamma, each.epoch, each.probabilities.tobytes()) for each in made]


def make(learner=LEARNERS["AdaCB.G"], horizon=None):
    """A bandit in its fourth epoch: 8 has late news, 9 part of its rewards, 7 was forgotten, 10 all is awaited of."""
    bandit = gb.Bandit(learner, INSTANCE.problem(horizon), seed=3, identity="test")
    played(bandit, 0, 6)
    late = bandit.decide(DRAWN.contexts[6], EVERYTHING)
    bandit.forget(bandit.decide(DRAWN.contexts[7], EVERYTHING))
    bandit.decide(DRAWN.contexts[8], EVERYTHING, available=[True, True, False, True])
    bandit.observe(bandit.decide(DRAWN.contexts[9], EVERYTHING), {0: 0.5, 2: -1.0})
    bandit.decide(DRAWN.contexts[10], EVERYTHING)
    bandit.observe(late, {1: 0.25})
    return bandit


@pytest.fixture(scope="module")
def undisturbed():
    return played(make(), PLAYED, PLAYED + 12)


def batch(n=3, at=1, bad=None, fill=0.0):
    """Contexts of n rounds, the one at `at` with `bad` in it."""
    contexts = np.full((n, D), fill)
    if bad is not None:
        contexts[at, 0] = bad
    return contexts


def decide(context=(0.0, 0.0), graph=GRAPH, **kwargs):
    return lambda bandit: bandit.decide(context, graph, **kwargs)


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
    "graph: 5 arms": (decide(graph=graph_generators.complete(5)), GraphError, "the graphs have 5 arms; expected 4"),
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


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_refuses_what_does_not_fit(name, tmp_path):
    learner, stranger = LEARNERS[name], graph_generators.complete(K + 1)
    for bandit in (make(learner), gb.Bandit(learner, INSTANCE.problem(None))):
        refuse(bandit, decide((NAN, 0.0)), InputError, "contexts have nan", tmp_path)
        refuse(bandit, decide(graph=stranger), GraphError, "the graphs have 5 arms; expected 4", tmp_path)
        refuse(bandit, decide(available=[False] * K), InputError, "available offers no arm", tmp_path)
        if bandit.rounds or name != "uniform":  # which takes any context that is like the first
            refuse(bandit, decide((1.0, 2.0, 3.0)), InputError, "shape", tmp_path)
        if name != "RegCB.G":
            bandit.decide((0.0, 0.0), NO_LOOPS)  # they can do without
        else:
            refuse(bandit, decide(graph=NO_LOOPS), GraphError, "this learner expects every arm", tmp_path)


def test_ids_are_refused_before_the_first_decision(tmp_path):
    bandit = gb.Bandit(Uniform(), gb.Problem(n_arms=2))
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


# What a function class may get wrong -------------------------------------------------------------------------------


class Fickle:
    """Evaluates two functions of three arms, until it is told to answer otherwise."""

    answer = None

    def __call__(self, contexts):
        if self.answer is not None:
            return self.answer(contexts)
        return np.stack([contexts, 1 - contexts], axis=1)


def fickle_bandit(learner):
    function = Fickle()
    functions = gb.FiniteClass(function, n_functions=2, n_arms=3)
    return function, gb.Bandit(learner, gb.Problem(n_arms=3, function_class=functions, noise=0.5), identity="fickle")


def out_of_memory(_):
    raise MemoryError("no room")


ANSWERS = {
    "wrong shape": (lambda x: x, InputError, "the function class gave values of shape"),
    "NaN": (lambda x: np.full((len(x), 2, 3), NAN), InputError, "gave nan at [0, 0, 0]; expected finite"),
    "too large": (lambda x: np.full((len(x), 2, 3), 1e200), InputError, "gave 1e+200 at [0, 0, 0]; expected finite"),
    "None": (lambda x: None, InputError, "the answer of the function class has type object; expected numbers"),
    "text": (lambda x: "high", InputError, "the answer of the function class has type <U4; expected numbers"),
    "ragged": (lambda x: [[1], [1, 2]], InputError, "the answer of the function class has rows of different lengths"),
    "complex": (lambda x: np.ones((1, 2, 3)) * 1j, InputError, "has type complex128; expected numbers"),
    "raises": (lambda x: 1 / 0, ZeroDivisionError, "division by zero"),  # the user's own errors come as they are
    "out of memory": (out_of_memory, MemoryError, "no room"),
}


@pytest.mark.parametrize("rounds", [0, 1, 2, 3], ids="round {}".format)
@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "uniform"])
def test_a_function_class_is_refused_at_any_time(name, rounds, tmp_path):
    """In the first epoch, at its update (round 2) and after."""
    graph, context = graph_generators.complete(3), [0.1, 0.9, 0.5]
    function, bandit = fickle_bandit(LEARNERS[name])
    _, alone = fickle_bandit(LEARNERS[name])
    for b in (bandit, alone):
        for _ in range(rounds):
            b.observe(b.decide(context, graph), {0: 0.0, 1: 1.0})
    for answer, error, message in ANSWERS.values():
        function.answer = answer
        refuse(bandit, decide(context, graph), error, message, tmp_path)
    function.answer = None
    for b in (bandit, alone):
        for _ in range(4):
            b.observe(b.decide(context, graph), {0: 0.0, 1: 1.0})
    assert content(bandit, tmp_path) == content(alone, tmp_path)


def test_contexts_that_a_callable_cannot_take_are_refused_before_they_are_kept(tmp_path):
    for name in LEARNERS.keys() - {"uniform"}:
        _, bandit = fickle_bandit(LEARNERS[name])
        refuse(bandit, decide([0.1, 0.9], graph_generators.complete(3)), InputError, "of shape (1, 2, 2)", tmp_path)
        bandit.decide([0.1, 0.9, 0.5], graph_generators.complete(3))


class Own(gb.function_classes.BilinearClass):
    """A class of the user's own, which files do not know."""


MISTAKES = {
    "candidates": (gb.AdaCBG.paper(), "best_arms", np.ones((1, 3), bool), "candidates of type bool and shape (1, 3)"),
    "candidates, early": (gb.Falcon(), "best_arms", np.ones((1, K)), "candidates of type float64 and shape (1, 4)"),
    "prediction": (gb.Falcon(), "predict", np.zeros((1, K + 1)), "predicts values of shape (1, 5); expected (1, 4)"),
    "NaN": (gb.Greedy(), "predict", np.full((1, K), NAN), "predicts nan at [0, 0]; expected finite values"),
    "values": (gb.AdaCBG(), "values_of", np.zeros((1, 2, K + 1)), "values of shape (1, 2, 5); expected (1, 2, 4)"),
    "NaN among values": (gb.AdaCBG(), "values_of", np.full((1, 2, K), NAN), "predicts nan at [0, 0]"),
    "text": (gb.AdaCBG.paper(), "predict", ["high"] * K, "the prediction of the function class has type <U4"),
    "widths": (gb.AdaCBG(gamma="width"), "widths", np.zeros((1, 1)), "widths of shape (1, 1); expected (1, 4)"),
    "NaN among widths": (gb.AdaCBG(gamma="width"), "widths", np.full((1, K), NAN), "gave widths with nan; expected"),
}  # fmt: skip


@pytest.mark.parametrize(("learner", "method", "answer", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_class_of_the_users_own_is_refused_before_kernels_see_it(learner, method, answer, message):
    wrong = type("Wrong", (Own,), {method: lambda *_: answer})
    functions = wrong(x0=np.ones((2, D)), a0=[[1, 2], [3, 4]], arms=np.eye(K, D))
    bandit = gb.Bandit(learner, gb.Problem(n_arms=K, function_class=functions, noise=1.0))
    with pytest.raises(InputError, match=re.escape(message)):
        played(bandit, 0, 3)


# Settings, and functions that keep nothing --------------------------------------------------------------------------


def problem(**kwargs):
    return lambda: gb.Problem(**{"n_arms": 3, **kwargs})


def bilinear(**kwargs):
    return lambda: gb.function_classes.BilinearClass(
        **{"x0": [[1.0, 2.0]], "a0": [[1.0, 2.0]], "arms": [[0.0, 1.0]] * 3, **kwargs}
    )


def finite(**kwargs):
    return lambda: gb.FiniteClass(**{"function": Fickle(), "n_functions": 2, "n_arms": 3, **kwargs})


def synthetic(**kwargs):
    return lambda: environments.paper(**kwargs)


def simulate(learners=LEARNERS["uniform"], environment=None, **kwargs):
    where = environments.paper(n_arms=K, graph="star") if environment is None else environment
    return lambda: gb.simulate(learners, where, **{"rounds": 3, **kwargs})


def arrays(**kwargs):
    given = {"contexts": np.zeros((5, D)), "graphs": graph_generators.complete(3), "rewards": np.zeros((5, 3))}
    return lambda: environments.from_arrays(**{**given, **kwargs})


def explore(graph=EVERYTHING, candidates=(True,) * K, gaps=(0.0,) * K):
    return lambda: gb.exploration_set(graph, candidates, gaps)


def baseline(explored=(0, 1), gaps=(0.0, 1.0, 1.0), gamma=1.0, **kwargs):
    return lambda: gb.planning.inverse_gap_baseline(explored, gaps, gamma, **kwargs)


def program(graph=EVERYTHING, p=(0.7, 0.1, 0.1, 0.1), gaps=(0.0, 1.0, 1.0, 1.0), **kwargs):
    return lambda: gb.solve_sampling_lp(graph, p, gaps, **kwargs)


ODD = {"NaN": NAN, "infinite": INF, "text": "1", "None": None, "list": [1.0], "huge": 10**400, "boolean": True}


def odd(name, make_it, but=(), **low):
    """Rows for a numeric setting: everything that is no number, and `low`, which is out of its range."""
    values = {**{key: value for key, value in ODD.items() if key not in but}, **low}
    return {
        f"{name}: {key}": (lambda v=v: make_it(**{name: v})(), SettingError, f"{name} is ") for key, v in values.items()
    }


def learner_of(cls):
    return lambda **kwargs: lambda: cls(**kwargs)


REFUSED = {
    **odd("n_arms", problem, but=["None"], zero=0, half=2.5, memory=2**31),
    **odd("horizon", problem, but=["None"], zero=0, half=2.5),
    **odd("noise", problem, but=["None"], negative=-1.0),
    **odd("scale", bilinear, zero=0.0),
    **odd("n_functions", finite, but=["huge"], zero=0),
    **odd("reward_scale", synthetic, zero=0.0, negative=-1),
    **odd("dimension", synthetic, but=["huge"], zero=0),
    **odd("rounds", simulate, but=["huge"], zero=0, half=2.5),
    **odd("repeats", simulate, but=["huge"], zero=0),
    **odd("chunk", simulate, but=["huge"], zero=0),
    **odd("workers", simulate, but=["huge", "None"], zero=0),
    **odd("seed", simulate, but=["huge"], negative=-1),
    **odd("gamma", baseline, negative=-1.0),
    **{
        f"{cls.__name__}, {key}": row
        for cls in (gb.AdaCBG, gb.Falcon, gb.RegCBG)
        for key, row in {
            **odd("eta", learner_of(cls), but=["None"] if cls is gb.AdaCBG else [], zero=0.0, large=1e308),
            **odd("delta", learner_of(cls), zero=0.0, one=1.0, tiny=1e-320),
            **odd("epoch_growth", learner_of(cls), but=["None"] if cls is gb.AdaCBG else [], one=1.0),
        }.items()
    },
    **odd("radius_factor", learner_of(gb.AdaCBG), zero=0.0),
    **odd("epoch_growth", learner_of(gb.Greedy), one=1.0),
    **{
        f"{name}: {key}": (lambda n=name, v=v: gb.AdaCBG(**{n: v}), SettingError, f"{name} is {v!r}; expected")
        for name in ("radius", "coverage", "gamma", "baseline", "candidate_set", "scale_factor", "linear_program")
        for key, v in {"text": "best", "None": None, "number": 1, "array": np.ones(2)}.items()
        if (name, key) != ("gamma", "None")
    },
    "class: no FunctionClass": (problem(function_class=5), SettingError, "function_class is 5; expected a"),
    "class: other arms": (
        problem(function_class=INSTANCE.functions), SettingError, "function_class has 4 arms; expected n_arms = 3",
    ),
    "bilinear: no matrix": (bilinear(x0=[1.0]), SettingError, "x0 has shape (1,); expected (functions, d)"),
    "bilinear: no functions": (bilinear(x0=np.ones((0, 2))), SettingError, "x0 has shape (0, 2)"),
    "bilinear: text": (bilinear(x0=[["1", "2"]]), SettingError, "x0 is not an array of numbers: x0 has type <U1"),
    "bilinear: ragged": (bilinear(arms=[[1.0], [1.0, 2.0]]), SettingError, "arms is not an array of numbers"),
    "bilinear: NaN": (bilinear(a0=[[1.0, NAN]]), SettingError, "a0 has nan at [0, 1]; expected finite numbers"),
    "bilinear: at odds": (bilinear(a0=[[1.0]]), SettingError, "a0 has shape (1, 1); expected (1, 2)"),
    "bilinear: arms at odds": (bilinear(arms=[[1.0]]), SettingError, "arms has shape (1, 1); expected (arms, 2)"),
    "bilinear: overflow": (bilinear(x0=[[1e200, 0]], a0=[[1e200, 0]]), SettingError, "make values beyond 1e+100"),
    "finite: no callable": (finite(function=5), SettingError, "function is 5; expected a callable"),
    "bandit: no learner": (lambda: gb.Bandit(gb.AdaCBG, problem()()), SettingError, "a learner, such as IDSG()"),
    "bandit: no problem": (lambda: gb.Bandit(Uniform(), 3), SettingError, "problem is 3; expected a Problem"),
    "bandit: no class": (lambda: gb.Bandit(gb.Falcon(), problem()()), SettingError, "function_class is None in both"),
    "bandit: odd class": (
        lambda: gb.Bandit(gb.Falcon(function_class="linear"), problem()()), SettingError, "function_class is 'linear'",
    ),
    "bandit: class of other arms": (
        lambda: gb.Bandit(gb.Falcon(function_class=INSTANCE.functions), problem()()), SettingError, "has 4 arms",
    ),
    **odd("seed", lambda seed: lambda: gb.Bandit(Uniform(), problem()(), seed=seed), but=["huge"], negative=-1),
    **odd("max_open", lambda **given: lambda: gb.Bandit(Uniform(), problem()(), **given), but=["huge"], zero=0),
    **odd(
        "forget_after", lambda **own: lambda: gb.Bandit(Uniform(), problem()(), **own), but=["huge", "None"], zero=0,
    ),
    "bandit: identity": (
        lambda: gb.Bandit(Uniform(), problem()(), identity=3), SettingError, "identity is 3; expected a name",
    ),
    "paper: unknown graph": (synthetic(graph="tree"), SettingError, "graph is 'tree'; expected one of 'bandit'"),
    "paper: no graph": (synthetic(graph=5), SettingError, "graph is 5; expected a graph kind's name"),
    "paper: unknown option": (synthetic(hubs=2), SettingError, "options of graph kind 'random' are {'hubs': 2}"),
    "paper: option out of range": (synthetic(density=-1), SettingError, "density is -1; expected a finite number"),
    "paper: option of no kind": (synthetic(graph=EVERYTHING, density=1), SettingError, "graph_options is {'density'"),
    "paper: other arms": (synthetic(graph=EVERYTHING), SettingError, "graph has 4 arms; expected n_arms = 50"),
    "paper: fixed_graph": (synthetic(fixed_graph="no"), SettingError, "fixed_graph is 'no'; expected True or False"),
    "paper: no options": (
        lambda: environments.SyntheticEnvironment(graph_options=None), SettingError, "graph_options is None; expected",
    ),
    "instance: seed": (lambda: INSTANCE.environment.instance(-1), SettingError, "seed is -1"),
    "instance: repeat": (lambda: INSTANCE.environment.instance(0, 0.5), SettingError, "repeat is 0.5"),
    "instance: repeat of arrays": (lambda: arrays()().instance(0, -1), SettingError, "repeat is -1"),
    "instance: no rounds": (lambda: INSTANCE.rounds(3, 3), SettingError, "stop is 3; expected a whole number of at"),
    "instance: rounds before the first": (lambda: INSTANCE.rounds(-1, 3), SettingError, "first is -1; expected"),
    "instance: half a round": (lambda: INSTANCE.rounds(0, 2.5), SettingError, "stop is 2.5; expected a whole number"),
    "instance: rounds after the last": (
        lambda: arrays()().instance(0).rounds(0, 6), SettingError, "stop is 6; expected a whole number of at most 5",
    ),
    "arrays: contexts ragged": (arrays(contexts=[[1], [1, 2]]), InputError, "contexts have rows of different lengths"),
    "arrays: contexts NaN": (arrays(contexts=np.full((5, D), NAN)), InputError, "contexts have nan at [0, 0]"),
    "arrays: fewer rewards": (arrays(rewards=np.zeros((4, 3))), InputError, "rewards has shape (4, 3); expected (5,"),
    "arrays: rewards of no arm": (arrays(rewards=np.zeros((5, 0))), InputError, "rewards has shape (5, 0)"),
    "arrays: flat rewards": (arrays(rewards=np.zeros(5)), InputError, "rewards has shape (5,); expected (5, arms)"),
    "arrays: rewards as text": (arrays(rewards="high"), InputError, "rewards has type <U4; expected numbers"),
    "arrays: rewards ragged": (arrays(rewards=[[1], [1, 2]]), InputError, "rewards has rows of different lengths"),
    "arrays: rewards infinite": (arrays(rewards=np.full((5, 3), INF)), InputError, "rewards has inf at [0, 0]"),
    "arrays: rewards complex": (arrays(rewards=np.zeros((5, 3)) * 1j), InputError, "rewards has type complex128"),
    "arrays: means at odds": (arrays(means=np.zeros((5, 2))), InputError, "means has shape (5, 2); expected that of"),
    "arrays: graphs of other arms": (arrays(graphs=EVERYTHING), InputError, "graphs are 5 of 4 arms; expected 5 of 3"),
    "arrays: too few graphs": (
        arrays(graphs=gb.FeedbackGraphs.repeat(graph_generators.complete(3), 4)), InputError, "graphs are 4 of 3 arms",
    ),
    "arrays: no graphs": (arrays(graphs=np.eye(3)), GraphError, "graphs is a ndarray; expected FeedbackGraphs or"),
    "arrays: list of graphs": (arrays(graphs=[EVERYTHING]), GraphError, "graphs is a list; expected FeedbackGraphs or"),
    "arrays: empty mask": (arrays(available=np.zeros((5, 3), bool)), InputError, "available offers no arm in round 0"),
    "arrays: mask of numbers": (arrays(available=np.ones((5, 3))), InputError, "available has type float64; expected"),
    "arrays: noise": (arrays(noise=-1), SettingError, "noise is -1; expected a finite number"),
    "arrays: shuffle": (arrays(shuffle=1), SettingError, "shuffle is 1; expected True or False"),
    "arrays: class": (arrays(function_class=5), SettingError, "function_class is 5; expected a FunctionClass"),
    "arrays: class of other contexts": (
        arrays(function_class=bilinear(x0=[[1.0]], a0=[[1.0]], arms=[[1.0]] * 3)()), InputError, "expected (n, 1)",
    ),
    "simulate: nobody": (simulate({}), SettingError, "learners is empty; expected at least one"),
    "simulate: a list": (simulate([Uniform()]), SettingError, "(floor=None)]; expected a learner, or"),
    "simulate: a class": (simulate(Uniform), SettingError, "expected a learner, or a dictionary"),
    "simulate: no learner": (simulate({"a": 5}), SettingError, "learners['a'] is 5; expected a learner"),
    "simulate: no name": (simulate({1: Uniform()}), SettingError, "learners has the name 1; expected a string"),
    "simulate: nowhere": (simulate(environment="paper"), SettingError, "environment is 'paper'; expected"),
    "simulate: an instance": (simulate(environment=INSTANCE), SettingError, "expected an environment"),
    "simulate: too many rounds": (simulate(environment=arrays()(), rounds=6), SettingError, "rounds is 6; expected at"),
    "simulate: horizon_known": (simulate(horizon_known=None), SettingError, "horizon_known is None; expected True or"),
    "simulate: keep_decisions": (simulate(keep_decisions=1), SettingError, "keep_decisions is 1; expected True or"),
    "simulate: progress": (simulate(progress="print"), SettingError, "progress is 'print'; expected a callable"),
    "simulate: no class": (simulate(gb.Greedy(), arrays()()), SettingError, "function_class is None in both"),
    "simulate: no loops": (
        simulate(gb.RegCBG(), environments.paper(n_arms=K, graph=NO_LOOPS)), GraphError, "lacks the self-loop of arm 0",
    ),
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
def test_refused(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert message in str(caught.value)
    assert "expect" in str(caught.value) or error is SolverError


def observed(**kwargs):
    """Observations of the first two rounds."""
    given = {
        "contexts": DRAWN.contexts[:2],
        "rounds": np.arange(2),
        "rows": np.array([0, 1]),
        "arms": np.array([0, K - 1]),
        "rewards": np.array([0.5, -0.5]),
    }
    return gb.Observations(**{**given, **kwargs})


def step(contexts=None, graphs=DRAWN.graphs[:1], available=None):
    rounds = batch(1) if contexts is None else contexts
    return lambda learner, state: learner.decide(state, Shown(rounds, graphs, available), np.random.default_rng(0))


def update(**kwargs):
    return lambda learner, state: learner.update(state, observed(**kwargs))


STEPS = {
    "contexts: a list": (step([[0.0, 0.0]]), InputError, "contexts is a list; expected an array"),
    "graphs: one": (step(graphs=GRAPH), GraphError, "graphs is a FeedbackGraph; expected FeedbackGraphs"),
    "graphs: too many": (step(graphs=DRAWN.graphs[:2]), InputError, "1 contexts came with 2 graphs"),
    "rounds: too many": (step(batch(3), DRAWN.graphs[:3]), InputError, "3 rounds were asked for; expected at most 2"),
    "mask: short": (step(available=np.ones((1, 3), bool)), InputError, "available has shape (1, 3); expected (1, 4)"),
    "mask: empty": (step(available=np.zeros((1, K), bool)), InputError, "available offers no arm in round 0"),
    "rounds: missing": (update(rounds=np.array([0, 5])), InputError, "expected all of rounds 0 to 1"),
    "arms: outside": (update(arms=np.array([0, K])), InputError, "have arms 0 to 4; expected 0 to 3"),
    "arms: negative": (update(arms=np.array([-1, 0])), InputError, "have arms -1 to 0; expected 0 to 3"),
    "rows: outside": (update(rows=np.array([0, 2])), InputError, "have rows 0 to 2; expected 0 to 1"),
    "rewards: fewer": (update(rewards=np.zeros(1)), InputError, "2 arms and 1 rewards; expected as many of each"),
    "rewards: NaN": (update(rewards=np.array([0, NAN])), ObservationError, "rewards have nan at [1]; expected finite"),
    "contexts: fewer": (update(contexts=DRAWN.contexts[:1]), InputError, "have 1 contexts for 2 rounds"),
}


@pytest.mark.parametrize("name", ["AdaCB.G", "FALCON", "greedy"])
@pytest.mark.parametrize(("call", "error", "message"), STEPS.values(), ids=STEPS)
def test_a_learner_by_itself_refuses_what_kernels_would_trust(name, call, error, message):
    state = LEARNERS[name].init(INSTANCE.problem(None))
    with pytest.raises(error, match=re.escape(message)):
        call(LEARNERS[name], state)


# Saved files ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """(a small file, a file with everything in it), as bytes."""
    folder = tmp_path_factory.mktemp("saved")
    small = gb.Bandit(Uniform(), gb.Problem(n_arms=2))
    small.decide([0.5], graph_generators.complete(2))
    return content(small, folder), content(make(), folder)


def load(data, folder):
    """The bandit of a file with these bytes; any error but SavedFileError fails the test."""
    path = folder / "damaged.gb"
    path.write_bytes(data)
    try:
        return gb.Bandit.load(path)
    except SavedFileError:
        return None


def test_every_truncation_is_refused(saved, tmp_path):
    path = tmp_path / "cut.gb"
    path.write_bytes(saved[0])
    for length in reversed(range(len(saved[0]))):
        os.truncate(path, length)
        with pytest.raises(SavedFileError, match=r"cut\.gb is (truncated|damaged)"):
            gb.Bandit.load(path)


def test_every_flipped_byte_is_refused_or_harmless(saved, tmp_path):
    harmless = 0
    for place in range(len(saved[0])):
        data = bytearray(saved[0])
        data[place] ^= 0xFF
        bandit = load(bytes(data), tmp_path)
        if bandit is not None and (harmless := harmless + 1) % 8 == 0:  # dates, attributes: nothing we look at
            assert content(bandit, tmp_path) == saved[0]
    assert 8 <= harmless < len(saved[0]) / 4


BOUNDED = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


@given(st.data())
@BOUNDED
def test_any_damage_is_refused_or_harmless(saved, tmp_path, data):
    """Flipped bits, where headers and directory of the archive are hit as often as all the rest."""
    damaged = bytearray(saved[1])
    directory = damaged.index(b"PK\1\2")
    place = data.draw(st.integers(0, len(damaged) - 1) | st.integers(directory, len(damaged) - 1))
    damaged[place] ^= data.draw(st.integers(1, 255))
    bandit = load(bytes(damaged), tmp_path)
    assert bandit is None or content(bandit, tmp_path) == saved[1]


@given(st.binary(max_size=300), st.booleans())
@BOUNDED
def test_any_bytes_are_refused(saved, tmp_path, noise, at_the_end):
    assert load(noise, tmp_path) is None
    bandit = load(saved[0][:-22] + noise if at_the_end else noise + saved[0][30:], tmp_path)
    assert bandit is None or content(bandit, tmp_path) == saved[0]


FORGERIES = [None, True, -1, 0, 7, 10**30, 0.5, "x", [], {}, {"$array": 0}, {"$array": "x"}, {"$float": "nan"},
             {"$float": "one"}, {"$class": "FiniteModel", "fields": {"index": 99}}, {"$class": "os", "fields": {}},
             {"$external": {}}, {"$object": {}}, {"$class": "Uniform", "fields": {"eta": 1}}]  # fmt: skip


@given(st.data())
@settings(BOUNDED, max_examples=250)
def test_forged_manifests_are_refused_or_make_a_bandit(saved, tmp_path, data):
    def change(manifest):
        *way, last = data.draw(st.sampled_from([path for path in places(manifest) if path]))
        place = manifest
        for key in way:
            place = place[key]
        if data.draw(st.booleans()):
            place[last] = data.draw(st.sampled_from(FORGERIES))
        else:
            del place[last]

    bandit = load(forged(saved[1], change), tmp_path)
    assert bandit is None or isinstance(bandit, gb.Bandit)
    if bandit is not None:  # and one that can be saved again
        assert load(content(bandit, tmp_path), tmp_path) is not None


def put(value, *way):
    """A change of a manifest."""

    def change(manifest):
        place = manifest
        for key in way[:-1]:
            place = place[key]
        place[way[-1]] = value

    return lambda data: forged(data, change)


def without(name):
    return lambda data: packed({key: value for key, value in entries(data).items() if key != name})


def instead(name, value):
    return lambda data: packed({**entries(data), name: value})


BIG = (
    b"\x93NUMPY\x01\x00v\x00"
    + b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000000,), }".ljust(117)
    + b"\n"
)
DEEP = '{"format": "graphbandit", "version": 3, "kind": "bandit", "content": ' + "[" * 100_000 + "]" * 100_000 + "}"
FILES = {
    "empty": (lambda data: b"", "truncated, damaged or not a file of graphbandit"),
    "text": (lambda data: b"id,reward\n0,1.0\n" * 99, "truncated, damaged or not a file of graphbandit"),
    "foreign archive": (lambda data: packed({"letter.txt": "Dear"}), "it has no manifest.json"),
    "no manifest": (without("manifest.json"), "it has no manifest.json"),
    "manifest of no JSON": (instead("manifest.json", "{"), "is damaged: JSONDecodeError"),
    "manifest of no text": (instead("manifest.json", b"\xff\xfe\xff"), "is damaged: Unicode"),
    "manifest a list": (instead("manifest.json", "[]"), "its manifest is of another format"),
    "manifest too deep": (instead("manifest.json", DEEP), "is damaged: RecursionError"),
    "other format": (put("gitbandit", "format"), "its manifest is of another format"),
    "other kind": (put("experiment", "kind"), "holds a 'experiment'; expected a 'bandit'"),
    "older version": (put(2, "version"), "has format version 2; expected 3"),
    "newer version": (put(4, "version"), "has format version 4; expected 3"),
    "no content": (put(None, "content"), "its content is not an object"),
    "unknown class": (put("Oracle", "content", "$object", "learner", "$class"), "holds a 'Oracle', which this version"),
    "dangerous class": (put("eval", "content", "$object", "learner", "$class"), "holds a 'eval', which this version"),
    "unknown setting": (put(1, "content", "$object", "learner", "fields", "zeta"), "is damaged: TypeError"),
    "setting out of range": (put(-1, "content", "$object", "learner", "fields", "eta"), "eta is -1; expected"),
    "unknown entry": (put({"$code": "1"}, "content", "$object", "rounds"), "unknown entry with keys ['$code']"),
    "class as learner": (put({"$object": {}}, "content", "$object", "learner"), "no learner and problem in it"),
    "other rounds": (put(12, "content", "$object", "rounds"), "its rounds and contexts do not fit each other"),
    "masks missing": (put([], "content", "$object", "available"), "its rounds and contexts do not fit each other"),
    "other state": (put(0, "content", "$object", "state", "fields", "rounds"), "is damaged"),
    "other generator": (put("MT19937", "content", "$object", "generator", "$object", "bit_generator"), "is damaged"),
    "array missing": (without("arrays/3.npy"), "is damaged: KeyError"),
    "array of objects": (instead("arrays/3.npy", npy(np.array([None]))), "does not fit into its"),
    "array cut short": (lambda data: instead("arrays/3.npy", entries(data)["arrays/3.npy"][:-1])(data), "is damaged"),
    "array of another kind": (instead("arrays/0.npy", npy(np.array(["x"]))), "x0 is not an array of numbers"),
    "array too large": (instead("arrays/0.npy", BIG), "is damaged"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "message"), FILES.values(), ids=FILES)
def test_refused_files(change, message, saved, tmp_path):
    (tmp_path / "changed.gb").write_bytes(change(saved[1]))
    with pytest.raises(SavedFileError) as caught:
        gb.Bandit.load(tmp_path / "changed.gb")
    assert "changed.gb" in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nothing.gb", "nothing.gb does not exist"),
        (".", "is not a file; expected one"),
        ("a\0b", "embedded null"),
        (5, "path is 5"),
    ],
)
def test_paths_that_are_no_files_are_refused(path, message, tmp_path):
    with pytest.raises(SavedFileError, match=re.escape(message)):
        gb.Bandit.load(path if path == 5 else tmp_path / path)


@pytest.mark.parametrize(
    ("handed_in", "message"),
    [
        (None, "expected the same one again as load(path, function_class=...)"),
        (finite(n_functions=3)(), "'n_functions': 3"),
        (INSTANCE.functions, "function_class is BilinearClass"),
        ("the same", "function_class is 'the same'; expected the one saved in"),
    ],
    ids=["none", "other size", "other kind", "text"],
)
def test_other_function_classes_than_the_saved_one_are_refused(handed_in, message, tmp_path):
    _, bandit = fickle_bandit(gb.AdaCBG())
    bandit.save(tmp_path / "saved.gb")
    with pytest.raises(SavedFileError, match=re.escape(message)):
        gb.Bandit.load(tmp_path / "saved.gb", function_class=handed_in)


def test_a_class_that_cannot_be_saved_is_refused_and_the_old_file_stays(tmp_path):
    functions = Own(x0=np.ones((2, D)), a0=np.ones((2, D)), arms=np.ones((K, D)))
    bandit = gb.Bandit(gb.AdaCBG(), gb.Problem(n_arms=K, function_class=functions, noise=1.0))
    (tmp_path / "old.gb").write_text("old")
    with pytest.raises(SavedFileError, match="of type Own cannot be saved"):
        bandit.save(tmp_path / "old.gb")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("old.gb", "old")]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_a_save_that_fails_half_way_is_refused_and_the_old_file_stays(step, error, tmp_path, monkeypatch):
    bandit = make()
    before = content(bandit, tmp_path)
    played(bandit, PLAYED, PLAYED + 1)

    def fail(*_):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(os, step, fail)
        with pytest.raises(SavedFileError if isinstance(error, OSError) else KeyboardInterrupt) as caught:
            bandit.save(tmp_path / "content.gb")
    assert isinstance(error, KeyboardInterrupt) or "cannot be written: [Errno 28] No space left" in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["content.gb"]
    assert (tmp_path / "content.gb").read_bytes() == before
    assert content(bandit, tmp_path) != before


KILLED = """
import os, signal, sys, zipfile
import graphbandit as gb

path = sys.argv[1]
bandit = gb.Bandit.load(path)
bandit.decide([0.5], gb.graphs.complete(2))
old = open(path, "rb").read()

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def write_some_and_die(self, *_, **__):
    self.fp.write(b"PK half an entry"), self.fp.flush()
    die()

places = [(zipfile.ZipFile, "writestr", write_some_and_die), (zipfile.ZipFile, "close", die), (os, "fsync", die),
          (os, "replace", die)]
for holder, name, act in places:
    child = os.fork()
    if child == 0:
        setattr(holder, name, act)
        bandit.save(path)
        os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert open(path, "rb").read() == old, name
    assert gb.Bandit.load(path).rounds == 1
bandit.save(path)
assert gb.Bandit.load(path).rounds == 2
print("survived")
"""


def test_a_killed_save_leaves_the_old_file(saved, tmp_path):
    path = tmp_path / "saved.gb"
    path.write_bytes(saved[0])
    answer = subprocess.run([sys.executable, "-c", KILLED, str(path)], capture_output=True, text=True)
    assert answer.stdout == "survived\n", answer.stderr


def test_errors_are_of_the_package_and_of_pythons_kind():
    assert issubclass(SettingError, ValueError)
    assert issubclass(UnknownDecisionError, KeyError)
    assert all(
        issubclass(error, GraphBanditError) for error in (HorizonError, ObservationError, SavedFileError, SolverError)
    )
