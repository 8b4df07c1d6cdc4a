"""The jinja2 environment of all templates, and the HTML and SVG fragments that notebooks show."""

from functools import cache
from typing import Any


def environment(*rooms: str) -> Any:
    """The templates in the folders ``templates`` of these packages, which escape all that they are given."""
    import jinja2  # takes long to import, and few programs show anything

    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(room) for room in dict.fromkeys(rooms)]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def fragment(room: str, name: str, **values: object) -> str:
    """A template of a package, filled in with these values."""
    shown: str = _of_room(room).get_template(name).render(values)
    return shown


_of_room = cache(environment)
