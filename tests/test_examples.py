"""Every example runs and prints what it is about."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


PRINTS = {
    "experiment": r"n_arms=10 +ours +\d",
    "late_rewards": r"300 rounds, regret \d+\.\d, 0 rewards still to come",
    "obp_log": r"graph-dr +\d\.\d+ \[",
    "own_graph": r"independence number: Bounds\(exactly 3\)",
    "own_learner": r"mine temperature=0\.05 +\d",
    "prices": r"features of the price that all share: 0\.\d\d",
    "recommender": r"morning 2: value shown \d\.\d\d, of the best item",
    "stock_levels": r"play arm 40 loaves",
    "vw_log": r"what was shown at random: +\d",
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert re.search(PRINTS[path.stem], capsys.readouterr().out)


def test_no_example_is_missing():
    assert {path.stem for path in EXAMPLES} == set(PRINTS)
