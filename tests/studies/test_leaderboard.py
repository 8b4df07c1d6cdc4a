"""The leaderboard: verdicts that follow the results, tables, the page in a browser, and a small one from end to end."""

import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

from graphbandit.errors import InputError
from graphbandit.experiments.analysis.statistics import FinalRegrets
from graphbandit.studies import Findings, Plan
from graphbandit.studies.leaderboard.board import OURS, Board, board_of
from graphbandit.studies.leaderboard.figures import plot_board, plot_worst
from graphbandit.studies.leaderboard.study import ADVERSARIAL, STUDY
from graphbandit.studies.leaderboard.tables import board_markdown, group_table, overview_table
from graphbandit.studies.leaderboard.verdict import behind_lines, cells_line, specialist_lines, worst_line
from tests.helpers.browser import needs_chromium, visit
from tests.helpers.commands import succeed

IDS, ADA = OURS
SPREAD = np.array([-1.0, 0.0, 1.0])
NOISE = {IDS: [0.0, 0.1, -0.1], ADA: [0.1, -0.1, 0.0]}


def board(cells, adversarial=()):
    """`cells[name][learner]` is a mean regret; repeats share draws, so differences between learners vary little."""
    learners = tuple(dict.fromkeys(learner for row in cells.values() for learner in row))
    values = np.full((len(cells), len(learners), 3), np.nan)
    for i, row in enumerate(cells.values()):
        for learner, mean in row.items():
            values[i, learners.index(learner)] = mean + SPREAD + NOISE.get(learner, [-0.1, 0.0, 0.1])
    stochastic = tuple(name for name in cells if name not in adversarial)
    return Board(
        regrets=FinalRegrets(environments=tuple(cells), learners=learners, values=values),
        rounds=dict.fromkeys(cells, 64),
        groups={"drawn": stochastic, **({"shifted": tuple(adversarial)} if adversarial else {})},
        adversarial=frozenset(adversarial),
        microseconds={(cell, learner): 5.0 for cell, row in cells.items() for learner in row},
    )


def test_ours_first_or_within_everywhere_and_first_in_the_worst_case():
    found = board(
        {
            "a": {IDS: 10.0, ADA: 30.0, "greedy": 20.0},
            "b": {IDS: 10.05, ADA: 30.0, "greedy": 10.0},
            "c": {IDS: 15.0, ADA: 10.0, "greedy": 90.0},
        }
    )
    assert [found.standing(cell) for cell in "abc"] == ["first", "within", "first"]
    assert found.behind == ()
    assert cells_line(found) == (
        "One of ours (IDS.G or AdaCB.G, ours) is first in 2 of 3 stochastic cells and within the paired 95 % interval "
        "of the first in 1 more: everywhere."
    )
    assert found.general == (IDS, ADA, "greedy")
    assert "IDS.G, one of ours, is first: IDS.G 1.50 times the best (c)" in worst_line(found)
    assert found.worst("greedy") == (pytest.approx(9.0), "c")


def test_the_verdict_flips_where_another_is_surely_better():
    found = board({"a": {IDS: 10.0, ADA: 30.0, "greedy": 5.0}, "b": {IDS: 50.0, ADA: 60.0, "greedy": 49.0}})
    assert [found.standing(cell) for cell in "ab"] == ["behind", "behind"]
    assert cells_line(found).endswith("in 0 more; behind in 2.")
    assert "of the 3 learners that run in all, greedy is first, not one of ours" in worst_line(found)
    first, second = behind_lines(found)
    assert first.startswith("a: greedy is first, 5.00 against 10.0 of IDS.G; the difference is 5.00 (")
    assert second.startswith("b: greedy is first")


def test_adversarial_cells_are_shown_but_not_judged():
    cells = {"a": {IDS: 10.0, ADA: 30.0, "greedy": 20.0}, "x": {IDS: 90.0, ADA: 30.0, "greedy": 9.0, "EXP3": 3.0}}
    judged = board(cells, adversarial=("x",))
    assert judged.behind == ()
    assert judged.worst(IDS) == (1.0, "a")
    assert judged.worst("EXP3") is None
    rows = {row[0].text: [str(cell) for cell in row] for row in overview_table(judged).cells}
    assert rows["EXP3"] == ["EXP3", "-", "1.00", "-", "-", "-", "5.00"]
    assert rows["► IDS.G"] == ["► IDS.G", "1.00", "30.0", "1.00", "a", "1.0", "5.00"]
    assert board(cells).behind == ("x",)


def test_learners_of_some_cells_are_compared_over_those():
    cells = {"a": {IDS: 10.0, ADA: 11.0, "greedy": 40.0}, "b": {IDS: 20.0, ADA: 30.0, "greedy": 60.0, "TS-N": 10.0}}
    found = board(cells)
    assert found.general == (IDS, ADA, "greedy")
    assert found.special == ("TS-N",)
    (line,) = specialist_lines(found)
    assert line == (
        "Over the cells that TS-N can play it has the lower worst case: 1.00 times the best (b), against "
        "2.00 of IDS.G (b)."
    )
    cells["b"]["TS-N"] = 50.0
    assert specialist_lines(board(cells)) == []
    text = board_markdown(found)
    assert "| TS-N | 1.00 | 1.00 | b (of those played) | 1.0 | 5.00 |" in text
    assert "| TS-N | - | **10.0 ± 2.73** |" in text
    assert "Where ours are behind:\n\n- b: TS-N is first" in text


