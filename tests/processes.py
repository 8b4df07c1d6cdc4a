"""A fresh Python process, for tests of what importing the package loads."""

import subprocess
import sys


def loaded(code: str, modules: tuple[str, ...]) -> list[str]:
    """Which of these modules a new process has loaded after this code, which must say nothing."""
    script = f"{code}\nimport sys\nprint(*(name for name in {modules!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()
