"""Small made-up results, with the tables that an experiment leaves behind."""

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa

from graphbandit.experiments.results.reading import Description, Results

ROUNDS = 256


def made_up(
    regrets: dict[tuple[str, str], list[float]],
    *,
    settings: dict[str, dict[str, object]] | None = None,
    seconds: float = 0.1,
    failures: list[dict[str, object]] | None = None,
    name: str = "made up",
    folder: Path = Path("nowhere"),
) -> Results:
    """`regrets[environment, learner]` by repeat, nan where it was not run; `settings[label]` are more columns."""
    planned, curves, timings = [], [], []
    grid = np.unique(np.geomspace(1, ROUNDS, 24).astype(int))
    extra = settings or {}
    names = dict.fromkeys(column for columns in extra.values() for column in columns)
    for place, ((environment, learner), finals) in enumerate(regrets.items()):
        for repeat, final in enumerate(finals):
            key = f"{environment}|{learner}|{repeat}"
            row = {"key": key, "environment": environment, "learner": learner, "repeat": repeat, "rounds": ROUNDS}
            varied = {**extra.get(environment, {}), **extra.get(learner, {})}
            told = {"environment": {"kind": "paper", "n_arms": 5}, "learner": {"kind": learner}}
            row |= {"regret": final, **{column: varied.get(column) for column in names}, "settings": json.dumps(told)}
            planned.append(row)
            if math.isfinite(final):
                curves += [{"key": key, "round": int(n), "regret": final * (n / ROUNDS) ** 0.6} for n in grid]
                spent = seconds * (1 + place + 0.01 * repeat)
                timings.append({"key": key, "seconds": spent, "graphbandit": "1.2", "python": "3.11", "numpy": "2.0"})
    table = pa.Table.from_pylist(planned)
    return Results(
        experiment=Description(name=name, rounds=ROUNDS, repeats=max(map(len, regrets.values())), seed=7),
        planned=table.drop_columns(["regret"]),
        runs=table.filter(pa.array([math.isfinite(row["regret"]) for row in planned])),
        curves=pa.Table.from_pylist(curves),
        timings=pa.Table.from_pylist(timings),
        failures=failures or [],
        folder=folder,
    )


def sweep(repeats: int = 12, **options: object) -> Results:
    """Four learners in three environments, with two settings that vary."""
    rng = np.random.default_rng(5)
    scale = {"AdaCB.G": 30.0, "RegCB.G": 33.0, "FALCON": 55.0, "Uniform": 90.0}
    places = {"star n_arms=5": (1.0, 5, "star"), "star n_arms=20": (1.4, 20, "star"), "cliques": (1.8, 20, "cliques")}
    regrets = {}
    settings: dict[str, dict[str, object]] = {}
    for place, (factor, arms, graph) in places.items():
        settings[place] = {"environment.n_arms": arms, "environment.graph": graph}
        shared = rng.normal(0, 6, repeats)
        for name, base in scale.items():
            regrets[place, name] = (factor * (base + shared + rng.normal(0, 4, repeats))).tolist()
    return made_up(regrets, settings=settings, **options)


def tuning(repeats: int = 8) -> Results:
    """One environment, a learner with two settings of four values each, with long labels."""
    rng = np.random.default_rng(0)
    points = [(a, b) for a in (0.1, 0.2, 0.3, 0.4) for b in (1, 2, 3, 4)]
    labels = {f"AdaCB.G exponent={a} coverage={b}": (a, b) for a, b in points}
    regrets = {("cliques", label): rng.normal(50 + 30 * a * b, 8, repeats).tolist() for label, (a, b) in labels.items()}
    settings = {label: {"learner.exponent": a, "learner.coverage": b} for label, (a, b) in labels.items()}
    return made_up(regrets, settings=settings)
