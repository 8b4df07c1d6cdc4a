"""The same setting has the same default and stands in the same order everywhere, but where a reason is given here.

Looked at is what people build or call: learners, function classes, environments, and the functions of planning,
graphs, environments and evaluation. Decisions, observations, states and tables are made by the package, and their
fields are no settings.
"""

import inspect
from collections import defaultdict
from itertools import combinations

from graphbandit.environments import Environment
from graphbandit.function_classes import FunctionClass
from graphbandit.learners import Learner
from tests.docs.test_settings import THINGS, parameters

ROOMS = ("planning", "graphs", "environments", "evaluation")

DEFAULTS = {
    "clip": "of learners: whether a reward out of range counts as the nearer end; of estimates: the largest weight",
    "draws": "LinTS draws anew in every round, where IDSG and BootstrappedThompson draw once an epoch",
    "epoch_growth": "the paper's is 2; IDS.G, AdaCB.G and Thompson sampling gain by learning more often",
    "eta": "None stands for what depends on other settings; FALCON and RegCB.G have the paper's 1",
    "form": "different algorithms: the forms have no name in common",
    "gamma": "different algorithms: a choice of formulas, or a rate, or None for what depends on other settings",
    "graph": "arms have the graph of their case, data sets the similarity of classes or items, others the paper's",
    "high": "the EXP3 family needs a range of rewards, which regressors see in the data",
    "low": "as high",
    "intercept": "EXP3-LGC's losses in [0, 1] are linear in the context only with a constant",
    "members": "networks cost more to fit than other regressors",
    "n_arms": "the paper's environment has its 50, and those like it; arms without contexts have 20",
    "noise": "of learners: None for what the problem says; of the paper's environment: its 1",
    "norm_bound": "None stands for what the data says, which not all classes can tell",
    "oracle": "SquareCB is published with an online oracle; SquareCB.G has the function class for one",
    "ridge": "None stands for what the data says; of ratings it is the penalty of a factorisation",
}
"""Settings whose defaults differ, and why."""

ORDERS = {
    ("arm_features", "factors"): "GeneralizedLinearClass has the factors beside the link that they change",
    ("arm_features", "seed"): "the seed stands with what it draws: random features, draws, or members",
    ("best", "gamma"): "inverse_gap_baseline takes gamma in its place and best only by name",
    ("intercept", "ridge"): "of ratings, ridge is the penalty of the factorisation and stands beside its rank",
    ("level", "problem"): "replay takes the learner and its problem in their places",
}
"""Pairs of settings that stand in either order, and why."""


def _set_by_people() -> dict[str, list[inspect.Parameter]]:
    found = {}
    for name, (thing, _) in THINGS.items():
        built = inspect.isclass(thing) and issubclass(thing, Learner | FunctionClass | Environment)
        called = inspect.isfunction(thing) and thing.__module__.split(".")[1] in ROOMS
        if built or called:
            found[name.removeprefix("graphbandit.")] = parameters(thing)
    return found


SETTINGS = _set_by_people()


def test_defaults_agree() -> None:
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, known in SETTINGS.items():
        for one in known:
            if one.default is not one.empty:
                found[one.name][repr(one.default)].append(name)
    differ = {setting: dict(by_default) for setting, by_default in found.items() if len(by_default) > 1}
    assert {name: where for name, where in differ.items() if name not in DEFAULTS} == {}, "give them one default"
    assert sorted(differ) == sorted(DEFAULTS), "some reasons are no longer needed"


def test_orders_agree() -> None:
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, known in SETTINGS.items():
        for pair in combinations([one.name for one in known], 2):
            found[pair].append(name)
    differ = {(a, b): (found[a, b], found[b, a]) for a, b in sorted(found) if a < b and (b, a) in found}
    assert {pair: where for pair, where in differ.items() if pair not in ORDERS} == {}, "give them one order"
    assert sorted(differ) == sorted(ORDERS), "some reasons are no longer needed"
