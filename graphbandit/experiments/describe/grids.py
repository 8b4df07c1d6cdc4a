"""A grid: one environment or learner for each combination of the values of its settings."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from graphbandit.experiments.describe.kinds import CLASS, Value
from graphbandit.experiments.describe.own_kinds import spelt_out


@dataclass(frozen=True, init=False)
class Grid:
    """A kind of environment or learner and its settings; a setting that is a list takes each of its values in turn.

    - `kind`: a name of the package, such as "AdaCBG", a name given to `register`, an address such as
      "my_module:MyLearner", or the class itself.
    - `settings`: a mapping from names to values or lists of values. Your own function class is given in the same ways
      as a kind. None (default): no settings.

    >>> [point.label for point in Grid("AdaCBG", {"radius": "paper", "eta": [0.5, 1.0]}).points("ours")]
    ['ours eta=0.5', 'ours eta=1.0']
    """

    kind: str
    settings: Mapping[str, Value | list[Value]]

    def __init__(
        self, kind: str | Callable[..., Any], settings: Mapping[str, Value | list[Value]] | None = None
    ) -> None:
        given = dict(settings) if isinstance(settings, Mapping) else {} if settings is None else settings
        if isinstance(given, dict) and CLASS in given:
            classes: Any = given[CLASS]
            given[CLASS] = (
                [spelt_out(one) for one in classes] if isinstance(classes, list | tuple) else spelt_out(classes)
            )
        object.__setattr__(self, "kind", spelt_out(kind))
        object.__setattr__(self, "settings", given)

    def points(self, name: str) -> "Iterator[Point]":
        """Every combination of the values; the last setting changes fastest."""
        axes = {key: value if isinstance(value, list | tuple) else [value] for key, value in self.settings.items()}
        varied = [key for key, values in axes.items() if len(values) > 1]
        for values in product(*axes.values()):
            settings = dict(zip(axes, values, strict=True))
            label = " ".join([name, *(f"{key}={_shown(settings[key])}" for key in varied)])
            yield Point(name=name, label=label, kind=self.kind, settings=settings)


@dataclass(frozen=True)
class Point:
    """One environment or learner of a grid; `label` is the name together with the settings that vary."""

    name: str
    label: str
    kind: str
    settings: Mapping[str, Value]


def _shown(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
