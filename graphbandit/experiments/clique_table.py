"""The paper's table "Test on clique-group": AdaCB.G on 5 cliques with 20 to 100 arms, and its regret curves.

The experiment is the file ``paper/clique_table.toml``, which says what its two readings of the rewards and its three
forms of the algorithm are; this module lays what it finds beside the paper's printed figures.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphbandit.checks import setting_integer, setting_number
from graphbandit.errors import EngineError, SavedFileError, SettingError
from graphbandit.experiments.engines import InProcess, Processes
from graphbandit.experiments.experiment import Experiment, Grid
from graphbandit.experiments.packaged import packaged
from graphbandit.experiments.registry import Value, build_learner
from graphbandit.experiments.runner import Progress, run
from graphbandit.plots.curves import draw_curves, mean_and_std
from graphbandit.plots.style import COLOURS, name_ends, plain_axes, save_figure
from graphbandit.shapes import Float, Int
from graphbandit.simulate import Summary

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

PRINTED = {20: (329.86, 31.18), 40: (311.34, 27.21), 60: (300.64, 24.11), 80: (292.60, 29.59), 100: (277.35, 23.00)}
"""The paper's table: number of arms to mean and standard deviation of the cumulative regret."""

PRINTED_REPEATS = 40

READINGS = ("literal", "rescaled")
FORMS = ("paper", "no-version-space", "ours")
"""The environments and the learners of the file."""


@dataclass(frozen=True, kw_only=True)
class CliqueTable:
    """Settings; the defaults are the paper's. `rescale` is what the rescaled reading divides the rewards by."""

    arms: tuple[int, ...] = tuple(PRINTED)
    n_cliques: int = 5
    rounds: int = 2**11
    repeats: int = 40
    rescale: float = 8.0
    seed: int = 0

    def __post_init__(self) -> None:
        setting_integer("n_cliques", self.n_cliques, at_least=1)
        setting_integer("rounds", self.rounds, at_least=1)
        setting_integer("repeats", self.repeats, at_least=1)
        setting_number("rescale", self.rescale, above=0.0)
        setting_integer("seed", self.seed, at_least=0)
        for k in self.arms:
            setting_integer("arms", k, at_least=self.n_cliques)
        if not self.arms or list(self.arms) != sorted(set(self.arms)):
            raise SettingError(f"arms is {self.arms!r}; expected ascending numbers of arms, at least one")

    @property
    def is_printed(self) -> bool:
        """Whether the rounds and cliques are those of the paper's table, so that its figures may be compared."""
        return self.rounds == 2**11 and self.n_cliques == 5

    def scale(self, reading: str) -> float:
        """What this reading divides the rewards by."""
        return self.rescale if reading == "rescaled" else 1.0

    def experiment(self) -> Experiment:
        """The experiment in the file, with these settings in place of its own."""
        printed = packaged("clique-table")
        environments = {}
        for reading, grid in printed.environments.items():
            own: dict[str, Value | list[Value]] = {
                "n_arms": list(self.arms),
                "n_cliques": self.n_cliques,
                "reward_scale": self.scale(reading),
            }
            environments[reading] = Grid(grid.kind, {**grid.settings, **own})
        return replace(printed, rounds=self.rounds, repeats=self.repeats, seed=self.seed, environments=environments)


@dataclass(frozen=True, kw_only=True)
class Row:
    """The final regret of one form of AdaCB.G in one reading, over repeats; nan where one repeat says nothing."""

    arms: int
    reading: str
    form: str
    mean: float
    std: float
    standard_error: float
    repeats: int


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What one reading and form say; None where the run is too small to say it.

    `first` and `last` are the mean regrets at the smallest and largest number of arms; `trend` is "falls" or "grows"
    if they differ by more than two standard errors of their difference and "flat" otherwise; `every_step`: the mean
    falls at each next number of arms. `shares` are the smallest and largest of mean over printed mean, and `agrees`
    says whether all means are within two standard errors of the printed ones.
    """

    reading: str
    form: str
    first: float
    last: float
    trend: str | None
    every_step: bool | None
    shares: tuple[float, float] | None
    agrees: bool | None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement of the paper, whether it holds here (None: not tested by this run), and the figures."""

    statement: str
    holds: bool | None
    figures: str


