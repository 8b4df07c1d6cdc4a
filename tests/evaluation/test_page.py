"""The command `evaluate` and its page, and the documents, executed."""

import re
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.cli.evaluation import policies_named
from graphbandit.errors import SettingError, SupportError
from graphbandit.evaluation import compare, evaluate
from graphbandit.evaluation.figures import plot_over_time
from graphbandit.evaluation.policies import UnknownProbabilitiesError
from graphbandit.evaluation.report import evaluation_html
from tests.evaluation.test_estimators import narrow
from tests.helpers.commands import invoke
from tests.helpers.pages import check_outline
from tests.logs.logged import logged

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = logged(n=600, columns={"country": np.array(["de", "fr", "<b>"] * 200)})
    place = tmp_path_factory.mktemp("evaluate")
    made.log.write(place / "log")
    problem = gb.Problem(
        n_arms=5, function_class=gb.LinearClass(n_arms=5, dimension=3, parameters="per-arm"), noise=0.5
    )
    gb.Bandit(gb.AdaCBG(), problem, seed=0).save(place / "saved.gb")
    return place


def run(*arguments: object) -> tuple[int, str]:
    found = invoke("evaluate", *arguments)
    return found.exit_code, found.output


def test_the_command(folder):
    page, table = folder / "page.html", folder / "table.csv"
    options = ("--policy", folder / "saved.gb", "--policy", "uniform", "--policy", "all=logged", "--by", "country")
    code, text = run(folder / "log", *options, "--report", page, "--csv", table, "--reward-range", 0, 1)
    assert code == 0, text
    assert "saved - uniform" in text
    assert "saved - all" in text
    assert table.read_text().count("\n") == 4
    html = page.read_text(encoding="utf-8")
    assert html.count("<figure>") == 4
    assert "<b>" not in html
    assert not re.findall(r'(?:src|href)="(?!#)', html)
    assert not re.findall(r"https?://(?!www\.w3\.org/)", html)
    assert "Content-Security-Policy" in html
    assert html.count('class="sortable"') == 3
    assert f"Written by graphbandit {gb.__version__}: <code>graphbandit evaluate " in html
    assert "--policy uniform --policy all=logged --reward-range 0.0 1.0 --by country</code>" in html
    again = folder / "again.html"
    run(folder / "log", *options, "--report", again, "--reward-range", 0, 1)
    assert again.read_bytes() == page.read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--policy", "nothing.gb"], "graphbandit: the policy 'nothing' is 'nothing.gb'"),
        (["--method", "magic"], "'magic' is not one of 'direct'"),
        (["--policy", "uniform", "--policy", "uniform"], "has the name 'uniform' twice"),
        (["--by", "city"], "--by is 'city'; expected one of the log's columns, country; features of the context are"),
        (["--missing-rewards", "never"], "--missing-rewards is 'never'"),
        (["--reward-range", 0, 0.1], "expected them within --reward-range 0.0 0.1"),
        (
            ["--report", "/no/such/folder/page.html"],
            "--report is /no/such/folder/page.html; expected a file in a folder",
        ),
        (["--csv", "/no/such/folder/table.csv"], "--csv is /no/such/folder/table.csv; expected a file in a folder"),
    ],
)
def test_the_command_refuses(folder, options, message):
    code, text = run(folder / "log", *options)
    assert code == 2
    assert message in " ".join(text.split())


def test_the_command_on_a_log_without_support(tmp_path):
    narrow().write(tmp_path / "log")
    code, text = run(tmp_path / "log", "--report", tmp_path / "page.html")
    assert code == 0
    assert "<li>uniform is left out: the policy" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "note: uniform is left out: the policy 'uniform' has probability 0.333333 on arm 'pie'" in text
    assert "expected none, or --support part" in text
    assert "state it with --reward-range LOWEST HIGHEST" in text
    code, text = run(tmp_path / "log", "--policy", "uniform", "--policy", "logged")
    assert code == 2
    code, text = run(tmp_path / "log", "--policy", "uniform", "--policy", "logged", "--support", "part")
    assert "uniform - logged: not comparable: different support\n" in text
    assert text.count("are not compared") == 1


