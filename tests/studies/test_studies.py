"""The studies: what their tables say, also when the default breaks its promise; and one of each from end to end."""

import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import graphbandit as gb
from graphbandit.cli.app import app
from graphbandit.errors import InputError, SettingError
from graphbandit.experiments import Experiment, Grid
from graphbandit.experiments.analysis.statistics import FinalRegrets
from graphbandit.studies.classes import comparison_markdown, comparison_of, regret_table
from graphbandit.studies.exploration import Cell, Choice, Sweep, cell_table, choice_table, sweep_markdown
from graphbandit.studies.plans import EXPLORATION, Finding, Plan


def cell(title, graph, greedy=(9.0, 9.0), **regrets):
    """Names are forms, values the regrets of eta = 1, 10 and 100 in two repeats, 1 below and above the mean."""
    means = {Choice(form, 10.0**i): mean for form, row in regrets.items() for i, mean in enumerate(row)}
    samples = {choice: np.array([mean - 1, mean + 1]) for choice, mean in means.items()}
    return Cell(title=title, graph=graph, regrets=samples, greedy=np.array(greedy))


def sweep(*cells, default=("paper", 10.0)):
    return Sweep(cells=cells, default=Choice(*default))


def test_a_default_within_the_factor_everywhere():
    found = sweep(
        cell("a", "star", paper=(30.0, 12.0, 10.0), width=(8.0, 8.0, 5.0)),
        cell("b", "loops", paper=(10.0, 15.0, 90.0), width=(10.0, 10.0, 10.0)),
    )
    default = found.default
    assert [c.ratio(default) for c in found.cells] == [2.4, 1.5]
    assert [c.form_ratio(default) for c in found.cells] == [1.2, 1.5]
    assert not found.broken
    assert found.best_choice == Choice("width", 100.0)
    assert "at worst 2.40 times the best of the sweep (a, star): within a factor of 3 everywhere" in found.verdict
    assert found.cells[0].greedy_ratio == pytest.approx(1.8)


def test_the_other_form_of_gamma_counts_too():
    found = sweep(cell("a", "star", paper=(30.0, 20.0, 10.0), width=(8.0, 8.0, 5.0)))
    assert found.cells[0].form_ratio(found.default) == 2.0
    assert [c.title for c in found.broken] == ["a"]


def test_a_default_that_breaks_the_factor_is_told():
    found = sweep(
        cell("a", "star", paper=(30.0, 20.0, 10.0)),
        cell("b", "loops", paper=(10.0, 31.0, 90.0)),
        cell("c", "loops", paper=(10.0, 20.0, 90.0)),
    )
    assert [(c.title, c.graph) for c in found.broken] == [("b", "loops")]
    assert found.verdict.endswith("breaks the factor 3 in 1 of 3 cells: 3.10 times the best of the sweep (b, loops).")
    assert found.verdict in sweep_markdown(found)
    assert found.best_choice == Choice("paper", 1.0)


def test_a_regret_of_zero_is_beaten_by_none():
    found = sweep(cell("a", "star", paper=(0.0, 0.0, 4.0)))
    assert found.cells[0].ratio(found.default) == 1.0
    assert found.cells[0].ratio(Choice("paper", 100.0)) == np.inf


def test_the_default_must_have_been_run():
    with pytest.raises(InputError, match=r'a, star has no runs of gamma="paper", eta=1000'):
        sweep(cell("a", "star", paper=(1.0, 2.0, 3.0)), default=("paper", 1000.0))


def test_tables_of_the_sweep():
    found = sweep(cell("a", "star", paper=(30.0, 20.0, 10.0), width=(8.0, 8.0, 5.0)))
    rows = [[text for text, _ in row] for row in choice_table(found).rows]
    assert rows[1] == ['gamma="paper", eta=10 (default)', "4.00", "a, star", "2.00", "a, star"]
    (row,) = cell_table(found).rows
    assert [text for text, _ in row][:5] == ["a", "star", "width, 100", "5.00", "20.0"]
    assert row[5][0].startswith("4.00 (")
    assert [text for text, _ in row][6:] == ["2.00", "1.80"]


def test_the_default_of_the_package_is_in_every_cell():
    default = Choice.default()
    for name in EXPLORATION:
        experiment = next(iter(Plan(study="exploration", only=(name,), rounds=4).experiments().values()))
        choices = {(p.settings["gamma"], p.settings["eta"]) for p in experiment.learner_points() if p.kind == "AdaCBG"}
        assert (default.gamma, default.eta) in choices
        assert {"star", "cliques", "random", "loops only"} <= set(experiment.environments)


# --- Function classes ------------------------------------------------------------------------------------


def finding(values, learners, rounds=64):
    """Regrets [environment][learner][repeat] of environments e0, e1, ... ."""
    array = np.array(values, dtype=float)
    names = tuple(f"e{i}" for i in range(len(array)))
    experiment = Experiment(
        name="x",
        rounds=rounds,
        repeats=array.shape[2],
        environments={name: Grid("paper", {"n_arms": 3, "graph": "star"}) for name in names},
        learners={name: Grid("Uniform") for name in learners},
    )
    return Finding(
        experiment=experiment, regrets=FinalRegrets(environments=names, learners=tuple(learners), values=array)
    )


