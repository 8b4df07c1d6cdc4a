import html
import re
from pathlib import Path

import numpy as np
import pytest
from markupsafe import escape

from graphbandit.errors import InputError, SavedFileError
from graphbandit.experiments import Experiment, Grid, InProcess
from graphbandit.experiments import run as run_experiment
from graphbandit.experiments.analysis.statistics import FinalRegrets, paired_difference
from graphbandit.experiments.report.experiment import report_html, write_report
from graphbandit.plots.pages.page import END_OF_TIMINGS, TIMINGS
from tests.helpers.experiment_results import made_up, sweep
from tests.helpers.pages import check_addresses, check_outline, section, text

NAN = float("nan")
DOCUMENTATION = (Path(__file__).parents[2] / "docs" / "reports.md").read_text(encoding="utf-8")
FAILURE = {
    "key": "k",
    "environment": "star n_arms=5",
    "learner": "FALCON",
    "repeat": 3,
    "settings": {"learner": {"kind": "Falcon"}},
    "error": "Traceback (most recent call last):\nValueError: gamma is <b>-1</b>",
}


@pytest.fixture(scope="module")
def page() -> str:
    return report_html(sweep(failures=[FAILURE]))


def test_the_page_is_whole_and_its_ids_are_unique(page: str) -> None:
    check_outline(page)


def test_nothing_is_fetched(page: str) -> None:
    assert "default-src 'none'" in page
    check_addresses(page)


def test_the_summary_marks_the_best_and_what_is_close(page: str) -> None:
    summary = section(page, "summary")
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</th>(.*?)</tr>", summary)
    assert [name for name, _ in rows] == ["AdaCB.G", "RegCB.G", "FALCON", "Uniform"]
    table = FinalRegrets.of(sweep())
    for name, cells in rows:
        values = [float(value) for value in re.findall(r'data-value="([^"]*)"', cells)]
        expected = [table.sample(place, name).mean() for place in table.environments]
        np.testing.assert_allclose(values[:3], expected, rtol=1e-8)
    assert rows[0][1].count('class="best"') == 3
    assert [cell.count('class="near"') for _, cell in rows] == [0, 2, 0, 0]
    assert "AdaCB.G has the lowest mean regret in 3 of 3 environments, in 1 significantly below" in text(summary)


def test_comparisons_are_those_of_the_statistics(page: str) -> None:
    told = text(section(page, "comparisons"))
    pair = paired_difference(FinalRegrets.of(sweep()), "cliques", "AdaCB.G", "FALCON")
    assert f"{pair.low:.1f} to {pair.high:.1f} 12 of 12 lower regret" in told
    assert "undecided: the interval holds 0" in told


def test_every_figure_is_there_and_is_told_in_words(page: str) -> None:
    labels = re.findall(r'<svg role="img" aria-label="([^"]*)"', page)
    assert len(labels) == page.count("<svg") == 3 * 2 + 1 + 1 + 1  # per environment, heat map, ranks, time
    assert "Mean cumulative regret in cliques; at the end: AdaCB.G 57.6, RegCB.G 58.9" in " ".join(labels)
    assert "#0072b2" not in "".join(re.findall(r"<svg.*?</svg>", page, re.DOTALL)).lower()  # the page's own colours


def test_what_was_run_is_told(page: str) -> None:
    told = text(section(page, "run"))
    for words in ("rounds 256", "repeats 12", "seed 7", "runs 144, all finished", "graphbandit 1.2", "numpy 2.0"):
        assert words in told
    assert "star n_arms=5 paper: n_arms = 5" in told
    assert "pip install graphbandit==1.2" in page
    assert "graphbandit run made-up.toml --out made-up" in page


def test_what_needs_a_word_has_one(page: str) -> None:
    told = text(section(page, "settings"))
    assert "over two settings: the darker, the more. A cross marks values that were not run together." in told
    assert "Settings of environments are shown for AdaCB.G, which ranks best." in told
    assert "it may join two learners that the paired intervals above tell apart" in text(section(page, "ranks"))


