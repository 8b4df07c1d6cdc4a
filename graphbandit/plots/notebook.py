"""Figures that a notebook shows without `%matplotlib inline`."""

from __future__ import annotations

import io
import struct
from typing import Any

from matplotlib.figure import Figure

DOTS = 144
"""The resolution of a picture in a notebook, in dots per inch."""

SHOWN = 96
"""The number of screen pixels per inch; fewer than `DOTS`, so that pictures are sharp on fine screens."""


class NotebookFigure(Figure):
    """A Matplotlib figure that notebooks can display."""

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """The figure as PNG, and its size on the page."""
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=DOTS, facecolor="white", bbox_inches="tight", metadata={"Software": None})
        data = file.getvalue()
        width, height = struct.unpack(">II", data[16:24])  # the header of every PNG
        return data, {"width": round(width * SHOWN / DOTS), "height": round(height * SHOWN / DOTS)}
