"""Vowpal Wabbit as a rival: its graph feedback, which does what AdaCB.G does, and its plain SquareCB, which does not.

Both see what the package sees: d numbers of the context, d of each arm, all their products (`-q xa`), and costs that
are minus the rewards. A round is a shared line and a line for each arm. With graph feedback the graph is in
the shared line as row,column,value, where playing the column reveals the row, and every revealed arm has a label:

    shared graph 0,0,1 0,1,1 1,0,1 1,1,1 |x 0:0.3 1:-1.2
    0:-0.7:0.8 |a 0:0.1 1:0.9
    0:0.2:1 |a 0:0.5 1:-0.4

What is timed is `predict` on a round that was parsed before, and, apart from it, the parsing.
"""

import time
from typing import Any

import numpy as np

GRAPH_FEEDBACK = "--cb_explore_adf --graph_feedback -q xa --quiet"
SQUARECB = "--cb_explore_adf --squarecb -q xa --quiet"
NOT_INSTALLED = "not installed"


def version() -> str:
    """The installed version, or `NOT_INSTALLED`."""
    try:
        import vowpalwabbit
    except ImportError:
        return NOT_INSTALLED
    return str(vowpalwabbit.__version__)


class Vowpal:
    """One Vowpal Wabbit, fed with rounds of an environment."""

    def __init__(self, arguments: str, arms: np.ndarray, seed: int) -> None:
        import vowpalwabbit

        self.arguments = arguments
        self.workspace = vowpalwabbit.Workspace(arguments)
        self.arms = ["|a " + _features(arm) for arm in arms]
        self.rng = np.random.default_rng(seed)

    def learn(self, context: np.ndarray, reveals: np.ndarray, rewards: np.ndarray) -> None:
        """Decide a round, and learn what the played arm reveals; with plain SquareCB that is its own reward."""
        p = np.nan_to_num(self.predict(context, reveals)[2])  # nan in its very first round of graph feedback
        p = p / p.sum() if p.sum() > 0 else np.full(len(p), 1 / len(p))
        action = int(self.rng.choice(len(p), p=p))
        graph = "--graph_feedback" in self.arguments
        seen = np.flatnonzero(reveals[action]) if graph else [action]
        labels = {int(a): f"{action}:{-rewards[a]:.6f}:{p[action] if a == action else 1:.6f} " for a in seen}
        self.workspace.learn(self._lines(context, reveals, labels))

    def predict(self, context: np.ndarray, reveals: np.ndarray) -> tuple[float, float, np.ndarray]:
        """(seconds to predict, seconds to parse, probabilities)"""
        lines = self._lines(context, reveals, {})
        start = time.perf_counter()
        examples = self.workspace.parse(lines)
        parsed = time.perf_counter()
        probabilities = self.workspace.predict(examples)
        end = time.perf_counter()
        self.workspace.finish_example(examples)
        return end - parsed, parsed - start, np.asarray(probabilities)

    def close(self) -> None:
        """Free its memory."""
        self.workspace.finish()

    def _lines(self, context: np.ndarray, reveals: np.ndarray, labels: dict[int, str]) -> list[str]:
        shared = "shared "
        if "--graph_feedback" in self.arguments:
            shared += "graph " + " ".join(f"{a},{j},1" for j, a in np.argwhere(reveals)) + " "
        arms = [labels.get(a, "") + line for a, line in enumerate(self.arms)]
        return [shared + "|x " + _features(context), *arms]


def _features(vector: Any) -> str:
    return " ".join(f"{i}:{value:.6f}" for i, value in enumerate(vector))
