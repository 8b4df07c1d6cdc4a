"""The study of function classes: who wins, who is not told apart; and a small one as a whole."""

import numpy as np
import pytest

from graphbandit.experiments import Experiment, Grid
from graphbandit.experiments.analysis.statistics import difference_to_best
from graphbandit.studies import Finding, Findings, Plan
from graphbandit.studies.classes.comparison import regret_table, verdict
from tests.helpers.commands import succeed
from tests.helpers.experiment_results import made_up


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
    regrets = {(place, name): array[i, j].tolist() for i, place in enumerate(names) for j, name in enumerate(learners)}
    return Finding(experiment=experiment, results=made_up(regrets))


def compared(**several):
    return Findings(plan=Plan(study="classes"), experiments=several)


def test_learners_of_two_files_are_compared_in_pairs():
    main = finding([[[10, 20, 30, 40], [5, 15, 25, 35]], [[1, 2, 3, 4], [9, 9, 9, 9]]], ["AdaCB.G, linear", "greedy"])
    slow = finding([[[6, 17]], [[30, 31]]], ["AdaCB.G, network"])
    found = compared(data=main, data_refits=slow)
    assert found.regrets.learners == ("AdaCB.G, linear", "greedy", "AdaCB.G, network")
    # the mean of the two repeats of the network is lowest, but in pairs greedy is better there
    assert found.regrets.best("e0") == "AdaCB.G, network"
    assert difference_to_best(found.regrets, "e0", "greedy").pairs == 2
    assert difference_to_best(found.regrets, "e0", "greedy").mean == pytest.approx(-1.5)
    assert found.regrets.best("e1") == "AdaCB.G, linear"
    assert verdict(found, "e1") == (
        "e1: AdaCB.G, linear has the lowest mean, 2.50 ± 2.05, and beats greedy, 9.00 ± 0.00."
    )
    text = regret_table(found).to_markdown()
    assert "| learner | e0, T = 64 | e1, T = 64 |" in text
    assert "**2.50 ± 2.05**" in text


def test_a_win_that_is_not_told_apart_is_none():
    close = compared(linear=finding([[[10, 20, 30], [12, 19, 40]]], ["AdaCB.G, linear", "greedy"]))
    assert ", not told apart from greedy, 23.7 ± 36.2." in verdict(close, "e0")


def test_where_adacb_g_does_not_win_is_told():
    lost = compared(linear=finding([[[10, 20, 30], [5, 15, 25]]], ["AdaCB.G, linear", "greedy"]))
    assert verdict(lost, "e0").startswith("e0: greedy wins over AdaCB.G, linear, 20.0 ± 24.8 against 15.0 ± 24.8")
    open_ = compared(linear=finding([[[10, 20, 30], [5, 22, 25]]], ["AdaCB.G, linear", "greedy"]))
    assert "greedy has the lowest mean and is not told apart from AdaCB.G, linear" in verdict(open_, "e0")
    assert [row[1].mark for row in regret_table(open_).cells] == ["near", "best"]


def test_as_a_whole_with_stand_ins(tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.delenv("GRAPHBANDIT_DATA", raising=False)
    done = succeed(
        "study", "classes", "--only", "data", "--repeats", 2, "--rounds", 8, "--out", tmp_path, "--workers", 1
    )
    assert "scikit-learn's small ones stand in" in done.output
    text = (tmp_path / "tables.md").read_text()
    for name in ("digits", "wine", "iris", "breast_cancer", "FALCON", "LinTS", "epsilon-greedy"):
        assert name in text
    assert (tmp_path / "figures" / "classes.svg").exists()
