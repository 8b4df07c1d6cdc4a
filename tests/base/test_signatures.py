"""`help` of everyday names is readable: types by their names, and no long lines but those of prose."""

import copy
import importlib
import inspect
import pickle
import pydoc
import re
from types import FunctionType, MethodType

import pytest

import graphbandit as gb
from graphbandit.base.signatures import WIDTH, readable
from graphbandit.evaluation import evaluate

CLASSES = (gb.Bandit, gb.Problem, gb.FeedbackGraph, gb.Decision, gb.IDSG, gb.AdaCBG, gb.learners.Learner)


@pytest.mark.parametrize("thing", [*CLASSES, gb.simulate, evaluate], ids=lambda thing: thing.__name__)
def test_help_has_no_long_lines_and_no_paths_of_types(thing):
    shown = pydoc.render_doc(thing, renderer=pydoc.plaintext)
    assert max(map(len, shown.splitlines())) <= 125
    things = [thing]
    if inspect.isclass(thing):
        things += [each for _, each in inspect.getmembers(thing) if isinstance(each, FunctionType | MethodType)]
    for each in things:
        signature = str(inspect.signature(each))
        assert not any(path in signature for path in ("graphbandit.", "typing.", "Union[", "Optional[", "Any, Any"))
        assert all(len(line) <= WIDTH or "Literal[" in line for line in signature.splitlines())  # choices are shown


ROOMS = (
    *("", ".environments", ".learners", ".function_classes", ".graphs", ".planning", ".evaluation", ".experiments"),
    *(".plots", ".theory", ".features", ".logs", ".service", ".interop.vw", ".interop.obp", ".interop.frames"),
    *(".interop.gymnasium", ".interop.networkx"),
)
UNREADABLE = re.compile(r"graphbandit\.|numpy\.|collections\.abc\.|typing\.|ForwardRef|(?:: |-> |\[|, |\| )['\"]")
"""Paths of types and quoted annotations; defaults and choices are left out before."""
QUOTED = re.compile(r"Literal\[[^\]]*\]| = '[^']*'")


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_has_a_readable_signature(room):
    module = importlib.import_module(f"graphbandit{room}")
    for name in module.__all__:
        thing = getattr(module, name)
        things = [(name, thing)] if inspect.isclass(thing) or isinstance(thing, FunctionType) else []
        if inspect.isclass(thing):
            members = inspect.getmembers(thing, lambda each: isinstance(each, FunctionType | MethodType))
            things += [(f"{name}.{key}", each) for key, each in members if key != "__class_getitem__"]  # of list
        for key, each in things:
            signature = str(inspect.signature(each))
            found = UNREADABLE.search(QUOTED.sub("", signature))
            assert found is None, f"{key}{signature} has {found[0]}"
            long = [line for line in signature.splitlines() if len(line) > WIDTH]
            assert all("Literal[" in line or "Callable" in line for line in long), f"{key}{signature}"


def test_a_signature_is_made_when_it_is_first_asked_for():
    def function(value: "gb.Decision", /) -> "dict[str, gb.Decision]":
        raise NotImplementedError

    shown = readable(function).__signature__
    assert "_made" not in vars(shown)
    assert str(inspect.signature(function)) == "(value: Decision, /) -> dict[str, Decision]"
    assert inspect.signature(function) is function.__signature__ is shown


def test_a_long_signature_keeps_the_mark_of_arguments_by_place():
    def function(first: int, second: int, /, a_long_name: int, *, a_much_longer_name: int, yet_another_name: int = 0):
        raise NotImplementedError

    names = "first: int", "second: int", "/", "a_long_name: int", "*", "a_much_longer_name: int"
    assert str(inspect.signature(readable(function))).split("\n")[1:-2] == [f"    {name}," for name in names]


def test_a_subclass_of_the_user_has_its_own_signature():
    class Mine(gb.learners.Uniform):
        def __init__(self, share: float = 0.5) -> None:
            super().__init__()

    assert str(inspect.signature(Mine)) == "(share: float = 0.5)"
    assert "__signature__" not in vars(Mine.__init__)


def test_a_signature_has_a_line_for_each_argument_where_one_line_is_too_long():
    def function(
        value: object, *, a_long_name: int | None = None, a_longer_one: str | None = None, last: int = 0
    ) -> gb.Decision:
        raise NotImplementedError

    lines = ["value: object", "*", "a_long_name: int | None = None", "a_longer_one: str | None = None", "last: int = 0"]
    expected = "".join(["(\n", *(f"    {line},\n" for line in lines), ") -> Decision"])
    assert str(inspect.signature(readable(function))) == expected
    assert list(inspect.signature(gb.Problem).parameters)[:2] == ["n_arms", "arms"]


def test_signatures_can_be_pickled_and_copied():
    signature = inspect.signature(gb.solve_sampling_lp)
    assert str(pickle.loads(pickle.dumps(signature))) == str(copy.deepcopy(signature)) == str(signature)
