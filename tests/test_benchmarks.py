"""Every part of the benchmarks runs, at tiny sizes. Times are not judged, only that figures follow from rows."""

import importlib
import json

import pytest

pytest.importorskip("resource")  # the benchmarks need the clock and the memory figures of a Unix system


import graphbandit
from benchmarks import (
    decision,
    documents,
    everyday,
    history,
    lp,
    lp_rivals,
    run,
    scaling,
    startup,
    throughput,
    vowpal,
)
from benchmarks.documents import stamp
from benchmarks.pages import DOCS
from benchmarks.report import tables
from benchmarks.settings import FULL, PARTS, QUICK, TINY
from benchmarks.targets import NOT_MEASURED, targets
from benchmarks.texts import seconds
from benchmarks.timing import ratio, summary
from tests.helpers.commands import invoke


def silent(what: str, done: int, total: int) -> None:
    assert 0 <= done < total


def is_timing(found: dict[str, float]) -> bool:
    return set(found) == {"median", "p99", "n"} and 0 < found["median"] <= found["p99"]


class Parts(dict[str, list[dict]]):
    """The rows of each part, measured when they are asked for: workers that share these tests do not do it twice.

    For that, no test asks for many parts.
    """

    def __missing__(self, name: str) -> list[dict]:
        self[name] = importlib.import_module(f"benchmarks.{name}").run(TINY, silent)
        return self[name]


@pytest.fixture(scope="module")
def parts() -> Parts:
    return Parts()


@pytest.fixture
def written(tmp_path, capsys):
    """Checks that what is shown and written of one part holds all its rows."""

    def check(name, rows):
        results = {
            "machine": run.machine(),
            "versions": run.versions(),
            "settings": vars(TINY),
            "seconds": {name: 1.0},
            "parts": {name: rows},
            "targets": targets({name: rows}),
        }
        capsys.readouterr()
        run.show(results)
        shown = capsys.readouterr().out
        assert [path.name for path in run.write(results, tmp_path)] == ["bench.json", "bench.md"]
        read = json.loads((tmp_path / "bench.json").read_text())
        assert {name: len(rows) for name, rows in read["parts"].items()} == {name: len(rows)}
        assert read["machine"]["cores"] >= 1
        assert read["machine"]["cpu"]
        assert read["versions"]["numpy"]
        markdown = (tmp_path / "bench.md").read_text()
        made = [found.table for found in tables(results)]
        assert len(made) > 1, "one of the part, and the targets"
        for table in made:
            assert f"### {table.caption}\n" in markdown
            assert table.caption.split(",")[0] in shown
            assert table.to_markdown() in markdown

    return check


def test_summaries_and_ratios():
    fast, slow = summary([1.0, 3.0, 2.0]), summary([4.0] * 200 + [9.0] * 2)
    assert fast == {"median": 2.0, "p99": 3.0, "n": 3}
    assert slow == {"median": 4.0, "p99": 4.0, "n": 202}
    assert ratio(slow, fast) == {"median": 2.0, "p99": 4.0 / 3.0}


def test_every_program_is_certified(parts, written):
    rows = parts["lp"]
    assert {row["family"] for row in rows} == set(lp.FAMILIES)
    assert {row["coverage"] for row in rows} == {"paper", "tight"}
    for row in rows:
        assert all(is_timing(found) for found in row["times"].values())
        assert row["unsolved"] == 0
        assert max(row["infeasibility"], row["gap"], row["difference_from_highs"]) <= 1e-9
        assert row["ratios"]["scipy"] == ratio(row["times"]["scipy"], row["times"]["ours"])
        assert row["ratios"]["call_scipy"] == ratio(row["times"]["scipy"], row["times"]["call"])
        if row["highspy_mode"] == "not installed":
            assert "highspy" not in row["ratios"]
        else:
            assert row["ratios"]["highspy"] == ratio(row["times"][row["highspy_mode"]], row["times"]["ours"])
    written("lp", parts["lp"])


def test_squarecb_programs_are_certified_and_no_worse_than_clarabels(parts, written):
    rows = parts["squarecb"]
    assert {(row["family"], row["n_arms"]) for row in rows} == {(family, 5) for family in lp.FAMILIES}
    for row in rows:
        assert all(is_timing(found) for found in row["times"].values())
        assert row["gap"] <= 1e-9
        assert row["above_clarabel"] <= 1e-6
        for name, found in row["ratios"].items():
            assert found == ratio(row["times"][name], row["times"]["call"])
        if row["cvxpy"] == vowpal.NOT_INSTALLED:
            assert "cvxpy" not in row["ratios"]
    written("squarecb", parts["squarecb"])


