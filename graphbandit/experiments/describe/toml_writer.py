"""Write an experiment as a TOML file, which is kept with its results."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from graphbandit.experiments.describe.experiment import KINDS, Experiment
from graphbandit.experiments.describe.grids import Grid
from graphbandit.experiments.describe.kinds import FILE

FIELDS = ("name", "rounds", "repeats", "seed", "horizon_known", "curve_points", "keep_decisions")
"""The settings of the table [experiment]."""


def to_toml(experiment: Experiment, *, relative_to: Path) -> str:
    """The text that `load` reads as this experiment; names of data files become relative to a folder.

    >>> small = Experiment(
    ...     name="small", rounds=8, repeats=2, environments={"e": Grid("paper")}, learners={"FALCON": Grid("Falcon")}
    ... )
    >>> print(to_toml(small, relative_to=Path()).splitlines()[-2:])
    ['[learners.FALCON]', 'kind = "Falcon"']
    """
    content: dict[str, Any] = {"experiment": {name: getattr(experiment, name) for name in FIELDS}}
    for table in KINDS:
        grids: Mapping[str, Grid] = getattr(experiment, table)
        content[table] = {name: _table(grid, relative_to) for name, grid in grids.items()}
    return tomli_w.dumps(content)


def _table(grid: Grid, folder: Path) -> dict[str, Any]:
    settings: dict[str, Any] = dict(grid.settings)
    if FILE in settings:
        files = settings[FILE]
        several = isinstance(files, list | tuple)
        settings[FILE] = [os.path.relpath(one, folder) for one in files] if several else os.path.relpath(files, folder)
    return {"kind": grid.kind, **settings}
