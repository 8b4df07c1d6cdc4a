"""The looks of learners: the same in every figure, and distinct without colours, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from graphbandit.base.colours import COLOURS
from graphbandit.plots.axes import write_key
from graphbandit.plots.style import name_ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

SHOWN = 10
"""The largest number of curves that can be told apart in one figure."""

DASHES: tuple[Any, ...] = ("solid", (0, (5, 1.6)), (0, (6, 1.4, 1.2, 1.4)), (0, (1.3, 1.3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")


class Look(NamedTuple):
    """How a learner is drawn; looks differ in more than colour, so that grey prints are readable."""

    colour: str
    dash: Any
    marker: str

    @property
    def line(self) -> Line2D:
        """A line for a legend."""
        from matplotlib.lines import Line2D

        return Line2D([], [], color=self.colour, linestyle=self.dash, linewidth=1.8)


def looks(names: Sequence[str]) -> dict[str, Look]:
    """A look for each name by its position; there are 28 different lines and 63 different points."""
    return {
        name: Look(COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)], MARKERS[i % len(MARKERS)])
        for i, name in enumerate(names)
    }


def key_lines(look: Mapping[str, Look]) -> dict[str, Line2D]:
    """The lines of a legend, by name."""
    return {name: one.line for name, one in look.items()}


def name_lines(axes: Axes, ends: Mapping[str, float], look: Mapping[str, Look]) -> None:
    """Write names at the ends of the lines if they are few and short, otherwise a legend below the axes."""
    if len(ends) <= SHOWN and max(map(len, ends)) <= 18:
        x = axes.get_xlim()[1]
        name_ends(axes, x, [(y, name, look[name].colour) for name, y in ends.items()], room=0.075)
        return
    write_key(axes, key_lines({name: look[name] for name in ends}))
