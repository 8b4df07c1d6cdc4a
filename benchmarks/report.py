"""Results as tables, on the terminal and in Markdown, and as JSON."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks.texts import ratio_of, seconds, size, time_of

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A title, what was measured, and for each row one text a column."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]


# Every table below is written out as one call, title, note, columns and rows, so that each can be read on its own.


def tables(results: dict[str, Any]) -> list[Table]:
    """All tables of a run, targets last."""
    parts = results["parts"]
    makers: dict[str, Callable[[list[Row]], Iterable[Table]]] = {
        "lp": lp_tables,
        "squarecb": squarecb_tables,
        "decision": decision_tables,
        "everyday": everyday_tables,
        "throughput": throughput_tables,
        "scaling": scaling_tables,
        "startup": startup_tables,
        "service": service_tables,
    }
    made = [table for name, maker in makers.items() if name in parts for table in maker(parts[name])]
    goals = [(row["target"], row["wanted"], row["shown"], row["met"]) for row in results["targets"]]
    return [*made, Table(title="Targets", note="", columns=("target", "wanted", "reached", "met"), rows=goals)]


def lp_tables(rows: list[Row]) -> Iterable[Table]:
    """The compiled solve, and the Python call."""
    yield Table(
        title="The sampling program: one solve inside a compiled loop",
        note="Times are median (99th percentile); ratios those of medians (of 99th percentiles). highspy: the faster "
        "of handing over a new model, or new costs and demands, and reading the answer; in the next column its run() "
        "alone. Worst: largest infeasibility and relative gap of our answers.",
        columns=("graph", "K", "ours", "highspy", "run()", "linprog", "x highspy", "x linprog", "worst", "n"),
        rows=[
            (
                _family(row),
                str(row["n_arms"]),
                time_of(row, "ours"),
                time_of(row, row["highspy_mode"]),
                time_of(row, "run"),
                time_of(row, "scipy"),
                ratio_of(row, "highspy"),
                ratio_of(row, "scipy"),
                f"{max(row['infeasibility'], row['gap']):.0e}" if not row["unsolved"] else "unsolved",
                str(row["times"]["ours"]["n"]),
            )
            for row in rows
        ],
    )
    yield Table(
        title="The sampling program: one Python call of solve_sampling_lp",
        note="Against highspy handed a new model, and linprog.",
        columns=("graph", "K", "ours", "highspy", "x highspy", "x linprog"),
        rows=[
            (
                _family(row),
                str(row["n_arms"]),
                time_of(row, "call"),
                time_of(row, "new model"),
                ratio_of(row, "call_highspy"),
                ratio_of(row, "call_scipy"),
            )
            for row in rows
        ],
    )


def squarecb_tables(rows: list[Row]) -> Iterable[Table]:
    """The convex program of SquareCB.G."""
    yield Table(
        title="SquareCB.G's convex program: one Python call of solve_squarecb_program",
        note="Batch: solve_squarecb_programs, per program. cvxpy: from its expressions to the answer; Clarabel: by its "
        "own clock, inside that. VW: predict with graph feedback. Worst gap: ours, certified; above Clarabel: the "
        "largest difference of objectives, in units of 1 / gamma, as Clarabel's own tolerance (1e-8) leaves it.",
        columns=(
            "graph",
            "K",
            "ours",
            "batch",
            "cvxpy",
            "Clarabel",
            "VW graph",
            "x cvxpy",
            "x Clarabel",
            "x VW",
            "worst gap",
            "above Clarabel",
            "n",
        ),
        rows=[
            (
                row["family"],
                str(row["n_arms"]),
                time_of(row, "call"),
                time_of(row, "batch"),
                time_of(row, "cvxpy"),
                time_of(row, "clarabel"),
                time_of(row, "graph_feedback"),
                ratio_of(row, "cvxpy"),
                ratio_of(row, "clarabel"),
                ratio_of(row, "graph_feedback"),
                f"{row['gap']:.0e}",
                f"{row['above_clarabel']:.0e}",
                str(row["times"]["call"]["n"]),
            )
            for row in rows
        ],
    )


def _family(row: Row) -> str:
    return row["family"] if row["coverage"] == "paper" else f"{row['family']}, {row['coverage']}"


def decision_tables(rows: list[Row]) -> Iterable[Table]:
    """Our decision and the rivals' predictions."""
    yield Table(
        title="One online decision",
        note="Bandit.decide, its graph object new; VW: predict on a round parsed beforehand, and with the parsing. "
        "LP: share of our decisions that solved a program; |A|: mean number of candidates.",
        columns=(
            "K",
            "AdaCB.G",
            "decide",
            "LP",
            "|A|",
            "VW squarecb",
            "parsed too",
            "of squarecb",
            "VW graph",
            "x graph",
        ),
        rows=[
            (
                str(row["n_arms"]),
                row["learner"],
                time_of(row, "decide"),
                f"{row['program_share']:.0%}",
                f"{row['mean_candidates']:.1f}",
                time_of(row, "squarecb", row["squarecb"]),
                time_of(row, "squarecb with parsing", row["squarecb"]),
                ratio_of(row, "of_squarecb"),
                time_of(row, "graph_feedback", row["graph_feedback"]),
                ratio_of(row, "graph_feedback"),
            )
            for row in rows
        ],
    )


