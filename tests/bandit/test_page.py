"""The page about bandits in daily use shows code that runs and says what it says."""

import re
from pathlib import Path

PATH = Path(__file__).parents[2] / "docs" / "bandit.md"
PAGE = PATH.read_text(encoding="utf-8")


def test_the_code_on_the_page_runs_from_top_to_bottom():
    names = {}
    for part in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(part, "bandit.md", "exec"), names)
    bandit = names["bandit"]
    assert f"bandit.tally  # {bandit.tally}" in PAGE
    assert bandit.retired == ["20"]
    assert bandit.probabilities(names["past"]).shape == (3, 4)
    assert bandit.decide({"degrees": 21, "weather": "sun"}).arm != "20"


def counted(text):
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in text.splitlines())


def test_the_lines_of_the_examples_are_counted():
    found = dict(re.findall(r"`(examples/\w+\.py)` \| (\d+) \|", PAGE))
    assert {Path(name).stem for name in found} >= {"stock_levels", "recommender", "own_learner", "vw_log", "obp_log"}
    for name, lines in found.items():
        assert counted((PATH.parents[1] / name).read_text(encoding="utf-8")) == int(lines)


def test_the_lines_of_the_notebook_are_counted():
    ((page, lines),) = re.findall(r"\((guide/paper-steps\.md)\) \| (\d+) \|", PAGE)
    cells = re.findall(r"```\{code-cell\} python\n(.*?)```", (PATH.parent / page).read_text("utf-8"), re.DOTALL)
    assert sum(map(counted, cells)) == int(lines)
