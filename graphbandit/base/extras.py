"""Optional packages."""

import importlib
from typing import Any

from graphbandit.errors import MissingExtraError


def imported(module: str, extra: str, why: str | None = None) -> Any:
    """Import a module; if it is missing, raise MissingExtraError, which says why it is needed and what to install."""
    try:
        return importlib.import_module(module)
    except ImportError:
        reason = f"{module} is needed for this" if why is None else why
        raise MissingExtraError(f"{reason}: pip install 'graphbandit[{extra}]'") from None
