"""The same word means the same setting everywhere, in the same order and with the same default.

Looked at is all that people build or call: learners, function classes, environments, functions, the methods of what
they use, and the options of commands. Decisions, observations, states and results are made by the package, so their
fields are no settings. A table in `docs/glossary.md` says which defaults differ, and why.
"""

import inspect
import re
from collections import defaultdict
from itertools import combinations

import typer

from graphbandit.cli.app import app
from graphbandit.environments import Environment
from graphbandit.features import Encoder
from graphbandit.function_classes import FunctionClass
from graphbandit.learners import Learner
from graphbandit.rounds import Decisions, Observations
from tests.docs.snippets import DOCS
from tests.docs.test_settings import THINGS, parameters

BUILT = {
    "AsyncClient", "Bandit", "Client", "Cluster", "Effort", "Experiment", "FeedbackGraph", "Grid", "InProcess",
    "LabelledData", "LogWriter", "NetworkSource", "OnlineLinear", "ProbabilisticGraph", "Problem", "Processes",
    "RatingData",
}  # fmt: skip
"""Classes that people build beside learners, function classes, environments and features."""

EMPTY = ("None", "()", "<factory>")
"""Defaults that say the same: nothing was given."""


def is_set_by_people(thing: object, owner: type | None) -> bool:
    if inspect.isclass(thing):
        return issubclass(thing, Learner | FunctionClass | Environment | Encoder) or thing.__name__ in BUILT
    builds = owner is None or not inspect.isfunction(vars(owner).get(thing.__name__))
    asked = owner is not None and issubclass(owner, Learner | FunctionClass)  # by the package, in each round
    return owner not in (Decisions, Observations) and (builds or not asked)


SETTINGS = {
    name.removeprefix("graphbandit."): parameters(thing)
    for name, (thing, owner) in THINGS.items()
    if parameters(thing) and is_set_by_people(thing, owner)
}


def options(prefix: str, group: typer.core.TyperGroup) -> dict[str, list[tuple[str, object]]]:
    """The options of every command, with their defaults."""
    found = {}
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            found |= options(f"{prefix} {name}", command)
        else:
            found[f"{prefix} {name}"] = [(one.name, one.default) for one in command.params if not one.required]
    return found


def reasons() -> dict[str, str]:
    """The table of the glossary: which settings have several defaults, and why."""
    text = (DOCS / "glossary.md").read_text().split("## Settings with several defaults\n", 1)[1]
    rows = re.findall(r"^\| (`[^|]*`) \| ([^|]+) \|$", text, flags=re.MULTILINE)
    return {re.sub("`", "", name): reason for name, reason in rows}


def test_defaults_agree() -> None:
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, known in SETTINGS.items():
        for one in known:
            if one.default is not one.empty:
                found[one.name][repr(one.default)].append(name)
    for name, known in options("graphbandit", typer.main.get_command(app)).items():
        for option, default in known:
            found[option][repr(default)].append(name)
    differ = {
        setting: dict(by_default)
        for setting, by_default in found.items()
        if len({"None" if default in EMPTY else default for default in by_default}) > 1
    }
    known = reasons()
    assert {name: where for name, where in differ.items() if name not in known} == {}, "give them one default"
    assert sorted(differ) == sorted(known), "some rows of docs/glossary.md are no longer needed"


def test_orders_agree() -> None:
    """The order of settings given by name; those given by their place come in the order in which they are needed."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, known in SETTINGS.items():
        named = [one.name for one in known if one.kind is one.KEYWORD_ONLY]
        for pair in combinations(named, 2):
            found[pair].append(name)
    differ = {f"{a}, {b}": (found[a, b], found[b, a]) for a, b in sorted(found) if a < b and (b, a) in found}
    assert differ == {}, "give them one order"