def test_a_regret_of_zero():
    found = board({"a": {IDS: 10.0, ADA: 30.0, "greedy": 20.0}})
    found.regrets.values[0, 0] = 0.0
    assert found.ratios["a", IDS] == 1.0
    assert found.ratios["a", "greedy"] == math.inf
    assert found.mean_ratio("greedy", ["a"]) == math.inf
    assert found.general[0] == IDS
    plot_board(found).draw_without_rendering()
    plot_worst(found).draw_without_rendering()


def test_marks_of_a_group():
    table = group_table(board({"b": {IDS: 10.05, ADA: 30.0, "greedy": 10.0}}), "drawn")
    marks = {row[0].text: row[1].mark for row in table.cells}
    assert marks == {"► IDS.G": "near", "► AdaCB.G, ours": "", "greedy": "best"}
    assert "| greedy | **10.0 ± " in table.to_markdown()
    assert "after 64 rounds" in table.caption


# --- The suite ------------------------------------------------------------------------------------------


def test_every_group_is_a_file_and_has_ours(monkeypatch):
    monkeypatch.delenv("GRAPHBANDIT_DATA", raising=False)
    plan = Plan(study="leaderboard", preset="full", rounds=64)
    assert plan.remark == "GRAPHBANDIT_DATA names no folder of data sets; not run: data."
    experiments = plan.experiments()
    assert set(experiments) == set(STUDY.experiments) - {"data"}
    assert set(STUDY.experiments) >= ADVERSARIAL
    labels = [point.label for experiment in experiments.values() for point in experiment.environment_points()]
    assert len(labels) == len(set(labels)), "a name stands for one cell"
    for experiment in experiments.values():
        assert {*OURS, "AdaCB.G, paper", "SquareCB.G", "greedy", "uniform"} <= set(experiment.learners)
        assert set(experiment.learners[ADA].settings) == set(), "the default of the package, and nothing else"
        assert set(experiment.learners[IDS].settings) == set()
    settings = [dict(p.settings) for e in experiments.values() for p in e.environment_points()]
    assert {"needle", "ladder", "lottery", "poor-hub", "shifting"} <= {each.get("case") for each in settings}
    assert any(each.get("diversity") == 0.0 for each in settings)


def test_adversarial_groups_alone_are_not_judged():
    with pytest.raises(InputError, match="no group with stochastic rewards was run; expected at least one"):
        board_of(Findings(plan=Plan(study="leaderboard"), experiments={}), ADVERSARIAL)


SMALL = ("leaderboard", "--only", "linear_still", "--only", "shifting", "--rounds", 8, "--workers", 1)


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> tuple[Path, Result]:
    out = tmp_path_factory.mktemp("leaderboard")
    return out, succeed(*SMALL, "--out", out)


def test_from_end_to_end(small):
    out, result = small
    assert "One of ours (IDS.G or AdaCB.G, ours) is first in" in result.output
    assert "In the worst case over stochastic cells, of the 20 learners that run in all," in result.output
    text = (out / "tables.md").read_text(encoding="utf-8")
    assert "### Linear, one context" in text
    assert "shifting gap=0.1 graph=bandit" in text
    assert "µs a round" in text
    for name in ("leaderboard", "leaderboard-worst"):
        assert (out / "figures" / f"{name}.png").stat().st_size > 5000
        assert (out / "figures" / f"{name}.svg").exists()
    again = succeed(*SMALL, "--out", out)
    said, told = (each.output.splitlines()[:-1] for each in (again, result))  # the last line has the time it took
    assert said == told, "nothing is run twice, so the times of a round are the same too"


@needs_chromium
def test_the_page_in_a_browser(small):
    out, _ = small
    script = """
    const table = document.querySelector("#overview table");
    const names = () => Array.from(table.tBodies[0].rows, (row) => row.cells[0].textContent);
    const before = names();
    const heads = Array.from(table.tHead.rows[0].cells);
    const rank = heads.findIndex((head) => head.textContent === "mean rank");
    heads[rank].querySelector("button").click();
    const values = Array.from(table.tBodies[0].rows, (row) => row.cells[rank].dataset.value);
    return { before, after: names(), values, figures: document.querySelectorAll("figure svg").length,
             best: document.querySelectorAll("#group-0 td.best").length,
             overflow: document.documentElement.scrollWidth > innerWidth };
    """
    seen = visit(out / "report.html", script)
    assert seen.console == []
    assert seen.outcome["figures"] == 2
    assert seen.outcome["best"] == 4
    assert not seen.outcome["overflow"]
    assert "► IDS.G" in seen.outcome["before"]
    assert sorted(seen.outcome["before"]) == sorted(seen.outcome["after"])
    played = [float(value) for value in seen.outcome["values"] if value]
    assert played == sorted(played)
    assert seen.outcome["values"][20:] == [""] * 8, "those that play adversarial cells only come last"
