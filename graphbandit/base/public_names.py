"""The public names of a module: loaded when they are first asked for, listed by `dir`, suggested for a typo.

`help` shows their signatures in readable form.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import lazy_loader  # type: ignore[import-untyped]


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package whose names are listed in the `.pyi` beside this file."""
    load, listed, names = lazy_loader.attach_stub(package, file)

    def load_or_suggest(name: str) -> Any:
        if name in names:
            from graphbandit.base.signatures import make_readable

            found = load(name)
            make_readable(found)
            return found
        raise no_attribute(package, name, names)

    return load_or_suggest, listed, names


def listing(module: Mapping[str, Any]) -> Callable[[], list[str]]:
    """A module's `__dir__` that lists only its public names: ``__dir__ = listing(globals())`` at the module's end."""
    from graphbandit.base.signatures import make_readable

    for name in module["__all__"]:
        make_readable(module.get(name))  # None is one that is not loaded yet
    return lambda: sorted(module["__all__"])


def no_attribute(module: str, name: str, names: Iterable[str]) -> AttributeError:
    """The error for a name that a module does not have, with a close one if there is one."""
    from difflib import get_close_matches

    known = {} if name.startswith("_") else {one.lower(): one for one in names}
    near = get_close_matches(name.lower(), known, n=1)
    hint = f"; did you mean {known[near[0]]!r}?" if near else ""
    return AttributeError(f"module {module!r} has no attribute {name!r}{hint}")
