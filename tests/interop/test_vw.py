"""Vowpal Wabbit: what we write, the real package reads, and what it has, we read, graphs the right way round."""

import gzip
import json
import re

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import LogError, SettingError
from graphbandit.evaluation import Log, evaluate
from graphbandit.interop import vw
from tests.logs.logged import logged

rng = np.random.default_rng(0)
DIRECTED = gb.FeedbackGraphs.from_dense((rng.random((40, 5, 5)) < 0.3) | np.eye(5, dtype=bool))
GRAPHS = {"star": gb.graphs.star(5, hub=0), "loops": gb.graphs.bandit(5), "directed": DIRECTED}
FORMATS = {"dsjson": (vw.write_dsjson, vw.read_dsjson), "text": (vw.write_text, vw.read_text)}


def same(one: Log, other: Log) -> None:
    a, b = one.to_batch(), other.to_batch()
    assert np.array_equal(a.contexts, b.contexts)
    assert np.array_equal(a.rewards, b.rewards, equal_nan=True)
    assert np.array_equal(a.actions, b.actions)
    assert np.allclose(a.probabilities, b.probabilities, rtol=0, atol=1e-15)
    assert a.graphs == b.graphs
    assert np.allclose(a.q, b.q, rtol=0, atol=1e-12)
    assert (a.available is None) == (b.available is None)
    assert a.available is None or np.array_equal(a.available, b.available)
    assert one.arms == other.arms


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_out_and_in_is_the_same_log(form, graph, tmp_path):
    write, read = FORMATS[form]
    made = logged(n=40, graph=GRAPHS[graph])
    write(made.log, tmp_path / "log.vw")
    back = read(tmp_path / "log.vw")
    same(back, made.log)
    values = [evaluate(log, "uniform", interval="asymptotic")["uniform"].value for log in (back, made.log)]
    assert values[0] == pytest.approx(values[1], abs=1e-12)


@pytest.mark.parametrize("form", FORMATS)
def test_names_arms_on_offer_and_features_of_arms(form, tmp_path):
    write, read = FORMATS[form]
    n, k = 30, 4
    r = np.random.default_rng(1)
    available = r.random((n, k)) < 0.6
    available[:, 1] = True
    p = available * r.random((n, k))
    p /= p.sum(axis=1, keepdims=True)
    log = Log.from_arrays(
        contexts=r.normal(size=(n, k, 12)) * available[:, :, None],
        actions=np.array([r.choice(k, p=row) for row in p]),
        probabilities=p,
        rewards=r.normal(size=n),
        available=available,
        arms=["tea", "iced tea", "cake", "pie"],
        columns={"key": np.array([f"e{t}" for t in range(n)])},
        times=np.datetime64("2026-01-31T10:00:00") + np.arange(n),
    )
    write(log, tmp_path / "log.vw")
    back = read(tmp_path / "log.vw")
    order = [("tea", "iced_tea", "cake", "pie").index(name) for name in back.arms]
    a, b = back.to_batch(), log.to_batch()
    assert np.array_equal(a.contexts, b.contexts[:, order])
    assert np.array_equal(a.available, b.available[:, order])
    assert np.array_equal(a.rewards, b.rewards[:, order], equal_nan=True)
    assert np.allclose(a.probabilities, b.probabilities[:, order])
    if form == "dsjson":
        assert a.columns["key"].tolist() == b.columns["key"].tolist()
        assert np.array_equal(a.times, b.times)


@pytest.mark.parametrize("form", FORMATS)
def test_edges_that_are_there_with_a_probability(form, tmp_path):
    write, read = FORMATS[form]
    matrix = np.array([[1.0, 0.25, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 1.0]])
    log = Log.from_arrays(
        actions=[0, 1],
        probabilities=np.full((2, 3), 1 / 3),
        rewards=[[1.0, 0.5, np.nan], [np.nan, 0.0, np.nan]],
        graphs=gb.ProbabilisticGraphs.repeat(gb.ProbabilisticGraph(matrix), 2),
    )
    write(log, tmp_path / "log.vw")
    assert read(tmp_path / "log.vw").to_batch().graphs == log.to_batch().graphs


class Package:
    """The real package."""

    def __init__(self, arguments: str) -> None:
        self.package = pytest.importorskip("vowpalwabbit")
        self.workspace = self.package.Workspace(f"{arguments} --quiet")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.workspace.finish()

    def rounds(self, path, *, dsjson):
        text = path.read_text()
        if dsjson:
            return text.splitlines()
        return [group.split("\n") for group in text.strip().split("\n\n")]

    def labels(self, examples):
        """(cost, probability) of each arm that has a label."""
        found = {}
        for place, example in enumerate(examples[1:]):
            label = str(self.package.CBLabel.from_example(example))
            if label:
                _, cost, probability = label.split(":")
                found[place] = (float(cost), float(probability))
        return found


