"""One run of all benchmarks: `python -m benchmarks.run [--quick] [--only lp,decision] [--out FOLDER] [--history]`."""

import argparse
import importlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
PACKAGES = ("graphbandit", "numpy", "scipy", "numba", "highspy", "vowpalwabbit", "cvxpy", "clarabel")


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, write."""
    from benchmarks.settings import FULL, PARTS, QUICK

    parser = argparse.ArgumentParser(prog="graphbandit bench", description="Measure the package and its rivals.")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and repeats: a minute or two")
    parser.add_argument("--only", default=",".join(PARTS), help=f"parts to measure, of {','.join(PARTS)}")
    parser.add_argument("--out", type=Path, default=Path("results/bench"), help="folder for bench.json and bench.md")
    parser.add_argument("--history", action="store_true", help="append the run to benchmarks/history.jsonl")
    chosen = parser.parse_args(arguments)
    parts = chosen.only.split(",")
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        parser.error(f"--only has {','.join(unknown)!r}; expected some of {','.join(PARTS)}")
    try:
        chosen.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"{chosen.out} cannot be made: {error.strerror or error}")
    results = measure(QUICK if chosen.quick else FULL, parts)
    show(results)
    for path in write(results, chosen.out):
        print(f"Written: {path}")
    if chosen.history:
        from benchmarks import history

        for text in history.append(history.line_of(results)):
            print(f"Worse than in the best run on such a machine: {text}")
    return 0


def measure(settings: Any, parts: list[str]) -> dict[str, Any]:
    """Everything, as JSON takes it."""
    from benchmarks.targets import targets

    results: dict[str, Any] = {
        "machine": machine(),
        "versions": versions(),
        "settings": vars(settings),
        "seconds": {},
        "parts": {},
    }
    for name in parts:
        start = time.perf_counter()
        with progress_bar() as progress:
            results["parts"][name] = importlib.import_module(f"benchmarks.{name}").run(settings, progress)
        results["seconds"][name] = time.perf_counter() - start
    results["targets"] = targets(results["parts"])
    return results


def machine() -> dict[str, Any]:
    """What it ran on, and how busy that was before."""
    return {
        "cpu": processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_before": list(os.getloadavg()),
        "single_threaded": {name: os.environ.get(name) for name in ONE_THREAD},
    }


def processor() -> str:
    """The processor's name where the system tells it, and its kind, as one name may stand for several."""
    from llvmlite import binding

    told = Path("/proc/cpuinfo")
    lines = told.read_text().splitlines() if told.exists() else []
    unnamed = platform.processor() or platform.machine()
    name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), unnamed)
    return f"{name} ({binding.get_host_cpu_name()})"


def versions() -> dict[str, str]:
    """The versions of Python, the package and the rivals."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def show(results: dict[str, Any]) -> None:
    """Print all tables."""
    from rich.console import Console

    from benchmarks.report import tables

    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.print(headline(results), highlight=False)
    for found in tables(results):
        console.print(f"\n{found.table.caption}", style="italic", highlight=False)
        console.print(found.table)
        console.print(found.note, highlight=False, end="\n" if found.note else "")


def headline(results: dict[str, Any]) -> str:
    """Which run it is, machine, versions and how long it took."""
    from benchmarks.documents import stamp
    from benchmarks.history import identity

    where, spent = results["machine"], sum(results["seconds"].values())
    packages = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    text = (
        f"Of {stamp(identity(results))}: {where['cpu']}, {where['cores']} cores, "
        f"load before {where['load_before'][0]:.2f}. {packages}. "
        f"Settings: {results['settings']['name']}; took {spent:.0f} s."
    )
    if where["load_before"][0] > 0.5 * where["cores"]:
        text += " THE MACHINE WAS BUSY: long calls are interrupted more often than short ones, so ratios flatter us."
    return text


def write(results: dict[str, Any], folder: Path) -> list[Path]:
    """bench.json with all rows, bench.md with all tables."""
    from benchmarks.report import tables

    text = [headline(results), ""]
    for found in tables(results):
        text += [f"### {found.table.caption}", "", *([found.note, ""] if found.note else [])]
        text += [found.table.to_markdown(), ""]
    paths = [folder / "bench.json", folder / "bench.md"]
    paths[0].write_text(json.dumps(results, indent=1) + "\n")
    paths[1].write_text("\n".join(text))
    return paths


@contextmanager
def progress_bar() -> Iterator[Any]:
    """A bar on standard error, hidden if that is not a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

    from graphbandit.cli.console import watched_bar

    with watched_bar(TextColumn("{task.description:<28}"), BarColumn(), MofNCompleteColumn()) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total)


if __name__ == "__main__":
    if any(os.environ.get(name) != "1" for name in ONE_THREAD):  # libraries read these as they are loaded
        os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks.run", *sys.argv[1:]])
    sys.exit(main())