def test_learners_of_two_files_are_compared_in_pairs():
    main = finding([[[10, 20, 30, 40], [5, 15, 25, 35]], [[1, 2, 3, 4], [9, 9, 9, 9]]], ["AdaCB.G, linear", "greedy"])
    slow = finding([[[6, 17]], [[30, 31]]], ["AdaCB.G, network"])
    compared = comparison_of({"data": main, "data_refits": slow})
    assert compared.regrets.learners == ("AdaCB.G, linear", "greedy", "AdaCB.G, network")
    # the mean of the two repeats of the network is lowest, but in pairs greedy is better there
    assert compared.best("e0") == "AdaCB.G, network"
    assert compared.to_best("e0", "greedy").pairs == 2
    assert compared.to_best("e0", "greedy").mean == pytest.approx(-1.5)
    assert compared.best("e1") == "AdaCB.G, linear"
    assert compared.verdict("e1") == (
        "e1: AdaCB.G, linear has the lowest mean, 2.50 ± 2.05, and beats greedy, 9.00 ± 0.00."
    )
    text = comparison_markdown(compared)
    assert "| learner | e0, T = 64 | e1, T = 64 |" in text
    assert "**2.50 ± 2.05**" in text


def test_a_win_that_is_not_told_apart_is_none():
    close = comparison_of({"linear": finding([[[10, 20, 30], [12, 19, 40]]], ["AdaCB.G, linear", "greedy"])})
    assert ", not told apart from greedy, 23.7 ± 36.2." in close.verdict("e0")


def test_where_adacb_g_does_not_win_is_told():
    lost = comparison_of({"linear": finding([[[10, 20, 30], [5, 15, 25]]], ["AdaCB.G, linear", "greedy"])})
    assert lost.verdict("e0").startswith("e0: greedy wins over AdaCB.G, linear, 20.0 ± 24.8 against 15.0 ± 24.8")
    open_ = comparison_of({"linear": finding([[[10, 20, 30], [5, 22, 25]]], ["AdaCB.G, linear", "greedy"])})
    assert "greedy has the lowest mean and is not told apart from AdaCB.G, linear" in open_.verdict("e0")
    (ours, best) = [row[1][0] for row in regret_table(open_).rows]
    assert ours.endswith(" \\*")
    assert best.startswith("**")


# --- From end to end -------------------------------------------------------------------------------------


def study(*arguments: object) -> Result:
    return CliRunner(env={"COLUMNS": "120", "NO_COLOR": "1"}).invoke(app, ["study", *map(str, arguments)])


def results(directory):
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name not in ("timings.parquet", ".lock") and path.suffix != ".lock"
    }


@pytest.mark.filterwarnings("ignore::graphbandit.errors.EstimatedNoiseWarning")
def test_exploration_end_to_end_resumed_and_with_other_workers(tmp_path):
    tiny = ["exploration", "--only", "finite", "--only", "still", "--repeats", 2, "--rounds", 8]
    first = study(*tiny, "--out", tmp_path / "one", "--workers", 1)
    assert first.exit_code == 0, first.output
    assert "The default, " in first.output
    assert (tmp_path / "one" / "table.md").read_text().startswith("The default, ")
    assert {path.name for path in (tmp_path / "one" / "figures").iterdir()} == {"exploration.png", "exploration.svg"}
    before = results(tmp_path / "one")
    assert study(*tiny, "--out", tmp_path / "one", "--workers", 1).exit_code == 0
    assert results(tmp_path / "one") == before
    assert study(*tiny, "--out", tmp_path / "two", "--workers", 2).exit_code == 0
    assert results(tmp_path / "two") == before


def test_classes_end_to_end_with_stand_ins(tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.delenv("GRAPHBANDIT_DATA", raising=False)
    done = study("classes", "--only", "data", "--repeats", 2, "--rounds", 8, "--out", tmp_path, "--workers", 1)
    assert done.exit_code == 0, done.output
    assert "scikit-learn's small ones stand in" in done.output
    text = (tmp_path / "table.md").read_text()
    for name in ("digits", "wine", "iris", "breast_cancer", "FALCON", "LinTS", "epsilon-greedy"):
        assert name in text
    assert (tmp_path / "figures" / "classes.svg").exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"study": "explore"}, "study is 'explore'; expected one of 'exploration', 'classes'"),
        ({"study": "classes", "only": ("finite",)}, "only is 'finite'; expected one of 'linear'"),
        ({"study": "classes", "repeats": 0}, "repeats is 0"),
    ],
)
def test_bad_plans_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        Plan(**settings)


def test_quick_is_smaller_and_full_is_as_in_the_files():
    quick, full = (
        next(iter(Plan(study="exploration", preset=p, only=("still",)).experiments().values()))
        for p in ("quick", "full")
    )
    assert (quick.rounds, quick.repeats) == (128, 2)
    assert full.rounds == 2048


def test_the_default_keeps_its_promise_in_the_documented_sweep():
    """The cells of docs/exploration.md: the default is the package's, and never worse than 3 times the best."""
    text = (Path(__file__).parents[2] / "docs" / "exploration.md").read_text()
    (told,) = re.findall(r"^    eta = (\S+)", text, flags=re.MULTILINE)
    assert float(told) == gb.AdaCBG().eta
    ratios = [float(r) for r in re.findall(r"\| ([\d.]+) \([\d.]+ to [\d.]+\) \|", text)]
    assert len(ratios) >= 30
    assert max(ratios) <= 3.0