@pytest.mark.parametrize("form", FORMATS)
def test_the_package_reads_what_we_write(form, tmp_path):
    write, _ = FORMATS[form]
    made = logged(n=40, graph=DIRECTED)
    write(made.log, tmp_path / "log.vw")
    batch = made.log.to_batch()
    flags = "--dsjson" if form == "dsjson" else ""
    with Package(f"--cb_explore_adf --graph_feedback -q xa {flags}") as package:
        rounds = package.rounds(tmp_path / "log.vw", dsjson=form == "dsjson")
        assert len(rounds) == 40
        for t, one in enumerate(rounds):
            examples = package.workspace.parse(one)
            assert len(examples) == 6
            labels = package.labels(examples)
            action = int(batch.actions[t])
            seen = {action} if form == "dsjson" else set(np.flatnonzero(batch.revealed[t]).tolist())
            assert set(labels) == seen
            assert labels[action] == pytest.approx((-batch.rewards[t, action], batch.probability[t]), abs=1e-6)
            for arm in seen - {action}:
                assert labels[arm] == pytest.approx((-batch.rewards[t, arm], batch.q[t, arm]), abs=1e-6)
            package.workspace.learn(examples)
            package.workspace.finish_example(examples)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("hub", range(3))
def test_its_predictions_agree_with_the_orientation(form, hub, tmp_path):
    """One arm reveals all arms and no other reveals anything: with no estimate yet, only that arm is worth playing."""
    write, read = FORMATS[form]
    graph = gb.FeedbackGraph.from_edges([(hub, arm) for arm in range(3)], n_arms=3, require_loops=False)
    log = Log.from_arrays(
        actions=[hub], probabilities=np.full((1, 3), 1 / 3), rewards=[[0.5, 0.5, 0.5]], graphs=graph, contexts=[[1.0]]
    )
    write(log, tmp_path / "log.vw")
    flags = "--dsjson" if form == "dsjson" else ""
    with Package(f"--cb_explore_adf --graph_feedback {flags}") as package:
        examples = package.workspace.parse(package.rounds(tmp_path / "log.vw", dsjson=form == "dsjson")[0])
        predicted = package.workspace.predict(examples)
        package.workspace.finish_example(examples)
    assert predicted == pytest.approx(np.eye(3)[hub], abs=1e-6)
    assert read(tmp_path / "log.vw").to_batch().graphs[0] == graph


def test_the_package_can_learn_from_a_plain_log(tmp_path):
    """The best arm of a log without side observations is the one that it comes to prefer."""
    r = np.random.default_rng(0)
    actions = r.integers(3, size=300)
    log = Log.from_arrays(
        contexts=np.ones((300, 1)),
        actions=actions,
        probabilities=np.full((300, 3), 1 / 3),
        rewards=(actions == 2) * 1.0,
    )
    for form, (write, _) in FORMATS.items():
        write(log, tmp_path / form)
        flags = "--dsjson" if form == "dsjson" else ""
        with Package(f"--cb_explore_adf --epsilon 0.1 -q xa {flags}") as package:
            for one in package.rounds(tmp_path / form, dsjson=form == "dsjson"):
                examples = package.workspace.parse(one)
                package.workspace.learn(examples)
                package.workspace.finish_example(examples)
            examples = package.workspace.parse(one)
            assert int(np.argmax(package.workspace.predict(examples))) == 2
            package.workspace.finish_example(examples)


EVENT = {
    "_label_cost": -1.5,
    "_label_probability": 0.8,
    "_label_Action": 2,
    "_labelIndex": 1,
    "o": [{"v": 1.5, "EventId": "e1", "ActionTaken": False}],
    "Timestamp": "2026-01-31T12:00:00.1234560Z",
    "EventId": "e1",
    "a": [2, 1],
    "p": [0.8, 0.2],
    "c": {
        "User": {"age": 31, "city": "Berlin", "member": True, "old": False, "_hidden": 1},
        "scores": [0.5, 0.25],
        "_multi": [{"Action": {"topic": "sports"}}, {"Action": {"topic": "music"}, "Price": {"value": 3}}],
    },
    "VWState": {"m": "N/A"},
}


def lines(path, *events):
    path.write_text("\n".join(event if isinstance(event, str) else json.dumps(event) for event in events))
    return path


