"""A bandit as people use it: named arms, contexts as they have them, a graph of its own, explanations, files."""

import json
import re

import networkx
import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse

import graphbandit as gb
from graphbandit.errors import (
    GraphError,
    InputError,
    ObservationError,
    SavedFileError,
    SettingError,
)
from tests.helpers.bandits import content, refuse

PRICES = ["7.99", "8.99", "9.99"]
FEATURES = gb.Features({"age": "number", "country": ["DE", "FR", "IT"]})
GRAPH = gb.FeedbackGraph.from_edges([("9.99", "8.99"), ("8.99", "7.99")], arms=PRICES, add_loops=True)
VISIT = {"age": 31, "country": "DE"}


def make(learner=None, graph=GRAPH, **settings):
    problem = gb.Problem(arms=PRICES, features=FEATURES, function_class="linear", noise=0.5)
    return gb.Bandit(learner or gb.IDSG(draws=20), problem, graph=graph, identity="shop", **settings)


def played(bandit, rounds=20):
    for t in range(rounds):
        decision = bandit.decide({"age": 20 + t % 40, "country": ("DE", "FR", "IT")[t % 3]})
        bandit.observe(decision, {arm: float(arm) / 10 for arm in decision.revealed_arms})
    return bandit


def test_arms_are_called_by_their_names():
    bandit = make()
    decision = bandit.decide(VISIT, available=["8.99"])
    assert (decision.arm, decision.action, decision.revealed_arms) == ("8.99", 1, ["7.99", "8.99"])
    assert "arm='8.99'" in repr(decision)
    bandit.observe(decision, {"8.99": 8.99})
    assert bandit.awaited(decision).tolist() == [0]
    bandit.observe(decision, pd.Series({"7.99": 7.99}))
    assert bandit.open_decisions == []
    by_number = bandit.decide(VISIT, available=[True, False, False])
    assert by_number.arm == "7.99"
    bandit.observe(by_number, {0: 1.0})


def test_without_names_arms_are_their_numbers():
    bandit = gb.Bandit(gb.LinUCB(alpha=1.0), gb.Problem(n_arms=3, noise=0.5), graph=np.eye(3))
    decision = bandit.decide([1.0, 2.0])
    assert decision.arm == decision.action
    assert decision.revealed_arms == [decision.action]


def test_contexts_are_dictionaries_rows_and_frames():
    frame = pd.DataFrame([{"age": 31, "country": "DE"}, {"age": 52, "country": "IT"}, {"age": 18, "country": "FR"}])
    ways = {
        "dictionaries": [make().decide(row) for row in frame.to_dict("records")][:1],
        "a row": [make().decide(frame.iloc[0])],
        "a frame": make().decide_batch(frame),
    }
    one_by_one = make()
    singles = [one_by_one.decide(row) for row in frame.to_dict("records")]
    batch = ways["a frame"]
    assert [d.action for d in batch] == [d.action for d in singles]
    for made in ways.values():
        assert made[0].probabilities.tobytes() == singles[0].probabilities.tobytes()


def test_unknown_and_missing_values_are_counted_once_a_decision_is_made(tmp_path):
    bandit = make()
    bandit.decide({"age": None, "country": "ES"}, key="a")
    bandit.decide({"age": None, "country": "ES"}, key="a")
    with pytest.raises(GraphError):
        bandit.decide({"age": None, "country": "ES"}, np.eye(2))
    assert (bandit.tally.unknown, bandit.tally.missing) == ({"country": 1}, {"age": 1})
    bandit.save(tmp_path / "shop.gb")
    assert gb.Bandit.load(tmp_path / "shop.gb").tally == bandit.tally


