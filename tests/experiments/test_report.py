import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from graphbandit.cli.app import app
from graphbandit.errors import InputError, SavedFileError
from graphbandit.experiments import Experiment, Grid, InProcess
from graphbandit.experiments import run as run_experiment
from graphbandit.experiments.analysis.statistics import FinalRegrets, paired_difference
from graphbandit.experiments.report.page import END_OF_TIMINGS, TIMINGS, report_html, write_report
from tests.browser import needs_chromium, screenshot, visit
from tests.experiment_results import made_up, sweep, tuning

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


@pytest.fixture(scope="module")
def pages(page: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    (folder / "sweep.html").write_text(page, encoding="utf-8")
    return {"sweep": folder / "sweep.html", "tuning": write_report(tuning(), folder / "tuning.html")}


def section(page: str, name: str) -> str:
    found = re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)
    return found.group(0) if found else ""


def text(html: str) -> str:
    return " ".join(re.sub(r"<svg.*?</svg>|<[^>]+>", " ", html, flags=re.DOTALL).split())


class Outline(HTMLParser):
    """Collects ids, and checks that what is opened is closed in turn."""

    EMPTY = frozenset({"meta", "use", "path", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        self.links += [value or "" for name, value in attrs if name in ("href", "xlink:href", "src")]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_its_ids_are_unique(page: str) -> None:
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))
    assert {link.removeprefix("#") for link in outline.links} <= set(outline.ids)


def test_nothing_is_fetched(page: str) -> None:
    assert "default-src 'none'" in page
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", page))
    assert addresses == {"http://www.w3.org/1999/xlink", "http://www.w3.org/2000/svg"}  # names, not places
    assert not re.search(r"@import|<link|<img|<script src|url\((?!#)", page)


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


def test_failures_and_unfinished_runs_are_told(page: str) -> None:
    assert "FALCON in star n_arms=5, repeat 3: ValueError: gamma is &lt;b&gt;-1&lt;/b&gt;" in page
    assert "Traceback" in section(page, "failures")
    whole = report_html(made_up({("s", "a"): [1.0, 2.0], ("s", "b"): [1.0, NAN]}))
    assert 'id="failures"' not in whole
    assert "1 run not finished." in whole
    assert "3 of 4 finished" in text(section(whole, "run"))


def test_names_are_text_and_never_markup() -> None:
    nasty = '<script>alert("1")</script> & $title'
    page = report_html(made_up({(nasty, nasty): [1.0, 2.0], (nasty, "b"): [2.0, 4.0]}, name=nasty))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; $title" in page
    Outline().feed(page)


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
    monkeypatch.setattr("graphbandit.experiments.report.sections.FIGURES", 2)
    page = report_html(made_up({(f"e{i}", name): [1.0, 2.0 + i] for i in range(4) for name in "ab"}))
    assert "Figures of the first 2 of 4 environments." in page
    assert "e3" in text(section(page, "summary"))


def test_no_results_and_no_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no finished run"):
        report_html(made_up({("s", "a"): [NAN]}))
    with pytest.raises(SavedFileError, match="cannot be written"):
        write_report(made_up({("s", "a"): [1.0]}), tmp_path / "nowhere" / "report.html")


SEEN = """
const figures = Array.from(document.querySelectorAll("figure svg"), (figure) => figure.getBoundingClientRect());
return {
  width: innerWidth,
  scroll: document.documentElement.scrollWidth,
  figures: figures.map((box) => [box.width, box.height]),
  ground: getComputedStyle(document.body).backgroundColor,
  ink: getComputedStyle(document.querySelector("figure svg [style*='--ink']")).fill,
  boxes: Array.from(document.querySelectorAll(".scroll"), (box) => box.scrollWidth > box.clientWidth + 1),
};
"""


