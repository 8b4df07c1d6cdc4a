"""A small picture of a graph for notebooks: arms on a circle, an arrow from each arm to those it reveals."""

import math
from collections.abc import Sequence

import numpy as np

from graphbandit.base.arm_names import ArmNames
from graphbandit.base.fragments import fragment
from graphbandit.base.shapes import Int64

MOST_SHOWN = 40
"""Graphs of more arms have no picture: nobody could read it."""

_SIZE, _MARGIN, _DOT = 360, 60, 6


def graph_svg(
    n_arms: int, names: ArmNames | None, edges: Int64[np.ndarray, "edges 2"], shares: Sequence[float] | None = None
) -> str:
    """The graph as SVG; self-loops are rings around their arms, and edges of small probability (`shares`) are pale."""
    labels = [str(arm) for arm in (range(n_arms) if names is None else names)]
    n, middle = len(labels), _SIZE / 2
    radius = middle - _MARGIN
    angles = [2 * math.pi * arm / n - math.pi / 2 for arm in range(n)]
    places = [(middle + radius * math.cos(angle), middle + radius * math.sin(angle)) for angle in angles]
    pale: Sequence[float | None] = [None] * len(edges) if shares is None else [0.15 + 0.85 * one for one in shares]
    drawn = []
    for (j, a), opacity in zip(edges.tolist(), pale, strict=True):
        (x, y), (u, v) = places[j], places[a]
        if j == a:
            drawn.append({"x": x, "y": y, "to": None, "opacity": opacity})
            continue
        ends = (_DOT + 4) / math.hypot(u - x, v - y)
        shown = {"x": x + ends * (u - x), "y": y + ends * (v - y), "to": (u - ends * (u - x), v - ends * (v - y))}
        drawn.append({**shown, "opacity": opacity})
    arms = [
        {
            "x": x,
            "y": y,
            "label": (x + 16 * math.cos(angle), y + 16 * math.sin(angle)),
            "side": "middle" if abs(math.cos(angle)) < 0.3 else "start" if math.cos(angle) > 0 else "end",
            "name": name if len(name) <= 10 else name[:9] + "…",
        }
        for angle, (x, y), name in zip(angles, places, labels, strict=True)
    ]
    return fragment("graphbandit.graphs", "graph.svg", size=_SIZE, dot=_DOT, edges=drawn, arms=arms)
