"""Probabilities made decisions: the arms drawn, what they reveal, and what is refused."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import GraphError, InputError, SettingError


class Numbers(np.random.Generator):
    """In place of a generator: these uniform numbers."""

    def __init__(self, uniforms):
        super().__init__(np.random.PCG64())
        self.uniforms = np.asarray(uniforms)

    def random(self, n):
        assert n == len(self.uniforms)
        return self.uniforms


build = gb.Decisions.from_probabilities


def some_rounds(n=40, n_arms=7, seed=0):
    rng = np.random.default_rng(seed)
    graphs = gb.FeedbackGraphs.from_dense(rng.random((n, n_arms, n_arms)) < 0.3, require_loops=False)
    p = rng.dirichlet(np.full(n_arms, 0.4), size=n)
    gaps = rng.random((n, n_arms))
    return p, graphs, rng.random(n), np.argmin(gaps, axis=1), gaps


def test_arms_are_drawn_by_inverse_transform_and_q_follows_from_the_graph():
    p, graphs, uniforms, best, gaps = some_rounds()
    decisions = build(p, graphs=graphs, rng=Numbers(uniforms), epoch=3, best=best, gaps=gaps)
    for t in range(len(p)):
        assert decisions.action[t] == np.searchsorted(np.cumsum(p[t]), uniforms[t], side="right")
        np.testing.assert_allclose(decisions.observation_probabilities[t], p[t] @ graphs[t].to_dense(), atol=1e-15)
        assert decisions.probability[t] == p[t, decisions.action[t]]
        assert decisions.objective[t] == pytest.approx(p[t] @ gaps[t])
    assert (decisions.epoch == 3).all()
    assert np.isnan(decisions.gamma).all()
    assert np.isnan(decisions.duality_gap).all()
    assert decisions.candidates.all()
    assert decisions.exploration_set.all()


def test_large_graphs_are_the_same():
    n_arms = 5000
    rng = np.random.default_rng(1)
    edges = rng.integers(n_arms, size=(400, 2))
    graph = gb.FeedbackGraph.from_edges(edges, n_arms, add_loops=True)
    p = np.zeros((2, n_arms))
    p[0, edges[:4, 0]], p[1, 17] = 0.25, 1.0
    decisions = build(
        p,
        graphs=gb.FeedbackGraphs.repeat(graph, 2),
        rng=Numbers(np.array([0.6, 0.3])),
        epoch=1,
        best=np.array([0, 0]),
        gaps=np.zeros((2, n_arms)),
    )
    np.testing.assert_allclose(decisions.observation_probabilities, p @ graph.to_sparse().astype(float), atol=1e-15)
    assert decisions.action.tolist() == [np.sort(edges[:4, 0])[2], 17]


def test_batches_of_any_size_are_the_same_bits():
    p, graphs, uniforms, best, gaps = some_rounds()
    whole = build(p, graphs=graphs, rng=Numbers(uniforms), epoch=1, best=best, gaps=gaps)
    for t in range(len(p)):
        part = slice(t, t + 1)
        one = build(
            p[part], graphs=graphs[part], rng=Numbers(uniforms[part]), epoch=1, best=best[part], gaps=gaps[part]
        )
        np.testing.assert_array_equal(one.observation_probabilities, whole.observation_probabilities[part])
        assert one.action == whole.action[part]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p[:, :-1], r"shape \(40, 6\).*expected \(40, 7\)"),
        (lambda p: p * 1.001, "round 0 of the batch have smallest entry.*sum 1.001"),
        (lambda p: np.where(np.arange(7) == 2, -1.0, p), "round 0 of the batch have smallest entry -1"),
        (lambda p: np.where(np.arange(7) == 2, np.nan, p), "smallest entry nan"),
    ],
)
def test_what_is_no_distribution_is_refused(change, message):
    p, graphs, uniforms, best, gaps = some_rounds()
    with pytest.raises(InputError, match=message):
        build(change(p), graphs=graphs, rng=Numbers(uniforms), epoch=1, best=best, gaps=gaps)


def test_mass_on_arms_not_available_is_refused():
    p, graphs, uniforms, best, gaps = some_rounds()
    offered = np.ones(p.shape, dtype=bool)
    offered[5, np.argmax(p[5])] = False
    with pytest.raises(InputError, match=r"round 5 of the batch .* on arms not available"):
        build(p, graphs=graphs, rng=Numbers(uniforms), epoch=1, best=best, gaps=gaps, available=offered)


def test_what_is_not_given_is_filled_in():
    p, graphs, uniforms, _, _ = some_rounds()
    offered = p > 0
    decisions = build(p.tolist(), graphs=graphs, rng=Numbers(uniforms), epoch=1, available=offered)
    np.testing.assert_array_equal(decisions.best, p.argmax(axis=1))
    np.testing.assert_array_equal(decisions.candidates, offered)
    np.testing.assert_array_equal(decisions.exploration_set, offered)
    np.testing.assert_array_equal(decisions.baseline, p)
    assert not decisions.gaps.any()
    assert not decisions.objective.any()
    assert (decisions.coverage_factor == 1).all()
    assert decisions.notes.shape == (40, 0)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"rng": 0}, InputError, "rng is 0; expected the numpy.random.Generator"),
        ({"epoch": None}, SettingError, "epoch is None"),
        ({"graphs": None}, GraphError, "graphs is a NoneType; expected FeedbackGraphs"),
        ({"solver": "guess"}, SettingError, "solver is 'guess'"),
        ({"best": np.zeros(3, dtype=int)}, InputError, r"best has shape \(3,\); expected \(40,\)"),
        ({"gaps": np.zeros((40, 6))}, InputError, r"gaps has shape \(40, 6\); expected \(40, 7\)"),
        ({"notes": np.zeros((39, 2))}, InputError, r"notes has shape \(39, 2\); expected \(40, 2\)"),
        ({"candidates": np.ones((40, 1), dtype=bool)}, InputError, "candidates has shape"),
        ({"available": np.ones((40, 1), dtype=bool)}, InputError, "available has shape"),
        ({"probabilities": [["a"] * 7] * 40}, InputError, "probabilities have type"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_drawn(given, error, message):
    p, graphs, _, _, _ = some_rounds()
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    with pytest.raises(error, match=message):
        build(**{"probabilities": p, "graphs": graphs, "rng": rng, "epoch": 1, **given})
    assert rng.bit_generator.state == before


def test_notes_travel_with_slices_and_batches():
    p, graphs, uniforms, _, _ = some_rounds()
    notes = np.arange(80.0).reshape(40, 2)
    decisions = build(p, graphs=graphs, rng=Numbers(uniforms), epoch=1, notes=notes)
    both = gb.Decisions.concatenate([decisions[:7], decisions[7:]])
    np.testing.assert_array_equal(both.notes, notes)
