"""A simulation's table and curves for notebooks, without matplotlib: HTML with an inline SVG."""

from collections.abc import Mapping

import numpy as np

from graphbandit.base.colours import COLOURS
from graphbandit.base.fragments import fragment
from graphbandit.base.shapes import Float

Bands = Mapping[str, tuple[Float[np.ndarray, " rounds"], Float[np.ndarray, " rounds"], Float[np.ndarray, " rounds"]]]
"""Mean, lower and upper curve by learner."""

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _POINTS = 520, 260, 50, 30, 200


def regret_fragment(bands: Bands, repeats: Mapping[str, int], failed: Mapping[str, int]) -> str:
    """The table of final regrets, and the mean curves in their bands."""
    rounds = max(len(mean) for mean, _, _ in bands.values())
    highest = max(float(np.nanmax(np.where(np.isfinite(upper), upper, mean))) for mean, _, upper in bands.values())
    highest = highest if highest > 0 else 1.0

    def places(curve: Float[np.ndarray, " rounds"]) -> list[str]:
        chosen = np.unique(np.linspace(0, len(curve) - 1, _POINTS).astype(np.int64))
        x = _LEFT + (_WIDTH - _LEFT - 10) * (chosen + 1) / rounds
        y = _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - 10) * np.clip(curve[chosen], 0.0, highest) / highest
        return [f"{u:.1f},{v:.1f}" for u, v in zip(x, y, strict=True)]

    learners = [
        {
            "name": name,
            "colour": COLOURS[i % len(COLOURS)],
            "final": mean[-1],
            "interval": f"{lower[-1]:.4g} to {upper[-1]:.4g}" if np.isfinite(upper[-1]) else "one repeat",
            "repeats": repeats[name],
            "failed": failed[name],
            "curve": " ".join(places(mean)),
            "band": " ".join(places(upper) + places(lower)[::-1]) if np.isfinite(upper).all() else "",
        }
        for i, (name, (mean, lower, upper)) in enumerate(bands.items())
    ]
    size = {"width": _WIDTH, "height": _HEIGHT, "left": _LEFT, "floor": _HEIGHT - _BOTTOM}
    return fragment("graphbandit.base", "regret.html", learners=learners, highest=highest, rounds=rounds, **size)
