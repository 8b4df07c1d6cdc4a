"""What a release needs agrees with itself: versions, targets, templates."""

import re
import tomllib

import pytest
import yaml

from graphbandit import __version__
from tests.docs import try_dist
from tests.docs.snippets import DOCS, ROOT


def test_the_citation_names_this_version_and_the_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == __version__
    assert citation["cff-version"] == "1.2.0"
    assert citation["authors"]
    assert "Side-Observations" in citation["references"][0]["title"]


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("SECURITY.md", ["report it privately", "Files run no code", "Only the newest release"]),
        ("RELEASING.md", ["make test", "make bench", "make docs", "make dist", "CHANGELOG.md"]),
        (".github/pull_request_template.md", ["make test", "make docs", "CHANGELOG.md"]),
    ],
)
def test_what_maintainers_need_is_there(name, needed):
    text = (ROOT / name).read_text()
    assert [word for word in needed if word not in text] == []


@pytest.mark.parametrize("template", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.md")), ids=lambda p: p.stem)
def test_templates_have_names(template):
    head = yaml.safe_load(template.read_text().split("---\n")[1])
    assert head["name"]
    assert head["about"]


def test_every_python_that_is_promised_is_tried():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert tuple(promised) == try_dist.VERSIONS


def test_nothing_on_the_site_is_fetched_from_elsewhere():
    settings = (DOCS / "conf.py").read_text()
    assert 'html_math_renderer = "mathml"' in settings
    for path in [*(DOCS / "_static").iterdir(), DOCS / "conf.py"]:
        assert not re.search(r"(src|href|url|@import)\W+https?://", path.read_text()), path
