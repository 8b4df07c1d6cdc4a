"""The experiments of each study, and where their files are."""

from __future__ import annotations

import importlib
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from graphbandit.base.checks import setting_choice
from graphbandit.environments.named_datasets import DIRECTORY_VARIABLE
from graphbandit.experiments.describe.experiment import Experiment, check_name
from graphbandit.experiments.describe.toml_reader import read_experiment

if TYPE_CHECKING:
    from graphbandit.studies.findings import Findings
    from graphbandit.studies.outcome import Outcome

STUDIES = ("paper", "leaderboard", "exploration", "classes")
"""The names of the studies; each has a folder of that name."""

STARTER = "starter"
"""The experiment to start from, which belongs to no study."""


@dataclass(frozen=True, kw_only=True)
class Study:
    """The experiments of a study.

    - `name`: the name of its folder.
    - `command`: the command that runs it.
    - `experiments`: from the names of the files to titles for readers.
    - `data`: experiments that read data sets from files, each with its replacement if no folder of data sets is named
      (None: it is left out); none by default.
    - `network`: the experiment that can take the user's own network; None (default): none can.
    """

    name: str
    command: str
    experiments: Mapping[str, str]
    data: Mapping[str, str | None] = field(default_factory=dict)
    network: str | None = None

    def available(self, name: str) -> str | None:
        """The experiment, or its replacement if no folder of data sets is named; None if there is none."""
        return name if name not in self.data or os.environ.get(DIRECTORY_VARIABLE) else self.data[name]

    def text(self, name: str) -> str:
        """The text of an experiment, with its comments, and with all that its file shares with others written out."""
        title = name if self.name == "paper" else f"{self.name}-{name}"
        return written_out(title.replace("_", "-"), self._file(name), self._file("shared"))

    def experiment(self, name: str) -> Experiment:
        """The experiment that a file describes."""
        return read_experiment(self.text(name), Path(f"{name}.toml"))

    def sizes(self, preset: str, name: str) -> dict[str, Any]:
        """The sizes that a preset gives to one experiment: its own, and those for all experiments."""
        told = tomllib.loads(self._file("presets")).get(preset, {})
        common = {key: value for key, value in told.items() if not isinstance(value, dict)}
        return {**common, **told.get(name, {})}

    def outcome(self, findings: Findings) -> Outcome:
        """What the study has found."""
        found: Outcome = importlib.import_module(f"graphbandit.studies.{self.name}.study").outcome(findings)
        return found

    def _file(self, name: str) -> str:
        file = files(f"graphbandit.studies.{self.name}").joinpath(f"{name.replace('-', '_')}.toml")
        return file.read_text(encoding="utf-8")


def written_out(title: str, text: str, shared: str) -> str:
    """A study's file as an experiment that stands by itself and has the title as its name.

    What ``[experiment]`` leaves out is as in the `shared` one. The file names sets of the `shared` tables, which stand
    before its own. A table with names in braces stands for a table with each of them, where the settings of the shared
    table ``[each.NAME]`` come last. Settings directly below ``[environments]`` or ``[learners]`` go into the table of
    each environment, or of each learner. Blank lines separate tables.

    >>> shared = '[experiment]\\nrounds = 8\\n\\n[all.learners.F]\\nkind = "Falcon"\\n\\n[each.few]\\nn_arms = 3\\n\\n'
    >>> text = 'shared = ["all"]\\n\\n[environments]\\ngraph = "star"\\n\\n[environments."{few, many} arms"]'
    >>> print(written_out("stars", text, shared + "[each.many]\\nn_arms = 90"), end="")
    [experiment]
    name = "stars"
    rounds = 8
    <BLANKLINE>
    [environments."few arms"]
    graph = "star"
    n_arms = 3
    <BLANKLINE>
    [environments."many arms"]
    graph = "star"
    n_arms = 90
    <BLANKLINE>
    [learners.F]
    kind = "Falcon"
    """
    own = tomllib.loads(text)
    named = own.get("shared", [])
    experiment = {"name": title, **tomllib.loads(shared)["experiment"], **own.get("experiment", {})}
    parts: dict[str, list[str]] = {"": [], "environments": [], "learners": []}
    common = dict.fromkeys(parts, "")
    each: dict[str, str] = {}
    for table in shared.rstrip("\n").split("\n\n"):
        for name, content in tomllib.loads(table).items():
            if name in named:
                parts[next(iter(content))].append(table.replace(f"[{name}.", "["))
            elif name == "each":
                each[next(iter(content))] = table.partition("]\n")[2]
    for table in text.rstrip("\n").split("\n\n"):
        kind = next((kind for kind in tomllib.loads(table) if kind in parts), "")
        if table.startswith(f"[{kind}]\n"):
            common[kind] = table.removeprefix(f"[{kind}]")
        elif not table.startswith(("shared = ", "[experiment]")):
            parts[kind].append(_of_each(table, each))
    parts[""].append(tomli_w.dumps({"experiment": experiment}).rstrip("\n"))
    tables = [_with(common[kind], table) for kind, several in parts.items() for table in several]
    return "\n\n".join(tables) + "\n"


def _of_each(table: str, settings: Mapping[str, str]) -> str:
    """A table for each of the names in the braces of its heading, with the settings of that name; or the table."""
    found = re.search(r"^\[.*(\{(.*)\}).*\]$", table, flags=re.MULTILINE)
    if found is None:
        return table
    comment, same = table[: found.start()], table[found.start() :]
    return comment + "\n\n".join(f"{same.replace(found[1], name)}\n{settings[name]}" for name in found[2].split(", "))


def _with(settings: str, table: str) -> str:
    """A table with more settings below its heading."""
    return re.sub(r"^\[.*\]$", lambda heading: heading[0] + settings, table, flags=re.MULTILINE)


def study_named(name: str) -> Study:
    """One of `STUDIES`."""
    setting_choice("study", name, STUDIES)
    study: Study = importlib.import_module(f"graphbandit.studies.{name}.study").STUDY
    return study


def packaged_names() -> dict[str, tuple[str, str]]:
    """All experiments of the package: from names to studies and files. Those of the paper have no prefix."""
    studies = [study_named(name) for name in STUDIES]
    return {
        (name if study.name == "paper" else f"{study.name}/{name}"): (study.name, name)
        for study in studies
        for name in study.experiments
    }


def named_text(text: str, name: str) -> str:
    """The text of an experiment's file with another name, also where its comments tell the folder of the results.

    >>> print(named_text('[experiment]\\nname = "first"  # results go to results/first', "stars"))
    [experiment]
    name = "stars"  # results go to results/stars
    """
    old = tomllib.loads(text)["experiment"]["name"]
    check_name(name)
    return text.replace(f"results/{old}", f"results/{name}").replace(f'name = "{old}"', f'name = "{name}"', 1)


def packaged_text(name: str) -> str:
    """The text of an experiment's file that comes with the package, with its comments."""
    if name == STARTER:
        return files("graphbandit.experiments.describe").joinpath("starter.toml").read_text(encoding="utf-8")
    names = packaged_names()
    setting_choice("the name of an experiment", name, [STARTER, *names])
    study, file = names[name]
    return study_named(study).text(file)
