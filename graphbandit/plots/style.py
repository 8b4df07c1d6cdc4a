"""The house style: colours, plain axes, names at the ends of curves, files with the same bytes each time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphbandit.base.colours import COLOURS, INK
from graphbandit.errors import SavedFileError, SettingError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, VERMILION = COLOURS[:2]
GREY, PALE = "#666666", "#B0B0B0"


def literal(text: str) -> str:
    """Escape dollar signs, which would start a formula, so that Matplotlib writes the text as it is.

    >>> literal("$x^$")
    '\\\\$x^\\\\$'
    """
    return text.replace("$", r"\$")


def plain_axes(axes: Axes) -> None:
    """Give axes two spines, outward ticks and a faint horizontal grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(PALE)
    axes.tick_params(color=PALE, labelcolor=INK)
    axes.grid(axis="y", color=PALE, alpha=0.35, linewidth=0.6)
    axes.set_axisbelow(True)


def name_ends(axes: Axes, x: float, ends: Sequence[tuple[float, str, str]], *, room: float = 0.065) -> None:
    """Write names to the right of `x`, given as (height, name, colour); each gets `room` of the axes' height."""
    axes.get_ylim()  # updates the limits of the axes
    to_axes = axes.transData + axes.transAxes.inverted()
    rows = sorted((float(to_axes.transform((x, y))[1]), name, colour) for y, name, colour in ends)
    for (_, name, colour), height in zip(rows, _apart([height for height, _, _ in rows], room), strict=True):
        axes.text(1.02, height, literal(name), transform=axes.transAxes, va="center", color=colour, size=9.5)


def _apart(heights: Sequence[float], room: float) -> list[float]:
    """Heights near the given ones, which increase, that are `room` apart and lie from 0 to 1 if there is room.

    Where names would overlap, they are spread to both sides of their mean height.
    """
    groups: list[tuple[float, int]] = []  # neighbours that touch: their height less the room below, and how many
    for i, height in enumerate(heights):
        low, n = height - room * i, 1
        while groups and groups[-1][0] >= low:
            before, m = groups.pop()
            low, n = (before * m + low * n) / (m + n), m + n
        groups.append((low, n))
    lows = [low for low, n in groups for _ in range(n)]
    most = 1.0 - room * (len(heights) - 1)
    return [min(max(low, 0.0), most) + room * i for i, low in enumerate(lows)]


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as .png, .svg or .pdf; the same figure gives the same bytes, with no date in them.

    - `figure`: any Matplotlib figure.
    - `path`: the path of the file; its suffix gives the format.
    """
    import matplotlib as mpl

    metadata: dict[str, dict[str, Any]] = {
        ".png": {"Software": None},
        ".svg": {"Date": None, "Creator": None},
        ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }
    if not isinstance(path, str | os.PathLike):
        raise SettingError(f"path is {path!r}; expected the name of a file, a string or a Path")
    suffix = Path(path).suffix.lower()
    if suffix not in metadata:
        name = Path(path).name
        raise SettingError(f"the picture's file is {name!r}; expected a name that ends in {', '.join(metadata)}")
    with mpl.rc_context({"svg.hashsalt": "graphbandit", "svg.fonttype": "path", "pdf.fonttype": 42}):
        try:
            figure.savefig(path, dpi=200, metadata=metadata[suffix], facecolor="white", bbox_inches="tight")
        except OSError as error:
            raise SavedFileError(f"{path} cannot be written: {error.strerror or error}") from None
