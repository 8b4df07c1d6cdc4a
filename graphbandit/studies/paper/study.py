"""The reproduction of the paper: its experiments and its findings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from graphbandit.base.printed_table import counted
from graphbandit.studies.findings import Findings
from graphbandit.studies.outcome import Outcome, lead_of
from graphbandit.studies.paper.answers import Claim
from graphbandit.studies.paper.claims import paper_claims
from graphbandit.studies.paper.figures.pictures import pictures
from graphbandit.studies.paper.own_claims import own_claims
from graphbandit.studies.paper.page import network_words, page_sections, who
from graphbandit.studies.paper.set_sizes import SetSizes, set_sizes
from graphbandit.studies.paper.tables import set_size_table, table_of
from graphbandit.studies.study import Study

STUDY = Study(
    name="paper",
    command="reproduce",
    experiments={
        "ablation": "Three kinds of graph",
        "clique-table": "The clique-group table",
        "flixster": "A social network",
        "parts": "What each part does",
        "independence": "Regret against the independence number",
        "arms": "Regret against the number of arms",
        "horizon": "Regret against the number of rounds",
        "reward-scale": "Regret against the reward scale",
        "directed": "Directed graphs",
    },  # the first three are the paper's own
    network="flixster",
)

LEGEND = (
    "literal: rewards as the paper prints them; rescaled: rewards divided by 8, closer to the paper's figures",
    "paper's form: the paper's Algorithm 1; our form: the same with a sharper radius and a tighter coverage",
)
PROBES = "probe, no F_m: all arms are candidates; probe, F_m = F: no function is ever ruled out; neither is the paper's"

TITLE = "Stochastic Graph Bandit Learning with Side-Observations, reproduced"
SET_SIZES = "set-sizes.parquet"


def outcome(findings: Findings) -> Outcome:
    """Which of the paper's claims hold."""
    sizes = None
    if (directed := findings.get("directed")) is not None:
        sizes = set_sizes(directed.experiment, STUDY.experiment("ablation"))
    claims = [*paper_claims(findings), *own_claims(findings)]
    drawn = list(pictures(findings, sizes))
    lines = [line for claim in claims for line in _claim_lines(claim)]
    lines += ["", *LEGEND, *([PROBES] if findings.get("clique-table") is not None else [])]
    if (network := findings.get("flixster")) is not None:
        lines += ["", network_words(network)]
    return Outcome(
        title=TITLE,
        lead=lead_of(findings, "X. Gong and J. Zhang's experiments run again"),
        verdicts=lines,
        table=None,
        tables=_tables(findings, sizes),
        pictures=drawn,
        sections=partial(page_sections, findings, claims, sizes, drawn),
        files={} if sizes is None else {SET_SIZES: sizes.write},
        closing=[*_size_lines(findings), summary_line(claims)],
    )


def summary_line(claims: Sequence[Claim]) -> str:
    """All verdicts in one line: the paper's claims by number, then ours by name."""
    names: dict[str, list[str]] = {}
    for claim in claims:
        names.setdefault(claim.verdict, []).append(claim.name)
    texts = []
    for verdict, several in names.items():
        numbers = [name for name in several if name[0].isdigit()]
        told = [f"claim{'s' * (len(numbers) > 1)} {', '.join(numbers)}"] if numbers else []
        texts.append(f"{', '.join([*told, *(name for name in several if name not in numbers)])}: {verdict}")
    return "; ".join(texts)


def _size_lines(findings: Findings) -> list[str]:
    """What the quick preset leaves out."""
    if findings.plan.preset != "quick":
        return []
    repeats = max(finding.experiment.repeats for finding in findings.experiments.values())
    return [f"quick: {counted(repeats, 'repeat')}; the figures in the README and the documents are of --full (FULL=1)"]


def _claim_lines(claim: Claim) -> list[str]:
    """The claim, and below it a line for the answer of each reading and form."""
    answers = [f"{'':6} {each.verdict:<11}{who(each):<25}{each.how_far}".rstrip() for each in claim.answers]
    return [f"{claim.name:<6} {claim.statement}", *answers]


def _tables(findings: Findings, sizes: SetSizes | None) -> str:
    texts = []
    for name, title in STUDY.experiments.items():
        if findings.family(name):
            table = table_of(findings, name)
            texts += [f"## {title}", table.caption, table.to_markdown()]
    if sizes is not None:
        table = set_size_table(sizes)
        texts += [table.caption, table.to_markdown()]
    return "\n\n".join(texts) + "\n"
