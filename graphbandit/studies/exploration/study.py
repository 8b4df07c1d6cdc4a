"""The study of exploration: its experiments and its findings."""

from __future__ import annotations

from graphbandit.studies.exploration.figures import plot_sweep
from graphbandit.studies.exploration.sweep import case_table, choice_table, sweep_of
from graphbandit.studies.findings import Findings
from graphbandit.studies.outcome import Outcome, Picture, lead_of, plain_sections
from graphbandit.studies.study import Study

STUDY = Study(
    name="exploration",
    command="study exploration",
    experiments={
        "finite": "50 functions",
        "linear": "linear, new arms",
        "still": "linear, one context",
        "logistic": "logistic",
        "poisson": "Poisson",
        "cents": "per arm, cents",
        "uneven": "per arm, unequal noise",
        "curved": "curved",
        "needle": "no contexts",
        "kernel": "kernel",
        "boosting": "boosting",
        "network": "network",
    },
)


def outcome(findings: Findings) -> Outcome:
    """Whether the default keeps its promise in every case of the sweep."""
    sweep = sweep_of(findings)
    tables = [choice_table(sweep), case_table(sweep)]
    shows = "Regret relative to the best eta, against eta; a panel for each class."
    return Outcome(
        title="How much to explore",
        lead=lead_of(findings, "A sweep of eta"),
        verdicts=[sweep.verdict],
        table=tables[0],
        tables="\n\n".join([sweep.verdict, *(table.to_markdown() for table in tables)]) + "\n",
        pictures=[Picture("exploration", plot_sweep(sweep), shows)],
        sections=plain_sections([sweep.verdict], tables),
    )
