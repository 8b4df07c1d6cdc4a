"""The figures of each experiment as a table: the same for the report, the command line and the documentation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from graphbandit.base.shapes import Float
from graphbandit.experiments.figures.parts import short_number
from graphbandit.studies.paper.checks import paired, signed
from graphbandit.studies.paper.findings import Findings, Study
from graphbandit.studies.paper.part_figures import short_place
from graphbandit.studies.paper.plans import FORMS, MAIN, READINGS
from graphbandit.studies.paper.printed import PRINTED
from graphbandit.studies.paper.set_sizes import SetSizes
from graphbandit.studies.paper.sweeps import AXES, sweeps
from graphbandit.studies.paper.variants import WHOLE, variants


class Table(NamedTuple):
    """A heading for each column and, for each row, a text and the number it stands for (nan: none) in each column."""

    caption: str
    heads: list[str]
    rows: list[list[tuple[str, float]]]


def table_of(findings: Findings, name: str) -> Table:
    """Of one experiment that was run."""
    study = findings.study(name)
    if name == "clique-table" and study is not None:
        return _clique_table(study)
    if name == "parts" and study is not None:
        return _parts_table(study)
    if name in AXES:
        return _sweep_table(findings, name)
    assert study is not None
    return _kinds_table(study)


def set_size_table(sizes: SetSizes) -> Table:
    """Exploration sets beside the independence number."""
    rows = []
    for place, learners in sizes.sizes.items():
        alpha = sizes.independence[place]
        span = f"{short_number(float(alpha.mean()))} ({alpha.min()} to {alpha.max()})"
        for name, size in learners.items():
            count, most = sizes.excess(place, name)
            mean = float(size.mean())
            rows.append(
                [
                    _words(short_place(place)),
                    _words(name),
                    (span, float(alpha.mean())),
                    (f"{short_number(mean)} ({size.min()} to {size.max()})", mean),
                    (f"{count} of {len(size)}", float(count)),
                    (str(most), float(most)),
                ]
            )
    heads = ["graphs", "learner", "independence number: mean (range)", "|S|: mean (range)", "rounds with |S| larger"]
    return Table("Exploration sets in the first rounds", [*heads, "by at most"], rows)


def _kinds_table(study: Study) -> Table:
    """Readings and learners down, kinds of graph across."""
    rows = []
    for reading, scale in READINGS.items():
        points = study.points(reward_scale=scale)
        for learner in study.experiment.learners:
            cells = [_mean_and_std(study.by_repeat(point, learner)) for point in points]
            rows.append([_words(learner), _words(reading), *cells])
    heads = ["learner", "reading", *study.experiment.environments]
    return Table("Final regret: mean (standard deviation)", heads, rows)


def _clique_table(study: Study) -> Table:
    """The printed figures first, then every reading and learner."""
    arms = list(dict.fromkeys(int(point.settings["n_arms"]) for point in study.experiment.environment_points()))
    printed = [(_pair(*PRINTED[k]), PRINTED[k][0]) if k in PRINTED else ("", math.nan) for k in arms]
    rows = [[_words("printed in the paper"), _words(""), *printed]]
    for reading, scale in READINGS.items():
        for learner in study.experiment.learners:
            points = study.points(reward_scale=scale)
            cells = [_mean_and_std(study.by_repeat(point, learner)) for point in points]
            rows.append([_words(learner), _words(reading), *cells])
    heads = ["learner", "reading", *(f"K = {k}" for k in arms)]
    return Table("Final regret on 5 cliques: mean (standard deviation)", heads, rows)


def _parts_table(study: Study) -> Table:
    """Each form whole, and what changes when a part is taken away."""
    rows = []
    for reading, scale in READINGS.items():
        points = study.points(reward_scale=scale)
        for form, learner in FORMS.items():
            for changed, name in variants(study, form).items():
                cells = []
                for point in points:
                    values = study.by_repeat(point, name)
                    found = paired(values, study.by_repeat(point, learner))
                    change = f"{signed(found.mean)} ({signed(found.low)} to {signed(found.high)})"
                    whole = changed == WHOLE
                    cells.append((short_number(_mean(values)), _mean(values)) if whole else (change, found.mean))
                rows.append([_words(f"{form}: {changed}"), _words(reading), *cells])
    caption = "Mean final regret, and its change without one part (paired 95 % interval)"
    return Table(caption, ["AdaCB.G", "reading", *study.experiment.environments], rows)


def _sweep_table(findings: Findings, name: str) -> Table:
    """Mean regret at every value and, where the theory has one, the exponent."""
    axis, panels = AXES[name], sweeps(findings, name)
    with_exponent = name in ("independence", "arms", "horizon")
    rows = []
    for sweep in panels:
        for learner in MAIN:
            means = [_mean(row) for row in sweep.regrets[learner]]
            cells = [(short_number(mean), mean) for mean in means]
            if with_exponent:
                found = sweep.slope(learner)
                text = f"{found.mean:+.2f} ({found.low:+.2f} to {found.high:+.2f})"
                cells.append((text if math.isfinite(found.mean) else "", found.mean))
            rows.append([_words(learner), _words(", ".join(filter(None, (sweep.title, sweep.reading)))), *cells])
    values = panels[0].values
    heads = ["learner", "on", *(f"{value:g}" for value in values), *(["exponent"] if with_exponent else [])]
    return Table(f"Mean final regret against {axis.label}", heads, rows)


def _words(text: str) -> tuple[str, float]:
    return text, math.nan


def _mean_and_std(values: Float[np.ndarray, " repeats"]) -> tuple[str, float]:
    known = values[np.isfinite(values)]
    std = float(known.std(ddof=1)) if len(known) > 1 else math.nan
    return _pair(_mean(values), std), _mean(values)


def _pair(mean: float, std: float) -> str:
    return f"{short_number(mean)} ({short_number(std)})" if math.isfinite(std) else short_number(mean)


def _mean(values: Float[np.ndarray, " repeats"]) -> float:
    return float(np.nanmean(values))


def to_markdown(table: Table) -> str:
    """As a table of a Markdown document."""

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    rule = line(["---"] * len(table.heads))
    return "\n".join([line(table.heads), rule, *(line([text for text, _ in row]) for row in table.rows)])
