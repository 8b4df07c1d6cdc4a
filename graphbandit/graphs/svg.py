"""A small picture of a graph for notebooks: arms on a circle, an arrow from each arm to those it reveals."""

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from graphbandit.base.arm_names import ArmNames
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
    parts = []
    pale = [""] * len(edges) if shares is None else [f' opacity="{0.15 + 0.85 * share:.2f}"' for share in shares]
    for (j, a), look in zip(edges.tolist(), pale, strict=True):
        (x, y), (u, v) = places[j], places[a]
        if j == a:
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_DOT + 4}" fill="none" stroke="#999"{look}/>')
            continue
        length = math.hypot(u - x, v - y)
        ends = (_DOT + 4) / length
        x, y, u, v = x + ends * (u - x), y + ends * (v - y), u - ends * (u - x), v - ends * (v - y)
        parts.append(
            f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}" stroke="#666" marker-end="url(#tip)"{look}/>'
        )
    for angle, (x, y), label in zip(angles, places, labels, strict=True):
        u, v = x + 16 * math.cos(angle), y + 16 * math.sin(angle)
        side = "middle" if abs(math.cos(angle)) < 0.3 else "start" if math.cos(angle) > 0 else "end"
        text = escape(label if len(label) <= 10 else label[:9] + "…")
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_DOT}" fill="#0072b2"/>')
        parts.append(
            f'<text x="{u:.1f}" y="{v:.1f}" text-anchor="{side}" dominant-baseline="middle" '
            f'font-family="sans-serif" font-size="13" fill="currentColor">{text}</text>'
        )
    tip = (
        '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
        '<path d="M0,1 L8,4 L0,7 z" fill="#666"/></marker></defs>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_SIZE}" height="{_SIZE}" viewBox="0 0 {_SIZE} {_SIZE}">'
        f"{tip}{''.join(parts)}</svg>"
    )
