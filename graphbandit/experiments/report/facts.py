"""Facts about the runs for pages: versions, settings and times."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphbandit.base.printed_table import short_number

if TYPE_CHECKING:
    from graphbandit.experiments.results.reading import Results

VERSIONS = ("graphbandit", "python", "numpy")


def version_rows(several: Sequence[Results]) -> list[tuple[str, str]]:
    """The versions of this package, of Python and of NumPy that the runs used."""
    return [(name, ", ".join(known_versions(several, name))) for name in VERSIONS]


def known_versions(several: Sequence[Results], name: str) -> list[str]:
    """The versions of one of `VERSIONS` that the runs used."""
    return sorted({str(version) for each in several for version in each.timings.column(name).unique().to_pylist()})


def point_settings(results: Results) -> list[tuple[str, list[tuple[str, str]]]]:
    """Every environment and every learner with all its settings."""
    found = []
    for kind, title in (("environment", "Environments"), ("learner", "Learners")):
        told: dict[str, str] = {}
        for label, text in zip(*(results.runs.column(name).to_pylist() for name in (kind, "settings")), strict=True):
            if label not in told:
                told[label] = _settings_text(json.loads(text)[kind])
        found.append((title, list(told.items())))
    return found


def _settings_text(settings: dict[str, Any]) -> str:
    given = ", ".join(f"{name} = {json.dumps(value)}" for name, value in settings.items() if name != "kind")
    return f"{settings.get('kind', '')}: {given}".strip(": ")


def computing_seconds(results: Results) -> float:
    """The seconds that all runs together took."""
    return float(sum(results.timings.column("seconds").to_pylist()))


def seconds_text(x: float) -> str:
    """Seconds, minutes or hours for readers; empty if not known."""
    if not math.isfinite(x):
        return ""
    if x >= 7200:
        return f"{x / 3600:.1f} h"
    return f"{x / 60:.1f} min" if x >= 120 else f"{short_number(x)} s"
