"""A `Bandit` with every learner: batches, late, shuffled and partial rewards, forgotten ones, saved and loaded."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import graphbandit as gb
from tests.golden.learner_cases import BASES, VARIANTS, plays, variant
from tests.golden.played import DECISION_FIELDS, Arrays, dense
from tests.golden.problems import problem
from tests.golden.registry import Outcome, add

ROUNDS = 72


class Play:
    """A `Bandit` on an instance of an environment, whose rewards are handed back by whoever plays."""

    def __init__(self, learner: Any, environment: Any, *, rounds: int, seed: int, horizon_known: bool = True) -> None:
        instance = environment.instance(seed)
        self._rounds = instance.rounds(0, rounds)
        self.bandit: Any = gb.Bandit(learner, instance.problem(rounds if horizon_known else None), seed=seed)

    def decide(self, t: int) -> Any:
        """Round t."""
        masks, graphs = self._rounds.available, self._rounds.shown.graphs
        mask, graph = None if masks is None else masks[t], None if graphs is None else graphs[t]
        return self.bandit.decide(self._rounds.contexts[t], graph, available=mask)

    def decide_batch(self, first: int, stop: int) -> list[Any]:
        """Rounds first .. stop - 1."""
        part = self._rounds[first:stop]
        made: list[Any] = self.bandit.decide_batch(part.contexts, part.shown.graphs, available=part.available)
        return made

    def rewards(self, t: int, decision: Any) -> dict[int, float]:
        """What the decision of round t reveals."""
        revealed = dense(self._rounds.graphs[t])[decision.action].nonzero()[0]
        return {int(arm): float(self._rounds.rewards[t, arm]) for arm in revealed}

    def regret(self, decisions: list[Any]) -> np.ndarray:
        """Cumulative."""
        best = self._rounds.best_means()
        obtained = np.array([self._rounds.means[t, decision.action] for t, decision in enumerate(decisions)])
        return np.cumsum(best[: len(decisions)] - obtained)

    def save_and_load(self) -> None:
        """Go on with what a file holds."""
        with tempfile.TemporaryDirectory() as folder:
            self.bandit.save(Path(folder) / "bandit")
            self.bandit = gb.Bandit.load(Path(folder) / "bandit")


def single_decision_arrays(decisions: list[Any]) -> Arrays:
    """Decisions of a `Bandit` by field; lists of arms are put end to end."""
    fields = ("revealed", *DECISION_FIELDS)
    found: Arrays = {}
    for name in fields:
        values = [getattr(decision, name) for decision in decisions]
        if name == "solver":
            found[name] = np.array(values, dtype="S16")
        elif name in ("revealed", "candidates", "exploration_set"):
            found[name] = np.concatenate([np.array([len(value)]) for value in values] + values).astype(np.int64)
        else:
            found[name] = np.array(values)
    return found


def where(name: str) -> str:
    """The environment on which the variant is played."""
    return "hidden graph" if VARIANTS[name][0] == "LateGraph" else "directed"


def prompt(name: str, place: str) -> Outcome:
    """Rewards come at once; the first twenty rounds one by one, the rest in batches."""
    game = Play(variant(name), problem(place), rounds=ROUNDS, seed=3)
    made: list[Any] = []
    for t in range(20):
        made.append(game.decide(t))
        game.bandit.observe(made[t], game.rewards(t, made[t]), final=True)
    for first in range(20, ROUNDS, 13):
        batch = game.decide_batch(first, min(first + 13, ROUNDS))
        made += batch
        for t, decision in enumerate(batch, start=first):
            game.bandit.observe(decision, game.rewards(t, decision), final=True)
    return _outcome(game, made)


def late(name: str, place: str) -> Outcome:
    """Rewards come in any order, in parts, after any time, or never; half-way the bandit is saved and loaded."""
    game = Play(variant(name), problem(place), rounds=ROUNDS, seed=4, horizon_known=False)
    rng = np.random.default_rng(9)
    made: list[Any] = []
    waiting: list[tuple[int, int, float]] = []
    for t in range(ROUNDS):
        if t == ROUNDS // 2:
            game.save_and_load()
        made.append(game.decide(t))
        waiting += [(made[t].id, arm, reward) for arm, reward in game.rewards(t, made[t]).items()]
        if rng.random() < 0.6:
            order = rng.permutation(len(waiting))
            now, later = order[: len(order) // 2], order[len(order) // 2 :]
            for place_of in now:
                number, arm, reward = waiting[place_of]
                game.bandit.observe(number, {arm: reward})
            waiting = [waiting[i] for i in sorted(later)]
        if rng.random() < 0.1 and game.bandit.open_decisions:
            forgotten = game.bandit.open_decisions[0]
            game.bandit.forget(forgotten)
            waiting = [entry for entry in waiting if entry[0] != forgotten]
    return _outcome(game, made)


def _outcome(game: Play, made: list[Any]) -> Outcome:
    regret = game.regret(made)
    arrays = {**single_decision_arrays(made), "regret": regret, "open": np.array(game.bandit.open_decisions)}
    return Outcome(arrays, {"final regret": float(regret[-1]), "open": float(len(game.bandit.open_decisions))})


for _name in BASES:
    for _place in (where(_name), "masks", "weak", "edge probabilities"):
        if plays(_name, _place):
            add(f"bandit/prompt/{_name}/{_place}", lambda chunk, n=_name, p=_place: prompt(n, p))
            add(f"bandit/late/{_name}/{_place}", lambda chunk, n=_name, p=_place: late(n, p))
