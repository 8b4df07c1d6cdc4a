"""The study of exploration: what its tables say, also of a default that breaks its promise; a small one as a whole."""

from pathlib import Path

import numpy as np
import pytest

from graphbandit.errors import InputError
from graphbandit.studies import Plan, run_plan
from graphbandit.studies.exploration.sweep import Choice, EtaCase, EtaSweep, case_table, choice_table, sweep_of
from tests.helpers.commands import files_of, succeed


def case(title, graph, greedy=9.0, ids=9.0, judged=True, **regrets):
    """Names are forms, values the regrets of eta = 1, 10 and 100 in two repeats, 1 below and above the mean."""
    means = {Choice(form, 10.0**i): mean for form, row in regrets.items() for i, mean in enumerate(row)}
    samples = {choice: np.array([mean - 1, mean + 1]) for choice, mean in means.items()}
    others = {"IDS.G": np.array([ids, ids]), "greedy": np.array([greedy, greedy])}
    return EtaCase(title=title, graph=graph, regrets=samples, others=others, judged=judged)


def sweep(*cases, default=("paper", 10.0)):
    return EtaSweep(cases=cases, default=Choice(*default))


def test_a_default_within_the_factor_everywhere():
    found = sweep(
        case("a", "star", paper=(30.0, 12.0, 10.0), width=(8.0, 8.0, 5.0)),
        case("b", "loops", paper=(10.0, 15.0, 90.0), width=(10.0, 10.0, 10.0), greedy=10.0, ids=10.0),
        case("c", "loops", paper=(10.0, 90.0, 90.0), width=(10.0, 10.0, 10.0), judged=False),
    )
    default = found.default
    assert [c.ratio(default) for c in found.judged] == [2.4, 1.5]
    assert [c.form_ratio(default) for c in found.judged] == [1.2, 1.5]
    assert not found.broken
    assert found.best_choice == Choice("width", 100.0)
    assert found.mean_ratio(default) == pytest.approx((2.4 * 1.5) ** 0.5)
    assert found.mean_ratio(default, judged=False) == pytest.approx(36.0 ** (1 / 3))
    assert "at worst 2.40 times the best (a, star): within a factor of 2.5; the geometric mean is 1.90" in found.verdict
    assert found.cases[0].ratio("greedy") == pytest.approx(1.8)


def test_the_other_form_of_gamma_and_other_learners_count_too():
    found = sweep(case("a", "star", paper=(30.0, 20.0, 10.0), width=(8.0, 8.0, 5.0)))
    assert found.cases[0].form_ratio(found.default) == 2.0
    assert [c.title for c in found.broken] == ["a"]
    other = sweep(case("a", "star", paper=(30.0, 20.0, 10.0), ids=4.0))
    assert other.cases[0].best == "IDS.G"
    assert other.cases[0].ratio(other.default) == 5.0


def test_a_default_that_breaks_the_factor_is_told():
    found = sweep(
        case("a", "star", paper=(30.0, 20.0, 10.0)),
        case("b", "loops", paper=(9.0, 31.0, 90.0)),
        case("c", "loops", paper=(9.0, 20.0, 90.0)),
    )
    assert [(c.title, c.graph) for c in found.broken] == [("b", "loops")]
    assert "breaks the factor 2.5 in 1 of 3 cases: 3.44 times the best (b, loops); " in found.verdict
    assert found.best_choice == Choice("paper", 1.0)


def test_a_regret_of_zero_is_beaten_by_none():
    found = sweep(case("a", "star", paper=(0.0, 0.0, 4.0), greedy=1.0, ids=1.0))
    assert found.cases[0].ratio(found.default) == 1.0
    assert found.cases[0].ratio(Choice("paper", 100.0)) == np.inf


def test_the_default_must_have_been_run():
    with pytest.raises(InputError, match=r'a, star has no runs of gamma="paper", eta=1000'):
        sweep(case("a", "star", paper=(1.0, 2.0, 3.0)), default=("paper", 1000.0))


def test_tables_of_the_sweep():
    found = sweep(case("a", "star", paper=(30.0, 20.0, 10.0), width=(8.0, 8.0, 5.0)))
    rows = [[str(each) for each in row] for row in choice_table(found).rows]
    assert rows[1] == ['gamma="paper", eta=10 (default)', "1", "4.00", "4.00", "a, star", "4.00", "4.00"]
    assert rows[-1][:4] == ["greedy", "1", "1.80", "1.80"]
    (row,) = ([str(each) for each in row] for row in case_table(found).rows)
    assert row[:5] == ["a", "star", "width, 100", "5.00", "20.0"]
    assert row[5].startswith("4.00 (")
    assert row[6:] == ["2.00", "1.80", "1.80"]


def test_the_default_of_the_package_is_in_every_case():
    default = Choice.default()
    experiments = Plan(study="exploration", rounds=4).experiments()
    assert len(experiments) > 1
    for experiment in experiments.values():
        choices = {(p.settings["gamma"], p.settings["eta"]) for p in experiment.learner_points() if p.kind == "AdaCBG"}
        assert (default.gamma, default.eta) in choices
        assert {"star", "cliques", "random", "loops only"} <= set(experiment.environments)


def test_as_a_whole_resumed_and_with_other_workers(tmp_path: Path):
    tiny = ["study", "exploration", "--only", "finite", "--only", "still", "--repeats", 2, "--rounds", 8]
    first = succeed(*tiny, "--out", tmp_path / "one", "--workers", 1)
    assert "The default, " in first.output
    assert (tmp_path / "one" / "tables.md").read_text().startswith("The default, ")
    assert "<h1>How much to explore</h1>" in (tmp_path / "one" / "report.html").read_text()
    assert {path.name for path in (tmp_path / "one" / "figures").iterdir()} == {"exploration.png", "exploration.svg"}
    before = files_of(tmp_path / "one")
    succeed(*tiny, "--out", tmp_path / "one", "--workers", 1)
    assert files_of(tmp_path / "one") == before
    succeed(*tiny, "--out", tmp_path / "two", "--workers", 2)
    assert files_of(tmp_path / "two") == before


def test_the_verdict_on_the_default_is_measured(tmp_path: Path):
    """On a context that never changes, so that nothing but the learner explores: every figure is that of the runs."""
    plan = Plan(study="exploration", only=("still",), rounds=64, repeats=2)
    findings = run_plan(plan, out=tmp_path, workers=1)
    sweep = sweep_of(findings)
    assert sweep.default == Choice.default()
    assert {case.graph for case in sweep.cases} == {"star", "cliques", "random", "loops only"}
    regrets = findings.experiments["still"].regrets
    worst = 0.0
    for case in sweep.cases:
        means = {name: regrets.sample(case.graph, name).mean() for name in regrets.learners}
        label = f"{sweep.default.gamma} eta={sweep.default.eta}"
        ratio = means[label] / min(means.values())
        assert case.ratio(sweep.default) == pytest.approx(ratio)
        assert case.judged == (case.graph != "loops only")
        worst = max(worst, ratio) if case.judged else worst
    assert f"{worst:.2f} times the best" in sweep.verdict
    assert ("breaks the factor" in sweep.verdict) == (worst > 2.5)
