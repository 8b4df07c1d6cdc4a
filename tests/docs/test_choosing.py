"""The figures of the guide's table are those of the leaderboard."""

import re

from tests.docs.snippets import DOCS


def _rows(text: str) -> dict[str, list[str]]:
    """The rows of the table of all figures, by learner; the heads under "learner"."""
    table = text.split("## All figures")[1].split("\n\n")[2]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()]
    return {row[0].removeprefix("► "): row for row in rows}


def test_figures_are_those_of_the_leaderboard() -> None:
    leaderboard = (DOCS / "leaderboard.md").read_text()
    rows = _rows(leaderboard)
    heads = rows["learner"]
    worst, no_contexts = heads.index("worst stochastic cell"), heads.index("arms without contexts")
    mean = re.search(r"`IDSG\(\)` has a geometric mean of ([\d.]+) times the best", leaderboard)
    guide = (DOCS / "guide" / "choosing.md").read_text()
    for start, figures in {
        "Are there no contexts, do you know the noise, and are rewards about 0 ± 1?": [rows["IDS-N"][no_contexts]],
        "Do contexts surely vary, and does every microsecond count?": [rows["greedy, often"][worst]],
        "otherwise": [mean[1], rows["IDS.G"][worst]],
    }.items():
        line = next(line for line in guide.splitlines() if line.startswith(f"| {start} |"))
        assert re.findall(r"\d+\.\d+", line.split("|")[3]) == figures
