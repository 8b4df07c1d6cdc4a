"""An experiment as the text of a TOML file, to stand beside its results."""

import json
import os
from pathlib import Path

from graphbandit.experiments.describe import registry
from graphbandit.experiments.describe.experiment import Experiment
from graphbandit.experiments.describe.registry import Value

FIELDS = ("name", "rounds", "repeats", "seed", "horizon_known", "curve_points", "decisions")
"""What the table [experiment] may hold."""


def to_toml(experiment: Experiment, *, relative_to: Path) -> str:
    """The file that `load` reads as this experiment; names of data files are made relative to a directory.

    >>> from graphbandit.experiments.describe.experiment import Grid
    >>> small = Experiment(
    ...     name="small", rounds=8, repeats=2, environments={"e": Grid("paper")}, learners={"FALCON": Grid("Falcon")}
    ... )
    >>> print(to_toml(small, relative_to=Path()).splitlines()[-2:])
    ['[learners."FALCON"]', 'kind = "Falcon"']
    """
    lines = ["[experiment]", *(f"{name} = {_text(getattr(experiment, name))}" for name in FIELDS)]
    for room, grids, kinds in (
        ("environments", experiment.environments, registry.ENVIRONMENTS),
        ("learners", experiment.learners, registry.LEARNERS),
    ):
        for name, grid in grids.items():
            lines += ["", f"[{room}.{_text(name)}]", f"kind = {_text(grid.kind)}"]
            for key, value in grid.settings.items():
                values = list(value) if isinstance(value, list | tuple) else [value]
                if key in kinds[grid.kind].files:
                    values = [os.path.relpath(str(one), relative_to) for one in values]
                texts = ", ".join(map(_text, values))
                lines.append(f"{key} = [{texts}]" if isinstance(value, list | tuple) else f"{key} = {texts}")
    return "\n".join(lines) + "\n"


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