def test_the_command_on_a_log_of_played_probabilities(tmp_path):
    table = tmp_path / "visits.csv"
    rows = ["31,tea,0.5,1", "40,cake,0.5,0", "25,tea,0.5,0", "52,cake,0.5,1"] * 20
    table.write_text("\n".join(["age,action,probability,reward", *rows]))
    log = tmp_path / "log"
    assert invoke("convert", table, log, "--context", "age", "--arm", "tea", "--arm", "cake").exit_code == 0
    code, text = run(log)
    assert code == 0
    assert "note: logged is left out: the log does not have the probabilities of all arms\n" in text
    code, text = run(log, "--policy", "logged")
    assert code == 2
    assert text.strip().endswith("expected --policy uniform, or a log with them (convert --probabilities)")


def test_the_command_on_a_log_that_allows_neither_default(folder, monkeypatch):
    errors = [SupportError("uniform cannot be valued"), UnknownProbabilitiesError("logged neither")]

    def refuse(*arguments, **settings):
        raise errors.pop(0)

    monkeypatch.setattr(gb.evaluation, "evaluate", refuse)
    code, text = run(folder / "log")
    assert code == 2
    assert "uniform is left out: uniform cannot be valued; logged is left out: the log does not have" in text
    assert text.strip().endswith("expected --policy with a saved bandit or a column")


def test_no_log(folder):
    assert "is not a log" in run(folder / "elsewhere")[1]


def test_progress_is_shown_for_values_and_differences(folder, monkeypatch):
    shown: dict[str, list[tuple[int, int]]] = {}

    @contextmanager
    def recorded():
        yield lambda name: lambda done, total: shown.setdefault(name, []).append((done, total))

    monkeypatch.setattr("graphbandit.cli.evaluation.amount_bars", recorded)
    code, _ = run(folder / "log", "--policy", "uniform", "--policy", "logged", "--policy", folder / "saved.gb")
    assert code == 0
    assert list(shown) == ["values", "uniform - logged", "uniform - saved"]
    assert all(steps[-1] == (1200, 1200) for steps in shown.values())


def test_names_of_policies():
    assert policies_named(["a/new.gb", "old=b/x.gb", "uniform"]) == {
        "new": "a/new.gb",
        "old": "b/x.gb",
        "uniform": "uniform",
    }
    with pytest.raises(SettingError):
        policies_named(["a/new.gb", "b/new.gb"])


def test_the_page_is_well_formed():
    made = logged(n=200)
    table = evaluate(made.log, ["uniform", "logged"], interval="asymptotic")
    html = evaluation_html(table, name="<log>", differences=[compare(made.log, "uniform", "logged")])
    check_outline(html)
    assert "&lt;log&gt;" in html
    assert "★" not in evaluation_html(evaluate(made.log, {"one": "uniform", "other": "uniform"})), "neither is better"
    assert html.count('<div class="beside">') == html.count('<div class="figures">') == 1


def test_the_figure_over_time_shows_what_is_known_late():
    low, high = plot_over_time(evaluate(logged(n=3000).log, "uniform", reward_range=(0, 1))).axes[0].get_ylim()
    assert high - low < 0.6, "less than the range of the rewards"


def test_the_page_names_the_command_without_defaults(folder):
    page = folder / "short.html"
    run(folder / "log", "--report", page)
    assert f"<code>graphbandit evaluate {folder / 'log'}</code>" in page.read_text(encoding="utf-8")


def test_the_page_names_the_arms():
    rng = np.random.default_rng(0)
    for names in (["tea", "<i>cake"], [f"item {i}" for i in range(20)]):
        k = len(names)
        log = gb.evaluation.Log.from_arrays(
            contexts=rng.normal(size=(60, 1)),
            graphs=gb.graphs.complete(k),
            actions=rng.integers(k, size=60),
            probabilities=np.full((60, k), 1.0 / k),
            rewards=rng.random((60, k)),
            arms=names,
        )
        html = evaluation_html(evaluate(log, ["uniform"], interval="asymptotic", method="ips"))
        assert "2: tea, &lt;i&gt;cake" in html if k == 2 else "20: item 0, item 1" in html
        assert "item 19" not in html


@pytest.mark.parametrize("name", ["evaluation.md", "log-format.md"])
def test_documents_are_executed(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / name).read_text(encoding="utf-8")
    names: dict[str, object] = {}
    found = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", text, re.S)
    assert found
    assert any(expected for _, expected in found) == (name == "evaluation.md")
    for code, expected in found:
        exec(compile(code, name, "exec"), names)
        printed = capsys.readouterr().out
        if expected:
            assert figures(printed) == pytest.approx(figures(expected), rel=1e-3)
            assert re.sub(r"[-\d.]+", "0", printed).split() == re.sub(r"[-\d.]+", "0", expected).split()


def figures(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text.replace(",", ""))]
