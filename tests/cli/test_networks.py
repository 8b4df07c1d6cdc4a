"""`graphbandit network`: the figures it prints are those of the network and of the subgraphs an experiment gets."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

from graphbandit.errors import GraphError
from graphbandit.graphs import star
from graphbandit.graphs.networks.network import Network
from graphbandit.graphs.networks.source import NetworkSource
from graphbandit.graphs.parameters import independence_number
from graphbandit.plots import plot_network
from tests.helpers.commands import invoke, refusal


def network(*words: object) -> Result:
    return invoke("network", *words)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    lines = [f"{a} {b}" for a, b in rng.integers(0, 200, size=(400, 2))] + ["7 7", "500 501"]
    path = tmp_path_factory.mktemp("network") / "friends.gz"
    path.write_bytes(gzip.compress("\n".join(["# friends", *lines]).encode()))
    network(path, "--size", 5, "--count", 1)  # kernels are compiled
    return path


def rows(result: Result) -> dict[str, str]:
    assert result.exit_code == 0, result.output
    pairs = [line.strip().split("  ", 1) for line in result.stdout.splitlines() if "  " in line.strip()]
    return {name: value.strip() for name, value in pairs}


def test_it_prints_the_figures_of_the_network_and_its_subgraphs(file: Path) -> None:
    source = NetworkSource(n_arms=20, file=str(file), count=10, sampler="random-walk", pool_seed=3)
    result = network(file, "--size", 20, "--count", 10, "--sampler", "random-walk", "--seed", 3)
    whole, found = source.network, rows(result)
    assert found["nodes"] == str(whole.n_nodes)
    assert (
        found["edges"]
        == f"mean {np.mean([(g.n_edges - 20) / 2 for g in source.pool]):.1f}, "
        + f"{min((g.n_edges - 20) // 2 for g in source.pool)} to {max((g.n_edges - 20) // 2 for g in source.pool)}"
    )
    assert str(whole.n_edges) in result.stdout
    assert f"{whole.loops_dropped} self-loops, {whole.repeats_dropped} repeats" in found["dropped"]
    assert f"mean {2 * whole.n_edges / whole.n_nodes:.2f}" in found["degrees"]
    assert f"largest {whole.degrees.max()}" in found["degrees"]
    assert found["connected parts"].startswith(f"{whole.n_components}, the largest of")
    numbers = [independence_number(graph).value for graph in source.pool]
    assert found["independence number"] == f"mean {np.mean(numbers):.1f}, {min(numbers)} to {max(numbers)}"
    assert "10 connected subgraphs of 20 nodes, by random-walk" in result.stdout
    assert result.stderr == ""


def test_without_a_file_it_says_that_a_stand_in_is_shown() -> None:
    result = network("--count", 0)
    assert "stands in. It is not Flixster." in result.stdout
    assert rows(result)["nodes"] == "50,000"
    assert "subgraphs" not in result.stdout


def test_bounds_are_said_to_be_bounds(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "graphbandit.graphs.parameters.independence_number",
        lambda graph: independence_number(star(3)).__class__(2, 4),
    )
    result = network(file, "--size", 5, "--count", 2)
    assert "at least mean 2.0, 2 to 2" in result.stdout
    assert "at most mean 4.0, 4 to 4 (0 of 2 are known exactly)" in result.stdout


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_it_draws_a_picture_with_the_same_bytes(file: Path, suffix: str, tmp_path: Path) -> None:
    pictures = [tmp_path / f"{name}{suffix}" for name in ("one", "two")]
    for picture in pictures:
        assert f"Picture: {picture}" in network(file, "--size", 30, "--count", 2, "--picture", picture).stdout.replace(
            "\n", ""
        )
    assert pictures[0].read_bytes() == pictures[1].read_bytes()
    assert pictures[0].stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.csv"], "file is 'gone.csv', which does not exist"),
        (["--size", 0], "--size is 0"),
        (["--count", -1], "--count is -1"),
        (["--sampler", "snow"], "--sampler is 'snow'; expected one of 'union-find'"),
        (["--seed", -1], "seed is -1"),
        (["--count", 0, "--picture", "x.png"], "--count is 0; expected at least 1 for a picture"),
    ],
)
def test_errors_are_one_line(arguments: list[object], message: str) -> None:
    assert refusal("network", *arguments).startswith(message)


def test_subgraphs_larger_than_any_part_are_refused_after_the_figures(file: Path) -> None:
    result = network(file, "--size", 1000)
    assert result.exit_code == 2
    assert "size is 1000; expected at most" in result.stderr
    assert "connected parts" in result.stdout


def test_subgraphs_of_a_small_network_have_all_its_nodes(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("a,b\nb,c\nd,e\n")
    result = network(tmp_path / "edges.csv", "--count", 2)
    assert result.exit_code == 0
    assert "2 connected subgraphs of 3 nodes" in result.stdout


def test_pictures_that_make_no_sense_are_refused() -> None:
    network = Network.from_edges([(0, 1)])
    with pytest.raises(GraphError, match="the subgraph has 1001 nodes; expected at most 1000"):
        plot_network(network, star(1001))
    with pytest.raises(GraphError, match="expected one with edges"):
        plot_network(Network.from_edges([], n_nodes=3), star(3))
