"""What lag costs: snapshots that reach deciders late, or not at all, in simulation.

`python -m benchmarks.lag` prints the table of docs/scale.md; `--write` puts it there, and the picture beside it.

Rewards are logged at once, and the learner reads them at once; what is late is only what deciders know. A snapshot
made after round t decides from round t + delay on; a lost one never does, and the next one makes it good.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import graphbandit as gb
from benchmarks.pages import DOCS, put
from graphbandit.base.printed_table import Table
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float
from graphbandit.environments.base import Environment
from graphbandit.learners.base import Learner
from graphbandit.rounds import Shown
from tests.learners.playing import observed


@dataclass(frozen=True, kw_only=True)
class Lag:
    """How a snapshot reaches a decider: `delay` rounds late, or, with probability `lost`, never."""

    delay: int = 0
    lost: float = 0.0

    def __str__(self) -> str:
        late = f"{self.delay:,} rounds late" if self.delay else ""
        lost = {0.0: "", 0.5: "half of them lost", 0.9: "nine in ten lost"}[self.lost]
        return ", ".join(part for part in (late, lost) if part) or "at once"


LAGS = (*(Lag(delay=delay) for delay in (0, 10, 100, 1000)), Lag(lost=0.5), Lag(lost=0.9), Lag(delay=100, lost=0.5))


def regret(
    learner: Learner[Any], environment: Environment, lag: Lag, rounds: int, repeat: int
) -> Float[np.ndarray, " rounds"]:
    """The regret of one run up to each round; runs of the same repeat face the same contexts and noise."""
    instance = environment.instance(0, repeat)
    rng, luck = stream(0, "lag", "draws", repeat), stream(0, "lag", "lost", repeat)
    state = learner.init(instance.problem(None))
    known = state  # what the decider has
    arriving: list[tuple[int, Any]] = []  # what is on its way to it
    parts: list[gb.Observations] = []
    lost, t = np.empty(rounds), 0
    while t < rounds:
        for due, new in [item for item in arriving if item[0] <= t]:
            known = new
            arriving.remove((due, new))
        waiting = sum(len(part) for part in parts)
        left = learner.rounds_until_update(state) - waiting
        step = min([left, learner.rounds_until_update(known), rounds - t, *(due - t for due, _ in arriving)])
        shown = instance.rounds(t, t + step)
        made = learner.decide(known, Shown(shown.contexts, shown.graphs), rng)
        lost[t : t + step] = shown.best_means() - shown.means[np.arange(step), made.action]
        # a loop of its own: the package's has no place for a state that comes late
        parts.append(observed(shown.contexts, shown.graphs.revealed(made.action), shown.rewards, made, t))
        t += step
        if step == left:
            state = learner.update(state, gb.Observations.concatenate(parts))
            parts = []
            if lag.lost == 0.0 or luck.random() >= lag.lost:
                arriving.append((t + lag.delay, state))
    return lost.cumsum()


def measured(rounds: int, repeats: int) -> dict[tuple[str, Lag], Float[np.ndarray, "repeats rounds"]]:
    """The regret of each learner with each lag."""
    environment = gb.environments.linear(n_arms=20, dimension=5, graph="random", noise=0.5)
    learners: dict[str, Learner[Any]] = {"IDS.G": gb.IDSG(), "AdaCB.G": gb.AdaCBG()}
    found = {}
    for lag in LAGS:
        for name, learner in learners.items():
            runs = [regret(learner, environment, lag, rounds, i) for i in range(repeats)]
            found[name, lag] = np.array(runs)
        print(f"{lag}: done", flush=True)
    return found


def table(found: dict[tuple[str, Lag], Float[np.ndarray, "repeats rounds"]]) -> str:
    """Mean and 95 % interval at the end, a row a lag."""
    learners = list(dict.fromkeys(name for name, _ in found))
    rows = []
    for lag in LAGS:
        ends = [found[name, lag][:, -1] for name in learners]
        rows.append([lag, *(f"{end.mean():,.0f} ± {1.96 * end.std(ddof=1) / np.sqrt(len(end)):,.0f}" for end in ends)])
    repeats, rounds = found[learners[0], LAGS[0]].shape
    return f"{Table('', ['snapshots', *learners], rows).to_markdown()}\n\n({rounds:,} rounds, {repeats} repeats.)"


def picture(found: dict[tuple[str, Lag], Float[np.ndarray, "repeats rounds"]], path: Path) -> None:
    """Mean regret over time, a panel a learner: with lag it rises until the first snapshot comes, then stays."""
    from matplotlib.figure import Figure

    from graphbandit.plots.style import COLOURS, name_ends, plain_axes, save_figure

    late = [lag for lag in LAGS if not lag.lost]
    learners = list(dict.fromkeys(name for name, _ in found))
    figure = Figure(figsize=(7.5, 3.0), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(learners), sharey=True), learners, strict=True):
        for lag, colour in zip(late, COLOURS, strict=False):
            mean = found[name, lag].mean(axis=0)
            axes.plot(np.arange(1, len(mean) + 1), np.maximum(mean, 0.1), color=colour)
        axes.set(title=name, xscale="log", yscale="log", xlabel="round")
        plain_axes(axes)
    figure.axes[0].set_ylabel("regret so far")
    last = learners[-1]
    ends = [(found[last, lag][:, -1].mean(), str(lag), colour) for lag, colour in zip(late, COLOURS, strict=False)]
    name_ends(figure.axes[-1], found[last, late[0]].shape[1], ends)
    save_figure(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--write", action="store_true", help="put the table and the picture into docs")
    chosen = parser.parse_args()
    found = measured(chosen.rounds, chosen.repeats)
    print(table(found))
    if chosen.write:
        put(DOCS / "scale.md", "lag", table(found))
        picture(found, DOCS / "figures" / "lag.svg")


if __name__ == "__main__":
    main()
