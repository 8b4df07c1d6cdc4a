"""The sections of a report about what was found; None where there is nothing to say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphbandit.base.tables import Cell, Table, counted, number_cell, short_number
from graphbandit.errors import InputError
from graphbandit.experiments import figures
from graphbandit.experiments.analysis.ranks import Ranks, ranks
from graphbandit.experiments.analysis.statistics import FinalRegrets, paired_difference
from graphbandit.experiments.figures.heatmap import grid_name
from graphbandit.plots.looks import SHOWN
from graphbandit.plots.pages.page import Section, templates
from graphbandit.plots.pages.svg import page_picture

if TYPE_CHECKING:
    from graphbandit.experiments.results.reading import Results

FIGURES = 12
"""At most so many environments have figures in a report."""

HEAT_MAPS = 6
"""At most so many heat maps."""


def texts() -> Any:
    """The template of a report's sections."""
    return templates("graphbandit.experiments.report", "experiment.html")


def try_ranks(regrets: FinalRegrets) -> Ranks | None:
    """The ranks, or None where there is nothing to rank."""
    try:
        return ranks(regrets)
    except InputError:
        return None


def summary_section(regrets: FinalRegrets, found: Ranks | None) -> Section:
    """Mean regret of every learner in every environment, the best marked."""
    rank = dict(zip(found.learners, found.average, strict=True)) if found else {}
    means = regrets.by_mean(regrets.environments[0])
    order = found.learners if found else (*means, *(name for name in regrets.learners if name not in means))
    rows = []
    for name in order:
        cells = [_summary_cell(regrets, place, name) for place in regrets.environments]
        rows.append([name, *cells, *([number_cell(rank[name], f"{rank[name]:.2f}")] if found else [])])
    heads = ["learner", *regrets.environments, *(["average rank"] if found else [])]
    table = Table("Final regret: mean ± standard error", heads, rows, sorted_by=len(heads) - 1 if found else 1)
    name, rest = _in_short(regrets, found)
    return Section("summary", "Summary", texts().summary(name, rest, table))


def _summary_cell(regrets: FinalRegrets, environment: str, learner: str) -> Cell:
    summary = regrets.summary(environment, learner)
    if summary is None:
        return Cell("not run", math.nan)
    error = summary.standard_error
    spread = f"± {short_number(error)}" if math.isfinite(error) else ""
    return Cell(short_number(summary.mean), summary.mean, spread, regrets.mark(environment, learner))


def _in_short(regrets: FinalRegrets, found: Ranks | None) -> tuple[str, str]:
    """A one- or two-sentence summary for the top of the page: the best learner, and what is said of it."""
    firsts = [regrets.best(place) for place in regrets.environments]
    name = found.learners[0] if found else max(regrets.learners, key=firsts.count)
    if len(regrets.learners) == 1:
        return name, "is the only learner."
    wins, n = firsts.count(name), len(firsts)
    alone = sum(_stands_alone(regrets, place) for place in regrets.environments if regrets.best(place) == name)
    if n == 1:
        how = "significantly below all others" if alone else "but not significantly below all others"
        text = f"has the lowest mean regret, {how}." if wins else "ranks best."
    else:
        text = f"has the lowest mean regret in {wins} of {n} environments"
        text += f", in {alone} significantly below all others." if wins else "."
    return name, f"{text} Its average rank is {found.average[0]:.2f} of {len(found.learners)}." if found else text


def _stands_alone(regrets: FinalRegrets, environment: str) -> bool:
    best, *others = regrets.by_mean(environment)
    return all(paired_difference(regrets, environment, name, best).low > 0 for name in others)


def environments_section(results: Results, regrets: FinalRegrets) -> Section:
    """Curves, paired differences and all numbers of each environment."""
    shown = [_environment(results, regrets, i, place) for i, place in enumerate(regrets.environments[:FIGURES])]
    n = len(regrets.environments)
    return Section("environments", "Environments" if n > 1 else "Regret", texts().environments(shown, n))


def _environment(results: Results, regrets: FinalRegrets, number: int, place: str) -> dict[str, Any]:
    ran = regrets.by_mean(place)[:SHOWN]
    ends = ", ".join(f"{name} {short_number(regrets.sample(place, name).mean())}" for name in ran)
    alt = f"Mean cumulative regret in {place}; at the end: {ends}."
    curves = figures.plot_curves(results, environment=place, title="")
    pictures = [page_picture(curves, f"curves{number}", alt)]
    best = ran[0]
    if any(paired_difference(regrets, place, name, best).pairs for name in ran[1:]):
        pairs = figures.plot_paired(results, baseline=best, environment=place, title="")
        alt = f"Paired differences of final regret to {best} in {place}, with 95 % intervals."
        caption = f"Difference to {best}, the lowest mean; ticks are repeats. Hollow: the interval holds 0."
        pictures.append(page_picture(pairs, f"pairs{number}", alt, caption))
    return {"name": place, "pictures": pictures, "table": _details_table(regrets, place)}


