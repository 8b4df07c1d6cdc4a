"""Connected subgraphs by every sampler, the stand-in for Flixster, and the graph source made of both."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng

from graphbandit.environments import paper
from graphbandit.errors import ExperimentError, GraphError, NetworkFileError, SettingError
from graphbandit.experiments import Experiment, Grid, InProcess, load
from graphbandit.experiments.describe.planned_runs import planned_runs
from graphbandit.experiments.running.runner import run
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.networks.network import Network
from graphbandit.graphs.networks.social_network import power_law, social_network
from graphbandit.graphs.networks.source import NetworkSource
from graphbandit.graphs.networks.subgraphs import SAMPLERS, sample_nodes, sample_subgraphs
from graphbandit.graphs.parameters import independence_number
from graphbandit.graphs.sources import graph_source
from tests.helpers.real_data import real_data


def a_network(seed: int = 0, n_nodes: int = 300, n_edges: int = 500) -> Network:
    return Network.from_edges(default_rng(seed).integers(0, n_nodes, size=(n_edges, 2)), n_nodes=n_nodes)


def literal_union_find(network: Network, size: int, count: int, rng: np.random.Generator) -> list[list[int]]:
    """As the text says it: sets of nodes, edge by edge, and no forest of pointers."""
    edges = [(i, j) for i in range(network.n_nodes) for j in network.rows.of(i).tolist() if i < j]
    order = np.arange(len(edges))
    found: list[list[int]] = []
    while len(found) < count:
        rng.shuffle(order)
        belongs = {node: {node} for node in range(network.n_nodes)}
        for e in order:
            one, other = belongs[edges[e][0]], belongs[edges[e][1]]
            if one is not other and len(one) + len(other) <= size:
                joined = one | other
                for node in joined:
                    belongs[node] = joined
        kept = sorted({tuple(sorted(members)) for members in belongs.values() if len(members) == size})
        if len(kept) > count - len(found):
            kept = [kept[i] for i in rng.choice(len(kept), count - len(found), replace=False)]
        found += [list(members) for members in kept]
    return found


@pytest.mark.parametrize("size", [1, 2, 7, 20])
@pytest.mark.parametrize("seed", range(3))
def test_union_find_is_the_literal_one(seed: int, size: int) -> None:
    network = a_network(seed)
    for count in (3, 40):
        found = sample_nodes(network, size, count, rng=default_rng(seed))
        assert found.tolist() == literal_union_find(network, size, count, default_rng(seed))


def is_connected(graph: FeedbackGraph) -> bool:
    reached, before = {0}, 0
    while len(reached) > before:
        before = len(reached)
        reached |= {int(a) for j in reached for a in graph.reveals(j)}
    return len(reached) == graph.n_arms


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("size", [1, 5, 40])
def test_subgraphs_are_connected_induced_and_of_the_size_asked_for(sampler: str, size: int) -> None:
    network = a_network()
    friends = {(i, j) for i, j in network.edges().tolist()}
    nodes = sample_nodes(network, size, 30, sampler=sampler, rng=default_rng(5))
    graphs = sample_subgraphs(network, size, 30, sampler=sampler, rng=default_rng(5))
    assert nodes.shape == (30, size)
    assert (len(graphs), graphs.n_arms) == (30, size)
    for row, graph in zip(nodes.tolist(), graphs, strict=True):
        assert row == sorted(set(row))
        assert is_connected(graph)
        # every friendship between its nodes, and all self-loops
        expected = [[i == j or (min(i, j), max(i, j)) in friends for j in row] for i in row]
        assert graph.to_dense().tolist() == expected


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_seed_determines_the_subgraphs(sampler: str) -> None:
    network = a_network()

    def draw(seed: int) -> list[list[int]]:
        return sample_nodes(network, 30, 10, sampler=sampler, rng=default_rng(seed)).tolist()

    assert draw(1) == draw(1) != draw(2)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_connected_part_of_just_the_size_is_found_and_smaller_ones_are_not_taken(sampler: str) -> None:
    path = [(i, i + 1) for i in range(59)]
    network = Network.from_edges([*path, (100, 101), (101, 102)])
    nodes = sample_nodes(network, 60, 4, sampler=sampler, rng=default_rng(0))
    assert nodes.tolist() == [list(range(60))] * 4
    for size in (61, 1000):
        with pytest.raises(GraphError, match=f"size is {size}; expected at most 60, the nodes of the network's"):
            sample_nodes(network, size, 1, sampler=sampler, rng=default_rng(0))


def test_every_sampler_reaches_every_node() -> None:
    network = Network.from_edges([(i, (i + 1) % 12) for i in range(12)])
    for sampler in SAMPLERS:
        nodes = sample_nodes(network, 4, 300, sampler=sampler, rng=default_rng(0))
        assert np.bincount(nodes.ravel(), minlength=12).min() > 50


def test_a_snowball_takes_friends_before_their_friends() -> None:
    tree = Network.from_edges([(0, i) for i in range(1, 6)] + [(i, 10 * i + j) for i in range(1, 6) for j in range(5)])
    rows = sample_nodes(tree, 6, 200, sampler="bfs", rng=default_rng(0))
    whole = [set(range(6)) == set(tree.node_ids[row].tolist()) for row in rows]
    assert any(whole)  # those that start at the middle are the middle's friends, all of them
    assert all(len(set(row.tolist()) & set(range(6))) for row in rows)


def test_union_find_gives_up_with_a_word() -> None:
    # sets grow all along the chain, and two halves that are too large together stay apart
    chain = Network.from_edges([(i, i + 1) for i in range(4000)])
    with pytest.raises(GraphError, match="200 passes of union-find found no part of exactly size = 3500"):
        sample_nodes(chain, 3500, 1, rng=default_rng(0))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"size": 0}, SettingError, "size is 0; expected a whole number of at least 1"),
        ({"count": 0}, SettingError, "count is 0"),
        ({"sampler": "snow"}, SettingError, "sampler is 'snow'; expected one of 'union-find', 'random-walk', 'bfs'"),
        ({"network": 3}, SettingError, "network is 3; expected a Network"),
        ({"network": Network.from_edges([])}, GraphError, "size is 5; expected at most 0"),
    ],
)
def test_bad_settings_are_refused(options: dict[str, object], error: type[Exception], message: str) -> None:
    given = {"network": a_network(), "size": 5, "count": 2, "sampler": "bfs", **options}
    with pytest.raises(error, match=message):
        sample_subgraphs(given.pop("network"), given.pop("size"), given.pop("count"), **given, rng=default_rng(0))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_stand_in_has_the_published_degree_figures(seed: int) -> None:
    network = social_network(rng=default_rng(seed))
    degrees = network.degrees
    assert degrees.mean() == pytest.approx(6.28, abs=0.01)
    assert (np.median(degrees), np.bincount(degrees).argmax(), degrees.min()) == (1, 1, 1)
    assert 1300 < degrees.max() <= 1474
    assert (network.n_nodes, network.n_components) == (50_000, 1)
    assert (network.loops_dropped, network.repeats_dropped) == (0, 0)


def test_generated_networks_have_the_degrees_of_their_law() -> None:
    network = social_network(20_000, mean_degree=4.0, largest_degree=200, rng=default_rng(0))
    law = power_law(4.0, 200)
    assert law @ np.arange(1, 201) == pytest.approx(4.0)
    steps = np.diff(np.log(law)) / np.diff(np.log(np.arange(1, 201)))
    assert np.ptp(steps) < 1e-6
    shares = np.bincount(network.degrees, minlength=201)[1:] / 20_000
    # two counts of a place may be off by one each, and the largest degree by one to make the sum even
    assert np.abs(np.cumsum(shares) - np.cumsum(law)).max() <= 2 / 20_000
    assert network.n_components == 1
    again = social_network(20_000, mean_degree=4.0, largest_degree=200, rng=default_rng(0))
    assert np.array_equal(again.edges(), network.edges())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_nodes": 1000}, "largest_degree is 1474; expected less than n_nodes = 1000"),
        ({"n_nodes": 1}, "n_nodes is 1"),
        ({"n_nodes": 100, "largest_degree": 99, "mean_degree": 45}, "n_nodes is 100, too few for these degrees"),
        ({"n_nodes": 100, "largest_degree": 10, "mean_degree": 6}, "mean_degree is 6; expected at most 5.5"),
        ({"n_nodes": 100, "largest_degree": 10, "mean_degree": 0.5}, "mean_degree is 0.5"),
        ({"n_nodes": 1000, "largest_degree": 10, "mean_degree": 1.2}, "so few edges do not connect"),
    ],
)
def test_degrees_that_cannot_be_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        social_network(**options, rng=default_rng(0))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    edges = a_network(3).edges()
    path = tmp_path / "friends.csv.gz"
    path.write_bytes(gzip.compress(("a,b\n" + "".join(f"{i},{j}\n" for i, j in edges)).encode()))
    return path


def test_the_source_draws_from_a_pool_of_subgraphs(file: Path) -> None:
    source = graph_source("network", 20, file=str(file), count=7, sampler="bfs", pool_seed=4)
    assert source == NetworkSource(n_arms=20, file=str(file), count=7, sampler="bfs", pool_seed=4)
    assert not source.stand_in
    assert len(source.pool) == 7
    assert all(is_connected(graph) for graph in source.pool)
    drawn = source.draw(default_rng(0), 500)
    assert drawn.stored is source.pool.stored, "the pool is made once, and not copied"
    assert np.bincount(drawn.index).min() > 40
    assert source.description == (
        f"7 connected subgraphs of 20 nodes of friends.csv.gz ({source.network.n_nodes} nodes, "
        f"{source.network.n_edges} edges), by bfs"
    )
    other = graph_source("network", 20, file=str(file), count=7, sampler="bfs", pool_seed=5)
    assert other.pool != source.pool


def test_a_file_that_changes_is_read_again(file: Path) -> None:
    source = NetworkSource(n_arms=5, file=str(file), count=3)
    before = source.pool
    file.write_text("".join(f"{i} {i + 1}\n" for i in range(50)))
    assert source.network.n_nodes == 51
    assert source.pool != before


def test_the_stand_in_says_that_it_is_one() -> None:
    source = graph_source("network", 30, count=5)
    assert source.stand_in
    assert "a generated stand-in for Flixster (50,000 nodes, 156,973 edges), by union-find" in source.description
    assert FeedbackGraphs.concatenate([source.draw(default_rng(0), 4)]).n_arms == 30


def test_bad_sources_are_refused(file: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("1 2\n2 x\n3 4\n")
    cases = [
        (
            {"file": str(tmp_path / "gone")},
            NetworkFileError,
            "gone': No such file or directory; expected a file",
        ),
        ({"file": str(tmp_path)}, NetworkFileError, "Is a directory"),
        ({"file": 3}, SettingError, "file is 3; expected the name of a file"),
        ({"count": 0}, SettingError, "count is 0"),
        ({"sampler": "dfs"}, SettingError, "sampler is 'dfs'"),
        ({"pool_seed": -1}, SettingError, "pool_seed is -1"),
        ({"n_arms": 0}, GraphError, "n_arms is 0"),
        ({"seed": 1}, SettingError, "unknown setting 'seed'; did you mean 'pool_seed'"),
    ]
    for options, error, message in cases:
        with pytest.raises(error, match=message):
            graph_source("network", **{"n_arms": 5, **options})
    with pytest.raises(NetworkFileError, match="line 2 is '2 x'"):
        _ = NetworkSource(n_arms=2, file=str(broken)).pool


def an_experiment(file: Path, **settings: object) -> Experiment:
    grid = Grid("paper", {"graph": "network", "n_arms": 10, "count": 4, "file": str(file), **settings})
    return Experiment(
        name="friends", rounds=16, repeats=2, environments={"friends": grid}, learners={"FALCON": Grid("Falcon")}
    )


def test_experiments_know_networks_by_their_content(file: Path, tmp_path: Path) -> None:
    first = [run.key for run in planned_runs(an_experiment(file))]
    copy = tmp_path / "copy"
    copy.write_bytes(file.read_bytes())
    assert [run.key for run in planned_runs(an_experiment(copy))] == first
    assert [run.key for run in planned_runs(an_experiment(file, sampler="bfs"))] != first
    copy.write_text("".join(f"{i} {i + 1}\n" for i in range(50)))
    assert [run.key for run in planned_runs(an_experiment(copy))] != first


def test_experiments_run_on_a_network_named_in_their_file(file: Path, tmp_path: Path) -> None:
    text = """
