import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import graphbandit as gb
from benchmarks.settings import PARTS
from graphbandit import cli, plots
from graphbandit.cli.app import GROUPS, app
from graphbandit.studies.study import STUDIES, study_named
from graphbandit.studies.study_runs import compile_kernels
from tests.helpers.commands import invoke, refusal, succeed
from tests.helpers.processes import printed

COMMANDS = [command.name or command.callback.__name__ for command in app.registered_commands]


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Kernels announce on standard error that they are compiled, once; not in the middle of these tests."""
    plots.star_example()
    compile_kernels()


def test_version() -> None:
    assert invoke("--version").output == f"graphbandit {gb.__version__}\n"


def test_help_lists_every_command() -> None:
    output = invoke("--help").output
    assert invoke().output.strip() == output.strip()
    for name in COMMANDS:
        assert name in output


def test_no_file_of_commands_is_forgotten() -> None:
    files = [path.stem for path in Path(cli.__file__).parent.glob("[a-z]*.py")]
    assert sorted(files) == sorted([*GROUPS, "app", "console", "option_words", "rehearsals"])
    assert len(set(COMMANDS)) == len(COMMANDS) >= len(GROUPS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str) -> None:
    result = succeed(name, "--help")
    assert f"Example: graphbandit {name}" in result.output
    command = typer.main.get_command(app).commands[name]
    assert command.help
    for option in command.params:
        assert option.help, option.name
        assert (option.metavar or option.opts[0]).lower() in result.output.lower()


@pytest.mark.parametrize(
    ("name", "folder"), [("reproduce", "paper"), ("leaderboard", "leaderboard"), ("study", "NAME")]
)
def test_studies_say_where_their_results_are(name: str, folder: str) -> None:
    assert f"(results/{folder})" in succeed(name, "--help").output


@pytest.mark.parametrize("name", COMMANDS)
def test_paragraphs_of_help_break_where_the_terminal_ends(name: str) -> None:
    help_text = typer.main.get_command(app).commands[name].help
    assert all(line[0] in "-`" for paragraph in help_text.split("\n\n") for line in paragraph.split("\n")[1:])


@pytest.mark.parametrize(
    ("command", "listed"),
    [
        ("reproduce", lambda: study_named("paper").experiments),
        ("leaderboard", lambda: study_named("leaderboard").experiments),
        ("study", lambda: {*STUDIES} - {"paper", "leaderboard"}),
        ("bench", lambda: PARTS),
    ],
)
def test_what_help_lists_is_what_there_is(command: str, listed) -> None:
    """Help is printed without loading studies or benchmarks, so their names stand there, too."""
    found = typer.main.get_command(app).commands[command]
    text = " ".join([found.help, *(option.help or "" for option in found.params)])
    assert not [name for name in listed() if not re.search(rf"(?<![\w-]){name}(?![\w-])", text)]


def test_shells_can_complete_commands() -> None:
    told = {"_GRAPHBANDIT_COMPLETE": "complete_bash", "COMP_WORDS": "graphbandit re", "COMP_CWORD": "1"}
    done = CliRunner().invoke(app, [], prog_name="graphbandit", env=told)
    assert done.stdout.split() == ["report", "reproduce"]


def test_demo_prints_the_star() -> None:
    result = succeed("demo")
    lines = [line.split() for line in result.output.splitlines()]
    assert ["0", "hub", "0.9", "0.0000", "0.0667", "1.0000", "1.0000"] in lines
    assert ["1", "best", "1", "0.7333", "0.9333", "0.7333", "1.0000"] in lines
    assert ["5", "0", "0.0667", "0.0000", "0.0667", "0.0667"] in lines
    assert "0.2667 before, 0.0067 after" in result.output


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_demo_draws_the_star(suffix: str, tmp_path) -> None:
    path = tmp_path / f"star{suffix}"
    result = succeed("demo", "--picture", path)
    assert str(path) in result.output.replace("\n", "")
    assert path.stat().st_size > 10_000


@pytest.mark.parametrize(("preset", "name"), [("--quick", "quick"), ("--full", "full")])
def test_presets(preset: str, name: str, monkeypatch, tmp_path) -> None:
    class SeenError(Exception):
        pass

    def stop(asked: object, **options: object) -> None:
        assert (asked.preset, asked.seed, asked.only) == (name, 7, ("ablation", "arms"))
        assert options["workers"] == 3
        raise SeenError

    monkeypatch.setattr("graphbandit.studies.study_runs.run_study", stop)
    chosen = ["--only", "ablation", "--only", "arms", "--workers", 3]
    assert isinstance(invoke("reproduce", preset, "--seed", 7, *chosen, "--out", tmp_path).exception, SeenError)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "--only", "ablatoin"], "only is 'ablatoin'; did you mean 'ablation'?"),
        (["reproduce", "--network", "no.csv"], "network is 'no.csv'; expected a file of edges"),
        (["reproduce", "--repeats", 0], "repeats is 0"),
        (["reproduce", "--seed", -1], "seed is -1"),
        (["reproduce", "--workers", 0], "workers is 0"),
        (["demo", "--gamma", -1], "gamma is -1"),
        (["demo", "--picture", "star.gif"], "'star.gif'; expected a name that ends in .png"),
    ],
)
def test_errors_are_one_line_and_exit_code_2(arguments: list[object], message: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in refusal(*arguments)


def test_an_output_folder_that_cannot_be_made_is_refused_before_the_run(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot be made" in refusal("reproduce", "--out", tmp_path / "file" / "below")


def test_interruption_is_one_line_and_exit_code_130(monkeypatch, tmp_path) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("graphbandit.studies.study_runs.run_study", interrupt)
    result = invoke("reproduce", "--out", tmp_path)
    assert result.exit_code == 130
    assert result.stderr == "graphbandit: interrupted\n"


def test_python_m_works_and_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['graphbandit', '--version']\n"
        "import runpy\n"
        "try: runpy.run_module('graphbandit', run_name='__main__')\n"
        "except SystemExit as end: assert not end.code\n"
        "print([m for m in ('matplotlib', 'numba', 'graphbandit.experiments') if m in sys.modules])"
    )
    assert printed("-c", code) == f"graphbandit {gb.__version__}\n[]\n"
