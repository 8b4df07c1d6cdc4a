"""The paper's table "Test on clique-group": AdaCB.G on 5 cliques with 20 to 100 arms, and its regret curves.

The paper does not say everything that is needed to run it again, so two readings of its rewards stand side by side,
"literal" (as printed) and "rescaled" (all functions divided by 8), and three forms of the algorithm:

- "paper": Algorithm 1 as printed;
- "no-version-space": the same without F_m, that is, all arms are candidates and lambda_m = 1: not a reading of the
  paper, which says otherwise, but a probe of where its figures may come from;
- "ours": the defaults of this package, with the sharp radius and the tight coverage.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphbandit.checks import setting_integer, setting_number
from graphbandit.environments import paper
from graphbandit.errors import SavedFileError, SettingError
from graphbandit.learners import AdaCBG
from graphbandit.plots.curves import draw_curves, mean_and_std
from graphbandit.plots.style import COLOURS, name_ends, plain_axes, save_figure
from graphbandit.shapes import Float, Int
from graphbandit.simulate import Summary, simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRINTED = {20: (329.86, 31.18), 40: (311.34, 27.21), 60: (300.64, 24.11), 80: (292.60, 29.59), 100: (277.35, 23.00)}
"""The paper's table: number of arms to mean and standard deviation of the cumulative regret."""

PRINTED_REPEATS = 40

READINGS = ("literal", "rescaled")

FORMS = {
    "paper": AdaCBG(radius="paper", coverage="paper"),
    "no-version-space": AdaCBG(radius="paper", coverage="paper", candidate_set=False, scale_factor=False),
    "ours": AdaCBG(),
}


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
            "forms": {name: str(learner) for name, learner in FORMS.items()},
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
    progress: Callable[[str, int, int], None] | None = None,
) -> CliqueTableResult:
    """Run the table; `workers` repeats side by side (None: one a core), which changes no figure.

    `progress(what, done, total)` is called as each repeat ends, from the thread it ran in.

    >>> result = run_clique_table(CliqueTable(arms=(5, 10), rounds=4, repeats=2))
    >>> len(result.rows), result.rows[0].arms, result.rows[0].reading, result.rows[0].form
    (12, 5, 'literal', 'paper')
    """
    total = len(READINGS) * len(settings.arms) * settings.repeats
    counter = _Counter(total, progress)
    points = _points(settings.rounds)
    rows: list[Row] = []
    curves = {}
    for reading in READINGS:
        for k in settings.arms:
            result = simulate(
                FORMS,
                paper(
                    n_arms=k, graph="clique_group", n_cliques=settings.n_cliques, reward_scale=settings.scale(reading)
                ),
                rounds=settings.rounds,
                repeats=settings.repeats,
                seed=settings.seed,
                workers=workers,
                on_repeat=counter.step(f"{reading}, {k} arms"),
            )
            for form, summary in result.summary().items():
                rows.append(_row(k, reading, form, summary, settings.repeats))
                curves[k, reading, form] = mean_and_std(result.regret[form][:, points - 1])
    return CliqueTableResult(settings=settings, rows=tuple(rows), curve_rounds=points, curves=curves)


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


def _points(rounds: int) -> Int[np.ndarray, " points"]:
    """At most 128 rounds at which curves are kept, the last among them."""
    return np.unique(np.linspace(1, rounds, min(rounds, 128)).round().astype(np.int64))


def _without_nan(value: object) -> object:
    """JSON knows no nan: null stands for it."""
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


class _Counter:
    """Counts repeats that end in several threads."""

    def __init__(self, total: int, progress: Callable[[str, int, int], None] | None) -> None:
        self.total, self.done, self.progress, self.lock = total, 0, progress, threading.Lock()

    def step(self, what: str) -> Callable[[int], None]:
        """A callback for `simulate`."""

        def count(repeat: int) -> None:
            with self.lock:
                self.done += 1
                if self.progress is not None:
                    self.progress(what, self.done, self.total)

        return count