def everyday_tables(rows: list[Row]) -> Iterable[Table]:
    """The everyday learners, with few arms and with many."""
    yield Table(
        title="Bandit.decide and observe, stars",
        note="VW squarecb: predict on a round parsed beforehand; it gets no graph.",
        columns=("class", "K", "learner", "decide", "observe", "VW squarecb", "of squarecb"),
        rows=[
            (
                row["class"],
                str(row["n_arms"]),
                row["learner"],
                time_of(row, "decide"),
                time_of(row, "observe"),
                time_of(row, "squarecb", row["squarecb"]),
                ratio_of(row, "of_squarecb"),
            )
            for row in rows
            if row["kind"] == "decision"
        ],
    )
    yield Table(
        title="Bandit.decide with many arms, linear in 16 features, cliques of 50 arms",
        note="Gap: the largest certified relative gap of the program; IDS.G solves none.",
        columns=("K", "learner", "decide", "gap"),
        rows=[
            (
                f"{row['n_arms']:,}",
                row["learner"],
                time_of(row, "decide"),
                "" if row["largest_gap"] is None else f"{row['largest_gap']:.1e}",
            )
            for row in rows
            if row["kind"] == "many arms"
        ],
    )


def throughput_tables(rows: list[Row]) -> Iterable[Table]:
    """simulate against the reference and the floor; two workers."""
    runs = [row for row in rows if row["kind"] == "simulate"]
    short, long = runs[0]["reference_rounds"], runs[0]["rounds"]
    yield Table(
        title=f"simulate, K = {runs[0]['n_arms']}, one core",
        note=f"The reference and the package on the same {short} rounds; the package and its floor on {long}. Floor: "
        "drawing the rounds and one matrix product; above: the share of the time that is not floor.",
        columns=(
            "graph",
            "learner",
            f"T = {short}",
            "reference",
            "x reference",
            f"T = {long}",
            "rounds/s",
            "floor",
            "above",
        ),
        rows=[
            (
                row["graph"],
                row["learner"],
                time_of(row, "simulate, few rounds"),
                time_of(row, "reference"),
                ratio_of(row, "reference"),
                time_of(row, "simulate"),
                f"{row['rounds_per_second']:,.0f}",
                time_of(row, "floor"),
                f"{row['share_above_floor']:.0%}",
            )
            for row in runs
        ],
    )
    yield Table(
        title="simulate, two workers",
        note="Free cores: how many times faster two threads are than one in a compiled loop of mere arithmetic.",
        columns=("learner", "repeats", "one worker", "two workers", "x one worker", "free cores"),
        rows=[
            (
                row["learner"],
                str(row["repeats"]),
                time_of(row, "one worker"),
                time_of(row, "two workers"),
                ratio_of(row, "two_workers"),
                ratio_of(row, "two_threads"),
            )
            for row in rows
            if row["kind"] == "workers"
        ],
    )


def scaling_tables(rows: list[Row]) -> Iterable[Table]:
    """Arms, then rounds."""
    yield Table(
        title="One decision on preferential attachment graphs, 7 edges an arm",
        note="A class of 50 bilinear functions, rewards / 32. Peak: all memory of the process while it decides; grown: "
        "above what graph, functions and kernels took before. Gap: the largest certified relative gap.",
        columns=("K", "AdaCB.G", "decide", "solver", "gap", "|A|", "|S|", "peak", "grown", "edges"),
        rows=[
            (
                f"{row['n_arms']:,}",
                row["learner"],
                *(
                    (
                        time_of(row, "decide"),
                        ", ".join(row["solvers"]),
                        f"{row['largest_gap']:.1e}",
                        f"{row['mean_candidates']:.0f}",
                        f"{row['mean_explored']:.0f}",
                        size(row["peak_bytes"]),
                        size(row["growth_bytes"]),
                        f"{row['n_edges']:,}",
                    )
                    if "error" not in row
                    else (row["error"], *[""] * 7)
                ),
            )
            for row in rows
            if row["kind"] == "arms"
        ],
    )
    yield Table(
        title="simulate as the number of rounds grows, AdaCB.G paper, random graphs, K = 50",
        note="",
        columns=("T", "time", "a round", "peak", "grown"),
        rows=[
            (
                f"{row['rounds']:,}",
                time_of(row, "simulate"),
                seconds(row["times"]["simulate"]["median"] / row["rounds"]),
                size(row["peak_bytes"]),
                size(row["growth_bytes"]),
            )
            if "error" not in row
            else (f"{row['rounds']:,}", row["error"], "", "", "")
            for row in rows
            if row["kind"] == "rounds"
        ],
    )


def startup_tables(rows: list[Row]) -> Iterable[Table]:
    """Imports and first decisions."""
    texts = []
    for row in rows:
        if row["kind"] == "import":
            for modules in row["times"]:
                texts.append((f"import {modules}", time_of(row, modules)))
            texts.append(("ratio of the two", ratio_of(row, "of_numpy_scipy")))
        else:
            texts.append(
                (f"first decisions of {row['learner']}, {row['cache']}", row.get("error") or seconds(row["seconds"]))
            )
    yield Table(title="Start-up, each in a fresh process", note="", columns=("what", "time"), rows=texts)


def service_tables(rows: list[Row]) -> Iterable[Table]:
    """Durable decisions a second, and memory."""
    load = [row for row in rows if row["kind"] == "load"]
    yield Table(
        title="The service: durable decisions over HTTP, K = 50, linear d = 20, the load generator on the same cores",
        note="Server CPU is the processor time of all the service's processes for one decision.",
        columns=("what", "clients", "a second", "median", "p99", "share of bare", "server CPU"),
        rows=[
            (
                row["what"],
                str(row["clients"]),
                f"{row['per_second']:,.0f}",
                seconds(row["median"]),
                seconds(row["p99"]),
                f"{row['share']:.2f}",
                seconds(row["cpu"]),
            )
            for row in load
        ],
    )
    memory = [row for row in rows if row["kind"] == "memory"]
    if memory:
        yield Table(
            title="The service: memory of all its processes",
            note="",
            columns=("what", "before", "after", "rows in the log"),
            rows=[(r["what"], size(r["before"]), size(r["after"]), f"{r['rows']:,}") for r in memory],
        )
