"""A page in headless Chromium, without any package to drive it: a script is put into a copy, its outcome read back.

The copy is shown in a frame, because a window of Chromium is never narrower than 500 pixels, and reports to the page
around it. Nothing is fetched: all background traffic of the browser is off.
"""

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the PATH (Debian: apt install chromium)")

OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
    "--v=0",
    "--virtual-time-budget=8000",
]

INJECTED = """<script>
addEventListener("load", async () => {
  const wait = (ms) => new Promise((go) => setTimeout(go, ms));
  try { const outcome = await (async () => { %s })(); if (outcome !== undefined) parent.postMessage({ outcome }, "*"); }
  catch (error) { parent.postMessage({ outcome: { error: String(error) } }, "*"); }
});
</script></body>"""

AROUND = """<!DOCTYPE html><body style="margin: 0"><pre id="outcome" hidden></pre>
<script>addEventListener("message", ({ data }) => {
  document.getElementById("outcome").textContent = JSON.stringify(data.outcome);
});</script>
<iframe src="%s" style="border: 0; width: %dpx; height: %dpx"></iframe></body>"""


@dataclass(frozen=True)
class Visit:
    """What the script returned, and whatever the console said."""

    outcome: Any
    console: list[str]


def visit(page: Path, script: str, folder: Path, *, width: int = 1200, height: int = 900, dark: bool = False) -> Visit:
    """Open a page that wide, run `script` (the body of an async function), and return what it returns."""
    around = _prepared(page, script, folder, width, height)
    done = _chromium(folder, width, height, dark, "--dump-dom", around.as_uri())
    found = re.search(r'<pre id="outcome"[^>]*>(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, done.stderr
    assert found.group(1), f"the script did not end: {done.stderr}"
    return Visit(json.loads(html.unescape(found.group(1))), re.findall(r":CONSOLE.*", done.stderr))


def screenshot(page: Path, picture: Path, folder: Path, *, width: int, height: int, dark: bool = False) -> None:
    """What a reader sees, as a PNG file."""
    around = _prepared(page, "", folder, width, height)
    _chromium(folder, width, height, dark, f"--screenshot={picture}", around.as_uri())


def _prepared(page: Path, script: str, folder: Path, width: int, height: int) -> Path:
    copy, around = folder / "copy.html", folder / "around.html"
    text = page.read_text(encoding="utf-8")
    assert text.count("</body>") == 1
    copy.write_text(text.replace("</body>", INJECTED % script), encoding="utf-8")
    around.write_text(AROUND % (copy.name, width, height), encoding="utf-8")
    return around


def _chromium(folder: Path, width: int, height: int, dark: bool, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert CHROMIUM is not None
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    where = [f"--user-data-dir={folder / 'profile'}", f"--window-size={width},{height}", scheme]
    return subprocess.run(
        [CHROMIUM, *OPTIONS, *where, *arguments], capture_output=True, text=True, timeout=120, check=True
    )
