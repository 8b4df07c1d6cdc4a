import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import same_color
from matplotlib.figure import Figure

from graphbandit.base.tables import short_number
from graphbandit.errors import InputError, SettingError
from graphbandit.experiments.analysis.statistics import FinalRegrets
from graphbandit.experiments.figures import (
    plot_curves,
    plot_heatmap,
    plot_paired,
    plot_ranks,
    plot_regret_versus_time,
)
from graphbandit.experiments.results.reading import Results
from graphbandit.plots import save_figure
from graphbandit.plots.looks import looks
from tests.helpers.experiment_results import ROUNDS, made_up, sweep, tuning
from tests.plots.test_plots import overlaps

NAN = float("nan")


@pytest.fixture(scope="module")
def swept() -> Results:
    return sweep()


@pytest.fixture(scope="module")
def tuned() -> Results:
    return tuning()


def written(figure: Figure) -> str:
    ticks = [label.get_text() for axes in figure.axes for label in (*axes.get_xticklabels(), *axes.get_yticklabels())]
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    keys = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    labels = [label for axes in figure.axes for label in (axes.get_xlabel(), axes.get_ylabel())]
    return "\n".join([*ticks, *texts, *keys, *labels])


@pytest.mark.parametrize("band", ["standard error", "std"])
def test_regret_has_a_mean_and_a_band_for_each_learner(swept: Results, band: str) -> None:
    axes = plot_curves(swept, environment="cliques", band=band).axes[0]
    final = FinalRegrets.of(swept).sample("cliques", "AdaCB.G")  # the lowest mean, so the first to be drawn
    mean, spread = final.mean(), final.std(ddof=1) / (np.sqrt(len(final)) if band == "standard error" else 1)
    assert axes.lines[0].get_xydata()[-1] == pytest.approx((ROUNDS, mean))
    top = max(axes.collections[0].get_paths()[0].vertices[:, 1])
    assert top == pytest.approx(mean + spread)
    assert len(axes.lines) == len(axes.collections) == 4
    name = {"standard error": "one standard error", "std": "one standard deviation"}[band]
    assert f"mean and {name} over 12 repeats" in written(axes.figure)


def test_curves_with_other_rounds_are_met_in_between() -> None:
    results = made_up({("star", "a"): [4.0, 8.0]})
    keys = results.curves.column("key").to_pylist()
    rounds = results.curves.column("round").to_pylist()
    kept = [not (key.endswith("1") and 1 < n < ROUNDS) for key, n in zip(keys, rounds, strict=True)]
    object.__setattr__(results, "curves", results.curves.filter(kept))
    line = plot_curves(results).axes[0].lines[0]
    assert sorted(set(rounds)) == line.get_xdata().tolist()
    assert line.get_ydata()[-1] == 6.0


def test_many_learners_are_cut_to_the_best_and_named_below(tuned: Results) -> None:
    figure = plot_curves(tuned)
    assert len(figure.axes[0].lines) == 10
    assert "the 10 best of 16 learners" in written(figure)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == FinalRegrets.of(tuned).by_mean("cliques")[:10]
    two = plot_curves(tuned, learners=FinalRegrets.of(tuned).learners[:2])
    assert len(two.axes[0].lines) == 2


def test_looks_differ_without_colour_too() -> None:
    names = [f"learner {i}" for i in range(28)]
    look = looks(names)
    assert len({(each.colour, str(each.dash)) for each in look.values()}) == 28
    assert len({str(look[name].dash) for name in names[:4]}) == 4


def test_logarithmic_axes_have_plain_numbers(swept: Results) -> None:
    figure = plot_curves(swept, environment="cliques", scale="log")
    figure.draw_without_rendering()
    assert {"1", "10", "100"} <= {label.get_text() for label in figure.axes[0].get_xticklabels()}


def test_paired_differences_are_those_of_the_statistics(swept: Results) -> None:
    figure = plot_paired(swept, baseline="AdaCB.G")
    assert len(figure.axes) == 3
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["RegCB.G", "FALCON", "Uniform"]
    table = FinalRegrets.of(swept)
    difference = table.sample("star n_arms=5", "FALCON") - table.sample("star n_arms=5", "AdaCB.G")
    means = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert means[1] == pytest.approx(difference.mean())
    assert "final regret minus that of AdaCB.G" in figure.axes[-1].get_xlabel()
    assert "95 % interval over 12 pairs" in written(figure)


def test_undecided_pairs_are_hollow() -> None:
    results = made_up({("s", "base"): [1, 2, 3], ("s", "same"): [2, 1, 3], ("s", "worse"): [11, 12, 13.5]})
    marks = [line for line in plot_paired(results, baseline="base").axes[0].lines if line.get_marker() == "o"]
    assert [same_color(mark.get_markerfacecolor(), "white") for mark in marks] == [True, False]


def test_heat_map_cells_are_means(swept: Results, tuned: Results) -> None:
    figure = plot_heatmap(swept, x="n_arms", y="environment.graph", learner="FALCON")
    table = FinalRegrets.of(swept)
    texts = [text.get_text() for text in figure.axes[0].texts]
    for place in table.environments:
        assert short_number(table.sample(place, "FALCON").mean()) in texts
    assert "FALCON" in texts
    assert "12 runs a cell" in texts
    assert len(figure.axes[0].lines) == 2  # the cross where nothing ran
    assert "mean over graph too" not in texts
    over = plot_heatmap(tuned, x="exponent", y="coverage", learner="AdaCB.G")
    assert len([text for text in over.axes[0].texts if text.get_text().replace(".", "").isdigit()]) == 16


