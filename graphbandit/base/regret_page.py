"""A simulation's table and curves for notebooks, without matplotlib: HTML with an inline SVG."""

from collections.abc import Mapping
from html import escape

import numpy as np

from graphbandit.base.colours import COLOURS
from graphbandit.base.shapes import Float

Bands = Mapping[str, tuple[Float[np.ndarray, " rounds"], Float[np.ndarray, " rounds"], Float[np.ndarray, " rounds"]]]
"""Mean, lower and upper curve by learner."""

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _POINTS = 520, 260, 50, 30, 200


def regret_svg(bands: Bands) -> str:
    """Mean curves in their bands."""
    rounds = max(len(mean) for mean, _, _ in bands.values())
    highest = max(float(np.nanmax(np.where(np.isfinite(upper), upper, mean))) for mean, _, upper in bands.values())
    highest = highest if highest > 0 else 1.0

    def places(curve: Float[np.ndarray, " rounds"]) -> list[str]:
        chosen = np.unique(np.linspace(0, len(curve) - 1, _POINTS).astype(np.int64))
        x = _LEFT + (_WIDTH - _LEFT - 10) * (chosen + 1) / rounds
        y = _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - 10) * np.clip(curve[chosen], 0.0, highest) / highest
        return [f"{u:.1f},{v:.1f}" for u, v in zip(x, y, strict=True)]

    parts = []
    for i, (mean, lower, upper) in enumerate(bands.values()):
        colour = COLOURS[i % len(COLOURS)]
        if np.isfinite(upper).all():
            outline = " ".join(places(upper) + places(lower)[::-1])
            parts.append(f'<polygon points="{outline}" fill="{colour}" fill-opacity="0.2"/>')
        parts.append(f'<polyline points="{" ".join(places(mean))}" fill="none" stroke="{colour}" stroke-width="2"/>')
    floor = _HEIGHT - _BOTTOM
    axes = (
        f'<path d="M{_LEFT},10 V{floor} H{_WIDTH - 10}" fill="none" stroke="currentColor"/>'
        f'<text x="{_LEFT - 6}" y="16" text-anchor="end">{highest:.4g}</text>'
        f'<text x="{_LEFT - 6}" y="{floor}" text-anchor="end">0</text>'
        f'<text x="{_WIDTH - 10}" y="{_HEIGHT - 8}" text-anchor="end">{rounds} rounds</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12" fill="currentColor">'
        f"{''.join(parts)}{axes}</svg>"
    )


def regret_page(bands: Bands, repeats: Mapping[str, int], failed: Mapping[str, int]) -> str:
    """The table of final regrets, and the curves."""
    rows = []
    for i, (name, (mean, lower, upper)) in enumerate(bands.items()):
        interval = f"{lower[-1]:.4g} to {upper[-1]:.4g}" if np.isfinite(upper[-1]) else "one repeat"
        swatch = f"<span style='color:{COLOURS[i % len(COLOURS)]}'>&#9632;</span>"
        rows.append(
            f"<tr><td style='text-align:left'>{swatch} {escape(name)}</td><td>{mean[-1]:.4g}</td>"
            f"<td>{interval}</td><td>{repeats[name]}</td><td>{failed[name]}</td></tr>"
        )
    head = "<th>learner</th><th>final regret</th><th>95 % interval</th><th>repeats</th><th>failed fits</th>"
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f"{table}<p>Cumulative regret: mean over repeats, 95 % band of the mean</p>{regret_svg(bands)}"
