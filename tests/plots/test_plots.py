import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import graphbandit as gb
from graphbandit import plots
from graphbandit.plots.regret import draw_curves
from graphbandit.plots.style import name_ends

SOLVED_WITH_GAMMA_10 = {
    "baseline": [0, 11 / 15, 1 / 15, 1 / 15, 1 / 15, 1 / 15],
    "before": [1, 11 / 15, 1 / 15, 1 / 15, 1 / 15, 1 / 15],
    "probabilities": [1 / 15, 14 / 15, 0, 0, 0, 0],
    "observation_probabilities": [1, 1, 1 / 15, 1 / 15, 1 / 15, 1 / 15],
}


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def picture(graph: gb.FeedbackGraph) -> Figure:
    """Any values on this graph, solved."""
    values = np.random.default_rng(0).random(graph.n_arms)
    gaps = values.max() - values
    explored = gb.exploration_set(graph, np.ones(graph.n_arms, dtype=bool), gaps)
    baseline = gb.planning.inverse_gap_baseline(explored, gaps, 10.0)
    return drawn(graph, values, baseline, gb.solve_sampling_lp(graph, baseline, gaps), explored)


def drawn(graph, values, baseline, solution, explored) -> Figure:
    """What was solved."""
    return plots.plot_probabilities(
        graph,
        values=values,
        before=baseline,
        after=solution.probabilities,
        observed=solution.observation_probabilities,
        best=int(np.argmax(values)),
        explored=explored,
    )


def overlaps(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts whose boxes meet; only for texts that are not turned."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # places the legend
    renderer = canvas.get_renderer()
    written = [text for axes in figure.axes for text in axes.texts]
    written += [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in written if text.get_text()]
    return [(a, b) for i, (a, x) in enumerate(boxes) for b, y in boxes[i + 1 :] if x.overlaps(y)]


def test_the_star_example_is_that_of_the_paper() -> None:
    example = plots.star_example(gamma=10.0)
    assert example.explored.tolist() == [1, 2, 3, 4, 5]
    np.testing.assert_allclose(example.gaps, [0.1, 0, 1, 1, 1, 1])
    for name, expected in SOLVED_WITH_GAMMA_10.items():
        source = example if hasattr(example, name) else example.solution
        np.testing.assert_allclose(getattr(source, name), expected, atol=1e-9, err_msg=name)


def test_the_star_picture_says_what_the_program_changed() -> None:
    figure = plots.plot_star_example()
    before, after = ([text.get_text() for text in axes.texts] for axes in figure.axes)
    assert before.count("p = 0.067\nq = 0.067") == 4
    assert "p = 0.733\nq = 0.733" in before
    assert after.count("p = 0\nq = 0.067") == 4
    assert {"p = 0.067\nq = 1", "p = 0.933\nq = 1"} < set(after)
    assert "expected regret a round: 0.267" in before
    assert "expected regret a round: 0.0067, 40 times less" in after
    assert overlaps(figure) == []


def test_a_picture_shows_values_probabilities_and_ring() -> None:
    example = plots.star_example()
    figure = drawn(example.graph, example.values, example.baseline, example.solution, example.explored)
    written = texts(figure)
    assert {"0.9", "1", "arm 0\np 0\n→ 0.067\nq 1", "arm 1\np 0.733\n→ 0.933\nq 1"} < set(written)
    circles = figure.axes[0].patches
    assert len([c for c in circles if not c.get_fill()]) == 1  # the ring
    assert len([c for c in circles if c.get_fill() and c.get_linewidth() > 2]) == 5  # the exploration set
    assert overlaps(figure) == []


@pytest.mark.parametrize(
    "graph",
    [
        gb.graphs.bandit(1),
        gb.graphs.complete(2),
        gb.graphs.star(12, hub=3),
        gb.graphs.star(20, hub=3),
        gb.graphs.clique_group(12, 3),
        gb.graphs.random_graph(60, rng=np.random.default_rng(0)),
        gb.FeedbackGraph.from_edges([(0, 1), (1, 2), (2, 0), (2, 1)], 4, add_loops=True),
    ],
    ids=["one", "pair", "row", "spokes", "cliques", "sixty", "directed"],
)
def test_graphs_of_all_kinds_and_sizes_are_drawn(graph: gb.FeedbackGraph, tmp_path) -> None:
    figure = picture(graph)
    plots.save_figure(figure, tmp_path / "graph.svg")
    circles = [patch for patch in figure.axes[0].patches if type(patch).__name__ == "Circle"]
    assert len(circles) == graph.n_arms + 1
    if graph.n_arms <= 12:
        assert overlaps(figure) == []


def test_one_way_edges_are_arrows_and_others_lines() -> None:
    figure = picture(gb.FeedbackGraph.from_edges([(0, 1), (1, 2), (2, 1)], 3, add_loops=True))
    arrows = [text for text in figure.axes[0].texts if getattr(text, "arrow_patch", None) is not None]
    assert len(arrows) == 1
    assert len(figure.axes[0].collections[0].get_segments()) == 1


def test_a_decision_of_a_bandit_is_drawn_with_its_gaps() -> None:
    graph = gb.graphs.star(5)
    instance = gb.environments.paper(n_arms=5, graph=graph).instance(seed=0)
    bandit = gb.Bandit(gb.AdaCBG(), instance.problem(None), seed=0)
    decision = bandit.decide(np.zeros(10), graph)
    assert f"{decision.gaps[0]:.2g}" in texts(plots.plot_decision(decision, graph))
    assert "0.25" in texts(plots.plot_decision(decision, graph, values=np.full(5, 0.25)))
    with pytest.raises(gb.errors.InputError, match="expected the decision's 5"):
        plots.plot_decision(decision, gb.graphs.star(6))


def test_what_cannot_be_drawn_is_refused() -> None:
    def draw(n: int, **changes: object) -> Figure:
        given = {name: np.full(n, 1 / n) for name in ("values", "before", "after", "observed")}
        return plots.plot_probabilities(gb.graphs.bandit(n), **{**given, "best": 0, **changes})

    with pytest.raises(gb.errors.InputError, match="61 arms; expected at most 60"):
        draw(61)
    with pytest.raises(gb.errors.InputError, match="before has shape"):
        draw(3, before=[1.0])
    with pytest.raises(gb.errors.InputError, match="explored"):
        draw(3, explored=[3])
    with pytest.raises(gb.errors.InputError, match="best is 3"):
        draw(3, best=3)


def test_regret_has_a_curve_and_a_band_for_each_learner() -> None:
    environment = gb.environments.paper(n_arms=5, graph="star")
    learners = {"AdaCB.G": gb.AdaCBG(), "FALCON": gb.Falcon()}
    result = gb.simulate(learners, environment, rounds=64, repeats=3)
    figure = plots.plot_regret(result, title="star")
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.texts] in (["AdaCB.G", "FALCON"], ["FALCON", "AdaCB.G"])
    np.testing.assert_allclose(axes.lines[1].get_ydata(), result.regret["FALCON"].mean(axis=0))
    assert len(axes.collections) == 2
    assert axes.get_ylabel() == "cumulative regret: mean ± one deviation"
    host = Figure()
    assert plots.plot_regret(gb.simulate(learners, environment, rounds=4), ax=host.add_subplot()) is host


