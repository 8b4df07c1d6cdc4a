"""One online decision: `Bandit.decide` against one prediction of Vowpal Wabbit, on the same rounds.

The environment is the paper's with random graphs and rewards divided by 8, so that many arms stay candidates and the
program is there to be solved; our own form learns so much faster that it is measured with rewards divided by 32 too.
The bandit has learnt from the rounds before, and no epoch ends in the rounds timed. Each round brings a graph object of
its own that nothing was computed of yet.
"""

from typing import Any

import numpy as np

import graphbandit as gb
from benchmarks import vowpal
from benchmarks.settings import Settings
from benchmarks.timing import Progress, no_collection, ratio, summary, timed

LEARNERS = {
    "paper": (gb.AdaCBG(radius="paper", coverage="paper", eta=1.0), 8.0),
    "ours": (gb.AdaCBG(), 8.0),
    "ours, rewards / 32": (gb.AdaCBG(), 32.0),
}
"""The learner, and what its rewards are divided by; contexts, graphs and noise are the same for all."""
BLOCK = 16
"""Rounds that one contender decides before the next has its turn."""


def run(settings: Settings, progress: Progress) -> list[dict[str, Any]]:
    """A row for each form and number of arms, with the rivals of that number of arms in it."""
    rows = []
    for done, n_arms in enumerate(settings.decision_arms):
        progress(f"decision {n_arms}", done, len(settings.decision_arms))
        rows += measure(n_arms, settings)
    return rows


class Rival:
    """Vowpal Wabbit, or that it is not there or not asked."""

    def __init__(self, arguments: str, wanted: bool, rounds: int) -> None:
        self.arguments, self.rounds = arguments, rounds
        self.status = "measured" if wanted else "not measured at this number of arms"
        if wanted and vowpal.version() == vowpal.NOT_INSTALLED:
            self.status = vowpal.NOT_INSTALLED
        self.predict: list[float] = []
        self.with_parsing: list[float] = []

    def play(self, vw: vowpal.Vowpal, drawn: Any, dense: np.ndarray, rounds: range) -> None:
        """Time its predictions of these rounds."""
        for t in rounds[: max(self.rounds - len(self.predict), 0)]:
            seconds, parsing, _ = vw.predict(drawn.contexts[t], dense[t])
            self.predict.append(seconds)
            self.with_parsing.append(seconds + parsing)


def measure(n_arms: int, settings: Settings) -> list[dict[str, Any]]:
    """The rows of one number of arms; several repeats of the environment, all contenders on the same rounds."""
    squarecb = Rival(vowpal.SQUARECB, n_arms in settings.vowpal_arms, 10**9)
    graph_feedback = Rival(vowpal.GRAPH_FEEDBACK, n_arms in settings.vowpal_graph_arms, settings.vowpal_graph_rounds)
    seconds: dict[str, list[float]] = {name: [] for name in LEARNERS}
    decisions: dict[str, list[gb.Decision]] = {name: [] for name in LEARNERS}
    making: list[float] = []
    n = settings.decision_learnt
    for repeat in range(settings.decision_repeats):
        bandits = {
            name: learnt(learner, instance(n_arms, scale, repeat), n) for name, (learner, scale) in LEARNERS.items()
        }
        rounds_of = instance(n_arms, 8.0, repeat)
        drawn = rounds_of.rounds(0, 2 * n)
        dense = np.stack([graph.to_dense() for graph in drawn.graphs])
        rivals = {
            rival: trained(rival, rounds_of, drawn, dense, n if rival is squarecb else settings.vowpal_graph_rounds)
            for rival in (squarecb, graph_feedback)
            if rival.status == "measured" and len(rival.predict) < rival.rounds
        }
        with no_collection():
            for first in range(n + 1, 2 * n, BLOCK):
                rounds = range(first, min(first + BLOCK, 2 * n))
                for name, bandit in bandits.items():
                    for t in rounds:
                        spent, graph = timed(gb.FeedbackGraph.from_dense, dense[t])
                        making.append(spent)
                        spent, made = timed(bandit.decide, drawn.contexts[t], graph)
                        seconds[name].append(spent)
                        decisions[name].append(made)
                for rival, vw in rivals.items():
                    rival.play(vw, drawn, dense, rounds)
        for vw in rivals.values():
            vw.close()
    return [row(n_arms, name, seconds[name], decisions[name], making, squarecb, graph_feedback) for name in LEARNERS]


def instance(n_arms: int, reward_scale: float, repeat: int) -> Any:
    """One problem of the environment."""
    return gb.environments.paper(n_arms=n_arms, graph="random", reward_scale=reward_scale).instance(0, repeat)


def learnt(learner: gb.learners.Learner[Any], instance: Any, n: int) -> gb.Bandit:
    """A bandit that has played n rounds, and one more, in which it learnt from them."""
    drawn = instance.rounds(0, n + 1)
    bandit = gb.Bandit(learner, instance.problem(2**11), seed=0)
    for t in range(n):
        made = bandit.decide(drawn.contexts[t], drawn.graphs[t])
        bandit.observe(made, {int(a): float(drawn.rewards[t, a]) for a in made.revealed})
    bandit.decide(drawn.contexts[n], drawn.graphs[n])
    return bandit


def trained(rival: Rival, instance: Any, drawn: Any, dense: np.ndarray, n: int) -> vowpal.Vowpal:
    """A Vowpal Wabbit that has played n rounds."""
    vw = vowpal.Vowpal(rival.arguments, instance.functions.arms, seed=0)
    for t in range(n):
        vw.learn(drawn.contexts[t], dense[t], drawn.rewards[t])
    return vw


def row(
    n_arms: int,
    name: str,
    seconds: list[float],
    decisions: list[gb.Decision],
    making: list[float],
    squarecb: Rival,
    graph_feedback: Rival,
) -> dict[str, Any]:
    """One row: our times, what was decided, and the rivals' times."""
    times = {"decide": summary(seconds), "making the graph": summary(making)}
    ratios = {}
    for key, rival in (("squarecb", squarecb), ("graph_feedback", graph_feedback)):
        if rival.predict:
            times[key], times[f"{key} with parsing"] = summary(rival.predict), summary(rival.with_parsing)
    if "graph_feedback" in times:
        ratios["graph_feedback"] = ratio(times["graph_feedback"], times["decide"])
    if "squarecb" in times:
        ratios["of_squarecb"] = ratio(times["decide"], times["squarecb"])
        ratios["of_squarecb_with_parsing"] = ratio(times["decide"], times["squarecb with parsing"])
    return {
        "n_arms": n_arms,
        "learner": name,
        "times": times,
        "ratios": ratios,
        "program_share": float(np.mean([made.solver == "simplex" for made in decisions])),
        "mean_candidates": float(np.mean([len(made.candidates) for made in decisions])),
        "largest_gap": float(np.nanmax([made.duality_gap for made in decisions])),
        "squarecb": squarecb.status,
        "graph_feedback": graph_feedback.status,
    }
