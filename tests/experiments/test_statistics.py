import math

import numpy as np
import pytest
from scipy import stats

from graphbandit.errors import InputError, SettingError
from graphbandit.experiments.analysis.ranks import ranks
from graphbandit.experiments.analysis.statistics import FinalRegrets, close_to_best, paired_difference
from tests.helpers.experiment_results import made_up, sweep

NAN = math.nan

# C4.5 with and without tuning (m, cf) on 14 data sets: the AUC of Table 6 in Demšar (2006). The ranks printed there are
# of figures before rounding: 0.975 in the row before the last is a little more in the third column than in the fourth.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.97501, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def regrets(**learners: list[float]) -> FinalRegrets:
    return FinalRegrets.of(made_up({("star", name): values for name, values in learners.items()}))


def test_regrets_are_in_the_order_of_the_experiment_with_gaps_where_nothing_ran() -> None:
    table = FinalRegrets.of(made_up({("b", "z"): [1, NAN], ("b", "a"): [3, 4], ("a", "z"): [5, 6]}))
    assert table.environments == ("b", "a")
    assert table.learners == ("z", "a")
    np.testing.assert_array_equal(table.values, [[[1, NAN], [3, 4]], [[5, 6], [NAN, NAN]]])
    assert table.summary("a", "a") is None
    assert table.by_mean("a") == ["z"]


def test_a_summary_by_hand() -> None:
    summary = regrets(a=[1, 2, 3, 4]).summary("star", "a")
    assert summary is not None
    assert summary.mean == 2.5
    assert summary.std == pytest.approx(math.sqrt(5 / 3))
    assert summary.standard_error == pytest.approx(math.sqrt(5 / 3) / 2)
    assert (summary.minimum, summary.quartile_1, summary.median, summary.maximum) == (1, 1.75, 2.5, 4)


def test_a_paired_difference_by_hand() -> None:
    pair = paired_difference(regrets(a=[11, 22, 33, 44], b=[10, 20, 30, 40]), "star", "a", "b")
    assert pair.differences == (1, 2, 3, 4)
    margin = 3.182446 * math.sqrt(5 / 3) / 2  # the 97.5 % quantile of Student's t with 3 degrees of freedom
    assert (pair.mean, pair.low, pair.high) == pytest.approx((2.5, 2.5 - margin, 2.5 + margin), rel=1e-6)
    assert (pair.wins, pair.ties, pair.losses, pair.pairs) == (0, 0, 4, 4)
    assert pair.better == "b"
    assert pair.verdict == "b has lower regret"


def test_a_paired_difference_is_that_of_scipy_and_changes_sign_with_the_order() -> None:
    table = FinalRegrets.of(sweep())
    pair = paired_difference(table, "cliques", "AdaCB.G", "RegCB.G")
    test = stats.ttest_rel(table.sample("cliques", "AdaCB.G"), table.sample("cliques", "RegCB.G"))
    assert (pair.low, pair.high) == pytest.approx(tuple(test.confidence_interval(0.95)))
    back = paired_difference(table, "cliques", "RegCB.G", "AdaCB.G")
    assert (back.mean, back.low, back.wins) == (-pair.mean, -pair.high, pair.losses)


def test_only_repeats_of_both_are_pairs() -> None:
    pair = paired_difference(regrets(a=[1, NAN, 3, 4], b=[2, 2, 3, NAN]), "star", "a", "b")
    assert pair.differences == (-1, 0)
    assert (pair.wins, pair.ties, pair.losses) == (1, 1, 0)
    assert pair.verdict == "undecided: the interval holds 0"


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ([1, NAN], [NAN, 1], "no repeat was run by both"),
        ([1, NAN], [2, 2], "one pair says nothing about the next: run more repeats"),
        ([1, 2], [1, 2], "no difference in any pair"),
        ([1, 2], [2, 3], "a has lower regret"),
    ],
)
def test_few_pairs_and_equal_pairs(a: list[float], b: list[float], verdict: str) -> None:
    pair = paired_difference(regrets(a=a, b=b), "star", "a", "b")
    assert pair.verdict == verdict
    assert math.isnan(pair.low) == (pair.pairs < 2)


