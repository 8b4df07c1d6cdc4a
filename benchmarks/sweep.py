"""What the experiment engine costs: 10,000 small runs (K = 10, T = 256) on one core, its memory, and a resume.

python -m benchmarks.sweep [RUNS]
"""

import sys
import tempfile
import time
from pathlib import Path

from benchmarks.child import memory
from graphbandit.experiments import Experiment, Grid, InProcess, Progress, run
from graphbandit.experiments.running import tasks


def experiment(runs: int) -> Experiment:
    return Experiment(
        name="sweep",
        rounds=256,
        repeats=runs // 4,
        environments={"star": Grid("paper", {"graph": "star", "n_arms": 10})},
        learners={name: Grid(name) for name in ("AdaCBG", "Falcon", "Greedy", "Uniform")},
    )


def main(runs: int = 10_000) -> None:
    playing = 0.0
    play = tasks._play

    def timed_play(*arguments):
        nonlocal playing
        start = time.process_time()
        try:
            return play(*arguments)
        finally:
            playing += time.process_time() - start

    tasks._play = timed_play
    taken: dict[int, float] = {}

    def watch(progress: Progress) -> None:
        taken[10 * progress.done // progress.total] = memory()["now"] / 2**20

    run(experiment(40), engine=InProcess())  # kernels are loaded
    playing = 0.0
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        wall, cpu = time.perf_counter(), time.process_time()
        results = run(experiment(runs), out=out, engine=InProcess(), progress=watch)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        assert results.runs.num_rows == runs
        size = sum(path.stat().st_size for path in out.rglob("*")) / 2**20
        again = time.perf_counter()
        run(experiment(runs), out=out, engine=InProcess())
        again = time.perf_counter() - again
    print(f"{runs} runs of 256 rounds, 10 arms, one process: {wall:.1f} s, {cpu:.1f} s of processor time")
    print(f"of these, the simulation itself            {playing:8.1f} s, {1000 * playing / runs:.2f} ms a run")
    engine = cpu - playing
    print(f"the engine                                 {engine:8.1f} s, {1000 * engine / runs:.2f} ms a run")
    peak = f"{memory()['peak'] / 2**20:.0f}"
    print("memory at each tenth, MB:", *(f"{taken[i]:.0f}" for i in sorted(taken)), "; peak", peak)
    print(f"results on disk: {size:.1f} MB; resuming the finished sweep: {again:.2f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
