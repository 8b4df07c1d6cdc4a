"""Docstrings say what every setting is and its default, one line each; annotations say which choices there are."""

import inspect
import math
import re
from fractions import Fraction

import pytest

import graphbandit as gb
from tests.docs.test_api import NAMES

EVERYDAY = (gb.Bandit, gb.Problem, gb.evaluation.Log, gb.evaluation.LogWriter)
"""Their methods are what people call most, so all of them are looked at; of other classes, the ways to build one."""

LINE = re.compile(r"^ *- (`[^`]+`(?:, `[^`]+`)*): ((?:.*\n?)(?:^  +.*\n?)*)", re.MULTILINE)
"""The line of one setting, or of a few that belong together, and what follows it further in."""

NUMBER = re.compile(r"-?\d+/\d+|-?\d+(?:\.\d+)?(?:e-?\d+)?|-?inf")

SAME = re.compile(r"settings are\s+those\s+of\s+`(\w+)`")
"""Where the settings of another class or function are meant, that one has the lines."""


def parameters(thing):
    """The parameters that need a line: none if there is a single one, which the first sentence is about."""
    try:
        found = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):  # a Literal or a constant
        return []
    kept = [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name != "self"]
    return kept if len(kept) > 1 else []


def lines(thing, owner=None):
    """What the docstring says of each setting, here or where it points to."""
    text = inspect.getdoc(thing) or ""
    found = {}
    for other in SAME.findall(text):
        places = [value for page, value in NAMES.items() if page.rsplit(".", 1)[-1] == other]
        places += [getattr(owner, other)] if owner is not None and hasattr(owner, other) else []
        assert places, f"{thing} refers to {other}, which is no public name"
        found |= lines(places[0], owner)
    for names, said in LINE.findall(text):
        found |= {name.strip("` "): " ".join(said.split()) for name in names.split(",")}
    return found


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


def things():
    """Public classes and functions, and methods, by name."""
    for page, value in NAMES.items():
        if not callable(value) or (inspect.isclass(value) and issubclass(value, BaseException)):
            continue
        yield page, value, None
        for name, member in vars(value).items() if inspect.isclass(value) else ():
            builds = isinstance(member, classmethod | staticmethod)
            if not name.startswith("_") and (builds or (value in EVERYDAY and inspect.isfunction(member))):
                yield f"{page}.{name}", getattr(value, name), value


THINGS = {name: (thing, owner) for name, thing, owner in things()}


@pytest.mark.parametrize("name", [name for name, (thing, _) in THINGS.items() if parameters(thing)])
def test_every_setting_has_a_line(name):
    thing, owner = THINGS[name]
    said = lines(thing, owner)
    missing = [p.name for p in parameters(thing) if p.name not in said]
    assert not missing, f"the docstring of {name} has no line - `setting`: ... for {', '.join(missing)}"
    silent = [
        f"{p.name} = {p.default!r}"
        for p in parameters(thing)
        if p.default is not p.empty and not states(said[p.name], p.default)
    ]
    assert not silent, f"the docstring of {name} does not state the defaults {', '.join(silent)}"


def test_lists_of_settings_all_look_alike():
    others = [name for name, (thing, _) in THINGS.items() if re.search(r"^\s*Args:", thing.__doc__ or "", re.MULTILINE)]
    assert not others


def test_choices_are_annotated_as_such():
    """A text that is a setting's default is one of a few choices, which a Literal lists; two settings are free text."""
    free = [
        f"{name}({parameter.name}={parameter.default!r})"
        for name, (thing, _) in THINGS.items()
        for parameter in parameters(thing)
        if isinstance(parameter.default, str) and parameter.annotation in (str, "str", "str | None", str | None)
    ]
    assert sorted(free) == [
        "graphbandit.experiments.Cluster(address='local')",
        "graphbandit.plots.plot_probabilities(values_name='estimated reward')",
    ]


def test_help_is_readable():
    """NumPy's ArrayLike expands to six lines, so annotations with it are quoted; arrays show kind and axes alone."""
    shown = {name: str(inspect.signature(thing)) for name, (thing, _) in THINGS.items() if parameters(thing)}
    assert not [name for name, text in shown.items() if "_NestedSequence" in text or "Annotated[" in text]
    assert max(map(len, shown.values())) < 750, max(shown, key=lambda name: len(shown[name]))


def test_theory_shows_only_what_is_its_own():
    assert dir(gb.theory) == sorted(gb.theory.__all__)
