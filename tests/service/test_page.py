"""The live page in a real browser: it moves, explains, fits every screen, and asks nobody else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.browser import browser, needs_chromium
from tests.service.servers import PRICES, Server, serving

NAMES = """
[bandits.names]
arms = ["<img src=x onerror=document.title='broken'>", "</script><script>document.title='broken'</script>"]
description = "<b>bold</b>"
learner = "AdaCBG"
"""

LONG = [f"a long name of an arm that goes on and on and does not fit, number {i}" for i in range(60)]
NAMES += f"""
[bandits.many]
arms = {LONG}
graph = "complete"
learner = "AdaCBG"

[bandits.quiet]
arms = ["a", "b"]
learner = "AdaCBG"
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(PRICES + NAMES) as running:
        for i in range(30):
            decision = running.post("/v1/prices/decide", {"key": f"visit-{i}", "context": {"basket": i / 30}}).json()
            if i < 28:
                rewards = dict.fromkeys(decision["revealed"], 0.5)
                running.post("/v1/prices/observe", {"id": decision["id"], "rewards": rewards})
        hostile = {"key": "<svg onload=document.title='broken'>", "context": {}}
        running.post("/v1/names/decide", hostile)
        running.post("/v1/many/decide", [{"context": {}}] * 5)
        yield running


@needs_chromium
def test_the_page_moves_and_explains(server: Server) -> None:
    with browser() as page:
        page.size(1400, 1000)
        page.open(server.url)
        page.wait_for("document.body.dataset.live && document.querySelectorAll('#newest tr').length > 10")
        page.wait_for("document.getElementById('up').textContent.includes('Up')")
        page.wait_for("Number(document.getElementById('rounds').textContent) >= 16")
        assert page.evaluate("document.querySelectorAll('#mass rect').length") > 10
        assert page.evaluate("document.querySelectorAll('#graph path').length") == 3
        assert page.evaluate("document.querySelectorAll('#graph polygon').length") == 3, "an arrowhead for each edge"
        table = "document.getElementById('snapshots')"
        page.size(1200, 1000)
        assert page.evaluate(f"{table}.scrollWidth <= {table}.parentNode.clientWidth"), "no scrollbar"
        assert "%" in page.evaluate("document.getElementById('snapshots').textContent"), "what a snapshot has changed"
        server.post("/v1/prices/decide", {"key": "brand-new", "context": {}})
        page.wait_for("document.getElementById('newest').textContent.includes('brand-new')")
        page.evaluate(
            "[...document.querySelectorAll('#newest button')].find((b) => b.textContent === 'brand-new').click()"
        )
        page.wait_for("document.querySelector('dialog[open] table')")
        text = page.evaluate("document.querySelector('dialog').textContent")
        assert "Decision brand-new" in text
        assert "awaited" in text
        assert {url.split("/")[2] for url in page.requests} == {f"127.0.0.1:{server.port}"}, "no external request"
        assert page.console == []


@needs_chromium
def test_it_fits_every_screen_in_light_and_dark(server: Server, tmp_path: Path) -> None:
    with browser() as page:
        backgrounds = set()
        for width in (360, 390, 800, 1400):
            for dark in (False, True):
                page.size(width, 800, dark=dark)
                page.open(server.url)
                page.wait_for("document.body.dataset.live")
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                backgrounds.add((dark, page.evaluate("getComputedStyle(document.body).backgroundColor")))
                page.screenshot(tmp_path / f"{width}-{dark}.png")
        assert len(backgrounds) == 2
        page.size(360, 800)
        page.open(f"{server.url}/docs")
        page.wait_for("document.readyState === 'complete' && document.getElementById('Problem')")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


@needs_chromium
def test_many_arms_with_long_names_and_none_played(server: Server) -> None:
    with browser() as page:
        page.size(1280, 900)
        page.open(f"{server.url}/#many")
        page.wait_for("document.querySelector('#newest button')")
        table = "document.getElementById('newest')"
        assert page.evaluate(f"{table}.scrollWidth <= {table}.parentNode.clientWidth"), "no column is pushed out"
        assert page.evaluate("document.querySelectorAll('#graph circle').length") == 60
        page.open("about:blank")
        page.open(f"{server.url}/#quiet")
        page.wait_for("document.getElementById('newest').textContent === 'No decisions yet.'")
        page.wait_for("document.getElementById('learning').textContent === 'Waiting for rewards'")
        assert page.evaluate("document.getElementById('seen').textContent") == "No rewards yet."
        assert page.console == []


@needs_chromium
def test_names_are_text_and_nothing_else(server: Server) -> None:
    with browser() as page:
        page.open(f"{server.url}/#names")
        page.wait_for("document.querySelector('#newest button') && document.getElementById('legend').textContent")
        page.evaluate("document.querySelector('#newest button').click()")
        page.wait_for("document.querySelector('dialog[open] table')")
        assert page.evaluate("document.title") == "graphbandit"
        assert page.evaluate("document.querySelectorAll('main img, main script').length") == 0
