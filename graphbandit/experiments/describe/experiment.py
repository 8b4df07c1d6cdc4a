"""What an experiment is: environments x learners x repeats, and what to record. The same in Python and in a file."""

import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from graphbandit.base.checks import setting_boolean, setting_integer
from graphbandit.errors import ExperimentError, GraphBanditError
from graphbandit.experiments.describe import registry
from graphbandit.experiments.describe.registry import Kind, Value

CURVE_POINTS = 64
"""Rounds at which a curve is kept, log-spaced, besides the ends of the learner's epochs."""


@dataclass(frozen=True)
class Grid:
    """A kind of environment or learner and its settings; one that is a list stands for each of its values in turn.

    >>> [point.label for point in Grid("AdaCBG", {"radius": "paper", "eta": [0.5, 1.0]}).points("ours")]
    ['ours eta=0.5', 'ours eta=1.0']
    """

    kind: str
    settings: Mapping[str, Value | list[Value]] = field(default_factory=dict)

    def points(self, name: str) -> "Iterator[Point]":
        """Every combination of the values, the last setting changing first."""
        axes = {key: value if isinstance(value, list | tuple) else [value] for key, value in self.settings.items()}
        varied = [key for key, values in axes.items() if len(values) > 1]
        for values in product(*axes.values()):
            settings = dict(zip(axes, values, strict=True))
            label = " ".join([name, *(f"{key}={_shown(settings[key])}" for key in varied)])
            yield Point(name=name, label=label, kind=self.kind, settings=settings)


@dataclass(frozen=True)
class Point:
    """One environment or learner of a grid; `label` is its name with the settings that vary."""

    name: str
    label: str
    kind: str
    settings: Mapping[str, Value]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Every learner plays `rounds` rounds of every environment, `repeats` times; all that is wrong is refused here.

    Learners of one repeat face the same contexts, graphs and noise. `horizon_known=False` tells them nothing of
    `rounds`. A curve is kept at `curve_points` log-spaced rounds and at the ends of the learner's epochs;
    `decisions=True` keeps every decision as well.

    >>> star = Grid("paper", {"graph": "star", "n_arms": [10, 20]})
    >>> experiment = Experiment(
    ...     name="stars", rounds=64, repeats=5, environments={"star": star}, learners={"FALCON": Grid("Falcon")}
    ... )
    >>> [point.label for point in experiment.environment_points()]
    ['star n_arms=10', 'star n_arms=20']
    """

    name: str
    rounds: int
    repeats: int
    environments: Mapping[str, Grid]
    learners: Mapping[str, Grid]
    seed: int = 0
    horizon_known: bool = True
    curve_points: int = CURVE_POINTS
    decisions: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or re.fullmatch(r"\w[\w .+-]*", self.name) is None:
            expected = "expected letters, digits, spaces, or one of . + - _ after the first: it names a directory"
            raise ExperimentError(f"name is {self.name!r}; {expected}", ("experiment", "name"))
        for name, least in (("rounds", 1), ("repeats", 1), ("seed", 0), ("curve_points", 1)):
            with _at("experiment", name):
                setting_integer(name, getattr(self, name), at_least=least)
        for name in ("horizon_known", "decisions"):
            with _at("experiment", name):
                setting_boolean(name, getattr(self, name))
        _check_grids("environments", self.environments, registry.ENVIRONMENTS)
        _check_grids("learners", self.learners, registry.LEARNERS)
        self._check_points()

    def environment_points(self) -> list[Point]:
        """All environments, in order."""
        return [point for name, grid in self.environments.items() for point in grid.points(name)]

    def learner_points(self) -> list[Point]:
        """All learners, in order."""
        return [point for name, grid in self.learners.items() for point in grid.points(name)]

    @property
    def n_runs(self) -> int:
        """How many runs there are."""
        return len(self.environment_points()) * len(self.learner_points()) * self.repeats

    def _check_points(self) -> None:
        """Build everything once, and let every learner look at every problem it will meet."""
        for point in self.learner_points():
            place = ("learners", point.name)
            with _at(*place, settings=point.settings):
                registry.LEARNERS[point.kind].check_names(point.settings, place, point.kind)
        for point in self.environment_points():
            place = ("environments", point.name)
            with _at(*place, settings=point.settings):
                registry.ENVIRONMENTS[point.kind].check_names(point.settings, place, point.kind)
                environment = registry.build_environment(point.kind, point.settings)
                problem = environment.instance(self.seed).problem(self.rounds if self.horizon_known else None)
            if environment.n_rounds is not None and self.rounds > environment.n_rounds:
                message = f"rounds is {self.rounds}; expected at most the {environment.n_rounds} of {point.label!r}"
                raise ExperimentError(message, ("experiment", "rounds"))
            for played in self.learner_points():
                with _at("learners", played.name, settings=played.settings), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # a run says it again
                    registry.build_learner(played.kind, played.settings, environment).init(problem)
        for room, points in (("environments", self.environment_points()), ("learners", self.learner_points())):
            _check_distinct(room, points)


def _check_grids(room: str, grids: Mapping[str, Grid], kinds: Mapping[str, Kind]) -> None:
    """Names, kinds and the types of values."""
    if not isinstance(grids, Mapping) or not grids:
        raise ExperimentError(f"{room} is {grids!r}; expected at least one, as [{room}.NAME]", (room,))
    for name, grid in grids.items():
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise ExperimentError(f"{name!r} is a name; expected a line of text", (room, str(name)))
        if not isinstance(grid, Grid):
            raise ExperimentError(f"{name} is {grid!r}; expected a Grid", (room, name))
        if not isinstance(grid.kind, str) or grid.kind not in kinds:
            raise ExperimentError(
                f"kind is {grid.kind!r}; {registry.expected(str(grid.kind), kinds)}", (room, name, "kind")
            )
        for key, value in grid.settings.items():
            values = value if isinstance(value, list | tuple) else [value]
            if not values:
                raise ExperimentError(f"{key} is an empty list; expected a value or several", (room, name, key))
            for one in values:
                if not isinstance(one, bool | int | float | str):
                    raise ExperimentError(
                        f"{key} is {one!r}; expected text, a number, true or false", (room, name, key)
                    )


def _check_distinct(room: str, points: list[Point]) -> None:
    kinds = registry.ENVIRONMENTS if room == "environments" else registry.LEARNERS
    seen: set[tuple[str, str]] = set()
    labels: set[str] = set()
    for point in points:
        same = point.name, registry.identity(point.kind, point.settings, kinds)
        if same in seen or point.label in labels:
            raise ExperimentError(f"{point.label!r} is there twice; expected different ones", (room, point.name))
        seen.add(same)
        labels.add(point.label)


class _at:  # noqa: N801  # reads as a word: with _at("learners", "ours"):
    """Errors of the package that happen inside are given this place, or that of the setting they name."""

    def __init__(self, *place: str, settings: Mapping[str, Value] | None = None) -> None:
        self.place, self.settings = place, settings or {}

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, GraphBanditError) and not isinstance(error, ExperimentError):
            name = str(error).split(" ", 1)[0]  # by the package's habit a message opens with the setting's name
            place = (*self.place, name) if name in self.settings else self.place
            raise ExperimentError(str(error), place) from error


def _shown(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