def _details_table(regrets: FinalRegrets, place: str) -> Table:
    names = {
        "mean": "mean",
        "std": "std",
        "standard_error": "s.e.",
        "minimum": "minimum",
        "quartile_1": "quartile 1",
        "median": "median",
        "quartile_3": "quartile 3",
        "maximum": "maximum",
    }
    rows = []
    for learner in regrets.by_mean(place):
        summary, count = regrets.summary(place, learner), len(regrets.sample(place, learner))
        rows.append([learner, *(number_cell(getattr(summary, name)) for name in names), Cell(str(count), count)])
    return Table(f"Final regret in {place}", ["learner", *names.values(), "runs"], rows, sorted_by=1)


def comparisons_section(regrets: FinalRegrets) -> Section | None:
    """Each environment's best learner against all others, in pairs."""
    rows = []
    for place in regrets.environments:
        best, *others = regrets.by_mean(place)
        for name in others:
            pair = paired_difference(regrets, place, best, name)
            bounds = f"{short_number(pair.low)} to {short_number(pair.high)}"
            wins = pair.wins / pair.pairs if pair.pairs else math.nan
            verdict = "lower regret" if pair.better == best else pair.verdict
            numbers = [
                number_cell(pair.mean),
                number_cell(pair.low, bounds),
                Cell(f"{pair.wins} of {pair.pairs}", wins),
            ]
            rows.append([place, best, name, *numbers, verdict])
    if not rows:
        return None
    heads = ["environment", "best", "other", "best minus other", "95 % interval", "best wins", "verdict"]
    table = Table("Best against others", heads, rows)
    return Section("comparisons", "Paired comparisons", texts().comparisons(table))


def ranks_section(results: Results, found: Ranks | None) -> Section | None:
    """Average ranks, the test and the diagram."""
    if found is None:
        return None
    ordered = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(found.learners, found.average, strict=True))
    alt = f"Average ranks: {ordered}. Critical difference {short_number(found.critical_difference)}."
    caption = "Best at the left. A bar joins learners whose ranks differ by less than the critical difference."
    picture = page_picture(figures.plot_ranks(results), "ranks-figure", alt, caption)
    blocks = f"{counted(found.blocks, 'block')} (an environment and a repeat)"
    text = f"Ranks of the final regret, 1 the lowest, averaged over {blocks}."
    if math.isfinite(found.p_value):
        p = "p below 0.0001" if found.p_value < 1e-4 else f"p = {found.p_value:.2g}"
        differ = "the learners differ" if found.p_value < 0.05 else "no difference between the learners is shown"
        text += f" Friedman's test: χ² = {found.statistic:.1f}, {p}: {differ}."
    return Section("ranks", "Ranks", texts().ranks(text, picture, found.note))


def heat_maps_section(results: Results, regrets: FinalRegrets, found: Ranks | None) -> Section | None:
    """Mean regret over two settings that vary: of the environments for the best learner, and of each learner."""
    rows = results.runs.to_pylist()
    best = found.learners[0] if found else regrets.learners[0]
    places = _varied(rows, "environment.")
    wanted = [(places[0], places[1], best)] if len(places) > 1 else []
    for name in dict.fromkeys(grid_name(label) for label in regrets.learners):
        own = _varied([row for row in rows if grid_name(row["learner"]) == name], "learner.")
        axes = [*own[:2], *places][:2] if own else []
        wanted += [(axes[0], axes[1], name)] if len(axes) == 2 else []
    pictures = []
    for i, (x, y, learner) in enumerate(wanted[:HEAT_MAPS]):
        alt = f"Heat map of the mean final regret of {learner} over {x} and {y}; the cells hold the figures."
        pictures.append(page_picture(figures.plot_heatmap(results, x=x, y=y, learner=learner), f"heat{i}", alt))
    return Section("settings", "Settings", texts().heat_maps(pictures)) if pictures else None


def _varied(rows: Sequence[dict[str, Any]], start: str) -> list[str]:
    """The settings that have several values in these runs."""
    columns = [name for name in rows[0] if name.startswith(start) and not name.endswith(".kind")]
    return [name for name in columns if len({row[name] for row in rows} - {None}) > 1]
