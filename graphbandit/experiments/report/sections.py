"""The sections of the HTML report, each from the results to its HTML, or to nothing where there is nothing to say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from graphbandit.errors import InputError
from graphbandit.experiments.analysis.statistics import FinalRegrets, Ranks, close_to_best, paired_difference, ranks
from graphbandit.experiments.figures import curves as figures
from graphbandit.experiments.figures.heatmap import grid_name
from graphbandit.experiments.figures.parts import SHOWN, short_number
from graphbandit.experiments.report.html import Cell, figure_html, section, sortable_table
from graphbandit.simulate import Summary

if TYPE_CHECKING:
    from graphbandit.experiments.results.results import Results

FIGURES = 12
"""So many environments at most have figures in a report."""

HEAT_MAPS = 6
"""So many heat maps at most."""


def try_ranks(regrets: FinalRegrets) -> Ranks | None:
    """The ranks, or None where there is nothing to rank."""
    try:
        return ranks(regrets)
    except InputError:
        return None


def summary_section(regrets: FinalRegrets, found: Ranks | None) -> str:
    """Mean regret of every learner in every environment, the best marked."""
    close = {place: close_to_best(regrets, place) for place in regrets.environments}
    rank = dict(zip(found.learners, found.average, strict=True)) if found else {}
    means = regrets.by_mean(regrets.environments[0])
    order = found.learners if found else (*means, *(name for name in regrets.learners if name not in means))
    rows = []
    for name in order:
        cells = [_summary_cell(regrets.summary(place, name), close[place], name) for place in regrets.environments]
        last = [Cell.number(f"{rank[name]:.2f}", rank[name])] if found else []
        rows.append([Cell.text(name), *cells, *last])
    heads = ["learner", *regrets.environments, *(["average rank"] if found else [])]
    table = sortable_table("Final regret: mean ± standard error", heads, rows, sorted_by=len(heads) - 1 if found else 1)
    key = (
        '<p class="note"><span class="mark">★</span> lowest mean of its column. <span class="mark">≈</span> not '
        "significantly worse: the 95 % interval of the paired difference to the lowest holds 0. Click a heading to "
        "sort.</p>"
    )
    return section("summary", "Summary", f'<p class="short">{_in_short(regrets, close, found)}</p>', table, key)


def _summary_cell(summary: Summary | None, close: tuple[str, ...], name: str) -> Cell:
    if summary is None:
        return Cell(html="not run", value=math.nan)
    mark, words, kind = "", "", ""
    if name == close[0]:
        mark, words, kind = "★", "best: ", "best"
    elif name in close:
        mark, words, kind = "≈", "not significantly worse than the best: ", "near"
    error = f' <span class="spread">± {short_number(summary.standard_error)}</span>'
    html = (
        f'<span class="mark" aria-hidden="true">{mark}</span>'
        + (f'<span class="hidden">{words}</span>' if words else "")
        + short_number(summary.mean)
        + (error if math.isfinite(summary.standard_error) else "")
    )
    return Cell(html=html, value=summary.mean, kind=kind)


def _in_short(regrets: FinalRegrets, close: dict[str, tuple[str, ...]], found: Ranks | None) -> str:
    """One or two sentences for who reads no further."""
    firsts = [names[0] for names in close.values()]
    name = found.learners[0] if found else max(regrets.learners, key=firsts.count)
    bold = f"<strong>{escape(name)}</strong>"
    if len(regrets.learners) == 1:
        return f"{bold} is the only learner."
    wins, n = firsts.count(name), len(firsts)
    alone = sum(_stands_alone(regrets, place) for place, names in close.items() if names[0] == name)
    if n == 1:
        how = "significantly below all others" if alone else "but not significantly below all others"
        text = f"{bold} has the lowest mean regret, {how}." if wins else f"{bold} ranks best."
    else:
        text = f"{bold} has the lowest mean regret in {wins} of {n} environments"
        text += f", in {alone} significantly below all others." if wins else "."
    return f"{text} Its average rank is {found.average[0]:.2f} of {len(found.learners)}." if found else text


def _stands_alone(regrets: FinalRegrets, environment: str) -> bool:
    best, *others = regrets.by_mean(environment)
    return all(paired_difference(regrets, environment, name, best).low > 0 for name in others)


def environments_section(results: Results, regrets: FinalRegrets) -> str:
    """Curves, paired differences and all figures of each environment."""
    parts = []
    for i, place in enumerate(regrets.environments[:FIGURES]):
        best = regrets.by_mean(place)[0]
        curves = figures.plot_regret(results, environment=place, title="")
        shown = regrets.by_mean(place)[:SHOWN]
        ends = ", ".join(f"{name} {short_number(regrets.sample(place, name).mean())}" for name in shown)
        drawn = [figure_html(curves, f"curves{i}", f"Mean cumulative regret in {place}; at the end: {ends}.")]
        if any(paired_difference(regrets, place, name, best).pairs for name in shown[1:]):
            pairs = figures.plot_paired(results, baseline=best, environment=place, title="")
            alt = f"Paired differences of final regret to {best} in {place}, with 95 % intervals."
            caption = f"Difference to {best}, the lowest mean; ticks are repeats. Hollow: the interval holds 0."
            drawn.append(figure_html(pairs, f"pairs{i}", alt, caption))
        detail = f"<details><summary>All numbers</summary>\n{_details_table(regrets, place)}\n</details>"
        parts.append(f'<h3>{escape(place)}</h3>\n<div class="figures">\n{"".join(drawn)}\n</div>\n{detail}')
    n = len(regrets.environments)
    if n > FIGURES:
        parts.append(f'<p class="note">Figures of the first {FIGURES} of {n} environments.</p>')
    return section("environments", "Environments" if n > 1 else "Regret", *parts)


def _details_table(regrets: FinalRegrets, place: str) -> str:
    rows = []
    for name in regrets.by_mean(place):
        summary = regrets.summary(place, name)
        assert summary is not None
        values = (
            summary.mean,
            summary.std,
            summary.standard_error,
            summary.minimum,
            summary.quartile_1,
            summary.median,
            summary.quartile_3,
            summary.maximum,
        )
        count = len(regrets.sample(place, name))
        cells = [Cell.number(short_number(x) if math.isfinite(x) else "", x) for x in values]
        rows.append([Cell.text(name), *cells, Cell.number(str(count), count)])
    heads = ["learner", "mean", "std", "s.e.", "minimum", "quartile 1", "median", "quartile 3", "maximum", "runs"]
    return sortable_table(f"Final regret in {place}", heads, rows, sorted_by=1)


def comparisons_section(regrets: FinalRegrets) -> str:
    """Each environment's best learner against all others, in pairs."""
    rows = []
    for place in regrets.environments:
        best, *others = regrets.by_mean(place)
        for name in others:
            pair = paired_difference(regrets, place, best, name)
            bounds = f"{short_number(pair.low)} to {short_number(pair.high)}" if pair.pairs > 1 else ""
            mean = short_number(pair.mean) if pair.pairs else ""
            rows.append(
                [
                    Cell.text(place),
                    Cell.text(best),
                    Cell.text(name),
                    Cell.number(mean, pair.mean),
                    Cell.number(bounds, pair.low),
                    Cell.number(f"{pair.wins} of {pair.pairs}", pair.wins / pair.pairs if pair.pairs else math.nan),
                    Cell.text("lower regret" if pair.better == best else pair.verdict),
                ]
            )
    if not rows:
        return ""
    heads = ["environment", "best", "other", "best minus other", "95 % interval", "best wins", "verdict"]
    text = (
        "<p>All learners of a repeat face the same contexts, graphs and noise, so they are compared within repeats. "
        "The interval is Student's, for the mean difference of final regret; below 0 the best is better. It is not "
        "adjusted for the number of comparisons. Any two learners: <code>graphbandit compare DIR A B</code>.</p>"
    )
    return section("comparisons", "Paired comparisons", text, sortable_table("Best against others", heads, rows))


