"""What a learner says of its decisions in its own words, for `Decision.explain`.

A row of words is one of four things, by its type: numbers of all arms (n, arms), a set of arms as a mask (n, arms), one
number a round, or one arm a round as a whole number, -1 for none. Nothing of it is looked at to decide or to learn.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

import numpy as np

from graphbandit.base.shapes import Shaped

Words = Mapping[str, Shaped[np.ndarray, "n ..."]]

BEST = "estimated best arm"
"""What the arm of the highest estimate is called in words."""


class LateWords(Mapping[str, Shaped[np.ndarray, "n ..."]]):
    """Words that are worked out when somebody asks for them; copies and pickles are plain dictionaries.

    - `make`: works them out. It keeps alive what it needs, so that should be small.
    """

    def __init__(self, make: Callable[[], Words]) -> None:
        self._make = make

    @cached_property
    def _words(self) -> dict[str, Shaped[np.ndarray, "n ..."]]:
        return dict(self._make())

    def __getitem__(self, name: str) -> Shaped[np.ndarray, "n ..."]:
        return self._words[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)

    def __reduce__(self) -> tuple[type, tuple[dict[str, Shaped[np.ndarray, "n ..."]]]]:
        return dict, (self._words,)
