"""A page in headless Chromium over its own debugging protocol: real network, any width, light or dark."""

import base64
import itertools
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from tests.helpers.waiting import wait_until

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the PATH (Debian: apt install chromium)")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-default-apps", "--disable-extensions", "--disable-sync",
           "--hide-scrollbars", "--remote-debugging-port=0")  # fmt: skip

ONCE_LOADED = """
addEventListener("load", async () => {
  const wait = (ms) => new Promise((go) => setTimeout(go, ms));
  try { const outcome = await (async () => { %s })(); if (outcome !== undefined) tell(JSON.stringify(outcome)); }
  catch (error) { tell(JSON.stringify({ error: String(error) })); }
});
"""


class Page:
    """One tab."""

    def __init__(self, socket: Any) -> None:
        self._socket, self._numbers = socket, itertools.count(1)
        self.requests: list[str] = []
        self.console: list[str] = []
        self.told: list[Any] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Runtime.addBinding", name="tell")

    def call(self, method: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (message := self._received()).get("id") != number:
            pass
        assert "error" not in message, message
        return message["result"]

    def _received(self) -> dict[str, Any]:
        """The next message of the browser, after what it says is noted."""
        message: dict[str, Any] = json.loads(self._socket.recv(timeout=60))
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            case "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded":
                self.console.append(json.dumps(message["params"]))
            case "Runtime.bindingCalled":
                self.told.append(json.loads(message["params"]["payload"]))
        return message

    def size(self, width: int, height: int, *, dark: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)

    def evaluate(self, script: str) -> Any:
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def once_loaded(self, url: str, script: str) -> Any:
        """Open a page; what `script`, the body of an async function, returns there, as soon as it returns anything."""
        self.call("Page.addScriptToEvaluateOnNewDocument", source=ONCE_LOADED % script)
        self.open(url)
        while not self.told:
            self._received()
        return self.told.pop()

    def wait_for(self, condition: str, seconds: float = 30.0) -> None:
        wait_until(lambda: self.evaluate(f"Boolean(document.body && ({condition}))"), condition, seconds)

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def browser() -> Iterator[Page]:
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [CHROMIUM, *OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            port_file = Path(profile) / "DevToolsActivePort"
            wait_until(lambda: port_file.exists() and port_file.read_text().strip(), "chromium starts", 60)
            port = port_file.read_text().splitlines()[0]
            tabs = httpx.get(f"http://127.0.0.1:{port}/json", trust_env=False).json()
            address = next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
            with connect(address, max_size=None) as socket:
                yield Page(socket)
        finally:
            process.terminate()
            process.wait(30)


@dataclass(frozen=True)
class Visit:
    """What the script returned, and whatever the console said."""

    outcome: Any
    console: list[str]


def visit(page: Path, script: str, *, width: int = 1200, height: int = 900, dark: bool = False) -> Visit:
    """Open a page that wide, run `script` (the body of an async function), and return what it returns."""
    with browser() as tab:
        tab.size(width, height, dark=dark)
        return Visit(tab.once_loaded(page.as_uri(), script), tab.console)
