"""Docstrings say what every setting is and its default, one line each; annotations say which choices there are."""

import ast
import inspect
import math
import re
from collections import defaultdict
from fractions import Fraction

import pytest

import graphbandit as gb
from tests.docs.snippets import ROOT
from tests.docs.test_api import NAMES

LINE = re.compile(r"^ *- (`[^`]+`(?:,\s+`[^`]+`)*): ((?:.*\n?)(?:^  +.*\n?)*)", re.MULTILINE)
"""The line of one setting, or of a few that belong together, and what follows it further in."""

FAMILIES = ("graphbandit.learners.epochs", "graphbandit.learners.every_round", "graphbandit.learners.oracles")

NUMBER = re.compile(r"-?\d+/\d+|-?\d+(?:\.\d+)?(?:e-?\d+)?|-?inf")

SAME = re.compile(r"settings are\s+those\s+of\s+`(\w+)`")
"""Where the settings of another class or function are meant, that one has the lines."""


def parameters(thing, owner=None):
    """The parameters that need a line: none if a method has a single one, which its first sentence is about."""
    try:
        found = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):  # a Literal or a constant
        return []
    others = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    kept = [p for p in found if p.kind not in others and p.name != "self"]
    return kept if len(kept) > 1 or owner is None else []


def further_keywords(thing, owner):
    """The name of a public function's further keywords, with its stars."""
    if owner is not None or not inspect.isfunction(thing):
        return []
    return [f"**{p.name}" for p in inspect.signature(thing).parameters.values() if p.kind is p.VAR_KEYWORD]


def own_lines(thing, owner=None):
    """What this docstring says of each setting: here or, for a method, where it points to."""
    text = inspect.getdoc(thing) or ""
    found = {}
    for other in SAME.findall(text) if owner is not None else ():
        places = [value for page, value in NAMES.items() if page.rsplit(".", 1)[-1] == other]
        places += [getattr(owner, other)] if owner is not None and hasattr(owner, other) else []
        assert places, f"{thing} refers to {other}, which is no public name"
        found |= own_lines(places[0], owner)
    for names, said in LINE.findall(text):
        found |= {name.strip("` \n"): " ".join(said.split()) for name in names.split(",")}
    return found


def lines(thing, owner=None):
    """What is said of each setting of a class, function or method.

    A method's arguments are explained by itself, by the method it overrides, or once for all methods by the class.
    """
    found = {}
    for base in reversed(owner.__mro__ if owner is not None else ()):
        found |= own_lines(base) if base.__module__.startswith("graphbandit") else {}
        found |= own_lines(vars(base).get(thing.__name__), base) if thing.__name__ in vars(base) else {}
    return found | own_lines(thing, owner)


def states(said, default):
    """Whether a line names this default. One that only says "as in" leaves it to the other place."""
    if said.startswith("as in") or not isinstance(default, bool | int | float | str | None):
        return True
    if isinstance(default, bool) or default is None:
        return str(default) in said
    if isinstance(default, str):
        return f'"{default}"' in said or (default == "" and "empty" in said)
    numbers = NUMBER.findall(re.sub(r"(?<=\d),(?=\d{3}\b)", "", said))
    return any(math.isclose(float(Fraction(n) if "/" in n else n), default, rel_tol=1e-3) for n in numbers)


def is_step(name, owner):
    """Whether a method is a step within a family of learners, which only the package's own learners take."""
    first = next(base for base in reversed(owner.__mro__) if name in vars(base))
    return first.__module__.startswith(FAMILIES)


def things():
    """Public classes and functions, and methods, by name."""
    for page, value in NAMES.items():
        if not callable(value) or (inspect.isclass(value) and issubclass(value, BaseException)):
            continue
        yield page, value, None
        for name, member in vars(value).items() if inspect.isclass(value) else ():
            called = inspect.isfunction(member) or isinstance(member, classmethod | staticmethod)
            if not name.startswith("_") and called and not is_step(name, value):
                yield f"{page}.{name}", getattr(value, name), value


THINGS = {name: (thing, owner) for name, thing, owner in things()}


