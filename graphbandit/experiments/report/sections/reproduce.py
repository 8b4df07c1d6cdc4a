"""The section on how to run the experiment again, and what to cite."""

from __future__ import annotations

import re

from graphbandit.experiments.report.facts import known_versions
from graphbandit.experiments.report.sections.base import Reported, texts
from graphbandit.experiments.results import files
from graphbandit.plots.pages.page import Section

CITATION = """\
@software{{graphbandit,
  title   = {{graphbandit: contextual bandits with graph feedback}},
  author  = {{The graphbandit developers}},
  version = {{{version}}}
}}"""


def section(reported: Reported) -> Section:
    """The commands and the file that reproduce these results, and what to cite."""
    results = reported.results
    versions = known_versions([results], "graphbandit")
    version = versions[0] if len(versions) == 1 else ""
    file = re.sub(r"[^A-Za-z0-9]+", "-", results.experiment.name).strip("-").lower() or "experiment"
    install = f"pip install graphbandit{'==' if version else ''}{version}"
    commands = f"{install}\ngraphbandit run {file}.toml --out {file}\ngraphbandit report {file}"
    path = results.folder / files.SETTINGS
    settings = path.read_text(encoding="utf-8").rstrip() if path.is_file() else ""
    citation = CITATION.format(version=version or ", ".join(versions))
    return Section("reproduce", "Reproduce and cite", texts().reproduce(commands, file, settings, citation))
