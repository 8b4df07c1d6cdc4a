# for: graphbandit.Decision, graphbandit.Problem
import graphbandit as gb

functions = gb.LinearClass(n_arms=3, dimension=2, parameters="per-arm")
problem = gb.Problem(n_arms=3, function_class=functions, noise=0.5)  # no horizon: it may run for ever
bandit = gb.Bandit(gb.AdaCBG(), problem, seed=0)

decision = bandit.decide([0.2, 0.7], gb.graphs.star(3, hub=0))
print(decision.action, decision.probability, decision.revealed)
print(decision.explain())