@dataclass(frozen=True, kw_only=True, eq=False)
class CliqueTableResult:
    """What a run found: `rows`, and by (arms, reading, form) mean and standard deviation after `curve_rounds`."""

    settings: CliqueTable
    rows: tuple[Row, ...]
    curve_rounds: Int[np.ndarray, " points"]
    curves: dict[tuple[int, str, str], tuple[Float[np.ndarray, " points"], Float[np.ndarray, " points"]]]

    def series(self, reading: str, form: str) -> list[Row]:
        """The rows of one reading and form, by number of arms."""
        return [row for row in self.rows if (row.reading, row.form) == (reading, form)]

    def verdicts(self) -> list[Verdict]:
        """One for every reading and form."""
        return [self.verdict(reading, form) for reading in READINGS for form in FORMS]

    def verdict(self, reading: str, form: str) -> Verdict:
        """Of one reading and form."""
        rows = self.series(reading, form)
        first, last = rows[0], rows[-1]
        several, known = len(rows) > 1 and first.mean > 0, self.settings.repeats > 1
        printed = [(row, *PRINTED[row.arms]) for row in rows if self.settings.is_printed and row.arms in PRINTED]
        shares = [row.mean / mean for row, mean, _ in printed]
        trend = "flat"
        if _apart(last, first.mean, first.standard_error):
            trend = "falls" if last.mean < first.mean else "grows"
        agrees = not any(_apart(row, mean, std / math.sqrt(PRINTED_REPEATS)) for row, mean, std in printed)
        return Verdict(
            reading=reading,
            form=form,
            first=first.mean,
            last=last.mean,
            trend=trend if several and known else None,
            every_step=all(b.mean < a.mean for a, b in pairwise(rows)) if several else None,
            shares=(min(shares), max(shares)) if shares else None,
            agrees=agrees if printed and known else None,
        )

    def claims(self) -> list[Claim]:
        """The statements of the paper about its table, judged by its own form of the algorithm in both readings."""
        found = [self.verdict(reading, "paper") for reading in READINGS]
        trends = [verdict.trend for verdict in found]
        tested = None not in trends
        moves = "; ".join(f"{v.reading} {v.first:.1f} -> {v.last:.1f}" for v in found)
        steps = "; ".join(
            f"{v.reading} {v.trend} ({v.last / v.first - 1:+.0%}, {'' if v.every_step else 'not '}at every step)"
            for v in found
            if v.trend is not None
        )
        ends = PRINTED[min(PRINTED)][0], PRINTED[max(PRINTED)][0]
        shares = [(v, v.shares) for v in [*found, self.verdict("rescaled", "no-version-space")] if v.shares is not None]
        sizes = "; ".join(f"{name(v.reading, v.form)} {low:.2f} to {high:.2f} times" for v, (low, high) in shares)
        agree = [v.agrees for v in found]
        return [
            Claim(
                statement="at 5 cliques, the regret does not grow with the number of arms",
                holds="grows" not in trends if tested else None,
                figures=moves,
            ),
            Claim(
                statement=f"it falls as the number of arms increases (printed: {ends[1] / ends[0] - 1:+.0%})",
                holds=all(trend == "falls" for trend in trends) if tested else None,
                figures=steps,
            ),
            Claim(
                statement="the means are the printed ones, within two standard errors",
                holds=None if None in agree else any(agree),
                figures=sizes,
            ),
        ]

    def to_json(self) -> str:
        """Settings, version, rows and verdicts; the same settings give the same text."""
        from graphbandit import __version__

        content = {
            "experiment": "clique-table",
            "version": __version__,
            "settings": asdict(self.settings),
            "forms": {
                point.label: str(build_learner(point.kind, point.settings))
                for point in self.settings.experiment().learner_points()
            },
            "printed": [{"arms": k, "mean": mean, "std": std} for k, (mean, std) in PRINTED.items()],
            "printed_repeats": PRINTED_REPEATS,
            "rows": [asdict(row) for row in self.rows],
            "verdicts": [asdict(verdict) for verdict in self.verdicts()],
            "claims": [asdict(claim) for claim in self.claims()],
        }
        return json.dumps(_without_nan(content), indent=2, allow_nan=False) + "\n"

    def curves_csv(self) -> str:
        """The regret curves: reading, form, arms, round, mean, std."""
        lines = ["reading,form,arms,round,mean,std"]
        for (k, reading, form), (mean, std) in self.curves.items():
            for t, m, s in zip(self.curve_rounds, mean, std, strict=True):
                lines.append(f"{reading},{form},{k},{t},{m:.6g},{s:.6g}")
        return "\n".join(lines) + "\n"

    def write(self, directory: Path) -> list[Path]:
        """Write table.json, curves.csv and both figures as .png and .svg; the paths, in that order."""
        texts = {"table.json": self.to_json(), "curves.csv": self.curves_csv()}
        try:
            directory.mkdir(parents=True, exist_ok=True)
            for name, text in texts.items():
                (directory / name).write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise SavedFileError(f"{directory} cannot be written to: {error.strerror or error}") from None
        paths = [directory / name for name in texts]
        for name, figure in (("table", plot_table(self)), ("curves", plot_curves(self))):
            for suffix in (".png", ".svg"):
                paths.append(directory / f"{name}{suffix}")
                save_figure(figure, paths[-1])
        return paths