def test_everyday_learners_are_timed_with_few_arms_and_many(parts, written):
    few = [row for row in parts["everyday"] if row["kind"] == "decision"]
    assert {(row["class"], row["learner"]) for row in few} == {
        (kind, name)
        for kind in ("finite", "linear")
        for name in everyday.LEARNERS
        if (kind, name) != ("finite", "LinUCB")
    }
    for row in few:
        assert is_timing(row["times"]["decide"])
        assert is_timing(row["times"]["observe"])
        if row["squarecb"] == "measured":
            assert row["ratios"]["of_squarecb"] == ratio(row["times"]["decide"], row["times"]["squarecb"])
    many = [row for row in parts["everyday"] if row["kind"] == "many arms"]
    assert [row["learner"] for row in many] == ["IDS.G", "AdaCB.G"]
    assert all(is_timing(row["times"]["decide"]) for row in many)
    assert all(row["largest_gap"] is None or row["largest_gap"] <= 1e-9 for row in many)
    written("everyday", parts["everyday"])


def test_the_history_says_what_got_worse(tmp_path):
    def run(shown, reached, cpu="x"):
        target = {"target": "speed", "wanted": ">= 8", "reached": reached, "shown": shown, "met": "no"}
        time = {"target": "time", "wanted": "<= 3", "reached": 12.0 / reached, "shown": "t", "met": "no"}
        missing = {"target": "other", "wanted": "<= 3", "reached": None, "shown": "not measured", "met": "not measured"}
        return {"cpu": cpu, "settings": "full", "parts": ["lp"], "targets": [target, time, missing]}

    path = tmp_path / "history.jsonl"
    assert history.append(run("6", 6.0), path) == []
    assert history.append(run("1", 1.0, cpu="y"), path) == []  # another machine
    assert history.append(run("5.5", 5.5), path) == []  # noise
    assert history.append(run("4", 4.0), path) == ["speed: 6 -> 4", "time: t -> t"]  # and not 5.5: steps add up
    assert len(history.read(path)) == 4


def test_highspy_finds_the_optimum():
    highs = lp_rivals.Highs()
    if not highs.installed:
        pytest.skip("highspy is not installed")
    program = next(lp.programs("random", 20, "paper", lp.np.random.default_rng(0))).lp
    _, optimum = lp_rivals.Scipy().solve(program)
    for mode in lp_rivals.MODES:
        highs.solve(program, mode)
        assert highs.highs.getInfo().objective_function_value == pytest.approx(optimum, abs=1e-9)


def test_decisions_solve_programs_and_rivals_are_there_or_said_to_be_absent(parts, written):
    rows = parts["decision"]
    assert {(row["n_arms"], row["learner"]) for row in rows} == {
        (n_arms, name) for n_arms in TINY.decision_arms for name in decision.LEARNERS
    }
    installed = vowpal.version() != vowpal.NOT_INSTALLED
    for row in rows:
        assert is_timing(row["times"]["decide"])
        assert row["largest_gap"] <= 1e-9
        for name, arms in (("squarecb", TINY.vowpal_arms), ("graph_feedback", TINY.vowpal_graph_arms)):
            wanted = row["n_arms"] in arms
            assert (row[name] == "measured") == (wanted and installed)
            assert (row[name] == vowpal.NOT_INSTALLED) == (wanted and not installed)
            assert (name in row["times"]) == (row[name] == "measured")
        if "graph_feedback" in row["times"]:
            assert row["ratios"]["graph_feedback"] == ratio(row["times"]["graph_feedback"], row["times"]["decide"])
        if "squarecb" in row["times"]:
            assert row["ratios"]["of_squarecb"] == ratio(row["times"]["decide"], row["times"]["squarecb"])
    assert any(row["program_share"] == 1.0 for row in rows)
    written("decision", parts["decision"])


def test_without_vowpal_wabbit_its_columns_say_so(monkeypatch):
    monkeypatch.setattr(vowpal, "version", lambda: vowpal.NOT_INSTALLED)
    rows = decision.measure(10, TINY)
    assert rows
    assert all(row["squarecb"] == "not installed" for row in rows)
    shown = tables({"parts": {"decision": rows}, "targets": targets({"decision": rows})})
    assert "not installed" in map(str, shown[0].table.rows[0])


def test_throughput(parts, written):
    rows = parts["throughput"]
    runs = [row for row in rows if row["kind"] == "simulate"]
    assert len(runs) == len(throughput.GRAPHS) * len(throughput.LEARNERS)
    for row in runs:
        times = row["times"]
        assert row["ratios"]["reference"] == ratio(times["reference"], times["simulate, few rounds"])
        assert row["share_above_floor"] == 1 - times["floor"]["median"] / times["simulate"]["median"]
        assert row["rounds_per_second"] == row["rounds"] / times["simulate"]["median"]
    for row in rows:
        if row["kind"] == "workers":
            assert row["ratios"]["two_workers"] == ratio(row["times"]["one worker"], row["times"]["two workers"])
    written("throughput", parts["throughput"])