[experiment]
name = "friends"
rounds = 16
repeats = 2

[environments.friends]
kind = "paper"
graph = "network"
file = "friends.csv.gz"
n_arms = 10
count = 4

[learners.FALCON]
kind = "Falcon"
"""
    (tmp_path / "friends.toml").write_text(text)
    experiment = load(tmp_path / "friends.toml")
    results = run(experiment, out=tmp_path / "out", engine=InProcess())
    assert results.runs.num_rows == 2
    again = load(tmp_path / "out" / "experiment.toml")
    assert [one.key for one in planned_runs(again)] == [one.key for one in planned_runs(experiment)]
    for name, line, message in [
        ("gone.csv", 10, "gone.csv': No such file or directory"),
        ("friends.toml", 10, "friends.toml', whose line"),
    ]:
        (tmp_path / "bad.toml").write_text(text.replace("friends.csv.gz", name))
        with pytest.raises(ExperimentError, match=f"bad.toml, line {line}: file is .*{message}"):
            load(tmp_path / "bad.toml")
    (tmp_path / "few.csv").write_text("1,2\n2,3\n")
    with pytest.raises(ExperimentError, match="size is 10; expected at most 3"):
        an_experiment(tmp_path / "few.csv")


def test_the_environment_takes_the_options(file: Path) -> None:
    environment = paper(n_arms=12, graph="network", file=str(file), count=3, sampler="random-walk")
    assert environment.source.pool.n_arms == 12
    assert environment.instance(0).rounds(0, 8).graphs.n_arms == 12


def test_the_sampler_changes_the_independence_number_of_the_real_flixster() -> None:
    file = str(real_data("flixster_asu_induced5000", "edges.csv.gz"))
    means = {}
    for sampler in SAMPLERS:
        pool = NetworkSource(n_arms=100, file=file, sampler=sampler).pool
        means[sampler] = np.mean([independence_number(graph).value for graph in pool])
    assert means["random-walk"] < means["union-find"] < means["bfs"]
