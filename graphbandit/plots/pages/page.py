"""Pages: one HTML file that needs no network, in light or dark colours, for a desktop, a phone or paper.

A page has a title and sections. The text of a section is a macro of a template: ``macros.html`` has the macros that all
pages share, and each package that writes pages has its own folder ``templates``. Everything but HTML is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

import graphbandit
from graphbandit.base.fragments import environment
from graphbandit.base.printed_table import MARKS
from graphbandit.errors import SavedFileError

TIMINGS, END_OF_TIMINGS = "<!-- timings: these differ from run to run -->", "<!-- end of timings -->"
"""Only the text between these two comments differs when the same experiment is run again."""

ROOM = "graphbandit.plots.pages"


class Section(NamedTuple):
    """A section with a link; `timings` says that it differs from run to run."""

    name: str
    title: str
    body: Markup
    timings: bool = False


def page_html(title: str, lead: str, sections: Sequence[Section | None], *, command: str | None = None) -> str:
    """A page of sections with links to them; sections that are None are left out. The footer names the `command`."""
    template = _environment(ROOM).get_template("base.html")
    page: str = template.render(
        title=title,
        lead=lead,
        sections=[section for section in sections if section is not None],
        version=graphbandit.__version__,
        command=command,
        timings=Markup(TIMINGS),
        end_of_timings=Markup(END_OF_TIMINGS),
    )
    return page


def write_text(path: Path, text: str) -> Path:
    """Write a text to a file and return its path."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise SavedFileError(f"{path} cannot be written: {error.strerror or error}") from None
    return path


def templates(room: str, name: str) -> Any:
    """The macros of a template in the folder ``templates`` of a package."""
    return _environment(room).get_template(name).module


@cache
def _environment(room: str) -> Any:
    made = environment(room, ROOM)
    made.globals["marks"] = MARKS
    made.filters["sort_value"] = lambda value: f"{value:.9g}" if math.isfinite(value) else ""
    return made
