"""Experiment files that are wrong somewhere, through the reader and the command line: told with one line, or run."""

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from graphbandit.errors import ExperimentError
from graphbandit.experiments import Experiment, load
from graphbandit.experiments.describe.environment_kinds import ENVIRONMENT_KINDS
from graphbandit.experiments.describe.learner_kinds import LEARNER_KINDS
from graphbandit.studies.study import STARTER, packaged_names, packaged_text
from tests.fuzz.driver import Case, Defect, Part, TooLong, time_limit
from tests.helpers.archives import places
from tests.helpers.commands import invoke

FILES = 60
VALUES: tuple[Any, ...] = (
    0, 1, -1, 2, 3, 7, 2**31, 2**63 - 1, -(2**63), 0.0, 0.5, -0.5, 1.5, 1e-300, 1e308, -1e308, float("nan"),
    float("inf"), True, False, "", "x", "star", "../x", "a[/b]", "$x^$", "\x1b[31m", "ä" * 300, [], [0], [1, 2],
    ["a", 1],
    [[1.0, 2.0], [3.0, 4.0]], {}, {"a": 1}, {"kind": "AdaCBG"}, [{"kind": "x"}], "linear", "logistic", "network",
    "/etc/passwd", "/dev/zero", ".", "\x00",
)  # fmt: skip
SETTINGS = (
    "eta", "gamma", "kind", "graph", "n_arms", "file", "density", "noise", "function_class", "draws", "epoch_growth",
    "edge_probability", "shown", "n_functions", "dimension", "data", "seed", "learner", "low", "alpha", "half_life",
)  # fmt: skip


def base(rng: np.random.Generator) -> dict[str, Any]:
    """An experiment that is right, or nearly so: a packaged one, or one of kinds drawn at random."""
    if rng.random() < 0.4:
        names = [STARTER, *packaged_names()]
        return tomllib.loads(packaged_text(names[rng.integers(len(names))]))
    kinds = {
        "environments": list(ENVIRONMENT_KINDS)[rng.integers(len(ENVIRONMENT_KINDS))],
        "learners": list(LEARNER_KINDS)[rng.integers(len(LEARNER_KINDS))],
    }
    made: dict[str, Any] = {"experiment": {"name": "fuzz", "rounds": 12, "repeats": 1}}
    made["environments"] = {"one": {"kind": kinds["environments"], "n_arms": 4}}
    made["learners"] = {"two": {"kind": kinds["learners"]}, "three": {"kind": "Uniform"}}
    return made


def changed(tree: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """It with a value changed, dropped, or added."""
    made = copy.deepcopy(tree)
    *path, key = places(made)[rng.integers(1, len(places(made)))]
    parent: Any = made
    for one in path:
        parent = parent[one]
    kind = rng.integers(4)
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent[str(rng.choice(SETTINGS))] = VALUES[rng.integers(len(VALUES))]
    elif kind == 2 and isinstance(parent, dict):
        parent[str(VALUES[rng.integers(len(VALUES))])] = parent.pop(key)
    else:
        parent[key] = VALUES[rng.integers(len(VALUES))]
    return made


def text_of(rng: np.random.Generator) -> str:
    """The text of a file."""
    tree = base(rng)
    for _ in range(int(rng.choice([0, 1, 1, 1, 2, 3]))):
        if len(places(tree)) > 1:
            tree = changed(tree, rng)
    text = tomli_w.dumps(tree)
    if rng.random() < 0.15 and text:
        at = int(rng.integers(len(text)))
        text = (
            text[:at] + str(rng.choice(["", "\n", "[", '"', "=", "\x00", "é", "#"])) + text[at + int(rng.integers(4)) :]
        )
    return text


def small(experiment: Experiment) -> bool:
    """Whether it can be run here."""
    sizes = [
        size
        for grid in (*experiment.environments.values(), *experiment.learners.values())
        for value in grid.settings.values()
        for size in (value if isinstance(value, list | tuple) else [value])
        if isinstance(size, int | float)
    ]
    return experiment.rounds <= 32 and experiment.n_runs <= 6 and all(abs(size) <= 64 for size in sizes)


def run(case: Case) -> None:
    path = case.folder / "fuzz.toml"
    for number in range(FILES):
        text = text_of(case.rng)
        path.write_text(text, encoding="utf-8", errors="replace")
        case.count("experiment files")
        case.told = f"file {number}: {text}"
        try:
            with time_limit():
                _tried(path, case)
        except TooLong:
            case.count("files that were ended because they took too long")


def _tried(path: Path, case: Case) -> None:
    try:
        experiment = load(path)
        case.count("files that can be run")
        if case.rng.random() < 0.2:
            _command(["show", str(path.parent / "out")], case)
        if small(experiment) and case.rng.random() < 0.25:
            _command(["run", str(path), "--out", str(path.parent / str(case.counts.total())), "--workers", "1"], case)
    except ExperimentError as error:
        case.count("files refused")
        if "line" not in str(error):
            raise Defect(f"no line in: {error}") from error
        if case.rng.random() < 0.1:
            _command(["run", str(path), "--out", str(path.parent / "out")], case)


def _command(words: list[str], case: Case) -> None:
    """Give a command; it may fail, but not with a traceback of its own."""
    result = invoke(*words)
    case.count("commands")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise Defect(
            f"{words[0]} ended with {type(result.exception).__name__}: {result.exception}"
        ) from result.exception
    if result.exit_code not in (0, 1, 2):
        raise Defect(f"{words[0]} ended with the code {result.exit_code}")
    if result.exit_code == 1:
        failures = json.loads((Path(words[3]) / "failures.json").read_text())
        for failure in failures if isinstance(failures, list) else failures.values():
            last = str(failure["error"]).strip().splitlines()[-1]
            case.count("runs that failed")
            if not last.startswith("graphbandit.errors."):
                raise Defect(f"a run failed with {last}")


PART = Part("experiment files through the reader and the command line", 1, run)
