"""A page in headless Chromium over its own debugging protocol: real network, any width, light or dark."""

import base64
import itertools
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the PATH (Debian: apt install chromium)")
OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-default-apps", "--disable-extensions", "--disable-sync",
           "--hide-scrollbars", "--remote-debugging-port=0")  # fmt: skip


class Page:
    """One tab."""

    def __init__(self, socket: Any) -> None:
        self._socket, self._numbers = socket, itertools.count(1)
        self.requests: list[str] = []
        self.console: list[str] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=60))
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            if message.get("method") == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            elif message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.console.append(json.dumps(message["params"]))

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

    def wait_for(self, condition: str, seconds: float = 30.0) -> None:
        deadline = time.monotonic() + seconds
        while not self.evaluate(f"Boolean(document.body && ({condition}))"):
            assert time.monotonic() < deadline, f"{condition} did not come true; {self.console}"
            time.sleep(0.1)

    def screenshot(self, path: Path, *, whole: bool = True) -> None:
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    assert CHROMIUM is not None
    process = subprocess.Popen(
        [CHROMIUM, *OPTIONS, f"--user-data-dir={folder / 'profile'}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        port_file = folder / "profile" / "DevToolsActivePort"
        deadline = time.monotonic() + 60
        while not port_file.exists() or not port_file.read_text().strip():
            assert time.monotonic() < deadline, "chromium did not start"
            time.sleep(0.1)
        port = port_file.read_text().splitlines()[0]
        tabs = httpx.get(f"http://127.0.0.1:{port}/json", trust_env=False).json()
        address = next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
        with connect(address, max_size=None) as socket:
            yield Page(socket)
    finally:
        process.terminate()
        process.wait(30)
