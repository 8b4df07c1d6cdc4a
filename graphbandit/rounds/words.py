"""What a learner says of its decisions in its own words, for `Decision.explain`.

A row of words is one of four things, by its type: numbers of all arms (n, arms), a set of arms as a mask (n, arms), one
number a round, or one arm a round as a whole number, -1 for none. No words are used to decide or to learn. A row
may also be the name of the decisions' field that has it, which is looked up when somebody asks for it.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from graphbandit.base.shapes import Shaped

Words = Mapping[str, Shaped[np.ndarray, "n ..."] | str]

BEST = "estimated best arm"
"""What the arm of the highest estimate is called in words."""


def arrays_of(words: Words, made: Any) -> Mapping[str, Shaped[np.ndarray, "n ..."]]:
    """The words, with these decisions' fields in place of their names."""
    if isinstance(words, LateWords):
        return words
    return {name: getattr(made, row) if isinstance(row, str) else row for name, row in words.items()}


class LateWords(Mapping[str, Shaped[np.ndarray, "n ..."]]):
    """Words that are worked out when somebody asks for them; copies and pickles are plain dictionaries.

    - `make`: works them out, all of them arrays. What it needs stays in memory, so that should be small.
    """

    def __init__(self, make: Callable[[], Mapping[str, Shaped[np.ndarray, "n ..."]]]) -> None:
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