@pytest.mark.parametrize("kind", ["graph", "array", "networkx", "probabilities"])
def test_a_graph_of_its_own_in_every_form_is_saved(kind, tmp_path):
    edges = networkx.DiGraph([("9.99", "8.99"), ("8.99", "7.99"), *((arm, arm) for arm in PRICES)])
    graph = {
        "graph": GRAPH,
        "array": GRAPH.to_dense().astype(int),
        "networkx": edges,
        "probabilities": gb.ProbabilisticGraph(0.5 + 0.5 * np.eye(3), arms=PRICES),
    }[kind]
    bandit = make(graph=graph)
    decision = bandit.decide(VISIT)
    assert make(graph=None).decide(VISIT, graph).probabilities.tobytes() == decision.probabilities.tobytes()
    bandit.save(tmp_path / "shop.gb")
    loaded = gb.Bandit.load(tmp_path / "shop.gb")
    assert loaded.graph == bandit.graph
    assert loaded.graph.arms == bandit.graph.arms
    assert content(loaded, tmp_path) == (tmp_path / "shop.gb").read_bytes()
    assert loaded.decide(VISIT).action == bandit.decide(VISIT).action


def test_learners_without_contexts_need_none():
    bandit = gb.Bandit(gb.learners.UCBN(), gb.Problem(arms=PRICES, noise=0.5), graph=GRAPH)
    for _ in range(5):
        decision = bandit.decide()
        bandit.observe(decision, dict.fromkeys(decision.revealed_arms, 0.5))
    bandit.decide(None, gb.graphs.complete(3))
    assert len(bandit.decide_batch(None, gb.FeedbackGraphs.repeat(GRAPH, 4))) == 4


def test_without_contexts_every_call_works():
    def fresh(learner=None):
        return gb.Bandit(learner or gb.learners.UCBN(), gb.Problem(arms=PRICES, noise=0.5), graph=GRAPH)

    bandit = fresh()
    bandit.learn(None, [0.1, 0.9, 0.5], actions=["7.99", "8.99", "9.99"])
    bandit.learn(rewards=np.array([[0.1, 0.9, np.nan]]), actions=["8.99"])
    bandit.decide()
    assert (bandit.rounds, bandit.state.counts.tolist()) == (5, [2, 2, 1])
    assert bandit.probabilities().tolist() == bandit.probabilities(None, GRAPH).tolist()
    assert bandit.probabilities().shape == (1, 3)
    assert bandit.probabilities([None] * 4).shape == (4, 3)
    assert bandit.probabilities(graphs=[GRAPH, GRAPH]).shape == (2, 3)
    assert bandit.probabilities(available=[["7.99"], ["8.99", "9.99"]])[0].tolist() == [1, 0, 0]
    assert len(bandit.decide_batch(keys=["a", "b"])) == len(bandit.decider().decide_batch(keys=["c", "d"])) == 2
    assert len(bandit.decide_batch()) == len(bandit.decider().decide_batch()) == 1
    assert len(fresh(gb.learners.Exp3IX()).decide_batch([None] * 3)) == 3
    assert len(fresh(gb.learners.Uniform()).decide_batch(None, np.stack([np.eye(3)] * 5))) == 5
    for none in ([], ()):
        assert bandit.decide_batch(graphs=none) == bandit.decide_batch([], none) == []
        assert bandit.decider().decide_batch(graphs=none) == []
        with pytest.raises(InputError, match="3 contexts came with 0 graphs; expected one graph a round"):
            bandit.decide_batch([None] * 3, none)


def test_arms_on_offer_come_as_names_numbers_masks_one_for_all_or_one_a_round():
    wanted = [False, True, True]
    for given in (
        ["8.99", "9.99"],
        [1, 2],
        np.array([1, 2]),
        ("8.99", 2),
        {1, 2},
        wanted,
        np.array(wanted),
        pd.Series(["8.99", "9.99"]),
        polars.Series([1, 2]),
        np.array(["8.99", "9.99"]),
        {"9.99": True, "8.99": True, "7.99": False},
        {2: True, 1: np.True_},
        pd.Series({"9.99": True, "7.99": False, "8.99": True}),
        pd.Series(wanted),
    ):
        assert make(gb.learners.Uniform()).probabilities([VISIT], available=given)[0].tolist() == [0, 0.5, 0.5], given
    found = make(gb.learners.Uniform()).probabilities([VISIT] * 4, available=[[0], ["8.99", 2], wanted, np.array([2])])
    assert found.tolist() == [[1, 0, 0], [0, 0.5, 0.5], [0, 0.5, 0.5], [0, 0, 1]]


