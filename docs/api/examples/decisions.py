# for: graphbandit.Decisions, graphbandit.learners.Learner, graphbandit.environments.Instance
# for: graphbandit.environments.Rounds
import numpy as np

import graphbandit as gb
from graphbandit.rounds import Shown

instance = gb.environments.paper(n_arms=5, graph="star").instance(seed=0)
world = instance.rounds(0, 2)  # the first epoch

learner = gb.AdaCBG()
state = learner.init(instance.problem(horizon=None))
rounds = learner.rounds_until_update(state)
shown = Shown(world.contexts[:rounds], world.graphs[:rounds])
decisions = learner.decide(state, shown, np.random.default_rng(0))
print(decisions.action, decisions.probability)
print(decisions.observation_probabilities.round(2))
