"""Python 3.12 and 3.13, where these are here: all of the source compiles, and a part of the tests runs.

The second installs the package and what the tests need into a folder for each version, which takes minutes the first
time. So it runs only with GRAPHBANDIT_TEST_PYTHONS=1, and needs a package index then.
"""

import os
import subprocess
from pathlib import Path

import pytest

from tests.docs.try_dist import interpreters

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".pythons"
NEEDED = ("beartype", "hypothesis", "jaxtyping", "polars", "pytest", "pyyaml")
PART = (
    "tests/graphs/test_graph.py",
    "tests/features/test_features.py",
    "tests/base/test_saved_files.py",
    "tests/base/test_declared.py",
    "tests/experiments/test_own_kinds.py",
    "tests/bandit/test_everyday.py",
    "tests/bandit/test_names.py",
    "tests/bandit/test_own_arms.py",
    "tests/bandit/test_processes.py",
    "tests/learners/test_words.py",
    "tests/bandit/test_own_classes.py",
    "tests/test_simulate.py",
)

COMPILE = """
import sys
from pathlib import Path
files = [path for folder in sys.argv[1:] for path in Path(folder).rglob("*.py")]
for path in files:
    compile(path.read_bytes(), str(path), "exec")
print(len(files))
"""

wished = pytest.mark.skipif(
    not os.environ.get("GRAPHBANDIT_TEST_PYTHONS"), reason="GRAPHBANDIT_TEST_PYTHONS is not set"
)


def interpreter(version: str) -> Path:
    """This Python; skip the test where it is not here."""
    return interpreters().get(version) or pytest.skip(f"Python {version} is not here")


@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_all_of_the_source_compiles_without_a_warning(version):
    python = interpreter(version)
    folders = [str(ROOT / name) for name in ("graphbandit", "examples", "tests", "benchmarks")]
    done = subprocess.run([python, "-W", "error", "-c", COMPILE, *folders], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 500


@wished
@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_a_part_of_the_tests_with_another_python(version):
    python = interpreter(version)
    mine = FOLDER / version / "bin" / "python"
    plain = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    if not mine.exists():
        subprocess.run([python, "-m", "venv", FOLDER / version], check=True)
    install = [mine, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--editable", f"{ROOT}[sklearn,networkx,pandas]", *NEEDED], env=plain, check=True)
    command = [mine, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PART]
    done = subprocess.run(command, cwd=ROOT, env=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