def test_a_frame_of_one_row_is_a_context():
    row = pd.DataFrame([VISIT])
    expected = make().decide(VISIT).probabilities.tolist()
    for frame in (row, polars.from_pandas(row), polars.from_pandas(row).to_arrow()):
        assert make().decide(frame).probabilities.tolist() == expected
    plain = gb.Bandit(gb.LinUCB(alpha=1.0), gb.Problem(n_arms=3), graph=np.eye(3))
    assert plain.decide(pd.DataFrame({"a": [1.0], "b": [2.0]})).probabilities.tolist() == [1, 0, 0]


def test_several_graphs_come_as_a_list_of_what_one_may_be():
    edges = networkx.DiGraph([("9.99", "8.99"), ("8.99", "7.99"), *((arm, arm) for arm in PRICES)])
    dense = GRAPH.to_dense()
    expected = make().probabilities([VISIT] * 2, gb.FeedbackGraphs.repeat(GRAPH, 2)).tolist()
    for given in ([edges, edges], [dense, dense.astype(int)], [GRAPH, edges], np.stack([dense, dense]), dense.tolist()):
        assert make().probabilities([VISIT] * 2, given).tolist() == expected
    assert make().probabilities([VISIT] * 2, [dense.tolist(), dense.tolist()]).tolist() == expected
    weighted = gb.ProbabilisticGraph(0.5 + 0.5 * np.eye(3), arms=PRICES)
    assert make().probabilities([VISIT] * 2, [weighted, weighted]).shape == (2, 3)


@pytest.mark.parametrize(("arms", "edges"), [(2, [(1, 0), (0, 1)]), (3, [(0, 1), (1, 2)]), (4, [[0, 1], [1, 2]])])
def test_a_list_of_edges_is_no_matrix_even_where_it_would_fit(arms, edges):
    bandit = gb.Bandit(gb.learners.Uniform(), gb.Problem(n_arms=arms))
    with pytest.raises(GraphError, match=rf"list of pairs, which are edges .*from_edges\(graph, {arms}, add_loops"):
        bandit.decide(graph=edges)
    with pytest.raises(GraphError, match="list of pairs"):
        bandit.decide_batch(graphs=[edges, edges])
    assert gb.Bandit(gb.learners.Uniform(), gb.Problem(n_arms=2)).decide(graph=[[1, 1], [0, 1]]).id == 0


def test_a_polars_series_has_the_rewards_of_the_revealed_arms_in_their_order():
    bandit = make()
    decision = bandit.decide(VISIT, available=["8.99"])
    bandit.observe(decision, polars.Series([7.99, None]))
    assert bandit.awaited(decision).tolist() == [1]
    frame = polars.DataFrame([VISIT, VISIT])
    bandit.learn(frame, polars.Series([1.0, 2.0]), actions=polars.Series(["7.99", "9.99"]))
    bandit.learn(frame, polars.DataFrame({"9.99": [1.0, None], "7.99": [2.0, 3.0]}), actions=["9.99", "7.99"])
    assert bandit.rounds == 5


def test_a_decision_as_plain_values_and_in_words():
    decision = played(make(), 40).decide(VISIT, key="visit-17")
    values = json.loads(json.dumps(decision.to_dict(), allow_nan=False))
    assert (values["key"], values["arm"], values["action"]) == ("visit-17", decision.arm, decision.action)
    assert set(values["probabilities"]) == set(values["expected_regret"]) == set(values["estimate"]) == set(PRICES)
    assert values["gamma"] is None
    text = decision.explain()
    for word in ("expected regret", "information", "estimate", "reveals", "play arm " + decision.arm):
        assert word in text
    assert "nan" not in text
    assert "gamma" not in text


