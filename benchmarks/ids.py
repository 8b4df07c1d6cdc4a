"""IDS.G beside the other learners of contexts: regret on the paper's class, and on linear problems.

`python -m benchmarks.ids` prints the tables of docs/ids.md; `--write` puts them there.
"""

import argparse
import warnings
from typing import Any

import graphbandit as gb
from benchmarks.pages import DOCS, put
from graphbandit.environments.base import Environment
from graphbandit.learners import AdaCB, BootstrappedThompson, EpsilonGreedy, ExploreThenCommit, RegCB
from graphbandit.learners.base import Learner

GRAPHS: dict[str, dict[str, Any]] = {
    "star": {"graph": "star"},
    "cliques": {"graph": "clique_group", "n_cliques": 5},
    "random": {"graph": "random"},
    "loops only": {"graph": "bandit"},
}
SHARP: dict[str, Any] = {"radius": "sharp", "gamma": "paper", "eta": 1.0, "doubt": 0.0}

FINITE: dict[str, Learner[Any]] = {
    "IDS.G, growth 1.1": gb.IDSG(),
    "IDS.G, growth 1.2": gb.IDSG(epoch_growth=1.2),
    "IDS.G, growth 2": gb.IDSG(epoch_growth=2.0),
    "IDS.G, frequentist, growth 1.2": gb.IDSG(form="frequentist", epoch_growth=1.2),
    "Thompson sampling (`BootstrappedThompson`), growth 1.2": BootstrappedThompson(),
    "greedy, growth 1.2": gb.Greedy(epoch_growth=1.2),
    "greedy, growth 2": gb.Greedy(),
    "AdaCB.G, eta = 1, sharp radius, growth 1.2": gb.AdaCBG(**SHARP, epoch_growth=1.2),
    "AdaCB.G, eta = 1, sharp radius, growth 2": gb.AdaCBG(**SHARP, epoch_growth=2.0),
    "AdaCB.G as in the paper, growth 2": gb.AdaCBG.paper(),
    "RegCB, optimistic, growth 1.2": RegCB(epoch_growth=1.2),
    "RegCB, elimination, growth 1.2": RegCB(form="elimination", epoch_growth=1.2),
    "AdaCB, eta = 1, sharp radius, growth 2": AdaCB(**SHARP, epoch_growth=2.0),
    "epsilon-greedy, constant 0.05, growth 2": EpsilonGreedy(schedule="constant", epsilon=0.05),
    "explore then commit": ExploreThenCommit(),
    "epsilon-greedy, cube root, growth 2": EpsilonGreedy(),
    "FALCON, growth 2": gb.Falcon(),
}
LINEAR: dict[str, Learner[Any]] = {
    "IDS.G, growth 1.1": gb.IDSG(),
    "IDS.G, growth 1.2": gb.IDSG(epoch_growth=1.2),
    "IDS.G, growth 2": gb.IDSG(epoch_growth=2.0),
    "Thompson sampling, growth 1.2": BootstrappedThompson(),
    "greedy, growth 2": gb.Greedy(),
    "RegCB, optimistic, growth 1.2": RegCB(epoch_growth=1.2),
    "IDS.G, frequentist, growth 1.2": gb.IDSG(form="frequentist", epoch_growth=1.2),
}


def table(learners: dict[str, Learner[Any]], places: dict[str, Environment], rounds: int, repeats: int) -> str:
    """Mean regret (standard error), a row a learner; the lowest mean of a column is bold."""
    columns = [gb.simulate(learners, place, rounds=rounds, repeats=repeats).summary() for place in places.values()]
    lines = [f"| learner | {' | '.join(places)} |", "| --- |" + " --- |" * len(places)]
    for name in learners:
        cells = []
        for column in columns:
            mean, error = column[name].mean, column[name].standard_error
            digits = 1 if mean < 100 else 0
            best = "**" if mean == min(other.mean for other in column.values()) else ""
            cells.append(f"{best}{mean:,.{digits}f}{best} ({error:,.{digits}f})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables, or write them into their page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/ids.md")
    write = parser.parse_args().write
    warnings.simplefilter("ignore")
    finite = {name: gb.environments.paper(reward_scale=8.0, **graph) for name, graph in GRAPHS.items()}
    linear = {name: gb.environments.linear(**graph) for name, graph in GRAPHS.items()}
    still = {"loops only": gb.environments.linear(graph="bandit", diversity=0.0)}
    for name, text in (
        ("finite", table(FINITE, finite, 2**10, 20)),
        ("linear", table(LINEAR, linear, 2**11, 5)),
        ("still", table(LINEAR, still, 2**11, 8)),
    ):
        print(f"{name}\n\n{text}\n", flush=True)
        if write:
            put(DOCS / "ids.md", name, text)


if __name__ == "__main__":
    main()
