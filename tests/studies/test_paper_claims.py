import json
from dataclasses import replace

import pytest

from graphbandit.experiments.describe.grids import Point
from graphbandit.studies import Findings
from graphbandit.studies.paper import claims, own_claims
from graphbandit.studies.paper.answers import Claim
from graphbandit.studies.paper.study import summary_line
from graphbandit.studies.paper.variants import better_without, variants
from tests.studies.paper_findings import as_claimed, findings

JUDGES = {
    "1": claims.lower_regret,
    "2a": claims.largest_on_k_trees,
    "2b": claims.program_makes_it,
    "3": claims.falcon_ignores_graphs,
    "4": claims.arms_do_not_matter,
    "5": claims.no_graph_parameter,
    "table": own_claims.printed_table,
    "ours": own_claims.ours_is_lowest,
}


def answers(claim: Claim, form: str = "paper") -> list[str]:
    """In both readings."""
    return [answer.verdict for answer in claim.answers if answer.form in (form, "")]


@pytest.fixture(scope="module")
def fine() -> Findings:
    return findings()


@pytest.mark.parametrize("name", JUDGES)
def test_what_is_as_claimed_is_a_yes(fine: Findings, name: str) -> None:
    claim = JUDGES[name](fine)
    assert claim.name == name
    form = "ours" if name == "ours" else "paper"
    assert set(answers(claim, form)) == {"yes"}
    assert all(answer.how_far for answer in claim.answers)


def test_all_claims_are_there_in_order(fine: Findings) -> None:
    found = [*claims.paper_claims(fine), *own_claims.own_claims(fine)]
    assert [claim.name for claim in found] == list(JUDGES)


def test_one_line_sums_up_all_verdicts(fine: Findings) -> None:
    found = [*claims.paper_claims(fine), *own_claims.own_claims(fine)]
    assert summary_line(found).startswith("claims 1, ")
    assert "\n" not in summary_line(found)
    one = claims.falcon_ignores_graphs(findings(only=("horizon",)))
    assert summary_line([found[2], one, found[-1]]) == "claim 2b, ours: yes; claim 3: not tested"


def changed(name: str, point: Point, learner: str) -> float | None:
    """What breaks each claim, in the paper's form (or ours, where it is about ours)."""
    table = {
        "1": ("random", "AdaCB.G, paper", 705.0),
        "2a": ("k-tree", "AdaCB.G, paper", 900.0),
        "3": ("random", "FALCON", 1100.0),
        "ours": ("cliques", "AdaCB.G, ours", 120.0),
    }
    place, who, value = table[name]
    return value if (point.name, learner) == (place, who) else None


@pytest.mark.parametrize("name", ["1", "2a", "3", "ours"])
def test_other_results_give_a_no(name: str) -> None:
    def means(study: str, point: Point, learner: str) -> float:
        other = changed(name, point, learner)
        return as_claimed(study, point, learner) if other is None else other

    claim = JUDGES[name](findings(means, only=("ablation",)))
    assert answers(claim, "ours" if name == "ours" else "paper")[:2] == ["no", "no"]


def test_kinds_of_graph_that_were_not_run_leave_it_undecided() -> None:
    some = findings(only=("ablation",))
    for name in ("1", "2a"):
        claim = JUDGES[name](some)
        assert claim.verdict == "undecided"
        assert claim.answers[0].how_far.startswith("only k-tree, cliques, random was run: ")


def test_regret_that_grows_with_the_arms_is_a_no() -> None:
    def means(study: str, point: Point, learner: str) -> float:
        if study == "clique-table" and learner == "AdaCB.G, paper":
            return 20.0 * float(point.settings["n_arms"]) ** 0.5
        return as_claimed(study, point, learner)

    claim = claims.arms_do_not_matter(findings(means, only=("clique-table",)))
    assert answers(claim) == ["no", "no"]
    assert answers(claim, "ours") == ["yes", "yes"]  # those do not change with the arms
    assert claim.verdict == "yes in 2 of 4"
    assert "grows" in claim.answers[0].how_far
    assert "+0.50" in claim.answers[0].how_far


@pytest.mark.parametrize(
    ("without", "alone", "expected"),
    [(600.0, 100.0, "yes"), (200.0, 100.0, "in part"), (600.0, 800.0, "no"), (50.0, 100.0, "no")],
)
def test_whether_the_program_makes_the_gain(without: float, alone: float, expected: str) -> None:
    def means(study: str, point: Point, learner: str) -> float:
        if study == "parts" and point.name == "k-tree":
            if learner == "AdaCB.G, paper, no program":
                return without
            if learner == "AdaCB.G, paper, all arms candidates":
                return alone
        return as_claimed(study, point, learner)

    claim = claims.program_makes_it(findings(means, only=("parts",)))
    assert answers(claim) == [expected, expected]


def test_regret_that_does_not_follow_the_graph_is_a_no() -> None:
    def means(study: str, point: Point, learner: str) -> float:
        cliques = float(point.settings.get("n_cliques", 5))
        return 500.0 - 5 * cliques if study == "independence" else as_claimed(study, point, learner)

    claim = claims.no_graph_parameter(findings(means, only=("independence",)))
    assert answers(claim) == ["no", "no"]
    assert "its regret at alpha = 1 is higher than at 50: " in claim.answers[0].how_far


