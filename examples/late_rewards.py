"""A service whose rewards come late, out of order and in parts, and which is stopped and started again half-way."""

import tempfile
from pathlib import Path

import numpy as np

import graphbandit as gb

ROUNDS, N_ARMS = 300, 12
rng = np.random.default_rng(0)
environment = gb.environments.paper(n_arms=N_ARMS, graph="clique_group", n_cliques=3, reward_scale=4.0)
instance = environment.instance(seed=1)
world = instance.rounds(0, ROUNDS)

bandit = gb.Bandit(gb.AdaCBG(), instance.problem(horizon=None), seed=0)
saved = Path(tempfile.mkdtemp()) / "service.gb"
waiting: list[tuple[int, int, float]] = []
regret = 0.0
for t in range(ROUNDS):
    decision = bandit.decide(world.contexts[t], world.graphs[t])
    regret += world.means[t].max() - world.means[t, decision.action]
    waiting += [(decision.id, int(arm), float(world.rewards[t, arm])) for arm in decision.revealed]
    for _ in range(min(len(waiting), 4)):  # some news arrives, about any of the last rounds
        number, arm, reward = waiting.pop(int(rng.integers(len(waiting))))
        bandit.observe(number, {arm: reward})
    if t == ROUNDS // 2:
        bandit.save(saved)
        bandit = gb.Bandit.load(saved)

print(f"{ROUNDS} rounds, regret {regret:.1f}, {len(waiting)} rewards still to come")
print(f"functions still plausible: {bandit.state.space.size} of {instance.functions.n_functions}")