def test_what_is_not_significantly_worse_than_the_best() -> None:
    best = [1.0, 2, 3, 4]
    table = regrets(
        far=[9.0, 9, 9, 9], best=best, near=[3.0, 1, 4, 4], once=[1.0, 5, NAN, NAN], never=[NAN, 7, NAN, NAN]
    )
    assert close_to_best(table, "star") == ("best", "near", "once")


def test_ranks_are_those_of_the_published_example() -> None:
    names = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
    found = ranks(regrets(**{name: (1 - DEMSAR[:, i]).tolist() for i, name in enumerate(names)}))
    assert found.learners == ("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5")
    assert [round(rank, 3) for rank in found.average] == [1.964, 2.000, 2.893, 3.143]
    assert round(found.critical_difference, 2) == 1.25
    expected = stats.friedmanchisquare(*DEMSAR.T)
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert found.groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"),)
    assert found.note == ""


def test_groups_are_the_largest_runs_within_the_critical_difference() -> None:
    rows = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    few = ranks(regrets(**{name: [value + i for i in range(6)] for name, value in rows.items()}))
    assert few.groups == (("a", "b"), ("b", "c"), ("c", "d"))
    assert 1 < few.critical_difference < 2
    many = ranks(regrets(**{name: [value + i for i in range(60)] for name, value in rows.items()}))
    assert many.groups == ()


def test_blocks_are_environments_and_repeats_that_all_have_run() -> None:
    table = FinalRegrets.of(
        made_up({("x", "a"): [1, 1], ("x", "b"): [2, NAN], ("y", "a"): [5, 5], ("y", "b"): [5, 4], ("z", "a"): [1, 1]})
    )
    found = ranks(table)
    assert found.blocks == 3
    assert dict(zip(found.learners, found.average, strict=True)) == {"a": 4.5 / 3, "b": 4.5 / 3}


@pytest.mark.parametrize(
    ("learners", "note"),
    [
        ({"a": [1], "b": [2], "c": [3]}, "1 block that all learners have run: too few for any test."),
        ({"a": [1, 2], "b": [2, 3]}, "The Friedman test needs three learners"),
        ({"a": [1, 2], "b": [2, 3], "c": [3, 4]}, "Only 2 blocks"),
    ],
)
def test_too_few_blocks_or_learners_are_said(learners: dict[str, list[float]], note: str) -> None:
    found = ranks(regrets(**learners))
    assert found.note.startswith(note)
    assert math.isnan(found.critical_difference) == (found.blocks < 2)


def test_learners_that_are_always_equal_do_not_differ() -> None:
    found = ranks(regrets(a=[1, 2, 3], b=[1, 2, 3], c=[1, 2, 3]))
    assert (found.average, found.statistic, found.p_value) == ((2, 2, 2), 0, 1)


def test_what_cannot_be_ranked_or_read_is_refused() -> None:
    with pytest.raises(InputError, match="one learner, 'a'; expected at least two"):
        ranks(regrets(a=[1]))
    with pytest.raises(InputError, match="was run by all learners"):
        ranks(regrets(a=[1, NAN], b=[NAN, 1]))
    with pytest.raises(InputError, match="no finished run"):
        regrets(a=[NAN])
    twice = made_up({("star", "a"): [1, 2]})
    object.__setattr__(twice, "runs", twice.runs.set_column(3, "repeat", [[0, 0]]))
    with pytest.raises(InputError, match="'star', learner 'a', repeat 0 has 2 runs; expected one"):
        FinalRegrets.of(twice)


def test_unknown_names_are_answered_with_close_ones() -> None:
    table = FinalRegrets.of(sweep())
    with pytest.raises(SettingError, match=r"learner is 'FALCN'; did you mean 'FALCON'\? expected one of 'AdaCB.G', "):
        table.learner("FALCN")
    with pytest.raises(SettingError, match=r"did you mean 'AdaCB\.G' or 'RegCB\.G'"):
        table.learner("cb.g")
    with pytest.raises(SettingError, match="environment is 'moon'; expected one of 'star n_arms=5'"):
        table.environment("moon")