def test_scaling_and_start_up_are_measured_in_processes_of_their_own(parts, written):
    arms = [row for row in parts["scaling"] if row["kind"] == "arms"]
    assert [row["learner"] for row in arms] == list(scaling.LEARNERS)
    for row in parts["scaling"]:
        assert "error" not in row, row
        assert 0 <= row["growth_bytes"] == max(row["peak_bytes"] - row["bytes_before"], 0)
    for row in arms:
        assert row["largest_gap"] <= 1e-9
        assert is_timing(row["times"]["decide"])
    first = parts["startup"][0]
    assert first["ratios"]["of_numpy_scipy"] == ratio(first["times"][startup.OURS], first["times"][startup.THEIRS])
    assert parts["startup"][1]["solver"] == "simplex"
    written("scaling", parts["scaling"])
    written("startup", parts["startup"])


def test_the_service_is_measured(parts, written):
    rows = parts["service"]
    assert rows
    assert not [row for row in rows if "error" in row]
    written("service", rows)


def test_a_process_that_fails_is_a_row_with_its_error():
    assert scaling.fresh_process(["-c", "raise MemoryError('too large')"]) == {"error": "MemoryError: too large"}


def test_targets_take_the_worst_figure_and_say_what_was_not_measured(parts):
    assert all(row["met"] == NOT_MEASURED for row in targets({}))
    found = {row["target"]: row for row in targets({"lp": parts["lp"]})}
    certified = next(row for name, row in found.items() if "infeasibility" in name)
    assert certified["met"] == "yes"
    assert certified["reached"] == max(max(row["infeasibility"], row["gap"]) for row in parts["lp"])
    rows = [
        {
            "n_arms": 50,
            "coverage": "paper",
            "family": family,
            "ratios": {"scipy": {"median": x}, "highspy": {"median": 9}},
        }
        | {"infeasibility": 0.0, "gap": 0.0, "unsolved": 0}
        for family, x in (("star", 400.0), ("cliques", 299.0), ("random", 51.0))
    ]
    assert [(row["reached"], row["met"]) for row in targets({"lp": rows})[:4]] == [
        (299.0, "no"),
        (51.0, "yes"),
        (9, "yes"),
        (0.0, "yes"),
    ]


def test_settings_differ_only_in_size():
    assert set(PARTS) == {"lp", "squarecb", "decision", "everyday", "throughput", "scaling", "startup", "service"}
    assert set(QUICK.lp_arms) < set(FULL.lp_arms)
    assert max(FULL.scaling_arms) == 10**6


def test_the_command_refuses_unknown_parts(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert invoke("bench", "--only", "lp,x").exit_code == 2
    assert "--only has 'x'; expected some of lp,squarecb" in capfd.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("page", history.PLACES, ids=lambda page: page.name)
def test_pages_show_the_last_run(page):
    """Documents name the same run, by its revision, and its figures."""
    last = history.last_whole()
    assert last["version"] == graphbandit.__version__
    assert history.shown(last)[page] in page.read_text()
    assert f"revision {last['revision']}" in history.shown(last)[page]


def test_the_tables_of_the_page_are_of_the_last_run():
    """The tables of all figures are copied from bench.md: their stamp and the figures of the history agree."""
    last = history.last_whole()
    tables_of_page = (DOCS / "benchmarks.md").read_text().split("## Figures")[1]
    assert f"Of {stamp(last)}:" in tables_of_page
    for family in ("star", "random"):
        ours = seconds(last["figures"][f"program, {family}"]["ours"])
        assert f"| {family} | 50 | {ours} (" in tables_of_page
    assert f"| import graphbandit | {seconds(last['figures']['import']['graphbandit'])} (" in tables_of_page


def test_figures_of_documents_follow_from_the_rows(parts):
    lp_rows = [{**row, "n_arms": 50} for row in parts["lp"]]
    found = documents.figures({"lp": lp_rows, "startup": parts["startup"]})
    (star,) = (row for row in lp_rows if (row["family"], row["coverage"]) == ("star", "paper"))
    assert found["program, star"]["ours"] == star["times"]["ours"]["median"]
    assert found["program, star"]["x scipy"] == star["ratios"]["scipy"]["median"]
    assert set(found) == {"program, star", "program, random", "import", "kernels on disk"}
    assert all(x > 0 for one in found.values() for x in one.values())
