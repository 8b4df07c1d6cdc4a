"""docs/refs.bib has every work that a page or the package cites, each once."""

import re

from tests.docs.snippets import DOCS, ROOT, pages

KEYS = re.findall(r"^@\w+\{(\w+),$", (DOCS / "refs.bib").read_text(), flags=re.MULTILINE)


def test_keys_are_unique_and_cited_ones_exist():
    assert len(KEYS) == len(set(KEYS))
    cited = {
        (key, file.relative_to(ROOT).as_posix())
        for file in (*pages(), *(ROOT / "graphbandit").rglob("*.py"))
        for key in re.findall(r"\b[a-z]+(?:19|20)\d\d[a-z]+\b", file.read_text())
    }
    assert {key for key, _ in cited} >= {"russo2014learning", "gong2023stochastic"}
    assert not [(key, file) for key, file in sorted(cited) if key not in KEYS]
