"""Figures as SVG in a page, in the colours of the page."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup, escape

from graphbandit.base.colours import COLOURS, INK
from graphbandit.plots.style import GREY, PALE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

READABLE = 0.7
"""A figure is not shrunk below this share of its size; its box scrolls instead."""

_COLOUR_NAMES = ("blue", "vermilion", "green", "pink", "orange", "sky", "ink")
_PAGE_COLOURS = {
    "#ffffff": "var(--card)",
    INK: "var(--ink)",
    GREY: "var(--grey)",
    PALE: "var(--pale)",
    **{colour: f"var(--{name})" for colour, name in zip(COLOURS, _COLOUR_NAMES, strict=True)},
}


class PagePicture(NamedTuple):
    """A figure for a page, and the caption below it."""

    svg: Markup
    caption: str = ""


def page_picture(figure: Figure | str, name: str, alt: str, caption: str = "") -> PagePicture:
    """Make a picture of a figure or of the text of an SVG file.

    Its ids start with `name`, and `alt` says in words what it shows.
    """
    return PagePicture(_inline(figure if isinstance(figure, str) else _drawn(figure), name, alt), caption)


def _drawn(figure: Figure) -> str:
    """A figure as SVG, with the same bytes each time."""
    import matplotlib as mpl

    file = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "graphbandit", "svg.fonttype": "path"}):
        figure.savefig(
            file, format="svg", transparent=True, bbox_inches="tight", pad_inches=0.03, metadata={"Date": None}
        )
    return file.getvalue()


def _inline(svg: str, name: str, alt: str) -> Markup:
    """The text of an SVG file as an element of a page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", svg)
    for colour, variable in _PAGE_COLOURS.items():
        svg = re.sub(colour, variable, svg, flags=re.IGNORECASE)
    width = round(float(_attribute(svg, "width").removesuffix("pt")) * 96 / 72)
    size = f'width="100%" style="min-width: {round(READABLE * width)}px; max-width: {width}px"'
    box = f'viewBox="{_attribute(svg, "viewBox")}" {size}'
    links = 'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg"'
    inside = svg[svg.index(">") + 1 :].strip()
    return Markup(f'<svg role="img" aria-label="{escape(alt)}" {box} {links}>{inside}')


def _attribute(svg: str, name: str) -> str:
    found = re.search(rf'\b{name}="([^"]*)"', svg)
    assert found is not None
    return found.group(1)
