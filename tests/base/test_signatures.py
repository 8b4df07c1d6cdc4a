"""`help` of everyday names is readable: types by their names, and no long lines but those of prose."""

import inspect
import pydoc
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


def test_a_signature_has_a_line_for_each_argument_where_one_line_is_too_long():
    def function(
        value: object, *, a_long_name: int | None = None, a_longer_one: str | None = None, last: int = 0
    ) -> gb.Decision:
        raise NotImplementedError

    lines = ["value: object", "*", "a_long_name: int | None = None", "a_longer_one: str | None = None", "last: int = 0"]
    expected = "".join(["(\n", *(f"    {line},\n" for line in lines), ") -> Decision"])
    assert str(inspect.signature(readable(function))) == expected
    assert list(inspect.signature(gb.Problem).parameters)[:2] == ["n_arms", "arms"]
