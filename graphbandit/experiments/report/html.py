"""Pieces of the HTML report: escaped text, tables, and figures as SVG that follows the page's colours."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from graphbandit.plots.style import COLOURS, GREY, INK, PALE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

READABLE = 0.7
"""A figure is not made smaller than this share of its size; its box scrolls instead."""

LONG = 20
"""A heading of more characters may be broken into lines."""

_PAGE_COLOURS = {
    "#ffffff": "var(--card)",
    INK: "var(--ink)",
    GREY: "var(--grey)",
    PALE: "var(--pale)",
    **dict(
        zip(
            COLOURS,
            (f"var(--{name})" for name in ("blue", "vermilion", "green", "pink", "orange", "sky", "ink")),
            strict=True,
        )
    ),
}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A table's cell: its HTML, the number it is sorted by (nan: always last; None: by its text), its CSS class."""

    html: str
    value: float | None = None
    kind: str = ""

    @classmethod
    def text(cls, text: str) -> Cell:
        """Plain text, at the left."""
        return cls(html=escape(text), kind="text")

    @classmethod
    def number(cls, text: str, value: float) -> Cell:
        """A number as it is written and as it is."""
        return cls(html=escape(text), value=value)


def sortable_table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[Cell]], *, sorted_by: int | None = None
) -> str:
    """A table in a box of its own to scroll; a row's first cell is its heading. By `sorted_by` rows ascend already."""
    columns = []
    for i, head in enumerate(heads):
        order = ' aria-sort="ascending"' if i == sorted_by else ""
        is_text = i == 0 or (len(rows) > 0 and rows[0][i].kind == "text")
        kinds = [name for name, holds in (("text", is_text), ("long", len(head) > LONG)) if holds]
        kind = f' class="{" ".join(kinds)}"' if kinds else ""
        columns.append(f'<th scope="col"{kind}{order}><button type="button">{escape(head)}</button></th>')
    lines = []
    for first, *others in rows:
        cells = "".join(_cell(cell) for cell in others)
        lines.append(f'<tr><th scope="row"{_value(first)}>{first.html}</th>{cells}</tr>')
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">\n'
        f'<table class="sortable">\n<caption>{escape(caption)}</caption>\n'
        f"<thead><tr>{''.join(columns)}</tr></thead>\n<tbody>\n{chr(10).join(lines)}\n</tbody>\n</table>\n</div>"
    )


def plain_table(rows: Sequence[tuple[str, str]]) -> str:
    """Names and values, as text."""
    lines = (f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>' for name, value in rows)
    return f'<div class="scroll"><table class="plain"><tbody>\n{chr(10).join(lines)}\n</tbody></table></div>'


def section(name: str, title: str, *parts: str) -> str:
    """A section that can be linked to."""
    body = "\n".join(part for part in parts if part)
    return (
        f'<section id="{name}" aria-labelledby="{name}-title">\n<h2 id="{name}-title">{title}</h2>\n{body}\n</section>'
    )


def figure_html(figure: Figure, name: str, alt: str, caption: str = "") -> str:
    """A figure as SVG within the page; `alt` says in words what it shows."""
    return svg_html(_svg(figure), name, alt, caption)


def svg_html(svg: str, name: str, alt: str, caption: str = "") -> str:
    """The same for a figure that is a file of SVG already."""
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure>\n<div class="scroll">{inline_svg(svg, name, alt)}</div>\n{below}</figure>'


def _svg(figure: Figure) -> str:
    """The same bytes each time."""
    import matplotlib as mpl

    file = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "graphbandit", "svg.fonttype": "path"}):
        figure.savefig(
            file, format="svg", transparent=True, bbox_inches="tight", pad_inches=0.03, metadata={"Date": None}
        )
    return file.getvalue()


def inline_svg(svg: str, name: str, alt: str) -> str:
    """A file of SVG as an element: the page's colours, ids that start with `name`."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", svg)
    for colour, variable in _PAGE_COLOURS.items():
        svg = re.sub(colour, variable, svg, flags=re.IGNORECASE)
    width = round(_points(svg, "width") * 96 / 72)
    size = f'width="100%" style="min-width: {round(READABLE * width)}px; max-width: {width}px"'
    box = f'viewBox="{_attribute(svg, "viewBox")}" {size}'
    links = 'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg"'
    inside = svg[svg.index(">") + 1 :].strip()
    return f'<svg role="img" aria-label="{escape(alt)}" {box} {links}>{inside}'


def _attribute(svg: str, name: str) -> str:
    found = re.search(rf'\b{name}="([^"]*)"', svg)
    assert found is not None
    return found.group(1)


def _points(svg: str, name: str) -> float:
    return float(_attribute(svg, name).removesuffix("pt"))


def _cell(cell: Cell) -> str:
    kind = f' class="{cell.kind}"' if cell.kind else ""
    return f"<td{kind}{_value(cell)}>{cell.html}</td>"


def _value(cell: Cell) -> str:
    if cell.value is None:
        return ""
    return f' data-value="{cell.value:.9g}"' if math.isfinite(cell.value) else ' data-value=""'
