"""The leaderboard: its groups of problems and its findings.

Each group is a file with its problems and the sets of learners that can play them; ``shared.toml`` has the sets.
"""

from __future__ import annotations

from collections.abc import Mapping

from graphbandit.plots.pages.page import Section
from graphbandit.plots.pages.svg import PagePicture
from graphbandit.studies.findings import Findings
from graphbandit.studies.leaderboard.board import Board, board_of
from graphbandit.studies.leaderboard.figures import plot_board, plot_worst
from graphbandit.studies.leaderboard.tables import KEY, board_markdown, group_table, overview_table, times_table
from graphbandit.studies.leaderboard.verdict import behind_lines, verdict_lines
from graphbandit.studies.outcome import Outcome, Picture, figures_section, lead_of, tables_section, verdict_section
from graphbandit.studies.study import Study

STUDY = Study(
    name="leaderboard",
    command="leaderboard",
    experiments={
        "finite_small": "finite class, small gaps",
        "finite_large": "finite class, large gaps",
        "linear_new": "linear, new arms",
        "linear_fixed": "linear, fixed arms",
        "linear_still": "linear, one context",
        "nothing": "linear, told nothing",
        "per_arm": "linear, per arm, and in cents",
        "odd": "unequal noise, curved means",
        "clicks": "clicks",
        "arms": "arms without contexts",
        "bundled": "small data sets",
        "data": "data sets in files",
        "shifting": "adversarial: shifting levels",
        "changing": "changing: at once, or slowly",
    },
    data={"data": None},
)

ADVERSARIAL = frozenset({"shifting", "changing"})
"""Groups in which the distribution of the rewards changes over the rounds."""


def outcome(findings: Findings) -> Outcome:
    """The learners ranked by their worst case, and whether ours are first."""
    board = board_of(findings, ADVERSARIAL)

    def sections(drawn: Mapping[str, PagePicture]) -> list[Section]:
        groups = [
            tables_section(f"group-{i}", title[0].upper() + title[1:], [group_table(board, title)])
            for i, title in enumerate(board.groups)
        ]
        times = tables_section("speed", "Speed", [times_table(board)])._replace(timings=True)
        overview = tables_section("overview", "Overview", [overview_table(board, times=False)], KEY)
        verdict = verdict_section(verdict_lines(board), behind_lines(board))
        return [verdict, overview, figures_section(drawn), *groups, times]

    return Outcome(
        title="Leaderboard",
        lead=lead_of(findings, _counts(board)),
        verdicts=[*verdict_lines(board), *behind_lines(board)],
        table=overview_table(board).without("which"),  # too long for a terminal; the files have it
        tables=board_markdown(board),
        pictures=[
            Picture("leaderboard", plot_board(board), "Regret of every learner relative to the best of every cell."),
            Picture("leaderboard-worst", plot_worst(board), "The worst stochastic cell of every learner."),
        ],
        sections=sections,
    )


def _counts(board: Board) -> str:
    cells = f"{len(board.stochastic)} stochastic and {len(board.adversarial)} adversarial cells"
    return f"{len(board.learners)} learners, {cells}"
