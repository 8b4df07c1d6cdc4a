"""Hints at what a mistyped name was meant to be."""

import difflib
from collections.abc import Iterable

TYPO = 0.85
"""Names at least as similar as this, from 0 to 1, are likely the same one mistyped."""


def expected(wrong: str, known: Iterable[str]) -> str:
    """A hint at what to write instead: the most similar known name, several if they are equally so, or else all.

    >>> expected("ssed", ["rounds", "seed"])
    "did you mean 'seed'?"
    >>> expected("IDGS", ["IDSG", "IDSN", "Greedy"])
    "did you mean 'IDSG' or 'IDSN'?"
    >>> expected("scale", ["horizon", "reward_scale", "seed"])
    "did you mean 'reward_scale'?"
    """
    names = list(known)
    near = difflib.get_close_matches(wrong, names)
    alike = {name: difflib.SequenceMatcher(None, name, wrong).ratio() for name in near}
    best = [name for name in names if near and alike.get(name) == alike[near[0]]]
    if not best or alike[best[0]] < TYPO:
        best = _of_same_words(wrong, names) or best
    if best:
        return f"did you mean {' or '.join(map(repr, best))}?"
    return f"expected one of {', '.join(map(repr, names))}" if names else "it has no settings"


def _of_same_words(wrong: str, names: list[str]) -> list[str]:
    """The names that have all words of the wrong one, in any order and number."""
    words = {word.removesuffix("s") for word in wrong.split("_")}
    return [name for name in names if words <= {word.removesuffix("s") for word in name.split("_")}]
