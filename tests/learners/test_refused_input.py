"""Learners and problems refuse settings and rounds that kernels would trust."""

import re

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import GraphError, InputError, ObservationError, SettingError
from graphbandit.rounds.shown import Shown
from tests.helpers.bandits import refuse
from tests.helpers.refusals import NAN, check_refused, odd
from tests.helpers.small_bandits import DRAWN, GRAPH, INSTANCE, LEARNERS, K, batch, decide, make

NO_LOOPS = gb.FeedbackGraph.from_dense(1 - np.eye(K), require_loops=False)


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_refuses_what_does_not_fit(name, tmp_path):
    learner, stranger = LEARNERS[name], gb.graphs.complete(K + 1)
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


def problem(**kwargs):
    return lambda: gb.Problem(**{"n_arms": 3, **kwargs})


def learner_of(cls):
    return lambda **kwargs: lambda: cls(**kwargs)


REFUSED = {
    **odd("n_arms", problem, but=["None"], zero=0, half=2.5, memory=2**31),
    **odd("horizon", problem, but=["None"], zero=0, half=2.5),
    **odd("noise", problem, but=["None"], negative=-1.0),
    "class: no FunctionClass": (problem(function_class=5), SettingError, "function_class is 5; expected a"),
    "class: other arms": (
        problem(function_class=INSTANCE.functions), SettingError, "function_class has 4 arms; expected n_arms = 3",
    ),
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
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_settings_are_refused(call, error, message):
    check_refused(call, error, message)
