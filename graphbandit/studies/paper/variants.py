"""AdaCB.G without one of its parts: the names of these learners, and where they do better than the whole."""

from graphbandit.studies.findings import Finding
from graphbandit.studies.paper.answers import paired
from graphbandit.studies.paper.names import FORM_NAMES, FORMS, READINGS

WHOLE = "whole"


def variants(finding: Finding, form: str) -> dict[str, str]:
    """The variants of a form of AdaCB.G: from what is changed to the learner's name; `WHOLE` is the form itself."""
    start = f"{FORMS[form]}, "
    changed = {name.removeprefix(start): name for name in finding.experiment.learners if name.startswith(start)}
    return {WHOLE: FORMS[form], **changed}


def better_without(finding: Finding) -> list[str]:
    """Where a form has significantly lower regret with one part changed: the paired 95 % interval lies below 0."""
    found = []
    for reading, scale in READINGS.items():
        for point in finding.points(reward_scale=scale):
            for form, learner in FORMS.items():
                for changed, name in variants(finding, form).items():
                    change = paired(finding.by_repeat(point, name), finding.by_repeat(point, learner))
                    if change.high < 0:
                        where = f"{FORM_NAMES[form]}, {changed}, on {point.name} ({reading})"
                        found.append(f"{where}: {change.bounds}")
    return found
