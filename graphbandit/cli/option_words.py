"""Choices and messages in the words of the command line: options in place of the settings of Python."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, get_args

from graphbandit.errors import GraphBanditError


def one_of(choice: Any) -> str:
    """The values of a `Literal` as the help of an option.

    >>> from typing import Literal
    >>> one_of(Literal["log", "obp", "csv"])
    'log, obp or csv.'
    """
    *others, last = get_args(choice)
    return f"{', '.join(others)} or {last}."


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
