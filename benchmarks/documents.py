"""The figures of a run that the README and `docs/speed.md` show: from the rows of a run to the texts.

They are kept in the run's line of `benchmarks/history.jsonl`; `python -m benchmarks.history` writes the texts.
"""

from typing import Any

from graphbandit.base.printed_table import Table

Rows = list[dict[str, Any]]
Figures = dict[str, dict[str, float]]


def figures(parts: dict[str, Rows]) -> Figures:
    """Seconds (medians) and ratios by what was measured; what was not measured is left out."""
    found: Figures = {}
    for row in parts.get("lp", []):
        if row["n_arms"] == 50 and row["coverage"] == "paper" and row["family"] in ("star", "random"):
            rivals = {"scipy": "scipy", "highspy": row["highspy_mode"]}
            found[f"program, {row['family']}"] = {
                "ours": row["times"]["ours"]["median"],
                **{name: row["times"][key]["median"] for name, key in rivals.items() if key in row["times"]},
                **{f"x {name}": row["ratios"][name]["median"] for name in rivals if name in row["ratios"]},
            }
    for row in parts.get("decision", []):
        if row["n_arms"] == 10 and "graph_feedback" in row["times"]:
            found[f"new graph, {row['learner']}"] = {
                "ours": row["times"]["decide"]["median"],
                "graph_feedback": row["times"]["graph_feedback"]["median"],
                "x graph_feedback": row["ratios"]["graph_feedback"]["median"],
            }
        if row["n_arms"] == 50 and "squarecb with parsing" in row["times"]:
            found["squarecb with parsing"] = {"seconds": row["times"]["squarecb with parsing"]["median"]}
    for row in parts.get("everyday", []):
        name = f"{row.get('class', 'linear')}, {row['n_arms']} arms, {row['learner']}"
        if row["n_arms"] >= 50 and row["learner"] in ("IDS.G", "AdaCB.G"):
            found[name] = {kind: times["median"] for kind, times in row["times"].items()}
    for row in parts.get("scaling", []):
        if row["kind"] == "arms" and row["n_arms"] == 10**6 and row["learner"] == "ours" and "times" in row:
            found["a million arms"] = {"decide": row["times"]["decide"]["median"]}
    for row in parts.get("startup", []):
        if row["kind"] == "import":
            found["import"] = {name: times["median"] for name, times in row["times"].items()}
        elif "seconds" in row:
            found.setdefault(row["cache"], {})[row["learner"]] = row["seconds"]
    return found


def stamp(line: dict[str, Any]) -> str:
    """Which run figures are of."""
    return f"version {line['version']}, revision {line['revision']}, {line['date']}"


def speed_table(line: dict[str, Any]) -> str:
    """The table of `docs/speed.md`."""
    found: Figures = line["figures"]
    star, random, new = found["program, star"], found["program, random"], found["new graph, ours"]
    ids, ada = found["finite, 50 arms, IDS.G"], found["finite, 50 arms, AdaCB.G"]
    linear = [found[f"linear, {n} arms, IDS.G"]["decide"] for n in (50, 5_000, 100_000)]
    observe = max(one["observe"] for name, one in found.items() if "50 arms" in name and "observe" in one)
    ours, theirs = found["import"]["graphbandit"], found["import"]["numpy, scipy"]
    first, again = (
        " / ".join(f"{found[cache][name]:{digits}}" for name in ("greedy", "IDS.G", "AdaCB.G"))
        for cache, digits in (("no kernels on disk", ".1f"), ("kernels on disk", ".2f"))
    )
    parsed = micro(found["squarecb with parsing"]["seconds"])
    heads = ["what", "graphbandit", "the same by others", "ratio"]
    rows = [
        (
            "sampling program, star, 50 arms",
            f"{micro(star['ours'])} µs",
            f"{micro(star['scipy'])} µs (`scipy.optimize.linprog`), {micro(star['highspy'])} µs (highspy)",
            f"{star['x scipy']:,.0f}, {star['x highspy']:,.0f}",
        ),
        (
            "sampling program, random graph, 50 arms",
            f"{micro(random['ours'])} µs",
            f"{micro(random['scipy'])} µs, {micro(random['highspy'])} µs",
            f"{random['x scipy']:,.0f}, {random['x highspy']:,.0f}",
        ),
        (
            "one decision of AdaCB.G, 10 arms, a new graph",
            f"{micro(new['ours'])} µs",
            f"{micro(new['graph_feedback'])} µs (Vowpal Wabbit `--graph_feedback`)",
            f"{new['x graph_feedback']:,.0f}",
        ),
        (
            "one decision of IDS.G / AdaCB.G, 50 functions, 50 arms, the same graph",
            f"{micro(ids['decide'])} / {micro(ada['decide'])} µs",
            f"{micro(ids['squarecb'])} µs (Vowpal Wabbit `--squarecb`, no graph, parsed before; "
            f"{parsed} µs with parsing)",
            f"{ids['squarecb'] / max(ids['decide'], ada['decide']):.1f}",
        ),
        (
            "one decision of IDS.G, linear class, 50 / 5,000 / 100,000 arms",
            f"{' / '.join(f'{1e3 * x:.2g}' for x in linear)} ms",
            "",
            "",
        ),
        (
            "one decision of AdaCB.G, a million arms, 15 million edges",
            f"{found['a million arms']['decide']:.2f} s",
            "",
            "",
        ),
        ("`Bandit.observe`, 50 arms", f"{micro(observe)} µs", "", ""),
        (
            "`import graphbandit`",
            f"{1e3 * ours:.0f} ms",
            f"{1e3 * theirs:.0f} ms (NumPy and SciPy)",
            f"{theirs / ours:.0f}",
        ),
        ("first decision of greedy / IDS.G / AdaCB.G, nothing compiled", f"{first} s", "", ""),
        ("the same with kernels on disk", f"{again} s", "", ""),
    ]
    table = Table("", heads, rows).to_markdown().replace("|  |", "| |").replace("|  |", "| |")
    said = f"*Medians of one run of `make bench` on a shared machine with two cores, {stamp(line)};\n"
    return f"{table}\n\n{said}[all figures](benchmarks.md), also where a target was missed.*"


def readme_sentence(line: dict[str, Any]) -> str:
    """What the README claims of speed."""
    found: Figures = line["figures"]
    star, random = found["program, star"], found["program, random"]
    times = [one["x graph_feedback"] for one in found.values() if "x graph_feedback" in one]
    low, high = (float(f"{x:.2g}") for x in (min(times), max(times)))
    between = f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"
    return (
        f"**Exact, in microseconds.** With 50 arms a sampling program takes {micro(star['ours'])} µs on a star and "
        f"{micro(random['ours'])} µs on a random graph, proof of optimality included: {star['x highspy']:.0f} and "
        f"{random['x highspy']:.0f} times less than highspy. A decision at 10 arms takes {between} times less than "
        f"with Vowpal Wabbit's graph feedback ({stamp(line)})."
    )


def micro(seconds: float) -> str:
    """Microseconds with two or three digits."""
    x = 1e6 * seconds
    return f"{x:.2g}" if x < 10 else f"{float(f'{x:.3g}'):,.0f}"
