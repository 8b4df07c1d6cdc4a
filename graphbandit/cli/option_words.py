"""Messages in the words of the command line: options in place of the settings that Python users write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from graphbandit.errors import GraphBanditError


def in_options(text: str, words: Mapping[str, str]) -> str:
    """The text with every pattern of `words` replaced.

    >>> in_options("expected none, or support='part'", {r"support='(\\w+)'": r"--support \\1"})
    'expected none, or --support part'
    """
    for pattern, option in words.items():
        text = re.sub(pattern, option, text)
    return text


@contextmanager
def errors_in_options(words: Mapping[str, str]) -> Iterator[None]:
    """Errors of the package that are raised inside say `words` in place of their patterns."""
    try:
        yield
    except GraphBanditError as error:
        raise GraphBanditError(in_options(str(error), words)) from None
