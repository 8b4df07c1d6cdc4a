"""Fresh Python processes: what they print, what importing the package loads, and what was said before a kill."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def printed(*words: object, environment: dict[str, str] | None = None, **options: Any) -> str:
    """What a new Python process prints, which must end well; `environment` adds to that of this process."""
    command, variables = [sys.executable, *map(str, words)], {**os.environ, **(environment or {})}
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False, **options)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def loaded(code: str, modules: tuple[str, ...]) -> list[str]:
    """Which of these modules a new process has loaded after this code, which must say nothing."""
    script = f"{code}\nimport sys\nprint(*(name for name in {modules!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def said_until_killed(code: str, *arguments: object, lines: int, wait: float = 0.0) -> list[str]:
    """The whole lines that a new process prints until it is killed, some seconds after so many of them."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(lines)]
    time.sleep(wait)
    process.kill()
    said += process.communicate()[0].splitlines(keepends=True)
    assert process.returncode == -signal.SIGKILL
    return [line.strip() for line in said if line.endswith("\n")]
