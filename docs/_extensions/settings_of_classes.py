"""The signature of a class is that of its settings, whatever else may be behind its making.

Learners check a setting that all of them have before the others are assigned, in `__new__`; Sphinx would show that.
"""

from dataclasses import is_dataclass
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.inspect import signature, stringify_signature


def settings(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, arguments: str | None, returns: str | None
) -> tuple[str, str | None] | None:
    """The signature of a class that is a dataclass, or of a kind of one: that of its settings."""
    if what != "class" or not is_dataclass(obj) or obj.__init__ is object.__init__:
        return None
    found = signature(obj.__init__, bound_method=True, type_aliases=app.config.autodoc_type_aliases)
    return stringify_signature(found, show_return_annotation=False, unqualified_typehints=True), returns


def setup(app: Sphinx) -> dict[str, Any]:
    """Have Sphinx ask `settings`."""
    app.connect("autodoc-process-signature", settings)
    return {"parallel_read_safe": True}
