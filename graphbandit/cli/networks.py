"""The command `network`: describe a file of edges, and the subgraphs cut from it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from graphbandit.base.checks import setting_integer
from graphbandit.base.choices import Sampler
from graphbandit.base.printed_table import Table
from graphbandit.cli.console import amount_bars, print_table
from graphbandit.cli.option_words import one_of
from graphbandit.errors import SettingError

if TYPE_CHECKING:
    from graphbandit.graphs.batch import FeedbackGraphs
    from graphbandit.graphs.networks.network import Network

app = typer.Typer()


_HELP = """Look at a social network, and at the connected subgraphs that experiments cut from it.

FILE has one edge on each line, the two nodes first. It may be a file of SNAP, KONECT or Matrix Market, or have plain
lines with commas, semicolons, tabs or blanks, with or without headings; gzip and bzip2 work, too. Edges count in both
directions; self-loops and repeats are dropped. Without FILE, a generated network with Flixster's published degrees
stands in.

In an experiment, graph = "network" and file = "FILE" give the same subgraphs. The sampler matters: union-find is the
paper's; random-walk and bfs stay closer to the hubs."""


@app.command(
    help=_HELP,
    epilog="Example: graphbandit network edges.csv.gz --sampler bfs --picture network.png",
)
def network(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A file of edges; without one, the stand-in.", show_default=False),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(help="Nodes of a subgraph.", show_default="100, or the largest component if it has fewer"),
    ] = None,
    count: Annotated[int, typer.Option(help="How many subgraphs; 0 for none.")] = 100,
    sampler: Annotated[Sampler, typer.Option(metavar="SAMPLER", help=one_of(Sampler))] = "union-find",
    seed: Annotated[int, typer.Option(help="The same seed gives the same subgraphs.")] = 0,
    picture: Annotated[
        Path | None,
        typer.Option(help="Draw the degrees and a subgraph into a .png, .svg or .pdf file.", dir_okay=False),
    ] = None,
) -> None:
    """Print figures of the network and of its subgraphs."""
    from graphbandit.base.seeds import stream
    from graphbandit.graphs.networks.subgraphs import sample_subgraphs

    # before a file is read, which may take a while
    if size is not None:
        setting_integer("--size", size, at_least=1)
    setting_integer("--count", count, at_least=0)
    rng = stream(seed, "network", "pool")
    if picture is not None and count == 0:
        raise SettingError("--count is 0; expected at least 1 for a picture, which shows a subgraph")
    start = time.perf_counter()
    found = _network(file)
    _print_network(found, file, time.perf_counter() - start)
    if count == 0:
        return
    if size is None:
        size = min(100, int(found.component_sizes.max(initial=1)))
    graphs = sample_subgraphs(found, size, count, sampler=sampler, rng=rng)
    _print_subgraphs(graphs, sampler)
    if picture is not None:
        from graphbandit.plots import plot_network, save_figure

        name = "Generated stand-in for Flixster" if file is None else file.name
        save_figure(plot_network(found, graphs[0], title=f"{name}, and a subgraph by {sampler}"), picture)
        typer.echo(f"\nPicture: {picture}")


def _network(file: Path | None) -> Network:
    from graphbandit.graphs.networks.files import read_network
    from graphbandit.graphs.networks.source import stand_in_network

    if file is None:
        return stand_in_network()
    with amount_bars(in_bytes=True) as show:
        return read_network(file, progress=show("reading"))


def _print_network(found: Network, file: Path | None, seconds: float) -> None:
    if file is None:
        typer.echo("No file: a generated network with Flixster's published degrees stands in. It is not Flixster.\n")
    else:
        typer.echo(f"{file}, read in {seconds:.1f} s\n")
    dropped = f"{found.loops_dropped:,} self-loops, {found.repeats_dropped:,} repeats or edges in both directions"
    rows = [["nodes", f"{found.n_nodes:,}"], ["edges", f"{found.n_edges:,}"], ["dropped", dropped]]
    d = found.degrees
    if len(d):
        quantiles = ", ".join(f"{q} % {np.quantile(d, q / 100, method='lower'):,}" for q in (50, 90, 99))
        rows.append(["degrees", f"mean {d.mean():.2f}, {quantiles}, largest {d.max():,}"])
        components, largest = found.n_components, int(found.component_sizes.max())
        rows.append(["connected components", f"{components:,}, the largest of {largest:,} nodes"])
    print_table(Table("Network", ["network", ""], rows))


def _print_subgraphs(graphs: FeedbackGraphs, sampler: str) -> None:
    from graphbandit.graphs.parameters import independence_number

    stored = list(graphs)
    edges = np.array([(graph.n_edges - graph.n_loops) // 2 for graph in stored])
    hubs = np.array([int(np.diff(graph.csr().indptr).max()) - 1 for graph in stored])
    bounds = [independence_number(graph) for graph in stored]
    exact = sum(bound.exact for bound in bounds)
    lower, upper = (np.array([getattr(bound, end) for bound in bounds]) for end in ("lower", "upper"))
    rows = [["edges", _spread(edges)], ["largest degree", _spread(hubs)]]
    rows.append(["independence number", _spread(lower) if exact == len(bounds) else f"at least {_spread(lower)}"])
    if exact < len(bounds):
        rows.append(["", f"at most {_spread(upper)} ({exact} of {len(bounds)} are known exactly)"])
    heading = f"{len(graphs)} connected subgraphs of {graphs.n_arms} nodes, by {sampler}"
    print_table(Table("Subgraphs", [heading, ""], rows))


def _spread(values: np.ndarray) -> str:
    return f"mean {values.mean():.1f}, {values.min():,} to {values.max():,}"