@pytest.mark.parametrize("name", [name for name, each in THINGS.items() if parameters(*each)])
def test_every_setting_has_a_line(name):
    thing, owner = THINGS[name]
    said = lines(thing, owner)
    names = [*(p.name for p in parameters(thing, owner)), *further_keywords(thing, owner)]
    missing = [name for name in names if name not in said]
    assert not missing, f"the docstring of {name} has no line - `setting`: ... for {', '.join(missing)}"
    silent = [
        f"{p.name} = {p.default!r}"
        for p in parameters(thing, owner)
        if p.default is not p.empty and not states(said[p.name], p.default)
    ]
    assert not silent, f"the docstring of {name} does not state the defaults {', '.join(silent)}"


def test_lists_of_settings_all_look_alike():
    others = [name for name, (thing, _) in THINGS.items() if re.search(r"^\s*Args:", thing.__doc__ or "", re.MULTILINE)]
    assert not others


CHOICES_BY_NAME = {
    "columns": "kinds of columns may also be lists of categories",
    "graph": "kinds of graphs are known by their files: a new one needs no second line",
    "name": "data sets are known by a table of their files",
    "policies": "names of policies may also be columns of the log",
    "solver": "of results: which solver found it",
}
"""Settings that take some texts with a meaning of their own, and why no Literal lists them."""


def test_choices_are_annotated_as_such():
    """Where a line names two texts or more, a Literal lists them, so that editors offer them and mypy checks them."""
    bare = {
        f"{name}({parameter.name})"
        for name, (thing, owner) in THINGS.items()
        for parameter in parameters(thing, owner)
        if parameter.name not in CHOICES_BY_NAME
        and len(re.findall(r'"[a-z][\w -]*"', lines(thing, owner).get(parameter.name, ""))) > 1
        and re.search(r"\bstr\b", str(parameter.annotation))
        and "Literal" not in str(parameter.annotation)
    }
    assert not bare


def test_texts_by_default_are_choices():
    free = [
        f"{name}({parameter.name}={parameter.default!r})"
        for name, (thing, owner) in THINGS.items()
        for parameter in parameters(thing, owner)
        if isinstance(parameter.default, str) and str(parameter.annotation) in ("str", "str | None")
    ]
    assert sorted(free) == [
        "graphbandit.experiments.Cluster(address='local')",
        "graphbandit.plots.plot_probabilities(values_name='estimated reward')",
    ]


def test_choices_are_stated_once():
    """What is checked is the type itself, or a table that says what each choice does; never a list written again."""
    again = []
    for path in sorted((ROOT / "graphbandit").rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text())):
            checks = isinstance(call, ast.Call) and getattr(call.func, "id", "") == "setting_choice"
            if checks and any(isinstance(each, ast.Constant) for each in ast.walk(call.args[2])):
                again.append(f"{path.relative_to(ROOT)}:{call.lineno}")
    assert not again


ALIKE = {
    frozenset({"error", "ignore"}): "what happens to undeclared columns, and to candidates that nothing reveals",
}
"""Choices of two types that happen to have the same names."""


def test_no_two_types_list_the_same_choices():
    found = defaultdict(set)
    for path in sorted((ROOT / "graphbandit").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "Literal":
                texts = {each.value for each in ast.walk(node.slice) if isinstance(each, ast.Constant)}
                if len(texts) > 1:
                    found[frozenset(texts)].add(f"{path.relative_to(ROOT)}:{node.lineno}")
    twice = {texts: where for texts, where in found.items() if len(where) > 1}
    assert {tuple(texts): where for texts, where in twice.items() if texts not in ALIKE} == {}
    assert set(ALIKE) <= set(twice)


def test_help_is_readable():
    """NumPy's ArrayLike expands to six lines, so annotations with it are quoted; arrays show kind and axes alone."""
    shown = {name: str(inspect.signature(thing)) for name, (thing, owner) in THINGS.items() if parameters(thing, owner)}
    assert not [name for name, text in shown.items() if "_NestedSequence" in text or "Annotated[" in text]
    assert max(map(len, shown.values())) < 750, max(shown, key=lambda name: len(shown[name]))


def test_theory_shows_only_what_is_its_own():
    assert dir(gb.theory) == sorted(gb.theory.__all__)