def ranks_section(results: Results, found: Ranks | None) -> str:
    """Average ranks, the test and the diagram."""
    if found is None:
        return ""
    ordered = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(found.learners, found.average, strict=True))
    alt = f"Average ranks: {ordered}. Critical difference {short_number(found.critical_difference)}."
    caption = "Best at the left. A bar joins learners whose ranks differ by less than the critical difference."
    picture = figure_html(figures.plot_ranks(results), "ranks-figure", alt, caption)
    blocks = f"{found.blocks} block{'s' if found.blocks != 1 else ''} (an environment and a repeat)"
    text = f"Ranks of the final regret, 1 the lowest, averaged over {blocks}."
    if math.isfinite(found.p_value):
        p = "below 0.0001" if found.p_value < 1e-4 else f"{found.p_value:.2g}"
        differ = "the learners differ" if found.p_value < 0.05 else "no difference between the learners is shown"
        text += f" Friedman's test: χ² = {found.statistic:.1f}, p {'= ' if p[0] != 'b' else ''}{p}: {differ}."
    note = (
        f"{found.note} Repeats of one environment are blocks of their own, so this speaks of these environments, not "
        "of new ones. Method: J. Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006)."
    )
    return section("ranks", "Ranks", f"<p>{escape(text)}</p>", picture, f'<p class="note">{escape(note.strip())}</p>')


def heat_maps_section(results: Results, regrets: FinalRegrets, found: Ranks | None) -> str:
    """Mean regret over two settings that vary: of the environments for the best learner, and of each learner."""
    rows = results.runs.to_pylist()
    best = found.learners[0] if found else regrets.learners[0]
    places = _varied(rows, "environment.")
    wanted = [(places[0], places[1], best)] if len(places) > 1 else []
    for name in dict.fromkeys(grid_name(label) for label in regrets.learners):
        own = _varied([row for row in rows if grid_name(row["learner"]) == name], "learner.")
        axes = [*own[:2], *places][:2] if own else []
        wanted += [(axes[0], axes[1], name)] if len(axes) == 2 else []
    drawn = []
    for i, (x, y, learner) in enumerate(wanted[:HEAT_MAPS]):
        picture = figures.plot_heatmap(results, x=x, y=y, learner=learner)
        alt = f"Heat map of the mean final regret of {learner} over {x} and {y}; the cells hold the figures."
        drawn.append(figure_html(picture, f"heat{i}", alt))
    if not drawn:
        return ""
    return section("settings", "Settings", f'<div class="figures">\n{"".join(drawn)}\n</div>')


def _varied(rows: Sequence[dict[str, Any]], start: str) -> list[str]:
    """The settings of which these runs have several values."""
    columns = [name for name in rows[0] if name.startswith(start) and not name.endswith(".kind")]
    return [name for name in columns if len({row[name] for row in rows} - {None}) > 1]
