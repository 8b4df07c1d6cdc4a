"""Packages that not everyone has."""

import importlib
from typing import Any

from graphbandit.errors import MissingExtraError


def imported(module: str, extra: str, why: str | None = None) -> Any:
    """A module; if it is not there, raises MissingExtraError, which says why it is needed and what to install."""
    try:
        return importlib.import_module(module)
    except ImportError:
        reason = f"{module} is needed for this" if why is None else why
        raise MissingExtraError(f"{reason}: pip install 'graphbandit[{extra}]'") from None
