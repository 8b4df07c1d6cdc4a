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
