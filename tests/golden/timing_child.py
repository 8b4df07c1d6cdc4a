"""The measuring half of `tests.golden.timing`: answers requests about the package that PYTHONPATH names.

It runs as a script with an old or a new checkout first on the path, so it keeps to names that all of them have; where
one of them has changed, `adapted` tries both. A request is a line of JSON, and so is the answer.
"""

from __future__ import annotations

import inspect
import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import graphbandit as gb
from graphbandit import environments, learners

BEFORE = {"prior_present": "present", "prior_absent": "absent"}
"""Settings, and what versions before called them."""


def adapted(*ways: Callable[[], Any]) -> Any:
    """The first of several spellings that this checkout knows."""
    for way in ways[:-1]:
        try:
            return way()
        except (AttributeError, ImportError, TypeError):
            continue
    return ways[-1]()


def built(kind: str, settings: dict[str, Any]) -> Any:
    """A learner; one inside another is a pair of its own."""
    own = {name: built(*value) if name == "learner" else value for name, value in settings.items()}
    if own.get("gamma") == "natural" and "natural" not in str(inspect.signature(getattr(learners, kind))):
        del own["gamma"]  # versions before had no name for theirs
    known = inspect.signature(getattr(learners, kind)).parameters
    return getattr(learners, kind)(**{name if name in known else BEFORE[name]: value for name, value in own.items()})


@cache
def environment(hidden: bool, n_arms: int) -> Any:
    """The paper's, with directed graphs; `hidden`: a graph of uncertain edges, of which a learner is told nothing."""
    common: dict[str, Any] = {"n_arms": n_arms, "n_functions": 12, "dimension": 4, "reward_scale": 4.0, "noise": 0.5}
    if not hidden:
        return environments.paper(graph="erdos_renyi", probability=0.2, **common)
    base = environments.paper(graph="random", density=0.2, fixed_graph=True, **common)
    return adapted(
        lambda: environments.probabilistic(base, probability=0.8, shown="nothing"),
        lambda: environments.uncertain(base, probability=0.8, shown="nothing"),
    )


def measured(learner: Any, where: Any, rounds: int) -> dict[str, float]:
    """Microseconds of processor time: of a decision, of an observation, of both, and of a round of `simulate`.

    `simulate` is called thrice and the shortest call counts: after another package's turn the first one finds its code
    and data in no cache.
    """
    clock = time.process_time
    calls = []
    for _ in range(3):
        started = clock()
        gb.simulate(learner, where, rounds=rounds, seed=1)
        calls.append(clock() - started)
    instance = where.instance(1)
    drawn = instance.rounds(0, rounds)
    bandit = gb.Bandit(learner, instance.problem(rounds), seed=1)
    graphs = getattr(drawn.shown, "graphs", drawn.shown)  # what is shown is one value now
    shown = [None if graphs is None else graphs[t] for t in range(rounds)]
    reveals = [drawn.graphs[t].to_dense() for t in range(rounds)]
    deciding = observing = 0.0
    for t in range(rounds):
        context, graph = drawn.contexts[t], shown[t]
        started = clock()
        decision = bandit.decide(context, graph)
        deciding += clock() - started
        rewards = {int(arm): float(drawn.rewards[t, arm]) for arm in reveals[t][decision.action].nonzero()[0]}
        started = clock()
        bandit.observe(decision, rewards, final=True)
        observing += clock() - started
    micro = 1e6 / rounds
    return {
        "decide": micro * deciding,
        "observe": micro * observing,
        "both": micro * (deciding + observing),
        "simulate": micro * min(calls),
    }


def main() -> None:
    """Answer requests until there are no more."""
    warnings.simplefilter("ignore")
    print(json.dumps({"package": gb.__file__}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        learner = built(*asked["learner"])
        where = environment(asked["learner"][0] == "LateGraph", asked["arms"])
        print(json.dumps(measured(learner, where, asked["rounds"])), flush=True)


if __name__ == "__main__":
    main()