def test_failures_and_unfinished_runs_are_told(page: str) -> None:
    assert "FALCON in star n_arms=5, repeat 3: ValueError: gamma is &lt;b&gt;-1&lt;/b&gt;" in page
    assert "Traceback" in section(page, "failures")
    whole = report_html(made_up({("s", "a"): [1.0, 2.0], ("s", "b"): [1.0, NAN]}))
    assert 'id="failures"' not in whole
    assert "1 run not finished." in whole
    assert "3 of 4 finished" in text(section(whole, "run"))


def test_names_are_text_and_never_markup() -> None:
    nasty = '<script>alert("1")</script> & $x^$ {{ 7 * 7 }} {% raw %}'
    page = report_html(made_up({(nasty, nasty): [1.0, 2.0], (nasty, "b"): [2.0, 4.0]}, name=nasty))
    assert "<script>alert" not in page
    assert f"<title>{escape(nasty)}</title>" in page
    assert nasty in html.unescape(text(section(page, "summary")))
    check_outline(page)


def test_the_same_results_give_the_same_bytes_but_for_the_timings(page: str) -> None:
    assert report_html(sweep(failures=[FAILURE])) == page
    slower = report_html(sweep(failures=[FAILURE], seconds=3.0))
    assert slower != page
    cut = [re.sub(f"{TIMINGS}.*?{END_OF_TIMINGS}", "", one, flags=re.DOTALL) for one in (page, slower)]
    assert cut[0] == cut[1]
    assert "0.106 s" in section(page, "timings")


@pytest.mark.parametrize(
    ("regrets", "there", "missing"),
    [
        ({("s", "a"): [1.0, 2.0]}, "a is the only learner", ["comparisons", "ranks", "settings"]),
        ({("s", "a"): [1.0], ("s", "b"): [2.0]}, "one pair says nothing about the next", ["settings"]),
        ({("s", "a"): [1.0, NAN], ("s", "b"): [NAN, 2.0]}, "no repeat was run by both", ["ranks"]),
        ({("s", "a"): [1.0, 2.0], ("t", "b"): [1.0, 2.0]}, "not run", ["comparisons", "ranks"]),
        ({("s", "a"): [0.0, 0.0], ("s", "b"): [0.0, 0.0]}, "no difference in any pair", ["settings"]),
    ],
)
def test_little_results_have_a_page_too(regrets: dict, there: str, missing: list[str]) -> None:
    page = report_html(made_up(regrets))
    assert there in text(page)
    for name in missing:
        assert section(page, name) == ""
    assert "nan" not in text(page).lower().split()


def test_many_environments_have_figures_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphbandit.experiments.report.sections.environments.FIGURES", 2)
    page = report_html(made_up({(f"e{i}", name): [1.0, 2.0 + i] for i in range(4) for name in "ab"}))
    assert "Figures of the first 2 of 4 environments." in page
    assert "e3" in text(section(page, "summary"))


def test_no_results_and_no_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no finished run"):
        report_html(made_up({("s", "a"): [NAN]}))
    with pytest.raises(SavedFileError, match="cannot be written"):
        write_report(made_up({("s", "a"): [1.0]}), tmp_path / "nowhere" / "report.html")


def test_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.chdir(tmp_path)
    grid = Grid("paper", {"graph": "star", "n_arms": [5, 6], "reward_scale": [1.0, 8.0]})
    learners = {"AdaCB.G": Grid("AdaCBG"), "FALCON": Grid("Falcon")}
    experiment = Experiment(name="stars", rounds=16, repeats=2, environments={"star": grid}, learners=learners)
    run_experiment(experiment, out="results/stars", engine=InProcess())
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENTATION, flags=re.DOTALL)
    exec(compile(code, "reports.md", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) == 2
    names = ["heat-map.pdf", "paired.pdf", "ranks.svg", "regret.pdf", "stars.html", "time.png"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == names


def test_the_documentation_names_every_section(page: str) -> None:
    titles = re.findall(r"<h2 [^>]*>(.*?)</h2>", page)
    assert len(titles) > 5
    for title in titles:
        assert f"| {title} |" in DOCUMENTATION
