"""A grid: one environment or learner for each combination of the values of its settings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from graphbandit.experiments.describe.kinds import Value


@dataclass(frozen=True)
class Grid:
    """A kind of environment or learner and its settings; one that is a list stands for each of its values in turn.

    - `kind`: its name in a file, as "AdaCBG".
    - `settings`: from names to values, or lists of values; empty by default.

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


def _shown(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
