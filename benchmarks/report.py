"""Results as tables, on the terminal and in Markdown."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks.texts import Column, Row, bytes_of, ratio_of, seconds, seconds_of, time_of, value_of
from graphbandit.base.printed_table import Cell, Table


@dataclass(frozen=True)
class Noted:
    """A table, and what was measured in it."""

    table: Table
    note: str = ""


def tables(results: dict[str, Any]) -> list[Noted]:
    """All tables of a run, targets last."""
    parts = results["parts"]
    makers: dict[str, Callable[[list[Row]], Iterable[Noted]]] = {
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
    return [*made, target_table(results["targets"])]


def target_table(rows: list[Row]) -> Noted:
    """What is wanted, and what was reached."""
    goals = {"target": "target", "wanted": "wanted", "reached": "shown", "met": "met"}
    return noted("Targets", "", rows, {heading: value_of(name) for heading, name in goals.items()})


def noted(title: str, note: str, rows: Iterable[Row], columns: dict[str, Column]) -> Noted:
    """A table with a line for each row; all columns but the first are aligned at the right."""
    lines = [[text(row) for text in columns.values()] for row in rows]
    cells = [[first, *(Cell(text, math.nan) for text in others)] for first, *others in lines]
    return Noted(Table(title, list(columns), cells), note)


def of_kind(kind: str, rows: list[Row]) -> list[Row]:
    """The rows of one kind."""
    return [row for row in rows if row["kind"] == kind]


def unless_failed(text: Column) -> Column:
    """A column that is empty where the measurement ended in an error."""
    return lambda row: "" if "error" in row else text(row)


def lp_tables(rows: list[Row]) -> Iterable[Noted]:
    """The compiled solve, and the Python call."""
    yield noted(
        "The sampling program: one solve inside a compiled loop",
        "Times are median (99th percentile); ratios those of medians (of 99th percentiles). highspy: the faster "
        "of handing over a new model, or new costs and demands, and reading the answer; in the next column its run() "
        "alone. Worst: largest infeasibility and relative gap of our answers.",
        rows,
        {
            "graph": _family,
            "K": value_of("n_arms"),
            "ours": time_of("ours"),
            "highspy": lambda row: time_of(row["highspy_mode"])(row),
            "run()": time_of("run"),
            "linprog": time_of("scipy"),
            "x highspy": ratio_of("highspy"),
            "x linprog": ratio_of("scipy"),
            "worst": lambda row: "unsolved" if row["unsolved"] else f"{max(row['infeasibility'], row['gap']):.0e}",
            "n": lambda row: str(row["times"]["ours"]["n"]),
        },
    )
    yield noted(
        "The sampling program: one Python call of solve_sampling_lp",
        "Against highspy handed a new model, and linprog.",
        rows,
        {
            "graph": _family,
            "K": value_of("n_arms"),
            "ours": time_of("call"),
            "highspy": time_of("new model"),
            "x highspy": ratio_of("call_highspy"),
            "x linprog": ratio_of("call_scipy"),
        },
    )


def _family(row: Row) -> str:
    return row["family"] if row["coverage"] == "paper" else f"{row['family']}, {row['coverage']}"


def squarecb_tables(rows: list[Row]) -> Iterable[Noted]:
    """The convex program of SquareCB.G."""
    yield noted(
        "SquareCB.G's convex program: one Python call of solve_squarecb_program",
        "Batch: solve_squarecb_programs, per program. cvxpy: from its expressions to the answer; Clarabel: by its "
        "own clock, inside that. VW: predict with graph feedback. Worst gap: ours, certified; above Clarabel: the "
        "largest difference of objectives, in units of 1 / gamma, as Clarabel's own tolerance (1e-8) leaves it.",
        rows,
        {
            "graph": value_of("family"),
            "K": value_of("n_arms"),
            "ours": time_of("call"),
            "batch": time_of("batch"),
            "cvxpy": time_of("cvxpy"),
            "Clarabel": time_of("clarabel"),
            "VW graph": time_of("graph_feedback"),
            "x cvxpy": ratio_of("cvxpy"),
            "x Clarabel": ratio_of("clarabel"),
            "x VW": ratio_of("graph_feedback"),
            "worst gap": value_of("gap", ".0e"),
            "above Clarabel": value_of("above_clarabel", ".0e"),
            "n": lambda row: str(row["times"]["call"]["n"]),
        },
    )


def decision_tables(rows: list[Row]) -> Iterable[Noted]:
    """Our decision and the rivals' predictions."""
    yield noted(
        "One online decision",
        "Bandit.decide, its graph object new; VW: predict on a round parsed beforehand, and with the parsing. "
        "LP: share of our decisions that solved a program; |A|: mean number of candidates.",
        rows,
        {
            "K": value_of("n_arms"),
            "AdaCB.G": value_of("learner"),
            "decide": time_of("decide"),
            "LP": value_of("program_share", ".0%"),
            "|A|": value_of("mean_candidates", ".1f"),
            "VW squarecb": time_of("squarecb", "squarecb"),
            "parsed too": time_of("squarecb with parsing", "squarecb"),
            "of squarecb": ratio_of("of_squarecb"),
            "VW graph": time_of("graph_feedback", "graph_feedback"),
            "x graph": ratio_of("graph_feedback"),
        },
    )