@pytest.mark.parametrize("learner", [gb.AdaCBG(), gb.Greedy(), gb.LinUCB(alpha=1.0), gb.learners.TSN()], ids=repr)
def test_explanations_speak_of_what_there_is(learner):
    decision = played(make(learner)).decide(VISIT)
    assert "nan" not in decision.explain()
    assert "reveals" in decision.explain()
    json.dumps(decision.to_dict(), allow_nan=False)


def test_names_are_plain_texts_and_everywhere():
    problem = gb.Problem(arms=np.array(PRICES))
    assert {type(name) for name in problem.arms} == {str}
    assert "best='" in repr(played(make()).decide(VISIT))


def test_retired_arms_alone_are_not_on_offer():
    bandit = make()
    bandit.retire_arms(["7.99"])
    for available in (["7.99"], [["8.99"], ["7.99"]]):
        with pytest.raises(InputError, match="available lists only retired arms"):
            bandit.decide_batch([VISIT] * 2, available=available)


def test_a_round_without_a_graph_is_told_what_to_do():
    with pytest.raises(GraphError, match=r"there is no graph; expected one .* graph=...\): graphs.bandit\(3\) where"):
        make(graph=None).decide(VISIT)


def test_a_notebook_shows_a_decision_and_escapes_names():
    names = ["<b>", "&", "plain"]
    bandit = gb.Bandit(gb.learners.Uniform(), gb.Problem(arms=names), graph=gb.graphs.complete(3))
    page = bandit.decide()._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>played</b>" in page
    assert page.count("<tr>") == 4


def test_estimates_of_ids_are_those_of_its_draws():
    bandit = played(make())
    decision = bandit.decide(VISIT)
    state, functions = bandit.state, bandit.problem.function_class
    context = FEATURES.encode(VISIT)[None]
    values = functions.draw_values(state.plausible, context)[0]
    np.testing.assert_allclose(decision.batch.told["estimate"][0], state.plausible.weights @ values, rtol=1e-12)
    best = state.plausible.weights @ values.max(axis=1)
    np.testing.assert_allclose(decision.batch.told["expected regret"][0], best - state.plausible.weights @ values)


