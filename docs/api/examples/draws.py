# for: graphbandit.function_classes.finite_from_draws, graphbandit.function_classes.Draws
# for: graphbandit.function_classes.FunctionClass
import numpy as np

import graphbandit as gb

linear = gb.LinearClass(n_arms=3, dimension=2)
draws = linear.draws(linear.empty(), noise=0.5, count=20, rng=np.random.default_rng(0))
functions = gb.function_classes.finite_from_draws(linear, draws)
print(len(draws), functions.n_functions)
