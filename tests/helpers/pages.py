"""What every page that the package writes has to be: whole, and without anything from elsewhere."""

import re
from html.parser import HTMLParser


def section(page: str, name: str) -> str:
    found = re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)
    return found.group(0) if found else ""


def text(page: str) -> str:
    return " ".join(re.sub(r"<svg.*?</svg>|<[^>]+>", " ", page, flags=re.DOTALL).split())


class Outline(HTMLParser):
    """Collects ids, and checks that what is opened is closed in turn."""

    EMPTY = frozenset({"meta", "use", "path", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        self.links += [value or "" for name, value in attrs if name in ("href", "xlink:href", "src")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check_outline(page: str) -> None:
    """All tags are closed, ids are unique, and links lead to them."""
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))
    assert {link.removeprefix("#") for link in outline.links} <= set(outline.ids)


def check_addresses(page: str) -> None:
    """Nothing is fetched: the only addresses are names of XML."""
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", page))
    assert addresses == {"http://www.w3.org/1999/xlink", "http://www.w3.org/2000/svg"}  # names, not places
    assert not re.search(r"@import|<link|<img|<script src|url\((?!#)", page)
