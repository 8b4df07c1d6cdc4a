"""`graphbandit report` and `compare`."""

from pathlib import Path

import pytest

from graphbandit.experiments import Experiment, Grid, InProcess, Results
from graphbandit.experiments import run as run_experiment
from graphbandit.experiments.analysis.statistics import FinalRegrets, paired_difference
from tests.helpers.commands import refusal, succeed


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("results") / "stars"
    experiment = Experiment(
        name="two stars",
        rounds=32,
        repeats=3,
        environments={"star": Grid("paper", {"graph": "star", "n_arms": [5, 6]})},
        learners={"ours": Grid("AdaCBG"), "FALCON": Grid("Falcon")},
    )
    run_experiment(experiment, out=path, engine=InProcess())
    return path


def test_report_command_writes_the_page(directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = succeed("report", directory)
    assert done.output.replace("\n", "") == f"Written to {directory / 'report.html'}"
    page = (directory / "report.html").read_text(encoding="utf-8")
    assert "<title>two stars</title>" in page
    assert "[learners.FALCON]" in page  # the experiment's file, to run it again
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: bool(opened.append(address)))
    done = succeed("report", directory, "--out", tmp_path / "other.html", "--open")
    assert (tmp_path / "other.html").read_text(encoding="utf-8") == page
    assert opened == [(tmp_path / "other.html").as_uri()]
    assert "No browser could be opened here." in done.stderr


def test_compare_command_says_who_wins(directory: Path) -> None:
    done = succeed("compare", directory, "ours", "FALCON")
    for place in ("star n_arms=5", "star n_arms=6"):
        pair = paired_difference(FinalRegrets.of(Results.open(directory)), place, "ours", "FALCON")
        assert place in done.output
        assert f"ours wins {pair.wins}, FALCON wins {pair.losses}" in done.output
        assert pair.verdict in done.output
    assert "95 % interval" in done.output
    assert ", 3 pairs" in done.output
    assert "of 2 environments, FALCON in" in done.output
    assert "of all 6 pairs" in done.output
    one = succeed("compare", directory, "FALCON", "ours", "--environment", "star n_arms=6")
    assert "n_arms=5" not in one.output
    assert "environments" not in one.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["compare", "DIR", "our", "FALCON"],
            "learner is 'our'; did you mean 'ours'? expected one of 'ours', 'FALCON'",
        ),
        (["compare", "DIR", "ours", "ours"], "both learners are 'ours'; expected two different ones"),
        (["compare", "DIR", "ours", "FALCON", "--environment", "moon"], "environment is 'moon'; expected one of"),
        (["compare", "nowhere", "a", "b"], "nowhere holds no results"),
        (["report", "nowhere"], "nowhere holds no results"),
        (["report", "DIR", "--out", "nowhere/page.html"], "cannot be written"),
    ],
)
def test_wrong_commands_are_one_line_and_exit_code_2(arguments: list[str], message: str, directory: Path) -> None:
    assert message in refusal(*(directory if word == "DIR" else word for word in arguments))
