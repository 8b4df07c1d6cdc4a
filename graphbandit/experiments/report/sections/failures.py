"""The section of runs that ended in an error."""

from __future__ import annotations

import json

from graphbandit.experiments.report.sections.base import Reported, texts
from graphbandit.plots.pages.page import Section

FAILURES = 20
"""The most failed runs that are shown with their traceback."""


def section(reported: Reported) -> Section | None:
    """The runs that ended in an error."""
    results = reported.results
    if not results.failures:
        return None
    shown = []
    for failure in results.failures[:FAILURES]:
        error = failure["error"].rstrip()
        shown.append(
            {
                "what": f"{failure['learner']} in {failure['environment']}, repeat {failure['repeat']}",
                "last": error.splitlines()[-1],
                "settings": json.dumps(failure["settings"], indent=1, ensure_ascii=False),
                "error": error,
            }
        )
    return Section("failures", "Failures", texts().failures(len(results.failures), shown, FAILURES))
