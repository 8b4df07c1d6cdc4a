"""A `Bandit` with every learner: batches, late, shuffled and partial rewards, forgotten ones, saved and loaded."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden import names
from tests.golden.learner_cases import BASES, VARIANTS, plays, variant
from tests.golden.problems import problem
from tests.golden.registry import Outcome, add

ROUNDS = 72


def where(name: str) -> str:
    """The environment on which the variant is played."""
    return "hidden graph" if VARIANTS[name][0] == "LateGraph" else "directed"


def prompt(name: str, place: str) -> Outcome:
    """Rewards come at once; the first twenty rounds one by one, the rest in batches."""
    game = names.Play(variant(name), problem(place), rounds=ROUNDS, seed=3)
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
    game = names.Play(variant(name), problem(place), rounds=ROUNDS, seed=4, horizon_known=False)
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


def _outcome(game: names.Play, made: list[Any]) -> Outcome:
    regret = game.regret(made)
    arrays = {**names.single_decision_arrays(made), "regret": regret, "open": np.array(game.bandit.open_decisions)}
    return Outcome(arrays, {"final regret": float(regret[-1]), "open": float(len(game.bandit.open_decisions))})


for _name in BASES:
    for _place in (where(_name), "masks", "weak", "edge probabilities"):
        if plays(_name, _place):
            add(f"bandit/prompt/{_name}/{_place}", lambda chunk, n=_name, p=_place: prompt(n, p))
            add(f"bandit/late/{_name}/{_place}", lambda chunk, n=_name, p=_place: late(n, p))