def test_what_is_in_a_dsjson_of_theirs(tmp_path):
    second = json.loads(json.dumps(EVENT)) | {"EventId": "e2"}
    second["c"]["User"] = {"age": 20, "city": "Rome"}
    second["c"]["_multi"].append({"Action": {"topic": "art"}})
    second |= {"a": [1, 2, 3], "p": [0.5, 0.25, 0.25], "_label_Action": 1, "_label_probability": 0.5}
    skipped = EVENT | {"_skipLearn": True}
    path = lines(tmp_path / "log.dsjson", EVENT, skipped, {"RewardValue": 1.0, "EventId": "e9"}, "", second)
    log = vw.read_dsjson(path)
    batch = log.to_batch()
    assert log._storage.layout.stamp.context_names == (
        "User.age",
        "User.city=Berlin",
        "User.city=Rome",
        "User.member",
        "scores.0",
        "scores.1",
    )
    assert batch.contexts.tolist() == [[31, 1, 0, 1, 0.5, 0.25], [20, 0, 1, 0, 0.5, 0.25]]
    assert batch.actions.tolist() == [1, 0]
    assert batch.available.tolist() == [[True, True, False], [True, True, True]]
    assert batch.probabilities.tolist() == [[0.2, 0.8, 0.0], [0.5, 0.25, 0.25]]
    assert batch.rewards[0, 1] == batch.rewards[1, 0] == 1.5
    assert batch.columns["key"].tolist() == ["e1", "e2"]
    assert str(batch.times[0]) == "2026-01-31T12:00:00.123456"
    arms = vw.read_dsjson(path, context_form="arms")
    assert arms.context_shape == (3, 4)
    assert arms.to_batch().contexts[0].tolist() == [[0, 0, 1, 0], [0, 1, 0, 3], [0, 0, 0, 0]]
    both = vw.read_dsjson(path, context_form="both", features=["User.age", "Price.value"])
    assert both.to_batch().contexts[0].tolist() == [[31, 0], [31, 3], [0, 0]]
    reader = vw.VwReader(path, vw.dsjson.rounds)
    assert sum(reader.outline.skipped.values()) == 2


def test_arms_with_features_that_change_make_the_context(tmp_path):
    events = []
    for price in (1.0, 2.0):
        events.append(json.loads(json.dumps(EVENT)))
        events[-1]["c"]["_multi"][1]["Price"]["value"] = price
    assert vw.read_dsjson(lines(tmp_path / "a", *events)).context_shape == (2, 8)
    for event in events:
        del event["c"]["User"], event["c"]["scores"]
    assert vw.read_dsjson(lines(tmp_path / "b", *events)).context_shape == (2, 3)


def test_compressed_files(tmp_path):
    with gzip.open(tmp_path / "log.json.gz", "wt") as file:
        file.write(json.dumps(EVENT))
    assert len(vw.read_dsjson(tmp_path / "log.json.gz")) == 1


