import json
import math
from dataclasses import replace

import pytest

import graphbandit as gb
from graphbandit.experiments import clique_table
from graphbandit.experiments.clique_table import CliqueTable, CliqueTableResult, Row, run_clique_table
from graphbandit.experiments.packaged import packaged
from graphbandit.experiments.runner import Progress

SMALL = CliqueTable(arms=(5, 10), rounds=64, repeats=3)


@pytest.fixture(scope="module")
def small() -> CliqueTableResult:
    return run_clique_table(SMALL)


def result_with(means: dict[tuple[str, str], list[float]], **settings: object) -> CliqueTableResult:
    """A made-up result; series that are not named are 1 everywhere."""
    table = CliqueTable(**settings)
    rows = []
    for reading in clique_table.READINGS:
        for form in clique_table.FORMS:
            values = means.get((reading, form), [1.0] * len(table.arms))
            for k, mean in zip(table.arms, values, strict=True):
                spread = {"std": 6.0, "standard_error": 6.0 / math.sqrt(table.repeats), "repeats": table.repeats}
                rows.append(Row(arms=k, reading=reading, form=form, mean=mean, **spread))
    return CliqueTableResult(settings=table, rows=tuple(rows), curve_rounds=None, curves={})


def test_the_defaults_are_the_papers() -> None:
    settings = CliqueTable()
    assert (settings.arms, settings.rounds, settings.repeats) == ((20, 40, 60, 80, 100), 2048, 40)
    assert settings.is_printed
    assert not replace(settings, rounds=64).is_printed
    assert (settings.scale("literal"), settings.scale("rescaled")) == (1.0, 8.0)


def test_rows_are_those_of_simulate(small: CliqueTableResult) -> None:
    assert len(small.rows) == 2 * 2 * 3
    environment = gb.environments.paper(n_arms=10, graph="clique_group", reward_scale=8)
    alone = gb.simulate({"ours": gb.AdaCBG()}, environment, rounds=64, repeats=3).summary()["ours"]
    row = small.series("rescaled", "ours")[1]
    assert (row.arms, row.mean, row.std, row.standard_error) == (10, alone.mean, alone.std, alone.standard_error)


def test_curves_end_at_the_rows(small: CliqueTableResult) -> None:
    assert small.curve_rounds[-1] == 64
    for row in small.rows:
        mean, std = small.curves[row.arms, row.reading, row.form]
        assert mean[-1] == pytest.approx(row.mean)
        assert std[-1] == pytest.approx(row.std)


def test_files_repeat_to_the_byte_for_any_number_of_workers(small: CliqueTableResult, tmp_path) -> None:
    names = ["table.json", "curves.csv", "table.png", "table.svg", "curves.png", "curves.svg"]
    again = run_clique_table(SMALL, workers=2)
    first, second = small.write(tmp_path / "a"), again.write(tmp_path / "b")
    assert [path.name for path in first] == names
    for x, y in zip(first, second, strict=True):
        assert x.read_bytes() == y.read_bytes(), x.name
    assert run_clique_table(replace(SMALL, seed=1)).to_json() != small.to_json()


def test_json_says_what_was_run(small: CliqueTableResult) -> None:
    content = json.loads(small.to_json())
    assert content["version"] == gb.__version__
    assert content["settings"] == {
        "arms": [5, 10],
        "n_cliques": 5,
        "rounds": 64,
        "repeats": 3,
        "rescale": 8.0,
        "seed": 0,
    }
    assert len(content["rows"]) == 12
    assert set(content["rows"][0]) == {"arms", "reading", "form", "mean", "std", "standard_error", "repeats"}
    assert content["printed"][0] == {"arms": 20, "mean": 329.86, "std": 31.18}


def test_a_single_repeat_has_no_deviation_and_no_verdict(tmp_path) -> None:
    result = run_clique_table(CliqueTable(arms=(5,), rounds=1, repeats=1))
    result.write(tmp_path)
    row = json.loads(result.to_json())["rows"][0]
    assert row["std"] is None
    verdict = result.verdict("literal", "paper")
    assert (verdict.trend, verdict.every_step, verdict.shares, verdict.agrees) == (None, None, None, None)
    assert [claim.holds for claim in result.claims()] == [None, None, None]


def test_verdicts_on_figures_that_are_known() -> None:
    printed = [mean for mean, _ in clique_table.PRINTED.values()]
    result = result_with({("literal", "paper"): printed, ("rescaled", "paper"): [40, 50, 39, 41, 40]})
    same, flat = result.verdict("literal", "paper"), result.verdict("rescaled", "paper")
    assert (same.trend, same.every_step, same.shares, same.agrees) == ("falls", True, (1.0, 1.0), True)
    assert (flat.trend, flat.every_step, flat.agrees) == ("flat", False, False)
    assert [claim.holds for claim in result.claims()] == [True, False, True]

    growing = result_with({("literal", "paper"): [10, 20, 30, 40, 50], ("rescaled", "paper"): printed[::-1]})
    assert growing.verdict("literal", "paper").trend == "grows"
    assert [claim.holds for claim in growing.claims()] == [False, False, False]


def test_nothing_is_compared_with_the_paper_in_another_setting() -> None:
    result = result_with({}, rounds=64)
    assert all(verdict.shares is None and verdict.agrees is None for verdict in result.verdicts())


def test_progress_counts_every_run_once() -> None:
    seen: list[int] = []
    totals: set[int] = set()

    def watch(progress: Progress) -> None:
        seen.append(progress.done)
        totals.add(progress.total)

    run_clique_table(replace(SMALL, rounds=2), workers=2, progress=watch)
    assert seen == sorted(seen)
    assert (seen[0], seen[-1], totals) == (0, 36, {36})


def test_the_settings_are_those_of_the_file() -> None:
    assert CliqueTable().experiment() == packaged("clique-table")


def test_what_has_finished_is_not_run_again(small: CliqueTableResult, tmp_path, monkeypatch) -> None:
    assert run_clique_table(SMALL, out=tmp_path).to_json() == small.to_json()
    monkeypatch.setattr("graphbandit.experiments.engines.in_process.run_task", None)
    assert run_clique_table(SMALL, out=tmp_path).to_json() == small.to_json()
    assert len(run_clique_table(replace(SMALL, arms=(5,)), out=tmp_path).rows) == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arms": ()}, "arms is"),
        ({"arms": (40, 20)}, "ascending"),
        ({"arms": (4,)}, "arms is 4; expected a whole number of at least 5"),
        ({"rounds": 0}, "rounds is 0"),
        ({"repeats": 0}, "repeats is 0"),
        ({"rescale": 0.0}, "rescale is 0"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_settings_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(gb.errors.SettingError, match=message):
        CliqueTable(**change)


def test_a_folder_that_cannot_be_made_is_named(small: CliqueTableResult, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(gb.errors.SavedFileError, match="file cannot be written to"):
        small.write(tmp_path / "file")