def test_heat_map_says_what_it_averages_over() -> None:
    settings = {
        f"e{i}": {"environment.k": i % 2, "environment.g": i // 2 % 2, "environment.h": i // 4} for i in range(8)
    }
    results = made_up({(place, "a"): [1.0, 2.0] for place in settings}, settings=settings)
    figure = plot_heatmap(results, x="k", y="g")
    assert "4 runs a cell, mean over h too" in written(figure)


def test_rank_diagram_names_every_learner_once(swept: Results, tuned: Results) -> None:
    for results in (swept, tuned):
        text = written(plot_ranks(results))
        for name in FinalRegrets.of(results).learners:
            assert text.count(name) == 1
        assert "critical difference" in text
    alone = plot_ranks(made_up({("s", "a"): [1.0], ("s", "b"): [2.0]}))
    assert "critical difference" not in written(alone)
    assert "over 1 block" in written(alone)


def test_regret_versus_time_has_a_point_for_each_environment(swept: Results) -> None:
    axes = plot_regret_versus_time(swept).axes[0]
    assert [len(line.get_xdata()) for line in axes.lines] == [3, 3, 3, 3]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    one = plot_regret_versus_time(swept, environment="cliques")
    assert [len(line.get_xdata()) for line in one.axes[0].lines] == [1, 1, 1, 1]
    zero = plot_regret_versus_time(made_up({("s", "a"): [0.0], ("s", "b"): [2.0]}))
    assert zero.axes[0].get_yscale() == "linear"


def every_figure(results: Results) -> list[Figure]:
    table = FinalRegrets.of(results)
    return [
        plot_curves(results, environment=table.environments[0]),
        plot_curves(results, environment=table.environments[0], scale="log", band="std"),
        plot_paired(results, baseline=table.learners[0]),
        plot_ranks(results),
        plot_regret_versus_time(results),
        _heat_map(results),
    ]


def _heat_map(results: Results) -> Figure:
    names = [name for name in results.runs.column_names if name.startswith(("environment.", "learner."))]
    return plot_heatmap(results, x=names[0], y=names[1])


@pytest.mark.parametrize("which", ["swept", "tuned"])
def test_no_two_texts_meet(which: str, request: pytest.FixtureRequest) -> None:
    for figure in every_figure(request.getfixturevalue(which)):
        assert overlaps(figure) == []


def test_figures_repeat_to_the_byte_and_leave_matplotlib_alone(swept: Results, tmp_path) -> None:
    before = dict(mpl.rcParams)
    for name in ("a", "b"):
        for i, figure in enumerate(every_figure(swept)):
            save_figure(figure, tmp_path / f"{i}{name}.svg")
    for i in range(6):
        assert (tmp_path / f"{i}a.svg").read_bytes() == (tmp_path / f"{i}b.svg").read_bytes()
    assert dict(mpl.rcParams) == before


def test_what_cannot_be_drawn_is_refused(swept: Results) -> None:
    with pytest.raises(SettingError, match="environment is left out of 3; expected one of 'star n_arms=5'"):
        plot_curves(swept)
    with pytest.raises(SettingError, match="environment is 'clique'; did you mean 'cliques'"):
        plot_curves(swept, environment="clique")
    with pytest.raises(SettingError, match="band is 'range'; expected one of 'standard error', 'std'"):
        plot_curves(swept, environment="cliques", band="range")
    with pytest.raises(SettingError, match="learner is 'UCB'"):
        plot_curves(swept, environment="cliques", learners=["UCB"])
    with pytest.raises(SettingError, match="learner is 'UCB'"):
        plot_paired(swept, baseline="UCB")
    with pytest.raises(InputError, match="shares a repeat with the baseline 'a'"):
        plot_paired(made_up({("s", "a"): [1.0, NAN], ("s", "b"): [NAN, 1.0]}), baseline="a")
    with pytest.raises(SettingError, match="13 environments; expected at most 12"):
        plot_paired(made_up({(f"s{i}", name): [1.0] for i in range(13) for name in "ab"}), baseline="a")
    with pytest.raises(SettingError, match="setting is 'narms'; did you mean 'n_arms'"):
        plot_heatmap(swept, x="narms", y="graph")
    with pytest.raises(SettingError, match=r"both 'environment\.graph'; expected two"):
        plot_heatmap(swept, x="graph", y="environment.graph")
    with pytest.raises(SettingError, match="learner is 'Falco'; did you mean 'FALCON'"):
        plot_heatmap(swept, x="n_arms", y="graph", learner="Falco")
    with pytest.raises(InputError, match="no setting varies"):
        plot_heatmap(made_up({("s", "a"): [1.0]}), x="n_arms", y="graph")
    with pytest.raises(InputError, match="one learner"):
        plot_ranks(made_up({("s", "a"): [1.0]}))
    bare = made_up({("s", "a"): [1.0]})
    object.__setattr__(bare, "timings", bare.timings.slice(0, 0))
    object.__setattr__(bare, "curves", bare.curves.slice(0, 0))
    with pytest.raises(InputError, match="no timings"):
        plot_regret_versus_time(bare)
    with pytest.raises(InputError, match="no curve was recorded"):
        plot_curves(bare)
