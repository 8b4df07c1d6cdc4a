"""What lag costs: snapshots that reach deciders late, or not at all, in simulation. `python -m benchmarks.lag`

Rewards are logged at once, and the learner reads them at once; what is late is only what deciders know. A snapshot
made after round t decides from round t + delay on; a lost one never does, and the next one makes it good.
"""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

import graphbandit as gb
from graphbandit.base.seeds import stream
from graphbandit.environments.base import Environment
from graphbandit.learners.base import Learner
from graphbandit.rounds import Shown


@dataclass(frozen=True, kw_only=True)
class Lag:
    """How a snapshot reaches a decider: so many rounds late, or, with probability `lost`, never."""

    delay: int = 0
    lost: float = 0.0


def regret(learner: Learner[Any], environment: Environment, lag: Lag, rounds: int, repeat: int) -> float:
    """The regret of one run; runs of the same repeat face the same contexts and noise."""
    instance = environment.instance(0, repeat)
    rng, luck = stream(0, "lag", "draws", repeat), stream(0, "lag", "lost", repeat)
    state = learner.init(instance.problem(None))
    known, arriving = state, []  # what the decider has, and what is on its way to it
    total, t, parts = 0.0, 0, []
    while t < rounds:
        for due, new in [item for item in arriving if item[0] <= t]:
            known = new
            arriving.remove((due, new))
        waiting = sum(len(part) for part in parts)
        left = learner.rounds_until_update(state) - waiting
        step = min([left, learner.rounds_until_update(known), rounds - t, *(due - t for due, _ in arriving)])
        shown = instance.rounds(t, t + step)
        made = learner.decide(known, Shown(shown.contexts, shown.graphs), rng)
        total += float((shown.best_means() - shown.means[np.arange(step), made.action]).sum())
        # as any loop of one's own: the package's has no place for a state that comes late
        parts.append(
            gb.Observations.from_masks(
                shown.contexts,
                shown.graphs.revealed(made.action),
                shown.rewards,
                first_round=t,
                actions=made.action,
                observation_probabilities=made.observation_probabilities,
                notes=made.notes,
            )
        )
        t += step
        if step == left:
            state = learner.update(state, gb.Observations.concatenate(parts))
            parts = []
            if lag.lost == 0.0 or luck.random() >= lag.lost:
                arriving.append((t + lag.delay, state))
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--repeats", type=int, default=8)
    chosen = parser.parse_args()
    environment = gb.environments.linear(n_arms=20, dimension=5, graph="random", noise=0.5)
    learners: dict[str, Learner[Any]] = {"IDS.G": gb.IDSG(), "AdaCB.G": gb.AdaCBG()}
    late, lost = [Lag(delay=delay) for delay in (0, 10, 100, 1000)], [Lag(lost=share) for share in (0.5, 0.9)]
    lags = [*late, *lost, Lag(delay=100, lost=0.5)]
    print("| snapshots | " + " | ".join(learners) + " |")
    print("| --- |" + " --- |" * len(learners))
    for lag in lags:
        cells = []
        for learner in learners.values():
            found = [regret(learner, environment, lag, chosen.rounds, i) for i in range(chosen.repeats)]
            error = np.std(found, ddof=1) / np.sqrt(len(found))
            cells.append(f"{np.mean(found):.0f} ± {1.96 * error:.0f}")
        print(f"| {lag.delay} rounds late, {lag.lost:.0%} lost | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
