"""The reproduction of the paper from end to end, in a size that takes seconds."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import Result

import graphbandit as gb
from graphbandit.errors import EngineError
from graphbandit.experiments.describe.environment_kinds import build_environment
from graphbandit.experiments.results.reading import Results, part_files
from graphbandit.studies import Finding, Findings, Plan, run_plan
from graphbandit.studies.paper.bounds import CONTEXTS, INSTANCES, horizon_bounds, independence_bound
from graphbandit.studies.paper.figures.clique_table import plot_clique_table
from graphbandit.studies.paper.figures.over_time import plot_kinds
from graphbandit.studies.paper.figures.trends import plot_trends
from graphbandit.studies.paper.names import READINGS
from graphbandit.studies.paper.set_sizes import SetSizes, set_sizes
from graphbandit.studies.paper.star import star_decision
from graphbandit.studies.paper.study import STUDY
from graphbandit.studies.paper.tables import set_size_table, table_of
from graphbandit.studies.paper.trends import trends
from tests.helpers.browser import needs_chromium, visit
from tests.helpers.commands import files_of, succeed
from tests.helpers.pages import check_addresses, check_outline, section, text
from tests.studies.paper_findings import findings

TITLES = STUDY.experiments
TINY = ["--repeats", "2", "--rounds", "32"]
SITTING = """
import signal, sys
from graphbandit.experiments.results.writing import ResultsWriter
from graphbandit.studies import Plan, run_plan

if sys.argv[2:] == ["unfinished"]:
    ResultsWriter.merge = lambda self: signal.pause()  # it is killed before it has finished

if __name__ == "__main__":
    run_plan(Plan(study="paper", repeats=2, rounds=32, only=("ablation", "parts")), out=sys.argv[1], workers=2)
