"""Pictures in notebooks: of graphs, of decisions with names, and figures that show themselves."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import SettingError


def test_a_graph_shows_its_arrows_and_names():
    graph = gb.FeedbackGraph.from_edges([("a", "b"), ("b", "<c>")], arms=["a", "b", "<c>"], add_loops=True)
    picture = graph._repr_svg_()
    assert picture.count("<line") == 2
    assert picture.count('fill="none"') == 3
    assert "&lt;c&gt;" in picture
    assert gb.graphs.star(100)._repr_svg_() is None


def test_a_graph_of_probabilities_has_paler_arrows():
    picture = gb.ProbabilisticGraph([[1.0, 0.5], [0.0, 1.0]], arms=["a", "b"])._repr_svg_()
    assert picture.count("<line") == 1
    assert 'opacity="0.57"' in picture
    assert gb.ProbabilisticGraph(np.eye(50))._repr_svg_() is None


FIGURES = {
    "graph": lambda: gb.plots.plot_graph(gb.graphs.star(6)),
    "two arms": lambda: gb.plots.plot_graph(gb.graphs.complete(2)),
    "names": lambda: gb.plots.plot_graph(gb.graphs.star(5), names=["tea", "coffee", "cake", "pie", "cookie"]),
    "star": lambda: gb.plots.plot_star_example(),
    "regret": lambda: gb.plots.plot_regret(gb.simulate(gb.Greedy(), gb.environments.paper(n_arms=4), rounds=12)),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_show_themselves_in_a_legible_size(name):
    figure = FIGURES[name]()
    data, size = figure._repr_png_()
    assert data.startswith(b"\x89PNG")
    assert size["width"] >= 300
    assert size["height"] >= 200


def test_a_picture_of_a_decision_has_names_and_marks_candidates(tmp_path):
    graph = gb.graphs.star(3)
    told = {"values": [1.0, 0.5, 0.2], "before": [0.8, 0.2, 0.0], "after": [0.9, 0.1, 0.0], "observed": [1.0, 1.0, 0.1]}
    figure = gb.plots.plot_probabilities(
        graph, **told, best=0, candidates=[0, 1], names=["tea", "cake", "a very long name"]
    )
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert any(text.startswith("tea\n") for text in texts)
    assert any(text.startswith("a very long n…\n") for text in texts)
    styles = [patch.get_linestyle() for patch in figure.axes[0].patches if patch.get_facecolor()[3] > 0]
    assert styles.count("solid") == 2  # and the third is dotted
    assert "dotted: no candidate" in [text.get_text() for text in figure.legends[0].get_texts()]
    bandit = gb.Bandit(gb.Greedy(), gb.Problem(arms=["x", "y", "z"], features={"a": "number"}, function_class="linear"))
    decision = bandit.decide({"a": 1.0}, graph)
    texts = [text.get_text() for text in gb.plots.plot_decision(decision, graph).axes[0].texts]
    assert any(text.startswith("x\n") for text in texts)
    given = gb.plots.plot_decision(decision, graph, names=["one", "two", "three"]).axes[0].texts
    assert any(text.get_text().startswith("two\n") for text in given)
    gb.plots.save_figure(figure, str(tmp_path / "a.png"))
    assert (tmp_path / "a.png").exists()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d, g: gb.plots.plot_decision(d, g, names=["one"]), "names has 1 names; expected 3"),
        (lambda d, g: gb.plots.save_figure(gb.plots.plot_graph(g), "a.jpeg"), "'a.jpeg'; expected a name that ends in"),
        (lambda d, g: gb.plots.save_figure(gb.plots.plot_graph(g), 3), "path is 3; expected the name of a file"),
        (
            lambda d, g: gb.plots.plot_probabilities(
                g, values=[0] * 3, before=[0] * 3, after=[0] * 3, observed=[0] * 3, best=0, candidates=[7]
            ),
            "candidates is \\[7\\]; expected arm numbers from 0 to 2",
        ),
    ],
)
def test_what_cannot_be_drawn_or_written_is_refused(call, message):
    graph = gb.graphs.star(3)
    bandit = gb.Bandit(gb.learners.Uniform(), gb.Problem(n_arms=3), graph=graph)
    with pytest.raises((SettingError, gb.errors.InputError), match=message):
        call(bandit.decide(), graph)
