"""IDS.G beside its rivals, in the three tables of docs/ids.md: mean regret (standard error).

    python -m benchmarks.ids                    # a few minutes
    python -m benchmarks.ids --repeats 5        # at most five repeats of each

Learners with settings in the tables' rows have those, and otherwise their defaults. All learn from everything that is
revealed. AdaCB.G has the paper's eta.
"""

import argparse
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import graphbandit as gb
from graphbandit.base.tables import Table
from graphbandit.environments.base import Environment
from graphbandit.learners.base import Learner

OURS = {"radius": "sharp", "gamma": "paper", "eta": 1.0}
"""AdaCB.G with the paper's gamma, a sharper radius and tight coverage."""

GROWTHS: dict[str, tuple[Callable[..., Learner[Any]], dict[str, Any], tuple[float, ...]]] = {
    "IDS.G": (gb.IDSG, {}, (1.2, 2.0)),
    "IDS.G, frequentist": (gb.IDSG, {"form": "frequentist"}, (1.2,)),
    "Thompson sampling (`BootstrappedThompson`)": (gb.learners.BootstrappedThompson, {}, (1.2,)),
    "greedy": (gb.Greedy, {}, (1.2, 2.0)),
    "AdaCB.G, eta = 1": (gb.AdaCBG, OURS, (1.2, 2.0)),
    "AdaCB.G as in the paper (eta = 1)": (gb.AdaCBG, {"radius": "paper", "coverage": "paper"}, (2.0,)),
    "RegCB, optimistic": (gb.learners.RegCB, {}, (1.2,)),
    "RegCB, elimination": (gb.learners.RegCB, {"form": "elimination"}, (1.2,)),
    "AdaCB": (gb.learners.AdaCB, OURS, (2.0,)),
    "epsilon-greedy, constant 0.05": (gb.learners.EpsilonGreedy, {"schedule": "constant", "epsilon": 0.05}, (2.0,)),
    "epsilon-greedy, cube root": (gb.learners.EpsilonGreedy, {}, (2.0,)),
    "FALCON": (gb.Falcon, {}, (2.0,)),
}
"""The learners by their names in the first table: class, settings, and the factors between their epochs."""

GRAPHS = {"star": "star", "cliques": "clique_group", "random": "random", "loops only": "bandit"}


class Part(NamedTuple):
    """A table: a column an environment, a row a learner."""

    caption: str
    environments: dict[str, Environment]
    learners: dict[str, Learner[Any]]
    rounds: int
    repeats: int


def parts() -> list[Part]:
    """The three tables."""
    finite: dict[str, Learner[Any]] = {
        f"{name}, growth {growth:g}": kind(epoch_growth=growth, **settings)
        for name, (kind, settings, growths) in GROWTHS.items()
        for growth in growths
    }
    finite["explore then commit"] = gb.learners.ExploreThenCommit()
    linear: dict[str, Learner[Any]] = {
        "IDS.G, growth 1.2": gb.IDSG(epoch_growth=1.2),
        "Thompson sampling": gb.learners.BootstrappedThompson(),
        "greedy": gb.Greedy(epoch_growth=1.2),
        "RegCB, optimistic": gb.learners.RegCB(epoch_growth=1.2),
        "IDS.G, frequentist": gb.IDSG(form="frequentist", epoch_growth=1.2),
    }
    still = {**linear, "IDS.G, growth 2": gb.IDSG(epoch_growth=2.0), "IDS.G as it is": gb.IDSG()}
    return [
        Part(
            "The paper's class, functions divided by 8, noise 1",
            {title: gb.environments.paper(n_arms=50, graph=graph, reward_scale=8.0) for title, graph in GRAPHS.items()},
            finite,
            2**10,
            20,
        ),
        Part(
            "Linear problems, new arms in each round, sigma = 0.5",
            {title: gb.environments.linear(graph=graph) for title, graph in GRAPHS.items()},
            linear,
            2**11,
            5,
        ),
        Part(
            "Linear problems, arms that never change",
            {"loops only": gb.environments.linear(graph="bandit", diversity=0.0)},
            still,
            2**11,
            8,
        ),
    ]


def number(x: float) -> str:
    """One digit behind the point, and none from 100 on."""
    return f"{x:.1f}" if x < 100 else f"{x:,.0f}"


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=None, help="at most this many (default: 20, 5 and 8)")
    settings = parser.parse_args()
    warnings.simplefilter("ignore")
    for part in parts():
        repeats = min(part.repeats, settings.repeats or part.repeats)
        cells: dict[str, list[str]] = {name: [] for name in part.learners}
        for title, environment in part.environments.items():
            print(f"{part.caption}: {title}", file=sys.stderr, flush=True)
            found = gb.simulate(part.learners, environment, rounds=part.rounds, repeats=repeats, workers=None)
            for name, regret in found.summary().items():
                cells[name].append(f"{number(regret.mean)} ({number(regret.standard_error)})")
        caption = f"{part.caption}; T = {part.rounds}, {repeats} repeats"
        rows = [[name, *row] for name, row in cells.items()]
        print(f"\n{caption}\n\n{Table(caption, ['learner', *part.environments], rows).to_markdown()}", flush=True)


if __name__ == "__main__":
    main()