"""


@pytest.fixture(scope="module")
def edges(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of 600 members: a ring, with friends of friends."""
    path = tmp_path_factory.mktemp("network") / "mine.csv"
    lines = [f"{i},{(i + step) % 600}" for i in range(600) for step in (1, 2, 7)]
    path.write_text("source,target\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, edges: Path) -> tuple[Path, Result]:
    """Everything, on the network of a file."""
    out = tmp_path_factory.mktemp("paper") / "out"
    return out, succeed("reproduce", *TINY, "--out", out, "--workers", 1, "--network", edges)


def parquet_bytes(directory: Path) -> dict[str, bytes]:
    return {name: content for name, content in files_of(directory).items() if name.endswith(".parquet")}


def test_the_whole_of_it_runs_and_says_what_it_found(whole: tuple[Path, Result]) -> None:
    out, result = whole
    assert {path.name for path in out.iterdir()} == {"figures", "report.html", "runs", "set-sizes.parquet", "tables.md"}
    directories = {path.name for path in (out / "runs").iterdir()}
    assert directories == set(TITLES)
    figures = {path.name for path in (out / "figures").iterdir()}
    names = {*TITLES, "clique-curves", "set-sizes", "star", "star-decision"}
    assert figures == {f"{name}{suffix}" for name in names for suffix in (".png", ".svg")}
    for words in (
        "AdaCB.G has lower regret than RegCB.G and FALCON",
        "rescaled, paper's form",
        "100 connected subgraphs of 100 nodes of mine.csv (600 nodes, 1,800 edges), by union-find.",
        f"Page: {out / 'report.html'}",
        "s of processor time",
        "literal: rewards as the paper prints them; rescaled: ",
        "probe, no F_m: all arms are candidates; ",
        "quick: 2 repeats; the figures in the README and the documents are of --full",
    ):
        assert words.lower() in result.stdout.lower(), words
    assert result.stdout.splitlines()[-1].startswith("claim")
    assert "table: not tested" in result.stdout.splitlines()[-1]


def test_results_are_parquet_with_settings_versions_and_seed(whole: tuple[Path, Result]) -> None:
    results = Results.open(whole[0] / "runs" / "flixster")
    assert results.experiment.seed == 0
    assert results.n_planned == results.runs.num_rows == 2 * 4 * 2
    assert '"sampler": "union-find"' in results.runs.column("settings")[0].as_py()
    assert set(results.timings.column("graphbandit").to_pylist()) == {gb.__version__}


def test_the_page_is_whole_and_needs_no_network(whole: tuple[Path, Result]) -> None:
    page = (whole[0] / "report.html").read_text(encoding="utf-8")
    check_outline(page)
    check_addresses(page)
    assert page.count("<svg") == len(TITLES) + 4
    told = text(section(page, "claims"))
    for words in ("no graph parameter is needed as input", "Rule:", "rescaled, our form"):
        assert words in told
    assert "329.86" not in told
    assert "printed in the paper" in text(section(page, "clique-table"))
    assert "mine.csv" in text(section(page, "flixster"))
    assert "--network" in text(section(page, "run"))
    assert "density of the random graphs 0.05" in text(section(page, "choices"))


@needs_chromium
@pytest.mark.parametrize(("width", "dark"), [(390, True), (1200, False)])
def test_a_browser_shows_it(whole: tuple[Path, Result], width: int, dark: bool) -> None:
    script = """
    const figures = Array.from(document.querySelectorAll("figure svg"), (f) => f.getBoundingClientRect());
    return {
      scroll: document.documentElement.scrollWidth,
      figures: figures.map((box) => Math.min(box.width, box.height)),
      badges: document.querySelectorAll("#claims .answer").length,
      first: document.querySelector("main section").id,
      sideways: [...document.querySelectorAll("#claims .stack")].map((e) => e.scrollWidth - e.parentNode.clientWidth),
    };
    """
    seen = visit(whole[0] / "report.html", script, width=width, dark=dark)
    assert seen.console == []
    assert seen.outcome["scroll"] == width
    assert len(seen.outcome["figures"]) == len(TITLES) + 4
    assert min(seen.outcome["figures"]) > 100
    assert seen.outcome["badges"] > 40
    assert seen.outcome["first"] == "claims"
    assert max(seen.outcome["sideways"]) <= 0  # no text of the claims is hidden


def test_without_a_file_the_stand_in_is_named(tmp_path: Path) -> None:
    asked = ["--repeats", 1, "--rounds", 4, "--only", "flixster"]
    result = succeed("reproduce", *asked, "--out", tmp_path, "--workers", 1)
    assert "stand-in for Flixster" in result.stdout
    assert "stand-in for Flixster" in text(section((tmp_path / "report.html").read_text(), "flixster"))


def test_any_number_of_workers_and_a_kill_give_the_same_bytes(whole: tuple[Path, Result], tmp_path: Path) -> None:
    """The first sitting is killed as soon as something has finished, the second goes on where it was."""
    (tmp_path / "sitting.py").write_text(SITTING)
    arguments = [sys.executable, str(tmp_path / "sitting.py"), str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    first = [*arguments, "unfinished"]
    process = subprocess.Popen(first, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    runs = tmp_path / "runs" / "ablation"
    while process.poll() is None and not part_files(runs):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (runs / "runs.parquet").exists()
    kept = sum(pq.read_table(path).num_rows for path in part_files(runs))
    assert kept > 0
    subprocess.run(arguments, env=environment, check=True, stdout=subprocess.DEVNULL)
    expected = parquet_bytes(whole[0])
    found = parquet_bytes(tmp_path)
    assert len(found) == 2 * 3
    assert all(expected[name] == content for name, content in found.items())


def test_what_two_experiments_share_is_run_once(whole: tuple[Path, Result]) -> None:
    ablation, parts = (Results.open(whole[0] / "runs" / name) for name in ("ablation", "parts"))
    shared = set(ablation.runs.column("key").to_pylist()) & set(parts.runs.column("key").to_pylist())
    assert len(shared) == 6 * 3 * 2  # environments, the learners both have, repeats
    ended = [
        dict(zip(*(r.timings.column(c).to_pylist() for c in ("key", "ended")), strict=True)) for r in (ablation, parts)
    ]
    assert all(ended[0][key] == ended[1][key] for key in shared)


def test_nothing_is_run_again(whole: tuple[Path, Result], edges: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphbandit.experiments.running.engines.in_process.run_task", None)
    plan = Plan(study="paper", repeats=2, rounds=32, network=edges, only=("flixster", "ablation"))
    seen = []
    run_plan(plan, out=whole[0], workers=1, progress=lambda whole: seen.append((whole.runs, whole.current)))
    assert seen == [((64, 64), "done")]


def test_time_left_is_told_once_something_is_done(tmp_path: Path) -> None:
    seen: list[tuple[tuple[int, int], float | None]] = []
    plan = Plan(study="paper", repeats=1, rounds=4, only=("ablation", "horizon"))
    run_plan(plan, out=tmp_path, workers=1, progress=lambda whole: seen.append((whole.runs, whole.seconds_left)))
    assert seen[0] == ((0, 32), None)
    assert seen[-1] == ((32, 32), 0.0)
    assert all(left is not None and left >= 0 for _, left in seen[1:])


def test_failures_end_it_with_their_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise ValueError("out of luck")

    monkeypatch.setattr("graphbandit.experiments.running.tasks.run_repeat", broken)
    with pytest.raises(EngineError, match=r"(?s)8 runs failed.*out of luck"):
        run_plan(Plan(study="paper", repeats=1, rounds=2, only=("horizon",)), out=tmp_path, workers=1)


def test_exploration_sets_exceed_the_independence_number_on_directed_graphs_only() -> None:
    directed = Plan(study="paper", only=("directed",), rounds=64).experiments()["directed"]
    sizes = set_sizes(directed, STUDY.experiment("ablation"))
    directed, undirected = list(sizes.sizes)[:-1], list(sizes.sizes)[-1]
    assert undirected.startswith("random")
    assert all(sizes.excess(undirected, learner) == (0, 0) for learner in sizes.sizes[undirected])
    assert all(sizes.excess(place, "RegCB.G")[0] > 32 for place in directed)
    assert "FALCON" not in sizes.sizes[undirected]
    assert sizes.table().num_rows == 3 * 3 * 64
    assert len(set_size_table(sizes).rows) == 9


def test_excess_counts_rounds_and_the_most() -> None:
    sizes = SetSizes(sizes={"g": {"a": np.array([3, 5, 9])}}, independence={"g": np.array([4, 4, 4])})
    assert sizes.excess("g", "a") == (2, 5)


def test_trends_have_exponents_and_bounds() -> None:
    made = findings(only=("independence", "horizon"))
    literal, rescaled = trends(made, "independence")
    assert (literal.reading, rescaled.reading) == tuple(READINGS)
    assert literal.slope("AdaCB.G, paper").mean == pytest.approx(0.5, abs=0.02)
    assert literal.slope("FALCON").mean == pytest.approx(0.0, abs=0.02)
    (bound,) = literal.bounds.values()
    np.testing.assert_allclose(bound[1:] / bound[0], np.sqrt([5, 50]), rtol=1e-12)
    horizon = trends(made, "horizon")[0]
    assert horizon.values.tolist() == [128, 512, 2048]
    assert all((np.diff(bound) > 0).all() for bound in horizon.bounds.values())
    assert trends(made, "arms") == []


def test_pictures_say_what_they_show() -> None:
    made = findings(only=("ablation", "arms", "horizon", "clique-table"))
    panels = plot_kinds(made.experiments["ablation"]).axes
    assert {axes.get_yscale() for axes in panels} == {"log"}
    assert all(axes.get_ylim()[0] < line.get_ydata()[-1] for axes in panels for line in axes.lines)
    assert panels[0].get_ylabel() == "cumulative regret:\nmean ± one deviation"
    for name, after in (("arms", "2048 rounds"), ("horizon", "the last round")):
        axes = plot_trends(trends(made, name), "x").axes[0]
        assert axes.get_ylabel() == f"regret after {after}:\nmean, 95 % interval"
    written = [text.get_text() for text in plot_clique_table(made.experiments["clique-table"]).axes[0].texts]
    assert "probe, no Fₘ" in written


def test_bounds_are_those_of_the_theory() -> None:
    point = STUDY.experiment("horizon").environment_points()[0]
    minimax, gap_dependent = horizon_bounds(point, np.array([256.0, 2048.0]), seed=0)
    sizes = {"mean_independence_number": 5.0, "log_size": np.log(50)}
    expected = gb.theory.minimax_bound(horizon=2048.0, n_arms=50, **sizes)
    assert minimax[1] == expected == independence_bound(point, 2048)
    environment = build_environment(point.kind, point.settings)
    curves = []
    for repeat in range(INSTANCES):
        instance = environment.instance(0, repeat)
        drawn = instance.rounds(0, CONTEXTS)
        ordered = np.sort(drawn.means, axis=1)
        theta = gb.theory.disagreement_coefficient(instance.functions, drawn.contexts, instance.truth)
        gap = float(np.median(ordered[:, -1] - ordered[:, -2]))
        curves.append(gb.theory.gap_dependent_bound(horizon=2048.0, gap=gap, disagreement=theta, **sizes))
    assert gap_dependent[1] == pytest.approx(np.mean(curves), rel=1e-12)


def test_tables_hold_the_means(whole: tuple[Path, Result], edges: Path) -> None:
    plan = Plan(study="paper", repeats=2, rounds=32, network=edges)
    found = {
        name: Finding(experiment=experiment, results=Results.open(whole[0] / "runs" / name))
        for name, experiment in plan.experiments().items()
    }
    made = Findings(plan=plan, experiments=found)
    document = (whole[0] / "tables.md").read_text(encoding="utf-8")
    for name, title in TITLES.items():
        assert f"## {title}\n" in document
        assert table_of(made, name).to_markdown() in document
    cells = table_of(made, "clique-table").cells
    row = next(row for row in cells if (row[0].text, row[1].text) == ("FALCON", "rescaled"))
    point = found["clique-table"].points(n_arms=100, reward_scale=8.0)[0]
    assert row[-1].value == found["clique-table"].by_repeat(point, "FALCON").mean()
    assert (cells[0][2].text, cells[0][2].value) == ("330 (31.2)", 329.86)


def test_the_star_is_a_real_decision_that_the_program_improves() -> None:
    star = star_decision()
    assert star.after < star.before / 2
    assert star.decision.duality_gap <= 1e-9
    np.testing.assert_allclose(star.values.max() - star.values, star.decision.gaps, atol=1e-12)
    hub = int(np.argmax(star.graph.to_dense().sum(axis=1)))
    assert star.decision.probabilities[hub] > star.decision.baseline[hub] == 0
