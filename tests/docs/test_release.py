"""What a release needs agrees with itself: versions, targets, templates."""

import re
import tomllib

import pytest
import yaml

from graphbandit import __version__
from tests.docs import try_dist
from tests.docs.snippets import DOCS, ROOT

MAKEFILE = (ROOT / "Makefile").read_text()


def test_the_citation_names_this_version_and_the_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == __version__
    assert citation["cff-version"] == "1.2.0"
    assert citation["authors"]
    assert "Side-Observations" in citation["references"][0]["title"]


@pytest.mark.parametrize("name", ["RELEASING.md", "SECURITY.md", "CONTRIBUTING.md", ".github/pull_request_template.md"])
def test_commands_for_maintainers_are_targets_of_make(name):
    for target in re.findall(r"`make (\w+)", (ROOT / name).read_text()):
        assert re.search(rf"^{target}:", MAKEFILE, flags=re.MULTILINE), target


def test_make_explains_every_target():
    (named,) = re.findall(r"^\.PHONY: help (.*)$", MAKEFILE, flags=re.MULTILINE)
    assert [name for name in named.split() if name != "setup" and f'"make {name} ' not in MAKEFILE] == []


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