def test_a_learner_that_is_told_of_the_graph_is_a_no(fine: Findings) -> None:
    found = fine.experiments["independence"]
    runs = found.results.runs
    for settings in ({"kind": "AdaCBG", "n_cliques": 5}, {"kind": "AdaCBG", "eta": 2.0}):
        told = [json.dumps({"environment": {}, "learner": settings if i == 0 else {"kind": "AdaCB.G, paper"}})
                for i in range(runs.num_rows)]  # fmt: skip
        place = runs.column_names.index("settings")
        results = replace(found.results, runs=runs.set_column(place, "settings", [told]))
        other = replace(fine, experiments={"independence": replace(found, results=results)})
        claim = claims.no_graph_parameter(other)
        assert answers(claim) == ["no", "no"]
    assert "n_cliques" in claims.graph_parameter_names()
    assert "alpha" in claims.graph_parameter_names()


def test_means_away_from_print_are_a_no_and_probes_do_not_count() -> None:
    def means(study: str, point: Point, learner: str) -> float:
        return 40.0 if learner.startswith("AdaCB.G") else as_claimed(study, point, learner)

    claim = own_claims.printed_table(findings(means, only=("clique-table",)))
    assert answers(claim) == ["no", "no"]
    assert [answer.verdict for answer in claim.answers if answer.probe] == ["yes"] * 4
    assert claim.verdict == "no"


def test_nothing_is_compared_with_print_at_other_rounds() -> None:
    claim = own_claims.printed_table(findings(only=("clique-table",), rounds=64))
    assert claim.verdict == "not tested"


def test_panels_in_which_both_forms_are_the_same_are_named() -> None:
    made = findings(only=("independence",))
    found = made.experiments["independence"]
    runs = found.results.runs.to_pylist()
    same = {(row["environment"], row["repeat"]): row["regret"] for row in runs if row["learner"] == "AdaCB.G, paper"}
    values = [
        same[row["environment"], row["repeat"]]
        if row["learner"] == "AdaCB.G, ours" and "n_cliques=1 " in row["environment"]
        else row["regret"]
        for row in runs
    ]
    place = found.results.runs.column_names.index("regret")
    results = replace(found.results, runs=found.results.runs.set_column(place, "regret", [values]))
    claim = own_claims.ours_is_lowest(replace(made, experiments={"independence": replace(found, results=results)}))
    assert answers(claim, "ours") == ["yes", "yes", "not tested"]
    far = claim.answers[0].how_far
    assert far.startswith("lowest in 2 of 3 panels, significantly in all 2; the next best has ")
    assert far.endswith("; the two forms tie in one panel (1 clique, K = 50, T = 2048)")


def test_other_scales_are_panels_too() -> None:
    def means(study: str, point: Point, learner: str) -> float:
        worst = learner == "AdaCB.G, ours" and point.settings["reward_scale"] == 32.0
        return 2000.0 if worst else as_claimed(study, point, learner)

    claim = own_claims.ours_is_lowest(findings(means, only=("reward-scale",)))
    assert [(answer.reading, answer.verdict) for answer in claim.answers] == [
        ("literal", "yes"),
        ("rescaled", "yes"),
        ("other scales", "no"),
    ]


@pytest.mark.parametrize("name", ["1", "2a", "3", "ours"])
def test_noise_makes_it_undecided(name: str) -> None:
    """All means are the same, and the noise is large."""
    needed = {"1": ("ablation", "flixster"), "2a": ("ablation",), "3": ("ablation",), "ours": ("independence",)}
    made = findings(lambda study, point, learner: 300.0, noise=0.6, repeats=4, only=needed[name])
    assert "undecided" in answers(JUDGES[name](made), "ours" if name == "ours" else "paper")


def test_a_growth_that_noise_could_hide_is_undecided() -> None:
    made = findings(lambda study, point, learner: 300.0, noise=2.0, repeats=8, only=("clique-table",))
    assert "undecided" in answers(claims.arms_do_not_matter(made))


@pytest.mark.parametrize("name", JUDGES)
def test_what_was_not_run_is_not_tested(name: str) -> None:
    only = ("horizon",) if name != "ours" else ("parts",)
    claim = JUDGES[name](findings(only=only))
    assert {answer.verdict for answer in claim.answers} == {"not tested"}
    assert claim.verdict == "not tested"


def test_one_repeat_decides_nothing() -> None:
    made = findings(repeats=1)
    for name in ("1", "2a", "2b", "3", "4", "5", "ours"):
        assert {answer.verdict for answer in JUDGES[name](made).answers} == {"undecided"}, name


def test_parts_that_do_not_help_are_named() -> None:
    def means(study: str, point: Point, learner: str) -> float:
        if learner == "AdaCB.G, ours, FALCON's baseline" and point.name == "random":
            return 5.0
        return as_claimed(study, point, learner) if learner.count(",") < 2 else 700.0

    parts = findings(means, only=("parts",)).experiments["parts"]
    assert next(iter(variants(parts, "ours"))) == "whole"
    assert len(variants(parts, "paper")) == 5
    found = better_without(parts)
    assert [text.split(":")[0] for text in found] == [
        "our form, FALCON's baseline, on random (literal)",
        "our form, FALCON's baseline, on random (rescaled)",
    ]