def test_text_of_theirs(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text(
        "shared 'e1|User age:31 city=Berlin |Time:2 hour:0.5\n"
        "|Action topic=sports\n"
        "0:-1.5:0.8 |Action topic=music price:3\n"
        "\n"
        "|Action topic=art\n"
        "3:1:0.25 |\n"
        "\n\n"
    )
    log = vw.read_text(path, context_form="shared")
    batch = log.to_batch()
    assert log._storage.layout.stamp.context_names == ("Time.hour", "User.age", "User.city=Berlin")
    assert batch.contexts.tolist() == [[1.0, 31, 1], [0, 0, 0]]
    assert batch.actions.tolist() == [1, 1]
    assert batch.probability.tolist() == [0.8, 0.25]
    assert batch.probabilities is None
    assert batch.rewards[:, 1].tolist() == [1.5, -1.0]
    assert batch.columns["key"].tolist() == ["e1", None]
    assert vw.read_text(path).context_shape == (2, 7)


def changed(**values):
    return EVENT | values


BAD_EVENTS = [
    ("{", "line 2: not JSON"),
    ("[1]", "line 2: a list; expected an object"),
    ({"c": {}}, "line 2: c has no arms; expected them as c._multi"),
    (changed(_label_Action=0), "line 2: _label_Action has 0; expected an arm of 1 .. 2"),
    (changed(_label_Action=3), "line 2: _label_Action has 3"),
    (changed(_label_Action=True), "line 2: _label_Action has True"),
    (changed(_label_cost="much"), "line 2: _label_cost has 'much'; expected a finite number"),
    (changed(_label_probability=0.5), "line 2: _label_probability is 0.5, but p has 0.8"),
    (changed(p=[0.8, 0.3]), "line 2: p sums to 1.1; expected 1"),
    (changed(p=[1.2, -0.2], _label_probability=1.2), "line 2: p has -0.2"),
    (changed(p=[1.0]), "line 2: p has 1 numbers and a 2"),
    (changed(a=[1, 1]), "line 2: p has 2 numbers"),
    (changed(a=[2, 3]), "line 2: a has 3; expected an arm of 1 .. 2"),
    (changed(p=None, _label_probability=None), "line 2: no probability"),
    (
        changed(p=None, _label_probability=0.0),
        "line 2: the probability of the action is 0.0; expected",
    ),
    (changed(p=None, _label_probability=1.2), "line 2: the probability of the action is 1.2"),
    (changed(Timestamp="noon"), "line 2: Timestamp is 'noon'"),
    (changed(_outcomes=[]), "line 2: several slots"),
    (changed(c=EVENT["c"] | {"_graph": [{"row": 0, "col": 2, "val": 1}]}), "line 2: the graph has 0,2,1"),
    (changed(c=EVENT["c"] | {"_graph": [{"row": 0}]}), "line 2: not a decision in dsjson: KeyError: 'col'"),
    (changed(c=EVENT["c"] | {"_graph": [{"row": 0, "col": 0, "val": 1}]}), "line 2: the reward of arm 1 is in the log"),
    (changed(o=[{"v": 1.0, "a": 5}]), "line 2: o.a has 5"),
]


@pytest.mark.parametrize(("event", "message"), BAD_EVENTS, ids=range(len(BAD_EVENTS)))
def test_bad_dsjson_is_refused_with_its_line(event, message, tmp_path):
    path = lines(tmp_path / "log.dsjson", EVENT, event)
    with pytest.raises(LogError, match=re.escape(f"log.dsjson, {message}")):
        vw.read_dsjson(path)


BAD_TEXTS = [
    ("shared |x a\n", "line 4: there are no arms"),
    ("|a b\n|a c\n", "line 4: no arm has a label"),
    ("0:1:0.5 |a b\n0:1:0.5 |a c\n", "line 4: 2 arms have a label, and there is no graph"),
    (
        "shared graph 0,0,1 1,1,1 |x a\n0:1:0.5 |a b\n1:1:0.5 |a c\n",
        "line 4: 2 arms have a label, of the actions [0, 1]",
    ),
    ("shared graph 0,0 |x a\n0:1:0.5 |a b\n", "line 4: the graph has '0,0'; expected row,column,value"),
    ("shared graph 0,7,1 |x a\n0:1:0.5 |a b\n", "line 4: the graph has 0,7,1"),
    ("shared nothing here |x a\n0:1:0.5 |a b\n", "line 4: the shared line has"),
    ("0:1 |a b\n", "line 4: the label is '0:1'; expected action:cost:probability"),
    ("x:1:0.5 |a b\n", "line 4: the action of a label is 'x'"),
    ("0:1:much |a b\n", "line 4: there is 'much'; expected a finite number"),
    ("|a b\n0:1:0.5 |a b:c\n", "line 5: there is 'c'; expected a finite number"),
    ("0:1:0 |a b\n", "line 4: the probability of the action is 0.0"),
    ("shared 'p=0.5|x a\n0:1:0.5 |a b\n|a c\n", "line 4: the tag has 1 probabilities; expected 2"),
]


@pytest.mark.parametrize(("text", "message"), BAD_TEXTS, ids=range(len(BAD_TEXTS)))
def test_bad_text_is_refused_with_its_line(text, message, tmp_path):
    path = tmp_path / "log.txt"
    path.write_text("0:1:0.5 |a b\n|a c\n\n" + text)
    with pytest.raises(LogError, match=re.escape(f"log.txt, {message}")):
        vw.read_text(path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(LogError, match="nowhere cannot be read: No such file"):
        vw.read_dsjson(tmp_path / "nowhere")
    (tmp_path / "empty").write_text("\n\n")
    with pytest.raises(LogError, match="there are no decisions"):
        vw.read_dsjson(tmp_path / "empty")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(json.dumps(EVENT).encode())[:40])
    with pytest.raises(LogError, match=r"cut\.gz cannot be read"):
        vw.read_dsjson(tmp_path / "cut.gz")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(LogError, match="cannot be read"):
        vw.read_text(tmp_path / "bytes")
    path = lines(tmp_path / "log.dsjson", EVENT)
    with pytest.raises(LogError, match="more than 3 different features; expected features="):
        vw.read_dsjson(path, max_features=3)
    with pytest.raises(SettingError, match=r"features has 'User\.name', which is not in the file"):
        vw.read_dsjson(path, features=["User.name"])
    with pytest.raises(SettingError, match="context_form is 'all'"):
        vw.read_dsjson(path, context_form="all")


def test_logs_that_cannot_be_written_as_text(tmp_path):
    graph = gb.FeedbackGraph.from_edges([(0, 1), (1, 1)], n_arms=2, require_loops=False)
    log = Log.from_arrays(actions=[0], probabilities=[[0.5, 0.5]], rewards=[[np.nan, 1.0]], graphs=graph)
    with pytest.raises(LogError, match="the arm played, 0, has no reward"):
        vw.write_text(log, tmp_path / "log.txt")
    assert not (tmp_path / "log.txt").exists()
    vw.write_dsjson(log, tmp_path / "log.dsjson")
    same(vw.read_dsjson(tmp_path / "log.dsjson"), log)
