"""What a function class answers wrongly is refused before a kernel sees it, and so are bad settings of classes."""

import re

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import InputError, SettingError
from tests.helpers.bandits import content, refuse
from tests.helpers.refusals import NAN, check_refused, odd
from tests.helpers.small_bandits import LEARNERS, D, Fickle, K, decide, fickle_bandit, played


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
    graph, context = gb.graphs.complete(3), [0.1, 0.9, 0.5]
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
        refuse(bandit, decide([0.1, 0.9], gb.graphs.complete(3)), InputError, "of shape (1, 2, 2)", tmp_path)
        bandit.decide([0.1, 0.9, 0.5], gb.graphs.complete(3))


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
    wrong = type("Wrong", (gb.function_classes.BilinearClass,), {method: lambda *_: answer})
    functions = wrong(x0=np.ones((2, D)), a0=[[1, 2], [3, 4]], arms=np.eye(K, D))
    bandit = gb.Bandit(learner, gb.Problem(n_arms=K, function_class=functions, noise=1.0))
    with pytest.raises(InputError, match=re.escape(message)):
        played(bandit, 0, 3)


def bilinear(**kwargs):
    return lambda: gb.function_classes.BilinearClass(
        **{"x0": [[1.0, 2.0]], "a0": [[1.0, 2.0]], "arms": [[0.0, 1.0]] * 3, **kwargs}
    )


def finite(**kwargs):
    return lambda: gb.FiniteClass(**{"function": Fickle(), "n_functions": 2, "n_arms": 3, **kwargs})


REFUSED = {
    **odd("scale", bilinear, zero=0.0),
    **odd("n_functions", finite, but=["huge"], zero=0),
    "bilinear: no matrix": (bilinear(x0=[1.0]), SettingError, "x0 has shape (1,); expected (functions, d)"),
    "bilinear: no functions": (bilinear(x0=np.ones((0, 2))), SettingError, "x0 has shape (0, 2)"),
    "bilinear: text": (bilinear(x0=[["1", "2"]]), SettingError, "x0 is not an array of numbers: x0 has type <U1"),
    "bilinear: ragged": (bilinear(arms=[[1.0], [1.0, 2.0]]), SettingError, "arms is not an array of numbers"),
    "bilinear: NaN": (bilinear(a0=[[1.0, NAN]]), SettingError, "a0 has nan at [0, 1]; expected finite numbers"),
    "bilinear: at odds": (bilinear(a0=[[1.0]]), SettingError, "a0 has shape (1, 1); expected (1, 2)"),
    "bilinear: arms at odds": (bilinear(arms=[[1.0]]), SettingError, "arms has shape (1, 1); expected (arms, 2)"),
    "bilinear: overflow": (bilinear(x0=[[1e200, 0]], a0=[[1e200, 0]]), SettingError, "make values beyond 1e+100"),
    "finite: no callable": (finite(function=5), SettingError, "function is 5; expected a callable"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_settings_are_refused(call, error, message):
    check_refused(call, error, message)
