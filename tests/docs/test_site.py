"""The built site: no warning, nothing fetched from elsewhere, a page for every name, no error in a browser.

Building takes a minute, so this runs only with GRAPHBANDIT_TEST_DOCS=site, or =all, which also runs the notebooks. It
needs ``pip install -e '.[docs]'``.
"""

import os
import re
import subprocess
import sys

import pytest

from tests.docs.snippets import DOCS, ROOT
from tests.docs.test_links import GENERATED
from tests.helpers.browser import needs_chromium, visit

WISH = os.environ.get("GRAPHBANDIT_TEST_DOCS")
pytestmark = pytest.mark.skipif(WISH not in ("site", "all"), reason="GRAPHBANDIT_TEST_DOCS is not site or all")
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\bsrc="(?:https?:)?//[^"]*"|<link[^>]*\bhref="https?://[^"]*\""""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    execute = {"DOCS_EXECUTE": "cache" if WISH == "all" else "off"}
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(DOCS), str(folder)]
    done = subprocess.run(command, env=os.environ | execute, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_nothing_is_fetched(site):
    for page in site.rglob("*.html"):
        found = [hit for hit in FETCHED.findall(page.read_text(encoding="utf-8")) if 'rel="canonical' not in hit]
        assert not found, f"{page.relative_to(site)} fetches {found}"
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?https?://|@import", style.read_text(encoding="utf-8")), style


def test_every_public_name_has_a_page_with_its_source(site):
    for name in GENERATED:
        page = site / name.removeprefix("docs/").replace(".rst", ".html")
        text = page.read_text(encoding="utf-8")
        assert "sig-name" in text, page
        assert "**__" not in re.sub(r"<[^>]+>", "", text), f"{page} hides its settings"
    assert "[source]" in (site / "api/generated/graphbandit.AdaCBG.html").read_text(encoding="utf-8")


def test_search_has_an_index(site):
    assert (site / "searchindex.js").stat().st_size > 10_000
    assert 'role="search"' in (site / "index.html").read_text(encoding="utf-8")


@needs_chromium
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200], ids=["narrow", "wide"])
@pytest.mark.parametrize("name", ["index", "guide/paper-steps", "api/generated/graphbandit.AdaCBG"])
def test_pages_open_without_an_error_and_fit(site, name, width, dark):
    page = site / f"{name}.html"
    script = "await wait(200); return [document.documentElement.scrollWidth, document.title];"
    seen = visit(page, script, width=width, dark=dark)
    assert not [line for line in seen.console if "Error" in line or "Failed" in line], seen.console
    assert seen.outcome[0] <= width, f"the page is {seen.outcome[0]} wide"
    assert "graphbandit" in seen.outcome[1]
