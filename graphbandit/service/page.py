"""The live page: one HTML file with its style and script inside; what it shows is pushed to it."""

from functools import cache
from importlib import resources

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


@cache
def html() -> str:
    """The page as it is sent."""
    return (resources.files("graphbandit.service") / "page.html").read_text(encoding="utf-8")
