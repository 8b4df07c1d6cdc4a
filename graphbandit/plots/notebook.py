"""Figures that a notebook shows by themselves, without `%matplotlib inline`."""

from __future__ import annotations

import io
import struct
from typing import Any

from matplotlib.figure import Figure

DOTS = 144
"""Dots an inch of a picture in a notebook."""

SHOWN = 96
"""How many of these dots a notebook shows as one inch; fewer than `DOTS`, so that fine screens show sharp pictures."""


class NotebookFigure(Figure):
    """A Matplotlib figure with a picture of itself."""

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        """The picture and its size on the page."""
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=DOTS, facecolor="white", bbox_inches="tight", metadata={"Software": None})
        data = file.getvalue()
        width, height = struct.unpack(">II", data[16:24])  # the header of every PNG
        return data, {"width": round(width * SHOWN / DOTS), "height": round(height * SHOWN / DOTS)}