def run_clique_table(
    settings: CliqueTable,
    *,
    workers: int | None = 1,
    out: str | os.PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> CliqueTableResult:
    """Run the table in `workers` processes (None: one a core), which changes no figure.

    With a directory `out`, what has finished is kept there, and is not run again the next time.

    >>> result = run_clique_table(CliqueTable(arms=(5, 10), rounds=4, repeats=2))
    >>> len(result.rows), result.rows[0].arms, result.rows[0].reading, result.rows[0].form
    (12, 5, 'literal', 'paper')
    """
    experiment = settings.experiment()
    engine = InProcess() if workers == 1 else Processes(workers)
    results = run(experiment, out=out, engine=engine, progress=progress)
    if results.failures:
        raise EngineError(f"{len(results.failures)} runs failed; the first of them:\n{results.failures[0]['error']}")
    rows, curves = [], {}
    points, kept = _curves(results.curves, len(results.runs))
    kept = kept.reshape(-1, settings.repeats, len(points))
    places = [(reading, point) for reading, grid in experiment.environments.items() for point in grid.points(reading)]
    series = [(reading, point, form) for reading, point in places for form in FORMS]
    for (reading, point, form), regret in zip(series, kept, strict=True):
        k = int(point.settings["n_arms"])
        summary = Summary.of(results.regret(point.label, form))
        rows.append(_row(k, reading, form, summary, settings.repeats))
        curves[k, reading, form] = mean_and_std(regret)
    return CliqueTableResult(settings=settings, rows=tuple(rows), curve_rounds=points, curves=curves)


def _curves(curves: pa.Table, n_runs: int) -> tuple[Int[np.ndarray, " points"], Float[np.ndarray, "runs points"]]:
    """The rounds of the curves, the same for all as all learners have the same epochs, and the regret after them."""
    rounds = curves.column("round").to_numpy().reshape(n_runs, -1)
    return rounds[0], curves.column("regret").to_numpy().reshape(n_runs, -1)


def plot_table(result: CliqueTableResult) -> Figure:
    """Mean regret and one standard deviation against the number of arms, beside the paper's printed figures."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 4.8), layout="constrained")
    axes = figure.add_subplot()
    ends = []
    for i, series in enumerate(_table_series(result)):
        shift = 0.35 * (i - 3)  # so that bars stand side by side
        means = np.maximum(series.means, 1e-3)  # the scale is logarithmic
        axes.errorbar(
            np.asarray(series.arms) + shift,
            means,
            yerr=np.stack([np.minimum(series.stds, 0.95 * means), series.stds]),
            color=series.colour,
            linestyle=series.style,
            marker="o",
            markersize=4.5,
            linewidth=1.6,
            elinewidth=1.0,
            capsize=2.0,
        )
        ends.append((float(means[-1]), series.name, series.colour))
    axes.set_yscale("log")
    axes.set_xticks(result.settings.arms)
    axes.set_xlabel("number of arms, in 5 cliques" if result.settings.n_cliques == 5 else "number of arms")
    axes.set_ylabel(f"cumulative regret after {result.settings.rounds} rounds")
    axes.yaxis.set_major_formatter("{x:g}")
    plain_axes(axes)
    name_ends(axes, float(result.settings.arms[-1]), ends)
    return figure


def plot_curves(result: CliqueTableResult) -> Figure:
    """Regret over time, one panel for each reading and form, one curve for each number of arms."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 6.4), layout="constrained")
    panels = figure.subplots(len(READINGS), len(FORMS), sharex=True, squeeze=False)
    shades = [to_hex(colormaps["viridis"](x)) for x in np.linspace(0.0, 0.85, len(result.settings.arms))]
    for line, reading in zip(panels, READINGS, strict=True):
        for axes, form in zip(line, FORMS, strict=True):
            named = {f"{k} arms": result.curves[k, reading, form] for k in result.settings.arms}
            draw_curves(axes, result.curve_rounds, named, shades)
            axes.set_title(name(reading, form), loc="left", size=11)
        line[0].set_ylabel("cumulative regret")
    for axes in panels[-1]:
        axes.set_xlabel("round")
    return figure


class _Series(NamedTuple):
    name: str
    arms: list[int]
    means: list[float]
    stds: list[float]
    colour: str
    style: str


def _table_series(result: CliqueTableResult) -> Iterator[_Series]:
    """The paper's print first, then every reading and form."""
    colours = dict(zip(FORMS, (COLOURS[0], COLOURS[3], COLOURS[1]), strict=True))
    arms = [k for k in result.settings.arms if k in PRINTED]
    if result.settings.is_printed and arms:
        yield _Series(
            name="printed in the paper",
            arms=arms,
            means=[PRINTED[k][0] for k in arms],
            stds=[PRINTED[k][1] for k in arms],
            colour=COLOURS[6],
            style="-",
        )
    for verdict in result.verdicts():
        rows = result.series(verdict.reading, verdict.form)
        stds = [0.0 if math.isnan(row.std) else row.std for row in rows]
        yield _Series(
            name=name(verdict.reading, verdict.form),
            arms=[row.arms for row in rows],
            means=[row.mean for row in rows],
            stds=stds,
            colour=colours[verdict.form],
            style=":" if verdict.reading == "literal" else "-",
        )


def name(reading: str, form: str) -> str:
    """Of a series, for readers."""
    forms = {"paper": "paper's form", "no-version-space": "without F_m", "ours": "our form"}
    return f"{reading}, {forms[form]}"


def _row(arms: int, reading: str, form: str, summary: Summary, repeats: int) -> Row:
    return Row(
        arms=arms,
        reading=reading,
        form=form,
        mean=summary.mean,
        std=summary.std,
        standard_error=summary.standard_error,
        repeats=repeats,
    )


def _apart(row: Row, mean: float, standard_error: float) -> bool:
    return abs(row.mean - mean) > 2.0 * math.hypot(row.standard_error, standard_error)


def _without_nan(value: object) -> object:
    """JSON knows no nan: null stands for it."""
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value
