"""Rounds through HTTP with random delays and restarts learn as the library does with the same delays.

GRAPHBANDIT_SERVICE_ROUNDS says how many rounds (1,500 by default; 20,000 for the promise).
"""

import os
import random
import signal
import statistics
from pathlib import Path

import numpy as np

import graphbandit as gb
from graphbandit.service import Client
from graphbandit.service.configuration import parse
from graphbandit.service.core import Core
from tests.service.servers import Server

ROUNDS = int(os.environ.get("GRAPHBANDIT_SERVICE_ROUNDS", "1500"))
REPEATS = 8
ARMS = [f"arm{i}" for i in range(6)]
TOML = f"""
[bandits.same]
arms = {ARMS}
graph = [["arm0", "arm1"], ["arm0", "arm2"], ["arm3", "arm4"]]
learner = "AdaCBG"
features = {{ x = "number", y = "number" }}
noise = 0.1
""".replace("'", '"')


class World:
    """Linear mean rewards, and for each round a context, noise and how many rounds its rewards take."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.theta = np.random.default_rng(17).normal(size=(len(ARMS), 3)) * 0.4  # the same world in every repeat
        self.contexts = rng.uniform(-1, 1, size=(ROUNDS, 2)).round(6)
        self.noise = rng.normal(size=(ROUNDS, len(ARMS))) * 0.1
        self.delays = rng.geometric(0.05, size=ROUNDS)

    def means(self, t: int) -> np.ndarray:
        return self.theta @ np.array([1.0, *self.contexts[t]])

    def regret(self, t: int, action: int) -> float:
        """Of the second half: in the first, the service decides while its learner starts and reads the log."""
        return float(self.means(t).max() - self.means(t)[action]) if t >= ROUNDS // 2 else 0.0

    def rewards(self, t: int, arms: list[int]) -> dict[int, float]:
        return {a: float(self.means(t)[a] + self.noise[t, a]) for a in arms}


def in_the_library(world: World, seed: int) -> float:
    import tomllib

    core = Core("same", parse(tomllib.loads(TOML), Path()).bandits["same"])
    bandit = gb.Bandit(core.learner, core.problem, seed=seed)
    graph = core.asked("", {}, None, None, None).graph
    due: dict[int, list[tuple[int, gb.Decision]]] = {}
    total = 0.0
    for t in range(ROUNDS):
        for late, decision in due.pop(t, []):
            bandit.observe(decision, world.rewards(late, decision.revealed.tolist()))
        x, y = world.contexts[t]
        decision = bandit.decide(core.encode({"x": x, "y": y}, None), graph)
        total += world.regret(t, decision.action)
        due.setdefault(t + int(world.delays[t]), []).append((t, decision))
    return total


def through_the_service(world: World, server: Server, seed: int) -> float:
    """Decisions in small batches; a kill -9 now and then."""
    due: dict[int, list[tuple[int, str, list[int]]]] = {}
    rng = random.Random(seed)
    total, t = 0.0, 0
    restarts = sorted(rng.sample(range(100, ROUNDS), 2))
    with Client(server.url, retries=60) as client:
        bandit = client["same"]
        while t < ROUNDS:
            if restarts and t >= restarts[0]:
                restarts.pop(0)
                server.stop(signal.SIGKILL)
                server.start()
            stop = min(ROUNDS, t + rng.randint(1, 8))
            news = [one for k in range(t, stop) for one in due.pop(k, [])]
            if news:
                bandit.observe_batch(
                    (key, {ARMS[a]: r for a, r in world.rewards(late, arms).items()}) for late, key, arms in news
                )
            contexts = [{"x": float(x), "y": float(y)} for x, y in world.contexts[t:stop]]
            made = bandit.decide_batch(contexts, keys=[f"{seed}-{k}" for k in range(t, stop)])
            for k, decision in zip(range(t, stop), made, strict=True):
                total += world.regret(k, decision.action)
                arms = [ARMS.index(name) for name in decision.revealed]
                due.setdefault(max(stop, k + int(world.delays[k])), []).append((k, decision.id, arms))
            t = stop
    return total


def test_the_service_learns_as_the_library_does(tmp_path: Path) -> None:
    library = [in_the_library(World(seed), seed) for seed in range(REPEATS)]
    server = Server(tmp_path, TOML).start()
    found = through_the_service(World(0), server, 0)
    server.stop()
    outcome = server.replay()
    assert outcome.exit_code == 0, outcome.stdout
    mean, spread = statistics.mean(library), statistics.stdev(library)
    print(f"{ROUNDS} rounds: regret {found:.1f} through the service, {mean:.1f} +- {spread:.1f} in the library")
    assert abs(found - mean) < 4 * spread + 2.0  # a hundredth of what uniform play would lose
