"""docs/refs.bib names the works that the package builds on, and every key that a page cites is in it."""

import re

import pytest

from tests.docs.snippets import DOCS, ROOT, pages

BIBLIOGRAPHY = (DOCS / "refs.bib").read_text()
ENTRIES = dict(re.findall(r"^@\w+\{(\w+),\n(.*?)^\}", BIBLIOGRAPHY, flags=re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize(
    ("key", "says"),
    {
        "gong2023stochastic": "2308.15107",
        "foster2020beyond": "Rakhlin",
        "chvatal1979greedy": "1979",
        "batagelj2005efficient": "Brandes",
        "zimmert2021tsallis": "Seldin",
        "wang2021adversarial": "AAAI",
        "rozemberczki2020characteristic": "2020",
        "rozemberczki2021multi": "2021",
        "mcauley2012learning": "2012",
        "massa2007trust": "2007",
        "guo2013novel": "2013",
        "leskovec2014snap": "2014",
        "kunegis2013konect": "2013",
        "rossi2015network": "2015",
    }.items(),
)
def test_a_work_is_cited(key, says):
    assert says in ENTRIES[key]


def test_exp3_lgc_has_its_authors():
    for author in ("Wang", "Li", "Zhou", "Giannakis", "Varshney", "Zhao"):
        assert f"{author}, " in ENTRIES["wang2021adversarial"]


def test_keys_are_unique_and_cited_ones_exist():
    keys = re.findall(r"^@\w+\{(\w+),$", BIBLIOGRAPHY, flags=re.MULTILINE)
    assert len(keys) == len(set(keys)) == len(ENTRIES)
    for page in pages():
        for key in re.findall(r"\b[a-z]+(?:19|20)\d\d[a-z]+\b", page.read_text()):
            assert key in ENTRIES, f"{page.relative_to(ROOT)} cites {key}; refs.bib has no such entry"