def test_names_at_the_ends_of_curves_do_not_meet() -> None:
    figure = Figure()
    axes = figure.add_subplot()
    flat = {f"curve {i}": (np.full(4, 1 + 1e-3 * i), np.zeros(4)) for i in range(8)}
    draw_curves(axes, np.arange(1, 5), flat)
    assert overlaps(figure) == []
    assert max(text.get_position()[1] for text in axes.texts) <= 1.0


def test_names_that_would_meet_are_spread_around_their_curves() -> None:
    figure = Figure()
    axes = figure.add_subplot(ylim=(0, 1))
    ends = {"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.62, "e": 0.01, "f": 0.0}
    name_ends(axes, 1.0, [(y, name, "black") for name, y in ends.items()], room=0.05)
    heights = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert heights == pytest.approx({"a": 0.45, "b": 0.5, "c": 0.55, "d": 0.62, "f": 0.0, "e": 0.05})


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_saved_figures_repeat_to_the_byte(suffix: str, tmp_path) -> None:
    for name in ("a", "b"):
        plots.save_figure(plots.plot_star_example(), tmp_path / f"{name}{suffix}")
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


def test_saving_refuses_unknown_formats_and_missing_folders(tmp_path) -> None:
    figure = plots.plot_star_example()
    with pytest.raises(gb.errors.SettingError, match=r"star\.gif.*\.png"):
        plots.save_figure(figure, tmp_path / "star.gif")
    with pytest.raises(gb.errors.SavedFileError, match="cannot be written"):
        plots.save_figure(figure, tmp_path / "nowhere" / "star.png")


def test_no_global_state_of_matplotlib_is_touched() -> None:
    before = dict(mpl.rcParams)
    plots.plot_star_example()
    assert dict(mpl.rcParams) == before
