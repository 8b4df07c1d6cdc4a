# for: graphbandit.planning.tight_demand, graphbandit.planning.SamplingSolution, graphbandit.planning.fallback_count
import numpy as np

import graphbandit as gb

star, gaps = gb.graphs.star(4, hub=0), np.array([0.1, 0.0, 1.0, 1.0])
candidates = np.ones(4, dtype=bool)
explored = gb.exploration_set(star, candidates, gaps)
print(gb.planning.tight_demand(candidates, gaps, best=1, size=len(explored), gamma=10.0).round(3))
solution = gb.solve_sampling_lp(star, gb.planning.inverse_gap_baseline(explored, gaps, gamma=10.0), gaps)
print(solution.probabilities.round(3), solution.duality_gap <= 1e-9, gb.planning.fallback_count())
