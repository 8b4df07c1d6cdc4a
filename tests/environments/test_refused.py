"""Settings of environments and rounds out of range are refused."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit import environments
from graphbandit.errors import GraphError, InputError, SettingError
from tests.helpers.refusals import INF, NAN, check_refused, odd
from tests.helpers.small_bandits import EVERYTHING, INSTANCE, D


def synthetic(**kwargs):
    return lambda: environments.paper(**kwargs)


def arrays(**kwargs):
    given = {"contexts": np.zeros((5, D)), "graphs": gb.graphs.complete(3), "rewards": np.zeros((5, 3))}
    return lambda: environments.from_arrays(**{**given, **kwargs})


REFUSED = {
    **odd("reward_scale", synthetic, zero=0.0, negative=-1),
    **odd("dimension", synthetic, but=["huge"], zero=0),
    "paper: unknown graph": (synthetic(graph="tree"), SettingError, "graph is 'tree'; expected one of 'bandit'"),
    "paper: no graph": (synthetic(graph=5), SettingError, "graph is 5; expected a graph kind's name"),
    "paper: unknown option": (synthetic(hubs=2), SettingError, "unknown setting 'hubs'; "),
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
        arrays(graphs=gb.FeedbackGraphs.repeat(gb.graphs.complete(3), 4)), InputError, "graphs are 4 of 3 arms",
    ),
    "arrays: no graphs": (arrays(graphs=np.eye(3)), GraphError, "graphs is a ndarray; expected FeedbackGraphs or"),
    "arrays: list of graphs": (arrays(graphs=[EVERYTHING]), GraphError, "graphs is a list; expected FeedbackGraphs or"),
    "arrays: empty mask": (arrays(available=np.zeros((5, 3), bool)), InputError, "available offers no arm in round 0"),
    "arrays: mask of numbers": (arrays(available=np.ones((5, 3))), InputError, "available has type float64; expected"),
    "arrays: noise": (arrays(noise=-1), SettingError, "noise is -1; expected a finite number"),
    "arrays: shuffle": (arrays(shuffle=1), SettingError, "shuffle is 1; expected True or False"),
    "arrays: class": (arrays(function_class=5), SettingError, "function_class is 5; expected a FunctionClass"),
    "arrays: class of other contexts": (
        arrays(function_class=gb.LinearClass(n_arms=3, dimension=1)), InputError, "expected (3, 1)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused(call, error, message):
    check_refused(call, error, message)