CALLS = {
    "context: unknown column": (lambda b: b.decide({"age": 3, "land": "DE"}), InputError, "country"),
    "context: text for a number": (lambda b: b.decide({"age": "old", "country": "DE"}), InputError, "age"),
    "context: a number": (lambda b: b.decide(3.0), InputError, "context"),
    "contexts: one for many": (lambda b: b.decide_batch(VISIT), InputError, "one context; expected several"),
    "contexts: many for one": (lambda b: b.decide([VISIT, VISIT]), InputError, "`decide_batch` takes several"),
    "context: a graph": (lambda b: b.decide(GRAPH), InputError, "a FeedbackGraph; expected decide(context, graph)"),
    "context: a list of numbers": (
        lambda b: b.decide([3.0, 1.0]),
        InputError,
        "contexts are a list with 3.0 at 0; expected a dictionary or a NumPy array of the columns 'age', 'country'",
    ),
    "contexts: none": (lambda b: b.decide_batch(None), InputError, "context is None; expected the columns 'age'"),
    "contexts: a list of none": (lambda b: b.decide_batch([None, None]), InputError, "expected the columns 'age'"),
    "context: a frame of two rows": (
        lambda b: b.decide(pd.DataFrame([VISIT, VISIT])),
        InputError,
        "the context is a frame of 2 rows; expected one",
    ),
    "graph: other size": (lambda b: b.decide(VISIT, np.eye(4)), GraphError, "have 4 arms; expected 3"),
    "graph: other names": (
        lambda b: b.decide(VISIT, GRAPH.with_arms(["7.99", "9.99", "8.99"])),
        GraphError,
        "arm 1 is '9.99'; expected '8.99'",
    ),
    "graph: an array without loops": (
        lambda b: b.decide(VISIT, np.ones((3, 3)) - np.eye(3)),
        GraphError,
        "lacks the self-loop of arm '7.99', '8.99', '9.99': playing such an arm would not reveal its own reward; "
        "expected FeedbackGraph.from_dense(..., add_loops=True)",
    ),
    "graph: a NetworkX graph without loops": (
        lambda b: b.decide(VISIT, networkx.complete_graph(PRICES)),
        GraphError,
        "expected FeedbackGraph.from_networkx(..., add_loops=True)",
    ),
    "graphs: arrays without loops": (
        lambda b: b.decide_batch([VISIT] * 2, [np.eye(3), np.zeros((3, 3))]),
        GraphError,
        "add_loops=True",
    ),
    "graphs: an array (n, arms, arms) without loops": (
        lambda b: b.probabilities([VISIT] * 2, np.zeros((2, 3, 3))),
        GraphError,
        "add_loops=True",
    ),
    "graphs: of two kinds": (
        lambda b: b.decide_batch([VISIT] * 2, [GRAPH, gb.ProbabilisticGraph(np.eye(3))]),
        GraphError,
        "expected the same kind in all",
    ),
    "graph: not square": (lambda b: b.decide(VISIT, np.ones((3, 2))), GraphError, "(3, 2)"),
    "available: one name": (lambda b: b.decide(VISIT, available="8.99"), InputError, "expected a list of arms"),
    "available: unknown name": (
        lambda b: b.decide(VISIT, available=["8.98"]),
        InputError,
        "no arm is called '8.98'; did you mean '8.99'",
    ),
    "available: an arm twice": (
        lambda b: b.decide(VISIT, available=["8.99", 1]),
        InputError,
        "available has arm '8.99' twice",
    ),
    "available: booleans among numbers": (lambda b: b.decide(VISIT, available=[True, 2]), InputError, "arm is True"),
    "available: lists and names": (lambda b: b.decide(VISIT, available=["8.99", [1]]), InputError, "lists beside"),
    "available: zeros and ones": (
        lambda b: b.decide(VISIT, available=[0, 1, 1]),
        InputError,
        "available is [0, 1, 1], which may be numbers of arms or a mask; expected names, or a mask of booleans",
    ),
    "available: an array of zeros and ones": (
        lambda b: b.decide_batch([VISIT] * 2, available=np.ones((2, 3), dtype=int)),
        InputError,
        "available[0] is [1, 1, 1], which may be",
    ),
    "available: no such number": (
        lambda b: b.decide(VISIT, available=[0, 3]),
        InputError,
        "arm is 3; expected one of 0",
    ),
    "available: a mapping to numbers": (
        lambda b: b.decide(VISIT, available={"8.99": 1}),
        InputError,
        "expected true or false for each",
    ),
    "available: a mapping to false": (
        lambda b: b.decide(VISIT, available={"8.99": False}),
        InputError,
        "available is true for no arm",
    ),
    "available: a mapping of another arm": (
        lambda b: b.decide(VISIT, available={"1.99": True}),
        InputError,
        "no arm is called '1.99'",
    ),
    "graph: a list of edges": (
        lambda b: b.decide(VISIT, [("8.99", "7.99")]),
        GraphError,
        "graph is a list of texts; expected a FeedbackGraph",
    ),
    "graph: a sparse matrix": (
        lambda b: b.decide(VISIT, scipy.sparse.eye_array(3)),
        GraphError,
        "FeedbackGraph.from_edges and from_sparse make one",
    ),
    "available: halves": (lambda b: b.decide(VISIT, available=[0.5]), InputError, "arm is 0.5"),
    "rewards: unknown name": (lambda b: b.observe(20, {"1.99": 1.0}), ObservationError, "no arm is called '1.99'"),
    "rewards: twice": (lambda b: b.observe(20, {"8.99": 1.0, 1: 1.0}), ObservationError, "twice"),
    "rewards: a series with an arm twice": (
        lambda b: b.observe(20, pd.Series([1.0, 2.0], index=["8.99", "8.99"])),
        ObservationError,
        "twice in its index",
    ),
    "rewards: not revealed": (
        lambda b: b.observe(20, {"9.99": 1.0}),
        ObservationError,
        "did not reveal arm '9.99'; it revealed '7.99', '8.99'",
    ),
    "rewards: no number": (lambda b: b.observe(20, {"8.99": "x"}), ObservationError, "the reward of arm '8.99' of"),
    "rewards: a Polars Series of another length": (
        lambda b: b.observe(20, polars.Series([1.0])),
        ObservationError,
        "a Series of 1, which has no index; expected 2, one for each of revealed_arms",
    ),
    "rewards: no arm": (lambda b: b.observe(20, {0.5: 1.0}), ObservationError, "expected its name or number"),
    "past: not revealed": (
        lambda b: b.learn([VISIT], [[1.0, 1.0, np.nan]], actions=["7.99"], graphs=GRAPH),
        ObservationError,
        "rewards[0] has arm '8.99', which arm '7.99' does not reveal",
    ),
    "past: not available": (
        lambda b: b.learn([VISIT], [1.0], actions=["7.99"], available=["8.99"]),
        InputError,
        "actions[0] is arm '7.99', which was not available",
    ),
    "key: a number": (lambda b: b.decide(VISIT, key=17), SettingError, "key is 17; expected text"),
    "key: empty": (lambda b: b.decide(VISIT, key=""), SettingError, "key is ''"),
    "keys: one text": (lambda b: b.decide_batch([VISIT] * 3, keys="abc"), SettingError, "expected a list of texts"),
    "keys: a number": (lambda b: b.decide_batch([VISIT], keys=3), SettingError, "keys is 3"),
    "decider, keys: one text": (
        lambda b: b.decider().decide_batch([VISIT] * 3, keys="abc"),
        SettingError,
        "expected a list of texts",
    ),
    "keys: too few": (lambda b: b.decide_batch([VISIT, VISIT], keys=["a"]), InputError, "1 keys for 2 rounds"),
}


