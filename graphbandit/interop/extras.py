"""Packages that not everyone has."""

import importlib
from typing import Any

from graphbandit.errors import MissingExtraError


def imported(package: str, extra: str) -> Any:
    """A package; raises MissingExtraError with the extra to install if it is not there."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingExtraError(f"{package} is needed for this: pip install 'graphbandit[{extra}]'") from None
