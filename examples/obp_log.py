"""A `bandit_feedback` of Open Bandit Pipeline: evaluate a policy on it, with and without side observations."""

import numpy as np

import graphbandit as gb

ROUNDS, ITEMS = 10_000, 6
rng = np.random.default_rng(0)
context = rng.normal(size=(ROUNDS, 3))
expected = 1 / (1 + np.exp(-context @ rng.normal(size=(3, ITEMS))))
pi_b = np.full((ROUNDS, ITEMS, 1), 1 / ITEMS)
action = rng.integers(ITEMS, size=ROUNDS)
clicks = (rng.random((ROUNDS, ITEMS)) < expected).astype(float)

bandit_feedback = {
    "n_rounds": ROUNDS,
    "n_actions": ITEMS,
    "context": context,
    "action_context": np.eye(ITEMS, dtype=int),
    "action": action,
    "position": None,
    "reward": clicks[np.arange(ROUNDS), action],
    "expected_reward": expected,
    "pi_b": pi_b,
    "pscore": np.full(ROUNDS, 1 / ITEMS),
}
policy = np.eye(ITEMS)[expected.argmax(axis=1)] * 0.9 + 0.1 / ITEMS
truth = (policy * expected).sum(axis=1).mean()

plain = gb.interop.obp.to_log(bandit_feedback)
shelves = gb.graphs.clique_group(ITEMS, n_cliques=2)  # a visitor sees the whole shelf of the item that is shown
seen = np.where(gb.FeedbackGraphs.repeat(shelves, ROUNDS).revealed(action), clicks, np.nan)
more = gb.interop.obp.to_log(bandit_feedback | {"rewards": seen}, graphs=shelves)

print(f"true value of the policy: {truth:.3f}")  # a 95 % interval misses it in one log of twenty, at most
for name, log in (("its own reward alone", plain), ("the whole shelf", more)):
    for method in ("snips", "graph-dr"):
        found = gb.evaluation.evaluate(log, {"new": policy}, method=method, reward_range=(0, 1))["new"]
        print(f"{name:<21} {method:<9} {found.value:.3f} [{found.low:.3f}, {found.high:.3f}]")

back = gb.interop.obp.from_log(more)
print(f"back in its dictionary: {', '.join(sorted(set(back) - set(bandit_feedback)))} are new")
