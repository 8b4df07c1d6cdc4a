"""Install what `make dist` built into clean environments, one for each Python that is here, and try it.

``python tests/docs/try_dist.py dist`` looks for Python 3.11, 3.12 and 3.13 on the path and in pyenv's folder, and says
which it found. With each it installs the wheel, and with the first one the sdist too, into a new environment outside
the checkout; there it decides a few rounds, saves, loads, and runs the command line.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13")
TRIAL = """
import graphbandit as gb, numpy as np
assert "site-packages" in gb.__file__, gb.__file__
functions = gb.LinearClass(n_arms=4, dimension=2, parameters="per-arm")
bandit = gb.Bandit(gb.AdaCBG(), gb.Problem(n_arms=4, function_class=functions, noise=0.5), seed=0)
graph, rng = gb.graphs.star(4, hub=0), np.random.default_rng(0)
for t in range(12):
    decision = bandit.decide(rng.normal(size=2), graph)
    bandit.observe(decision, {int(a): float(rng.normal()) for a in decision.revealed})
bandit.save("trial.gb")
assert gb.Bandit.load("trial.gb").rounds == 12
print(gb.__version__)
"""


def interpreters() -> dict[str, Path]:
    """Every wanted version that can be started, by its number."""
    found: dict[str, Path] = {}
    folders = [Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep)]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    folders += sorted(pyenv.glob("3.*/bin")) if pyenv.exists() else []
    for version in VERSIONS:
        for folder in folders:
            python = folder / f"python{version}"
            if python.exists() and _starts(python, version):
                found.setdefault(version, python)
    return found


def _starts(python: Path, version: str) -> bool:
    """Whether it is what its name says; pyenv's shims may not be."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    answer = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return answer.returncode == 0 and answer.stdout.strip() == version


def try_archive(python: Path, archive: Path) -> str:
    """The version that a fresh environment with nothing but this archive and its dependencies reports."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", "clean"], cwd=folder, check=True)
        clean = Path(folder) / "clean" / "bin" / "python"
        plain = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        quiet = ["--quiet", "--disable-pip-version-check"]
        subprocess.run([clean, "-m", "pip", "install", *quiet, archive.resolve()], cwd=folder, env=plain, check=True)
        done = subprocess.run([clean, "-c", TRIAL], cwd=folder, env=plain, check=True, capture_output=True, text=True)
        command = clean.parent / "graphbandit"
        subprocess.run([command, "demo"], cwd=folder, env=plain, check=True, capture_output=True)
        return done.stdout.strip()


def main(folder: Path) -> int:
    """Try the wheel with every Python, the sdist with the first one."""
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    found = interpreters()
    print("found", ", ".join(f"{version} ({python})" for version, python in found.items()) or "no Python")
    print("not found", ", ".join(version for version in VERSIONS if version not in found) or "none")
    for i, (version, python) in enumerate(found.items()):
        for archive in (wheel, sdist) if i == 0 else (wheel,):
            works = try_archive(python, archive)
            print(f"Python {version}: {archive.name} installs and works, version {works}", flush=True)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
