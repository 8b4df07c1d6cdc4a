"""A log of Vowpal Wabbit: read it, ask whether another policy is better, start a bandit from it, and write it back."""

import json
import tempfile
from pathlib import Path

import numpy as np

import graphbandit as gb

TOPICS = ("sports", "music", "science")
rng = np.random.default_rng(0)
folder = Path(tempfile.mkdtemp())

# what Vowpal Wabbit's --dsjson logs look like: 1,500 visits, shown one of three topics at random
with (folder / "visits.dsjson").open("w") as file:
    for visit in range(1500):
        age, city = int(rng.integers(18, 80)), str(rng.choice(["Berlin", "Rome"]))
        shown = int(rng.integers(3))
        likes = [0.2 + 0.4 * (city == "Rome"), 0.7 - age / 160, 0.4]
        event = {
            "_label_cost": -float(rng.random() < likes[shown]),
            "_label_probability": 1 / 3,
            "_label_Action": shown + 1,
            "EventId": f"visit-{visit}",
            "a": [shown + 1, *(arm + 1 for arm in range(3) if arm != shown)],
            "p": [1 / 3] * 3,
            "c": {"User": {"age": age, "city": city}, "_multi": [{"_tag": topic} for topic in TOPICS]},
        }
        file.write(json.dumps(event) + "\n")

log = gb.interop.vw.read_dsjson(folder / "visits.dsjson")
print(f"{len(log):,} visits, arms {', '.join(log.arms or ())}")

found = gb.evaluation.best_policy(log, reward_range=(0, 1), interval="asymptotic")
print(f"ridge regression, on held-out visits: {found.value.value:.3f} [{found.value.low:.3f}, {found.value.high:.3f}]")
if found.against is not None:
    print(f"what was shown at random:             {found.against.value:.3f}")

functions = gb.LinearClass(n_arms=3, dimension=3, parameters="per-arm", intercept=True)
problem = gb.Problem(arms=log.arms, function_class=functions)
bandit = gb.Bandit(gb.AdaCBG(), problem, graph=gb.graphs.bandit(3), log=folder / "log")
bandit.learn(log)
for city, visitor in (("Berlin", [25.0, 1.0, 0.0]), ("Rome", [70.0, 0.0, 1.0])):
    decision = bandit.decide(visitor)  # User.age, User.city=Berlin, User.city=Rome
    bandit.observe(decision, {decision.action: 1.0})
    print(f"{city}, {visitor[0]:.0f} years old: {decision.arm} with probability {decision.probability:.2f}")

own = gb.evaluation.Log.read(folder / "log")
gb.interop.vw.write_dsjson(own, folder / "own.dsjson")
print(f"and {len(own)} rounds of its own, as Vowpal Wabbit reads them")
bandit.log_to(None)
