"""Links lead somewhere, every page can be reached, and what people look for is two clicks away."""

import re
import sys

import pytest

from tests.docs.snippets import DOCS, ROOT, blocks, pages, without_blocks

sys.path.insert(0, str(DOCS / "_extensions"))

from api_pages import public_names

WRITTEN = {page.relative_to(ROOT).as_posix(): page for page in (*pages(), ROOT / "SECURITY.md", ROOT / "RELEASING.md")}
GENERATED = {f"docs/api/generated/{public.page}.rst" for listed in public_names().values() for public in listed}


def slug(heading):
    """The anchor of a heading, as MyST and GitHub make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page):
    return {slug(heading) for heading in re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)}


def links(page):
    """Targets of the links and pictures of a page."""
    found = re.findall(r"\]\(([^)\s]+)\)", without_blocks(page))
    return [target for target in found if not re.match(r"\w+:", target)]


def entries(page):
    """What the tables of contents and the cards of a page name."""
    found = []
    for block in blocks(page):
        if block.kind == "toctree":
            found += [line for line in block.text.splitlines() if line and not line.startswith(":")]
    return found + re.findall(r"^:link: (\S+)$", page.read_text(), flags=re.MULTILINE)


def resolved(page, entry):
    path = (page.parent / entry).resolve().relative_to(ROOT).as_posix()
    return path if path in WRITTEN or path in GENERATED else f"{path}.md"


@pytest.mark.parametrize("name", WRITTEN)
def test_links_lead_somewhere(name):
    page = WRITTEN[name]
    for target in links(page):
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        inside = found.relative_to(ROOT).as_posix()
        assert found.exists() or inside in GENERATED, f"{name} links to {target}"
        if anchor and found.suffix == ".md":
            assert anchor in anchors(found), f"{name} links to {target}; {inside} has no such heading"


def test_every_page_is_in_a_table_of_contents():
    named = {resolved(page, entry) for page in WRITTEN.values() for entry in entries(page)}
    pages_of_the_site = {name for name in WRITTEN if name.startswith("docs/")} - {"docs/index.md"}
    assert pages_of_the_site <= named
    missing = {name for name in named - set(WRITTEN) if "generated" not in name}
    assert not missing


def clicks(limit=2):
    """How many clicks each page is away from the first."""
    distance = {"docs/index.md": 0}
    queue = ["docs/index.md"]
    for name in queue:
        if distance[name] < limit and name in WRITTEN:
            page = WRITTEN[name]
            targets = [resolved(page, entry) for entry in entries(page)]
            targets += [resolved(page, target.partition("#")[0]) for target in links(page) if target[0] != "#"]
            for target in targets:
                if target not in distance:
                    distance[target] = distance[name] + 1
                    queue.append(target)
    return distance


WANTED = {
    "how to install": ("docs/start.md", "pip install graphbandit"),
    "how to bring one's own data": ("docs/guide/your-data.md", "## Contexts"),
    "how to use names": ("docs/features.md", "named columns"),
    "what is proven": ("docs/theory.md", "proven"),
    "how to evaluate a log": ("docs/evaluation.md", "log"),
    "how to serve": ("docs/service.md", "graphbandit serve"),
}


@pytest.mark.parametrize("wish", [wish for wish, (name, _) in WANTED.items() if name in WRITTEN])
def test_two_clicks_are_enough(wish):
    name, text = WANTED[wish]
    assert clicks()[name] <= 2
    assert text in WRITTEN[name].read_text()
