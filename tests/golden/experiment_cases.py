"""Every packaged experiment, cut down to a few rounds, and what the presets make of them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from graphbandit import experiments
from graphbandit.experiments.describe.learner_kinds import LEARNER_KINDS as LEARNERS
from graphbandit.studies import Plan
from graphbandit.studies.study import study_named
from tests.golden.played import Arrays
from tests.golden.registry import Outcome, add

STARTER = Path(experiments.__file__).parent / "describe" / "starter.toml"

PRESETS = {
    **{
        f"paper/{name}": ("paper", name)
        for name in (
            "ablation", "arms", "clique_table", "directed", "flixster", "horizon", "independence", "parts",
            "reward_scale",
        )
    },
    **{
        f"studies/{study}_{name}": (study, name)
        for study, names in {
            "classes": ("bundled", "bundled_refits", "data", "data_refits", "linear"),
            "exploration": ("boosting", "finite", "kernel", "linear", "logistic", "network", "poisson", "still"),
        }.items()
        for name in names
    },
    **{
        f"leaderboard/{name}": ("leaderboard", name)
        for name in (
            "arms", "bundled", "clicks", "data", "finite_large", "finite_small", "linear_fixed", "linear_new",
            "linear_still", "shifting",
        )
    },
}  # fmt: skip
"""The experiments of studies: the name of the golden case, the study, and the file."""

DATA_PRESETS = frozenset({"studies/classes_data", "studies/classes_data_refits", "leaderboard/data"})
"""Those that read data sets in files."""

_FROZEN_ORDER = (
    "AdaCBG", "AdaCB", "IDSG", "LateIDSG", "LateAdaCBG", "RegCB", "BootstrappedThompson", "EpsilonGreedy",
    "ExploreThenCommit", "Falcon", "RegCBG", "Greedy", "SquareCB", "SquareCBG", "Uniform", "UCBN", "UCBMaxN", "TSN",
    "IDSN", "Exp3SET", "Exp3DOM", "Exp3G", "Exp3IX", "LinUCB", "LinTS", "Exp3LGCU", "Exp3LGCIX",
)  # fmt: skip
LEARNER_KINDS = (*_FROZEN_ORDER, *(name for name in LEARNERS if name not in _FROZEN_ORDER))
"""What an experiment's file may name, in the order in which the results were frozen."""

REFITTED = ("boosting", "network", "refits")
"""Parts of the names of experiments whose function classes are fitted anew each epoch."""


def cut(experiment: Any, *, rounds: int) -> Any:
    """The experiment with few rounds and one repeat, and with only the first and the last value of each list."""

    def shorter(grids: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: replace(grid, settings={key: _ends(value) for key, value in grid.settings.items()})
            for name, grid in grids.items()
        }

    return replace(
        experiment,
        rounds=rounds,
        repeats=1,
        environments=shorter(experiment.environments),
        learners=shorter(experiment.learners),
    )


def _ends(value: Any) -> Any:
    return [value[0], value[-1]] if isinstance(value, list | tuple) and len(value) > 2 else value


def experiment(**settings: Any) -> Any:
    """`environments` and `learners` are dictionaries from names to (kind, settings)."""
    grids = {
        room: {name: experiments.Grid(kind, told) for name, (kind, told) in settings.pop(room).items()}
        for room in ("environments", "learners")
    }
    return experiments.Experiment(**settings, **grids)


def experiment_arrays(experiment: Any) -> Arrays:
    """Run it in this process: who played where, final regrets, and the curves."""
    with tempfile.TemporaryDirectory() as folder:
        found = experiments.run(experiment, out=Path(folder) / "results", engine=experiments.InProcess())
    if found.failures:
        raise AssertionError(found.failures[0])
    labels = [f"{row['environment']} | {row['learner']} | {row['repeat']}" for row in found.runs.to_pylist()]
    return {
        "labels": np.frombuffer("\n".join(labels).encode(), dtype=np.uint8),
        "final": found.runs.column("regret").to_numpy(),
        "curve_round": found.curves.column("round").to_numpy(),
        "curve_regret": found.curves.column("regret").to_numpy(),
    }


def described(experiment: Any) -> dict[str, Any]:
    """What a preset makes of an experiment: its sizes, and what plays where."""
    return {
        **{name: getattr(experiment, name) for name in ("name", "rounds", "repeats", "seed", "horizon_known")},
        "environments": [point.label for point in experiment.environment_points()],
        "learners": [point.label for point in experiment.learner_points()],
    }


def preset(name: str, packaged: Any) -> Outcome:
    """One repeat of few rounds; of a list of values, the first and the last."""
    refitted = any(part in name for part in REFITTED)
    arrays = experiment_arrays(cut(packaged, rounds=16 if refitted else 64))
    return Outcome(arrays, {"runs": float(len(arrays["final"])), "sum of final regrets": float(arrays["final"].sum())})


def registered() -> Outcome:
    """Every kind of learner and environment that a file may name, built with its defaults where it can be."""
    learners = {name: (name, {"clip": True} if name.startswith("Exp3") else {}) for name in LEARNER_KINDS}
    shown = {name: made for name, made in learners.items() if not name.startswith("Late")}
    common = {"rounds": 24, "repeats": 2, "seed": 8, "curve_points": 7, "horizon_known": False}
    del shown["ExploreThenCommit"]  # it must know the horizon
    sure = experiment(
        name="sure",
        environments={"still": ("linear", {"n_arms": 5, "dimension": 2, "arm_kind": "per-arm", "graph": "star"})},
        learners=shown,
        **common,
    )
    hidden = experiment(
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
        for name, array in experiment_arrays(made).items()
    }
    return Outcome(arrays, {"sum of final regrets": float(arrays["sure, final"].sum())})


def sizes() -> Outcome:
    """What the presets "quick" and "full" make of every experiment."""
    found = {
        f"{size}/{study}/{name}": described(made)
        for size in ("quick", "full")
        for study in ("paper", "exploration", "classes", "leaderboard")
        for name, made in Plan(study=study, preset=size).experiments().items()
    }
    runs = sum(one["repeats"] * len(one["environments"]) * len(one["learners"]) for one in found.values())
    texts = {name: np.frombuffer(json.dumps(one).encode(), dtype=np.uint8) for name, one in found.items()}
    return Outcome(texts, {"experiments": float(len(found)), "runs": float(runs)})


add("experiments/starter", lambda chunk: preset("starter", experiments.load(STARTER)), slow=True)
for _name, (_study, _file) in PRESETS.items():
    add(
        f"experiments/{_name}",
        lambda chunk, n=_name, study=_study, file=_file: preset(n, study_named(study).experiment(file)),
        slow=True,
        needs_data=_name in DATA_PRESETS,
    )
add("experiments/every kind", lambda chunk: registered())
add("experiments/presets", lambda chunk: sizes(), slow=True, needs_data=True)
