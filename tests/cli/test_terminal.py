"""What is printed: names as they are, on any terminal."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from graphbandit.cli.console import PLAIN, progress_bar
from graphbandit.experiments import Grid, InProcess, Progress, run
from graphbandit.experiments.describe.toml_writer import to_toml
from tests.helpers.commands import invoke, succeed
from tests.helpers.experiment_samples import SMALL

NAMES = ("AdaCB.G [ours]", "AdaCB.G [paper]", "a[/b]", "$x^$", "[bold]x[/bold]")
NASTY = replace(
    SMALL,
    name="nasty",
    rounds=8,
    repeats=2,
    environments={"on [red]stars[/red] $\\frac$": Grid("paper", {"graph": "star", "n_arms": 5})},
    learners={name: Grid("Uniform") for name in NAMES},
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nasty") / "out"
    run(NASTY, out=path, engine=InProcess())
    return path


def test_names_are_printed_and_never_read_as_markup(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "nasty.toml").write_text(to_toml(NASTY, relative_to=tmp_path))
    done = succeed("run", tmp_path / "nasty.toml", "--out", tmp_path / "again", "--workers", 1)
    shown = succeed("show", directory)
    for name in (*NAMES, *NASTY.environments):
        assert name in shown.stdout
        assert name in done.stdout
    compared = invoke("compare", directory, "a[/b]", "AdaCB.G [ours]")
    assert "Final regret of a[/b] minus that of AdaCB.G [ours]" in compared.stdout


def test_names_are_drawn_and_never_read_as_formulas(directory: Path) -> None:
    succeed("report", directory)
    page = (directory / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 4
    for name in NAMES:
        assert f'<th scope="row">{name}</th>' in page


def test_names_in_the_progress_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal, where somebody watches
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("CI", raising=False)
    progress = Progress(total=2, finished_before=0, rounds=10)
    progress.count("a[/b]", 1.5)
    with progress_bar() as show:
        show(progress)
    assert "best: a[/b] (1.5)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "settings", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}]
)
def test_a_terminal_of_few_characters(settings: dict[str, str], directory: Path) -> None:
    environment = {**{k: v for k, v in os.environ.items() if k not in ("LANG", "LC_ALL", "LC_CTYPE")}, **settings}
    for arguments in (["show", str(directory)], ["--help"], ["demo"]):
        done = subprocess.run(
            [sys.executable, "-m", "graphbandit", *arguments], env=environment, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout
        assert done.stdout.isascii()
        assert (b" +- " in done.stdout) == (arguments[0] == "show")


def test_characters_have_plain_stand_ins() -> None:
    assert all(plain.isascii() for plain in PLAIN.values())
    written = "12 ± 3 · ≈ Ω".encode("ascii", errors="graphbandit").decode("ascii")
    assert written == "12 +- 3 - ~ \\u03a9"
