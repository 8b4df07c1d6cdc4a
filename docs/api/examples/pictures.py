# for: graphbandit.plots.plot_graph, graphbandit.plots.plot_decision, graphbandit.plots.plot_probabilities
# for: graphbandit.plots.plot_star_example, graphbandit.plots.plot_regret, graphbandit.plots.save_figure
# for: graphbandit.plots.StarExample
import graphbandit as gb
from graphbandit.plots import plot_decision, plot_graph, plot_regret, plot_star_example, save_figure

env = gb.environments.paper(n_arms=6, graph="star", reward_scale=8.0)
instance = env.instance(seed=0)
world = instance.rounds(0, 1)
bandit = gb.Bandit(gb.AdaCBG(), instance.problem(horizon=None))

save_figure(plot_graph(world.graphs[0]), "graph.png")
save_figure(plot_decision(bandit.decide(world.contexts[0], world.graphs[0]), world.graphs[0]), "decision.svg")
save_figure(plot_star_example(gamma=10.0), "star.pdf")
result = gb.simulate({"IDS.G": gb.IDSG(), "FALCON": gb.Falcon()}, env, rounds=32, repeats=2)
save_figure(plot_regret(result, title="two learners"), "regret.svg")