@pytest.mark.parametrize(("call", "error", "message"), CALLS.values(), ids=CALLS)
def test_a_refused_call_changes_nothing(call, error, message, tmp_path):
    bandit = played(make(gb.Greedy()))
    bandit.decide(VISIT, available=["8.99"])
    refuse(bandit, call, error, message, tmp_path)


def test_learners_name_the_arms_they_complain_about():
    bare = gb.FeedbackGraph.from_edges([("9.99", "8.99"), ("7.99", "7.99")], arms=PRICES, require_loops=False)
    with pytest.raises(GraphError, match=r"lacks the self-loop of arm '8.99', '9.99'"):
        make(gb.learners.RegCBG()).decide(VISIT, bare)
    with pytest.raises(GraphError, match=r"no arm on offer reveals arm '9.99'"):
        make(gb.AdaCBG()).decide(VISIT, bare)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"graph": np.eye(2)}, GraphError, "have 2 arms; expected 3"),
        ({"graph": 3}, GraphError, "graph is a int"),
        ({"max_keys": -1}, SettingError, "max_keys is -1"),
        ({"max_keys": 1.5}, SettingError, "max_keys is 1.5"),
    ],
    ids=str,
)
def test_settings_are_refused(settings, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make(**settings)


@pytest.mark.parametrize(
    "other",
    [
        gb.KernelClass(n_arms=3, dimension=FEATURES.size),
        gb.LinearClass(n_arms=2, dimension=FEATURES.size, parameters="per-arm"),
        gb.LinearClass(n_arms=3, dimension=2, parameters="per-arm"),
    ],
    ids=["kind", "arms", "dimension"],
)
def test_another_function_class_than_the_saved_one_is_refused(other, tmp_path):
    bandit = played(make())
    bandit.save(tmp_path / "shop.gb")
    with pytest.raises(SavedFileError, match="expected load"):
        gb.Bandit.load(tmp_path / "shop.gb", function_class=other)
    same = gb.Bandit.load(tmp_path / "shop.gb", function_class=bandit.problem.function_class)
    assert content(same, tmp_path) == (tmp_path / "shop.gb").read_bytes()