@needs_chromium
@pytest.mark.parametrize("width", [390, 1200])
@pytest.mark.parametrize("which", ["sweep", "tuning"])
def test_the_page_fits_and_its_figures_show(pages: dict[str, Path], which: str, width: int, tmp_path: Path) -> None:
    seen = visit(pages[which], SEEN, tmp_path, width=width)
    assert seen.console == []
    assert seen.outcome["width"] == width
    assert seen.outcome["scroll"] == width  # the page itself never scrolls sideways; wide tables do, in their boxes
    assert any(seen.outcome["boxes"]) or width > 390
    assert len(seen.outcome["figures"]) == {"sweep": 9, "tuning": 5}[which]
    assert min(min(size) for size in seen.outcome["figures"]) > 60


@needs_chromium
def test_tables_sort_when_their_headings_are_clicked(pages: dict[str, Path], tmp_path: Path) -> None:
    script = """
    const table = document.querySelector("#summary table");
    const heads = Array.from(table.tHead.rows[0].cells);
    const state = () => [Array.from(table.tBodies[0].rows, (row) => row.cells[0].textContent),
                         heads.map((head) => head.getAttribute("aria-sort"))];
    const states = [state()];
    for (const column of [0, 0, 2, 2]) { heads[column].querySelector("button").click(); states.push(state()); }
    return states;
    """
    seen = visit(pages["sweep"], script, tmp_path)
    assert seen.console == []
    names = ["AdaCB.G", "RegCB.G", "FALCON", "Uniform"]
    by_name = ["AdaCB.G", "FALCON", "RegCB.G", "Uniform"]
    up, down = "ascending", "descending"
    assert seen.outcome == [
        [names, [None, None, None, None, up]],
        [by_name, [up, None, None, None, None]],
        [by_name[::-1], [down, None, None, None, None]],
        [names, [None, None, up, None, None]],
        [names[::-1], [None, None, down, None, None]],
    ]


@needs_chromium
def test_cells_without_a_number_stay_last(tmp_path: Path) -> None:
    page = write_report(made_up({("s", "a"): [5.0], ("s", "b"): [1.0], ("t", "c"): [1.0]}), tmp_path / "page.html")
    script = """
    const table = document.querySelector("#summary table"), button = table.tHead.rows[0].cells[1].firstChild;
    const names = () => Array.from(table.tBodies[0].rows, (row) => row.cells[0].textContent).join("");
    const found = [];
    for (let i = 0; i < 2; i++) { button.click(); found.push(names()); }
    return found;
    """
    assert visit(page, script, tmp_path).outcome == ["abc", "bac"]


@needs_chromium
@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark_follow_the_system_until_chosen_and_are_remembered(
    pages: dict[str, Path], dark: bool, tmp_path: Path
) -> None:
    look = """({
      ground: getComputedStyle(document.body).backgroundColor, theme: document.documentElement.dataset.theme ?? null,
      ink: getComputedStyle(document.querySelector("figure svg [style*='--ink']")).fill,
      button: document.getElementById("theme").textContent })"""
    script = f"""
    if (!window.name) {{
      window.name = JSON.stringify([{look}]);
      document.getElementById("theme").click();
      window.name = JSON.stringify([...JSON.parse(window.name), {look}]);
      location.reload();
      return undefined;
    }}
    return [...JSON.parse(window.name), {look}];
    """
    seen = visit(pages["sweep"], script, tmp_path, dark=dark)
    assert seen.console == []
    light = {"ground": "rgb(246, 246, 244)", "ink": "rgb(34, 34, 34)", "button": "Dark"}
    night = {"ground": "rgb(20, 21, 23)", "ink": "rgb(233, 233, 231)", "button": "Light"}
    first, second = (night, light) if dark else (light, night)
    chosen = "light" if dark else "dark"
    assert seen.outcome == [{**first, "theme": None}, {**second, "theme": chosen}, {**second, "theme": chosen}]


