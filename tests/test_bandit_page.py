"""The page about bandits in daily use shows code that runs and says what it says."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[1] / "docs" / "bandit.md").read_text(encoding="utf-8")


def test_the_code_on_the_page_runs_from_top_to_bottom():
    names = {}
    for part in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(part, "bandit.md", "exec"), names)
    bandit = names["bandit"]
    assert f"bandit.tally  # {bandit.tally}" in PAGE
    assert bandit.retired == ["7.99"]
    assert bandit.probabilities(names["past"]).shape == (3, 4)
    assert bandit.decide({"age": 31, "country": "DE"}).arm != "7.99"


def test_the_lines_of_the_examples_are_counted():
    for name, lines in re.findall(r"`(examples/\w+\.py)` \| (\d+) \|", PAGE):
        text = (Path(__file__).parents[1] / name).read_text(encoding="utf-8").splitlines()
        assert sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in text) == int(lines)
