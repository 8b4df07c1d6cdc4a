"""The experiment: environments x learners x repeats, and what to record."""

import contextlib
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from graphbandit.base.checks import setting_boolean, setting_integer
from graphbandit.base.similar_names import expected
from graphbandit.errors import ExperimentError, GraphBanditError
from graphbandit.experiments.describe.environment_kinds import ENVIRONMENT_KINDS, build_environment
from graphbandit.experiments.describe.grids import Grid, Point
from graphbandit.experiments.describe.identity import identity
from graphbandit.experiments.describe.kinds import Kind, Value
from graphbandit.experiments.describe.learner_kinds import LEARNER_KINDS, build_learner
from graphbandit.experiments.describe.own_kinds import is_address

KINDS: Mapping[str, Mapping[str, Kind]] = {"environments": ENVIRONMENT_KINDS, "learners": LEARNER_KINDS}
"""The tables of an experiment that hold grids, and the kinds that each may name."""

CURVE_POINTS = 64
"""The default number of rounds at which a curve is recorded."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Every learner plays every environment several times. Anything wrong raises ExperimentError when it is built.

    All learners of one repeat face the same contexts, graphs and noise.

    - `name`: the name of the experiment and of the folder of its results.
    - `rounds`: the number of rounds of each run.
    - `repeats`: the number of runs of each learner on each environment.
    - `environments`: a mapping from names to grids.
    - `learners`: a mapping from names to grids.
    - `seed`: the same seed gives the same results; 0 by default.
    - `horizon_known`: whether learners are told how many rounds there are; True by default.
    - `curve_points`: the number of log-spaced rounds at which the regret is recorded, besides the ends of the learner's
      epochs; 64 by default.
    - `keep_decisions`: whether every decision is kept too; False by default.

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
    keep_decisions: bool = False

    def __post_init__(self) -> None:
        check_name(self.name)
        for name, least in (("rounds", 1), ("repeats", 1), ("seed", 0), ("curve_points", 1)):
            with _at("experiment", name):
                setting_integer(name, getattr(self, name), at_least=least)
        for name in ("horizon_known", "keep_decisions"):
            with _at("experiment", name):
                setting_boolean(name, getattr(self, name))
        for table, kinds in KINDS.items():
            _check_grids(table, getattr(self, table), kinds)
            for point in self.points(table):
                place = (table, point.name)
                with _at(*place, settings=point.settings):
                    kinds[point.kind].check(point.settings, place, point.kind)
        self._check_points()
        for table, kinds in KINDS.items():
            _check_distinct(table, self.points(table), kinds)

    def points(self, table: str) -> list[Point]:
        """All "environments" or "learners", in order."""
        grids: Mapping[str, Grid] = getattr(self, table)
        return [point for name, grid in grids.items() for point in grid.points(name)]

    def environment_points(self) -> list[Point]:
        """All environments, in order."""
        return self.points("environments")

    def learner_points(self) -> list[Point]:
        """All learners, in order."""
        return self.points("learners")

    @property
    def n_runs(self) -> int:
        """The number of runs."""
        return len(self.environment_points()) * len(self.learner_points()) * self.repeats

    def _check_points(self) -> None:
        """Build everything once, and start every learner on every problem that it will meet."""
        for point in self.environment_points():
            with _at("environments", point.name, settings=point.settings):
                environment = build_environment(point.kind, point.settings)
                problem = environment.instance(self.seed).problem(self.rounds if self.horizon_known else None)
            if environment.n_rounds is not None and self.rounds > environment.n_rounds:
                message = f"rounds is {self.rounds}; expected at most the {environment.n_rounds} of {point.label!r}"
                raise ExperimentError(message, ("experiment", "rounds"))
            for played in self.learner_points():
                with _at("learners", played.name, settings=played.settings), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # the run itself will warn
                    build_learner(played.kind, played.settings, environment).init(problem)


def check_name(name: object) -> None:
    """Raise ExperimentError unless a folder can have this name."""
    if not isinstance(name, str) or re.fullmatch(r"\w[\w .+-]*", name) is None:
        wanted = "expected letters, digits, spaces, or one of . + - _ after the first: it names a folder"
        raise ExperimentError(f"name is {name!r}; {wanted}", ("experiment", "name"))


def _check_grids(table: str, grids: Mapping[str, Grid], kinds: Mapping[str, Kind]) -> None:
    """Check the names, the kinds and the types of values."""
    if not isinstance(grids, Mapping) or not grids:
        raise ExperimentError(f"{table} is {grids!r}; expected at least one, as [{table}.NAME]", (table,))
    for name, grid in grids.items():
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise ExperimentError(f"{name!r} is a name; expected a line of text", (table, str(name)))
        if not isinstance(grid, Grid):
            raise ExperimentError(f"{name} is {grid!r}; expected a Grid", (table, name))
        if not isinstance(grid.kind, str) or (grid.kind not in kinds and not is_address(grid.kind)):
            raise ExperimentError(f"kind is {grid.kind!r}; {expected(str(grid.kind), kinds)}", (table, name, "kind"))
        with _at(table, name, "kind"):
            kinds[grid.kind]  # imports the user's own kind
        for key, value in grid.settings.items():
            values = value if isinstance(value, list | tuple) else [value]
            if not values:
                raise ExperimentError(f"{key} is an empty list; expected a value or several", (table, name, key))
            for one in values:
                if not isinstance(one, bool | int | float | str):
                    raise ExperimentError(
                        f"{key} is {one!r}; expected text, a number, true or false", (table, name, key)
                    )


def _check_distinct(table: str, points: list[Point], kinds: Mapping[str, Kind]) -> None:
    seen: set[tuple[str, str]] = set()
    labels: set[str] = set()
    for point in points:
        same = point.name, identity(point.kind, point.settings, kinds)
        if same in seen or point.label in labels:
            raise ExperimentError(f"{point.label!r} is there twice; expected different ones", (table, point.name))
        seen.add(same)
        labels.add(point.label)


@contextlib.contextmanager
def _at(*place: str, settings: Mapping[str, Value] | None = None) -> Iterator[None]:
    """Add a place to errors raised inside: this one, or that of the setting that the error names."""
    given = settings or {}
    try:
        yield
    except ExperimentError:
        raise
    except GraphBanditError as error:
        name = str(error).split(" ", 1)[0]  # by convention a message starts with the name of the setting
        raise ExperimentError(str(error), (*place, name) if name in given else place) from error
    except Exception as error:  # values that only NumPy refuses, such as sizes that are too large
        told = ", ".join(f"{name} = {value!r}" for name, value in given.items()) or "it"
        message = f"{told} cannot be built: {type(error).__name__}: {error}; expected settings that can"
        raise ExperimentError(message, place) from error
