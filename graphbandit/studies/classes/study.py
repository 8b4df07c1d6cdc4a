"""The study of function classes: its experiments and its findings."""

from __future__ import annotations

from graphbandit.studies.classes.comparison import difference_table, regret_table, verdict
from graphbandit.studies.classes.figures import plot_comparison
from graphbandit.studies.findings import Findings
from graphbandit.studies.outcome import Outcome, Picture, lead_of, plain_sections
from graphbandit.studies.study import Study

STUDY = Study(
    name="classes",
    command="study classes",
    experiments={
        "linear": "linear problems",
        "data": "data sets",
        "data_refits": "data sets, classes that are refitted",
    },
    data={"data": "bundled", "data_refits": "bundled_refits"},
)


def outcome(findings: Findings) -> Outcome:
    """Tables of mean regrets and of differences to the best, and a verdict for each environment."""
    tables = [regret_table(findings), difference_table(findings)]
    verdicts = [verdict(findings, environment) for environment in findings.regrets.environments]
    documents = [text for table in tables for text in (table.caption, table.to_markdown())]
    shows = "Mean regret of every learner with its 95 % interval; a panel for each environment."
    return Outcome(
        title="What each function class is worth",
        lead=lead_of(findings, "AdaCB.G with every class, and its rivals"),
        verdicts=verdicts,
        table=tables[0],
        tables="\n\n".join([*documents, "\n".join(f"- {verdict}" for verdict in verdicts)]) + "\n",
        pictures=[Picture("classes", plot_comparison(findings), shows)],
        sections=plain_sections(verdicts, tables),
    )
