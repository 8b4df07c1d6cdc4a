"""Small made-up results, with the tables an experiment leaves behind."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa


def results(
    regrets: dict[tuple[str, str], list[float]],
    *,
    settings: dict[str, dict[str, object]] | None = None,
    seconds: float = 0.1,
) -> SimpleNamespace:
    """`regrets[environment, learner]` by repeat; nan: not run. `settings[label]` are columns for that label."""
    rows, curves, timings = [], [], []
    grid = np.unique(np.geomspace(1, 256, 24).astype(int))
    for place, ((environment, learner), finals) in enumerate(regrets.items()):
        for repeat, final in enumerate(finals):
            if np.isnan(final):
                continue
            key = f"{environment}|{learner}|{repeat}"
            extra = {**(settings or {}).get(environment, {}), **(settings or {}).get(learner, {})}
            row = {"key": key, "environment": environment, "learner": learner, "repeat": repeat, "rounds": 256}
            rows.append({**row, "regret": float(final), **extra})
            curves += [{"key": key, "round": int(n), "regret": float(final * (n / 256) ** 0.6)} for n in grid]
            timings.append({"key": key, "seconds": seconds * (1 + place + 0.01 * repeat)})
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return SimpleNamespace(
        experiment=SimpleNamespace(name="made up", rounds=256, repeats=max(map(len, regrets.values())), seed=7),
        runs=pa.Table.from_pylist([{name: row.get(name) for name in columns} for row in rows]),
        curves=pa.Table.from_pylist(curves),
        timings=pa.Table.from_pylist(timings),
    )


def sweep(repeats: int = 12) -> SimpleNamespace:
    """Four learners in three environments, with two settings that vary."""
    rng = np.random.default_rng(5)
    scale = {"AdaCB.G": 30.0, "RegCB.G": 33.0, "FALCON": 55.0, "Uniform": 90.0}
    places = {
        "star, K = 5": (1.0, 5, "star"),
        "star, K = 20": (1.4, 20, "star"),
        "cliques, K = 20": (1.8, 20, "cliques"),
    }
    regrets = {}
    settings: dict[str, dict[str, object]] = {}
    for place, (factor, arms, graph) in places.items():
        settings[place] = {"environment.n_arms": arms, "environment.graph": graph}
        shared = rng.normal(0, 6, repeats)
        for name, base in scale.items():
            regrets[place, name] = list(factor * (base + shared + rng.normal(0, 4, repeats)))
    return results(regrets, settings=settings)
