# for: graphbandit.graphs.read_network, graphbandit.plots.plot_network
from pathlib import Path

import numpy as np

import graphbandit as gb

Path("edges.csv").write_text("\n".join(f"{a},{(3 * a + 1) % 50}" for a in range(50)))
network = gb.graphs.read_network("edges.csv")
pieces = gb.graphs.sample_subgraphs(network, 10, 4, rng=np.random.default_rng(0))
print(network, pieces)
figure = gb.plots.plot_network(network, pieces[0])
