"""Your own network: from an edge list to the arms that explore for others, and what the graph is worth."""

import numpy as np

import graphbandit as gb

# Two circles of friends and one member who knows somebody in both.
edges = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (6, 2), (6, 3)]
graph = gb.FeedbackGraph.from_edges(edges, n_arms=7, directed=False, add_loops=True)

print(graph)
print("independence number:", gb.graphs.independence_number(graph))
print("observability:", gb.graphs.observability(graph))

values = np.array([0.5, 0.9, 0.7, 0.6, 0.2, 0.1, 0.65])
gaps = values.max() - values
explored = gb.exploration_set(graph, np.ones(7, dtype=bool), gaps)
baseline = gb.planning.inverse_gap_baseline(explored, gaps, gamma=20.0)
answer = gb.solve_sampling_lp(graph, baseline, gaps)
print("explored:", explored)
print("expected regret a round:", round(float(gaps @ baseline), 4), "->", round(answer.objective, 4))