def everyday_tables(rows: list[Row]) -> Iterable[Noted]:
    """The everyday learners, with few arms and with many."""
    yield noted(
        "Bandit.decide and observe, stars",
        "VW squarecb: predict on a round parsed beforehand; it gets no graph.",
        of_kind("decision", rows),
        {
            "class": value_of("class"),
            "K": value_of("n_arms"),
            "learner": value_of("learner"),
            "decide": time_of("decide"),
            "observe": time_of("observe"),
            "VW squarecb": time_of("squarecb", "squarecb"),
            "of squarecb": ratio_of("of_squarecb"),
        },
    )
    yield noted(
        "Bandit.decide with many arms, linear in 16 features, cliques of 50 arms",
        "Gap: the largest certified relative gap of the program; IDS.G solves none.",
        of_kind("many arms", rows),
        {
            "K": value_of("n_arms", ","),
            "learner": value_of("learner"),
            "decide": time_of("decide"),
            "gap": lambda row: "" if row["largest_gap"] is None else f"{row['largest_gap']:.1e}",
        },
    )


def throughput_tables(rows: list[Row]) -> Iterable[Noted]:
    """simulate against the reference and the floor; two workers."""
    runs = of_kind("simulate", rows)
    short, long = runs[0]["reference_rounds"], runs[0]["rounds"]
    yield noted(
        f"simulate, K = {runs[0]['n_arms']}, one core",
        f"The reference and the package on the same {short} rounds; the package and its floor on {long}. Floor: "
        "drawing the rounds and one matrix product; above: the share of the time that is not floor.",
        runs,
        {
            "graph": value_of("graph"),
            "learner": value_of("learner"),
            f"T = {short}": time_of("simulate, few rounds"),
            "reference": time_of("reference"),
            "x reference": ratio_of("reference"),
            f"T = {long}": time_of("simulate"),
            "rounds/s": value_of("rounds_per_second", ",.0f"),
            "floor": time_of("floor"),
            "above": value_of("share_above_floor", ".0%"),
        },
    )
    yield noted(
        "simulate, two workers",
        "Free cores: how many times faster two threads are than one in a compiled loop of mere arithmetic.",
        of_kind("workers", rows),
        {
            "learner": value_of("learner"),
            "repeats": value_of("repeats"),
            "one worker": time_of("one worker"),
            "two workers": time_of("two workers"),
            "x one worker": ratio_of("two_workers"),
            "free cores": ratio_of("two_threads"),
        },
    )


def scaling_tables(rows: list[Row]) -> Iterable[Noted]:
    """Arms, then rounds."""
    yield noted(
        "One decision on preferential attachment graphs, 7 edges an arm",
        "A class of 50 bilinear functions, rewards / 32. Peak: all memory of the process while it decides; grown: "
        "above what graph, functions and kernels took before. Gap: the largest certified relative gap.",
        of_kind("arms", rows),
        {
            "K": value_of("n_arms", ","),
            "AdaCB.G": value_of("learner"),
            "decide": lambda row: row.get("error") or time_of("decide")(row),
            "solver": unless_failed(lambda row: ", ".join(row["solvers"])),
            "gap": unless_failed(value_of("largest_gap", ".1e")),
            "|A|": unless_failed(value_of("mean_candidates", ".0f")),
            "|S|": unless_failed(value_of("mean_explored", ".0f")),
            "peak": unless_failed(bytes_of("peak_bytes")),
            "grown": unless_failed(bytes_of("growth_bytes")),
            "edges": unless_failed(value_of("n_edges", ",")),
        },
    )
    yield noted(
        "simulate as the number of rounds grows, AdaCB.G paper, random graphs, K = 50",
        "",
        of_kind("rounds", rows),
        {
            "T": value_of("rounds", ","),
            "time": lambda row: row.get("error") or time_of("simulate")(row),
            "a round": unless_failed(lambda row: seconds(row["times"]["simulate"]["median"] / row["rounds"])),
            "peak": unless_failed(bytes_of("peak_bytes")),
            "grown": unless_failed(bytes_of("growth_bytes")),
        },
    )


def startup_tables(rows: list[Row]) -> Iterable[Noted]:
    """Imports and first decisions."""
    texts = []
    for row in rows:
        if row["kind"] == "import":
            texts += [{"what": f"import {modules}", "time": time_of(modules)(row)} for modules in row["times"]]
            texts.append({"what": "ratio of the first two", "time": ratio_of("of_numpy_scipy")(row)})
            texts.append({"what": "ratio of the last two", "time": ratio_of("used")(row)})
        else:
            what = f"first decisions of {row['learner']}, {row['cache']}"
            texts.append({"what": what, "time": row.get("error") or seconds(row["seconds"])})
    yield noted("Start-up, each in a fresh process", "", texts, {"what": value_of("what"), "time": value_of("time")})


def service_tables(rows: list[Row]) -> Iterable[Noted]:
    """Durable decisions a second, and memory."""
    yield noted(
        "The service: durable decisions over HTTP, K = 50, linear d = 20, the load generator on the same cores",
        "Server CPU is the processor time of all the service's processes for one decision.",
        of_kind("load", rows),
        {
            "what": value_of("what"),
            "clients": value_of("clients"),
            "a second": value_of("per_second", ",.0f"),
            "median": seconds_of("median"),
            "p99": seconds_of("p99"),
            "share of bare": value_of("share", ".2f"),
            "server CPU": seconds_of("cpu"),
        },
    )
    memory = of_kind("memory", rows)
    if memory:
        yield noted(
            "The service: memory of all its processes",
            "",
            memory,
            {
                "what": value_of("what"),
                "before": bytes_of("before"),
                "after": bytes_of("after"),
                "rows in the log": value_of("rows", ","),
            },
        )
