"""Names of arms. Inside the package arms are the numbers 0 .. K - 1; this file translates between the two."""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from graphbandit.base.saved_files import savable
from graphbandit.errors import GraphBanditError, InputError, SettingError, UnknownArmError

MOST_ARMS = 2**31 - 1
"""Graphs and logs number their arms in 32 bits."""


@savable
@dataclass(frozen=True, repr=False)
class ArmNames:
    """The names of arms 0 .. K - 1: text, each once.

    A method that takes an arm takes its name or its number.

    >>> prices = ArmNames(("7.99", "8.99"))
    >>> prices.index("8.99"), prices.index(0), prices[1], len(prices)
    (1, 0, '8.99', 2)
    """

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        given: object = self.names
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            raise SettingError(f"arms is {given!r}; expected a list of names, or the number of arms")
        listed = tuple(given)
        if not listed:
            raise SettingError("arms is empty; expected at least one name")
        seen: set[str] = set()
        for i, name in enumerate(listed):
            if not isinstance(name, str) or not name:
                raise SettingError(f"arms[{i}] is {reprlib.repr(name)}; expected a name, that is, text")
            if name in seen:
                raise SettingError(f"arms has {name!r} twice; expected each name once")
            seen.add(name)
        object.__setattr__(self, "names", tuple(map(str, listed)))  # NumPy's strings become plain ones

    @classmethod
    def of(cls, names: Iterable[str] | ArmNames) -> ArmNames:
        """Names from any iterable of text."""
        if isinstance(names, ArmNames):
            return names
        listed: Any = names if isinstance(names, str | bytes) or not isinstance(names, Iterable) else tuple(names)
        return cls(listed)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def index(self, arm: object) -> int:
        """The number of an arm, given by its name or its number."""
        return arm_index(arm, len(self.names), self)

    def find(self, name: str) -> int:
        """The number of the arm of this name."""
        place = self._places.get(name)
        if place is None:
            near = get_close_matches(name, self.names, n=3)
            known = ", ".join(map(repr, self.names[:8])) + (", ..." if len(self.names) > 8 else "")
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"expected one of {known}"
            raise UnknownArmError(f"no arm is called {name!r}; {hint}")
        return place

    def __getitem__(self, i: int) -> str:
        return self.names[i]

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __repr__(self) -> str:
        return f"ArmNames({reprlib.repr(list(self.names))})"


def arm_index(arm: object, n_arms: int, names: ArmNames | None = None) -> int:
    """The number of an arm of 0 .. n_arms - 1, given by its number or, where arms have names, by its name."""
    if isinstance(arm, str):
        if names is None:
            raise UnknownArmError(f"arm is {arm!r}, but the arms have no names; expected one of 0 .. {n_arms - 1}")
        return names.find(arm)
    try:
        place = -1 if isinstance(arm, bool) else operator.index(arm)  # type: ignore[arg-type]
    except TypeError:
        place = -1
    if not 0 <= place < n_arms:
        named = ", or a name" if names is not None else ""
        raise UnknownArmError(f"arm is {reprlib.repr(arm)}; expected one of 0 .. {n_arms - 1}{named}")
    return place


def known_arm(
    within: str, arm: object, n_arms: int, names: ArmNames | None, error: type[GraphBanditError] = InputError
) -> int:
    """`arm_index` for an arm within an argument; the error names that argument."""
    try:
        return arm_index(arm, n_arms, names)
    except UnknownArmError as unknown:
        raise error(f"{within}: {unknown}") from None


def shown(names: ArmNames | None, *arms: int) -> str:
    """Arms as a message names them: by their names if they have any, else by their numbers.

    >>> shown(ArmNames(("tea", "cake")), 1, 0), shown(None, 3)
    ("arm 'cake', 'tea'", 'arm 3')
    """
    return "arm " + ", ".join(str(a) if names is None or not 0 <= a < len(names) else repr(names[a]) for a in arms)
