"""Every packaged experiment, cut down to a few rounds, and what the presets make of them."""

from __future__ import annotations

import json

import numpy as np

from tests.golden import names
from tests.golden.registry import Outcome, add

REFITTED = ("boosting", "network", "refits")
"""Parts of the names of experiments whose function classes are fitted anew each epoch."""


def preset(name: str) -> Outcome:
    """One repeat of few rounds; of a list of values, the first and the last."""
    refitted = any(part in name for part in REFITTED)
    arrays = names.experiment_arrays(names.cut(names.preset(name), rounds=16 if refitted else 64))
    return Outcome(arrays, {"runs": float(len(arrays["final"])), "sum of final regrets": float(arrays["final"].sum())})


def registered() -> Outcome:
    """Every kind of learner and environment that a file may name, built with its defaults where it can be."""
    learners = {name: (name, {"clip": True} if name.startswith("Exp3") else {}) for name in names.LEARNER_KINDS}
    shown = {name: made for name, made in learners.items() if not name.startswith("Late")}
    common = {"rounds": 24, "repeats": 2, "seed": 8, "curve_points": 7, "horizon_known": False}
    del shown["ExploreThenCommit"]  # it must know the horizon
    sure = names.experiment(
        name="sure",
        environments={"still": ("linear", {"n_arms": 5, "dimension": 2, "arms": "per-arm", "graph": "star"})},
        learners=shown,
        **common,
    )
    hidden = names.experiment(
        name="hidden",
        environments={
            "hidden": ("paper", {"n_arms": 5, "graph": "random", "edge_probability": 0.5, "shown": "nothing"})
        },
        learners={name: made for name, made in learners.items() if name.startswith("Late")},
        **common,
    )
    arrays = {
        f"{part}, {name}": array
        for part, made in (("sure", sure), ("hidden", hidden))
        for name, array in names.experiment_arrays(made).items()
    }
    return Outcome(arrays, {"sum of final regrets": float(arrays["sure, final"].sum())})


def sizes() -> Outcome:
    """What the presets "quick" and "full" make of every experiment."""
    found = {name: names.described(made) for name, made in names.planned()}
    runs = sum(one["repeats"] * len(one["environments"]) * len(one["learners"]) for one in found.values())
    texts = {name: np.frombuffer(json.dumps(one).encode(), dtype=np.uint8) for name, one in found.items()}
    return Outcome(texts, {"experiments": float(len(found)), "runs": float(runs)})


for _name in names.PRESETS:
    add(f"experiments/{_name}", lambda chunk, n=_name: preset(n), slow=True, needs_data=_name in names.DATA_PRESETS)
add("experiments/every kind", lambda chunk: registered())
add("experiments/presets", lambda chunk: sizes(), slow=True)
