"""What docs/service.md shows is run; every command is in it; the examples work."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from graphbandit.errors import DatabaseError
from graphbandit.service import client_calls, configuration
from graphbandit.service.server import listening
from tests.helpers.commands import invoke, refusal
from tests.service.servers import ROOT, Server

PAGE = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")


def test_curl_and_python_examples_run(tmp_path: Path) -> None:
    path = tmp_path / "bandits.toml"
    assert invoke("serve", "--new", path).exit_code == 0
    server = Server(tmp_path, path.read_text()).start()
    try:
        (block,) = re.findall(r"```sh curl\n(.*?)```", PAGE, re.DOTALL)
        for line in block.strip().splitlines():
            command = line.replace("http://127.0.0.1:8765", server.url)
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True, timeout=60)
            answer = json.loads(done.stdout)
            assert "status" not in answer, (line, answer)
        (snippet,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
        scope: dict[str, object] = {}
        exec(snippet.replace("http://127.0.0.1:8765", server.url), scope)
        assert scope["decision"].id == "visit-18"  # type: ignore[attr-defined]
        demo = invoke("service", "demo", "--url", server.url, "--visitors", "30", "--rate", "200")
        assert "30 visitors were served" in demo.stdout, demo.stderr
    finally:
        server.stop()
    assert server.replay().exit_code == 0
    checked = invoke("service", "check", str(path))
    assert "fits" in checked.stdout
    exported = invoke("service", "export", str(path), str(tmp_path / "logs"))
    assert exported.exit_code == 0, exported.stderr
    compacted = invoke("service", "compact", str(path), "--keep", "1d")
    assert "nothing to move" in compacted.stdout, compacted.stderr


def test_every_command_is_documented() -> None:
    text = invoke("service", "--help").output
    for command in ("check", "replay", "export", "compact", "demo"):
        assert command in text
        assert f"graphbandit service {command}" in PAGE


def test_what_the_port_and_the_demo_need(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = listening("127.0.0.1", 0)
    port = bound.getsockname()[1]
    try:
        with pytest.raises(DatabaseError, match=f"port {port} is in use; choose another with --port"):
            listening("127.0.0.1", port)
    finally:
        bound.close()
    with pytest.raises(DatabaseError, match=r"this machine cannot listen on 192\.0\.2\.1:8765: .*; choose others with"):
        listening("192.0.2.1", 8765)
    monkeypatch.setattr(client_calls, "pause", lambda _: 0.0)
    done = invoke("service", "demo", "--url", f"http://127.0.0.1:{port}")
    assert done.stdout == "", "nothing is promised before there is an answer"


def test_a_new_configuration_overwrites_nothing(tmp_path: Path) -> None:
    path = tmp_path / "bandits.toml"
    path.write_text("mine")
    outcome = invoke("serve", "--new", path)
    assert outcome.exit_code == 2
    assert path.read_text() == "mine"


def test_wrong_configurations_exit_with_one_line(tmp_path: Path) -> None:
    path = tmp_path / "bandits.toml"
    path.write_text('[bandits.a]\narms = ["x"]\nwindow = "soon"\n')
    for words in (("serve", path), ("service", "check", path)):
        assert "bandits.a.window" in refusal(*words)


def test_examples_are_whole() -> None:
    unit = (ROOT / "examples" / "service" / "graphbandit.service").read_text()
    assert "graphbandit serve" in unit
    assert "graphbandit[service]" in PAGE
    subprocess.run(["sh", "-n", str(ROOT / "examples" / "service" / "demo.sh")], check=True)
    template = ROOT / "graphbandit" / "service" / "template.toml"
    assert configuration.read(template).service.host == "127.0.0.1"
