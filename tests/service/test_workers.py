"""Deciders, writer and learner in processes of their own."""

import os
import signal
from pathlib import Path

from tests.helpers.waiting import wait_until
from tests.service.servers import PRICES, Server


def test_many_processes_are_one_service(tmp_path: Path) -> None:
    server = Server(tmp_path, PRICES, "--workers", "2").start()
    assert set(server.children()) == {"writer", "learner", "decider-0", "decider-1"}
    answers = {}
    for i in range(40):
        key = f"visit-{i % 20}"
        answer = server.post("/v1/prices/decide", {"key": key, "context": {"basket": i / 40}})
        assert answer.status_code == 200, answer.text
        assert answers.setdefault(key, answer.json()) == answer.json(), "whichever decider answers"
        server.post("/v1/prices/observe", {"id": key, "rewards": dict.fromkeys(answer.json()["revealed"], 0.5)})
    wait_until(lambda: server.get("/v1/prices").json()["rounds"] >= 16, "the learner follows")
    text = server.get("/metrics").text
    assert 'graphbandit_log_rows_total{bandit="prices",kind="decision"} 20.0' in text, "figures of the writer"
    assert 'graphbandit_request_seconds_count{route="/v1/{bandit}/decide",status="200"} 40.0' in text, "of all deciders"
    assert server.stop() == 0
    assert server.replay().exit_code == 0


def test_everything_ends_with_the_parent(tmp_path: Path) -> None:
    server = Server(tmp_path, PRICES, "--workers", "1").start()
    children = list(server.children().values())
    assert set(server.children()) == {"writer", "learner", "decider-0"}
    assert all(map(_alive, children))
    server.stop(signal.SIGKILL)
    wait_until(lambda: not any(map(_alive, children)), "no process is left behind")


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