@needs_chromium
def test_what_a_reader_sees_is_light_or_dark(pages: dict[str, Path], tmp_path: Path) -> None:
    from matplotlib.image import imread

    shades = []
    for dark in (False, True):
        screenshot(pages["sweep"], tmp_path / "page.png", tmp_path, width=600, height=700, dark=dark)
        shades.append(float(imread(tmp_path / "page.png")[..., :3].mean()))
    assert shades[0] > 0.85
    assert shades[1] < 0.25


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("results") / "stars"
    experiment = Experiment(
        name="two stars",
        rounds=32,
        repeats=3,
        environments={"star": Grid("paper", {"graph": "star", "n_arms": [5, 6]})},
        learners={"ours": Grid("AdaCBG"), "FALCON": Grid("Falcon")},
    )
    run_experiment(experiment, out=path, engine=InProcess())
    return path


def test_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.chdir(tmp_path)
    grid = Grid("paper", {"graph": "star", "n_arms": [5, 6], "reward_scale": [1.0, 8.0]})
    learners = {"ours": Grid("AdaCBG"), "FALCON": Grid("Falcon")}
    experiment = Experiment(name="stars", rounds=16, repeats=2, environments={"star": grid}, learners=learners)
    run_experiment(experiment, out="results/stars", engine=InProcess())
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENTATION, flags=re.DOTALL)
    exec(compile(code, "reports.md", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) == 2
    names = ["heat-map.pdf", "paired.pdf", "ranks.svg", "regret.pdf", "stars.html", "time.png"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == names


def test_the_documentation_names_every_section(page: str) -> None:
    for title in re.findall(r"<h2 [^>]*>(.*?)</h2>", page):
        assert f"| {title} |" in DOCUMENTATION


def command(*arguments: object) -> Result:
    return CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1"}).invoke(app, [str(x) for x in arguments])


def test_report_command_writes_the_page(directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = command("report", directory)
    assert done.exit_code == 0, done.output
    assert done.output.replace("\n", "") == f"Written to {directory / 'report.html'}"
    page = (directory / "report.html").read_text(encoding="utf-8")
    assert "<title>two stars</title>" in page
    assert "[learners.&quot;FALCON&quot;]" in page  # the experiment's file, to run it again
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: bool(opened.append(address)))
    done = command("report", directory, "--out", tmp_path / "other.html", "--open")
    assert done.exit_code == 0
    assert (tmp_path / "other.html").read_text(encoding="utf-8") == page
    assert opened == [(tmp_path / "other.html").as_uri()]
    assert "No browser could be opened here." in done.stderr


def test_compare_command_says_who_wins(directory: Path) -> None:
    from graphbandit.experiments.results.results import Results

    done = command("compare", directory, "ours", "FALCON")
    assert done.exit_code == 0, done.output
    for place in ("star n_arms=5", "star n_arms=6"):
        pair = paired_difference(FinalRegrets.of(Results.open(directory)), place, "ours", "FALCON")
        assert place in done.output
        assert f"ours wins {pair.wins}, FALCON wins {pair.losses}" in done.output
        assert pair.verdict in done.output
    assert "95 % interval" in done.output
    assert ", 3 pairs" in done.output
    assert "of 2 environments, FALCON in" in done.output
    assert "of all 6 pairs" in done.output
    one = command("compare", directory, "FALCON", "ours", "--environment", "star n_arms=6")
    assert one.exit_code == 0
    assert "n_arms=5" not in one.output
    assert "environments" not in one.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["compare", "DIR", "our", "FALCON"],
            "learner is 'our'; did you mean 'ours'? expected one of 'ours', 'FALCON'",
        ),
        (["compare", "DIR", "ours", "ours"], "both learners are 'ours'; expected two different ones"),
        (["compare", "DIR", "ours", "FALCON", "--environment", "moon"], "environment is 'moon'; expected one of"),
        (["compare", "nowhere", "a", "b"], "nowhere holds no results"),
        (["report", "nowhere"], "nowhere holds no results"),
        (["report", "DIR", "--out", "nowhere/page.html"], "cannot be written"),
    ],
)
def test_wrong_commands_are_one_line_and_exit_code_2(arguments: list[str], message: str, directory: Path) -> None:
    done = command(*(directory if word == "DIR" else word for word in arguments))
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.startswith("graphbandit: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
