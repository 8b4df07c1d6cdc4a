"""`graphbandit run` and `show`: what they print, and when they refuse."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pyarrow import parquet

from graphbandit.cli.console import summary
from graphbandit.experiments import Grid, InProcess, Progress, Results, run
from graphbandit.experiments.describe.toml_writer import to_toml
from tests.helpers.commands import invoke, refusal, succeed
from tests.helpers.experiment_samples import SMALL, small_results


def with_format(path: Path, number: object) -> None:
    table = parquet.read_table(path)
    metadata = json.loads(table.schema.metadata[b"graphbandit"]) | {"format": number}
    parquet.write_table(table.replace_schema_metadata({b"graphbandit": json.dumps(metadata)}), path)


def test_results_of_another_version_are_refused_and_left_alone(tmp_path):
    out = tmp_path / "out"
    small_results(out)
    with_format(out / "plan.parquet", 99)
    (tmp_path / "small.toml").write_text(to_toml(SMALL, relative_to=tmp_path))
    before = {path: path.read_bytes() for path in out.iterdir()}
    for command in (["run", tmp_path / "small.toml", "--out", out], ["show", out]):
        assert f"{out}/plan.parquet has results of format 99; this version" in refusal(*command)
    assert {path: path.read_bytes() for path in out.iterdir()} == before


def test_progress_tells_speed_time_left_and_the_best_learner(tmp_path):
    texts = []
    run(SMALL, out=tmp_path, engine=InProcess(), progress=lambda progress: texts.append(summary(progress)))
    assert texts[0] == "0 rounds/s"
    assert "rounds/s · 0:00:00 left · best: ours eta=" in texts[-1]
    progress = Progress(total=10, finished_before=0, rounds=100, done=2, failed=1)
    progress.count("a", 3.0)
    progress.count("b", 2.0)
    assert progress.best == ("b", 2.0)
    assert summary(progress).endswith("best: b (2) · 1 failed")


def test_run_and_show_print_a_table_and_are_quiet_on_request(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(to_toml(SMALL, relative_to=tmp_path))
    result = succeed("run", "small.toml", "--workers", 1)
    assert result.stderr == ""  # no progress bar where nobody watches
    assert "small: 36 of 36 runs of 64 rounds" in result.stdout
    assert "Results: results/small" in result.stdout
    found = Results.open("results/small").regret("cliques", "FALCON")
    assert f"{found.mean():.2f} ± {found.std(ddof=1) / 3**0.5:.2f}" in result.stdout
    assert invoke("show", "results/small").stdout in result.stdout
    assert invoke("run", "small.toml", "--workers", 1, "--quiet").output == ""
    assert "kept there" not in result.stdout
    Path("results/small/report.html").touch()
    Path("small.toml").write_text(to_toml(replace(SMALL, repeats=2), relative_to=tmp_path))
    again = invoke("run", "small.toml", "--workers", 1).stdout
    assert "\n12 finished runs that small.toml does not ask for: kept there, not shown.\n" in again
    assert "results/small/report.html is of an earlier run: graphbandit report results/small" in again
    fewer = replace(SMALL, repeats=4, environments={f"e{i}": Grid("paper", {"n_arms": 3 + i}) for i in range(6)})
    Path("wide.toml").write_text(to_toml(replace(fewer, name="wide"), relative_to=tmp_path))
    turned = invoke("run", "wide.toml", "--workers", 1).stdout.splitlines()
    assert turned[3].split()[-1] == "uniform"


def test_show_tells_how_far_it_is(tmp_path, monkeypatch):
    class StopError(Exception):
        pass

    monkeypatch.setattr("graphbandit.experiments.running.runner.TASK_SECONDS", 0.0)

    def stop(progress: Progress) -> None:
        if progress.done >= 20:
            raise StopError

    with pytest.raises(StopError):
        run(SMALL, out=tmp_path, engine=InProcess(), progress=stop)
    result = invoke("show", tmp_path)
    done = Results.open(tmp_path).runs.num_rows
    assert done == 20
    assert f"small: {done} of 36 runs" in result.stdout
    assert "of 3)" in result.stdout
