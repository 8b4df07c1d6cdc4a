"""A learner, a function class, generators, an environment, a section, a figure and a command are added to a copy of the
package as CONTRIBUTING says: one new file and one line elsewhere each, two for an environment."""

import re
from pathlib import Path

import pytest

import graphbandit
from tests.helpers.processes import printed

PACKAGE = Path(graphbandit.__file__).parent

NEW = {
    "learners/first_arm.py": """
from dataclasses import dataclass

from graphbandit.base.saved_files import savable
from graphbandit.learners.uniform import Uniform


@savable
@dataclass(frozen=True, kw_only=True)
class FirstArm(Uniform):
    pass
""",
    "function_classes/halved.py": """
from graphbandit.base.saved_files import savable
from graphbandit.function_classes.bilinear import BilinearClass


@savable
class HalvedClass(BilinearClass):
    pass
""",
    "graphs/generators/path.py": """
from graphbandit.graphs.graph import FeedbackGraph


def path(n_arms: int, *, step: int = 1) -> FeedbackGraph:
    return FeedbackGraph.from_edges([(a, a + step) for a in range(n_arms - step)], n_arms, add_loops=True)
""",
    "graphs/generators/coin_graph.py": """
import numpy as np

from graphbandit.graphs.generators.bandit import bandit
from graphbandit.graphs.generators.complete import complete
from graphbandit.graphs.graph import FeedbackGraph


def coin_graph(n_arms: int, heads: float = 0.5, *, rng: np.random.Generator) -> FeedbackGraph:
    return complete(n_arms) if rng.random() < heads else bandit(n_arms)
""",
    "environments/calm.py": """
import numpy as np

from graphbandit.environments.arrays import ArrayEnvironment, from_arrays
from graphbandit.graphs.generators.star import star


def calm(n_arms: int = 3, n_rounds: int = 8) -> ArrayEnvironment:
    rewards = np.tile(np.arange(n_arms, dtype=float), (n_rounds, 1))
    return from_arrays(contexts=np.ones((n_rounds, 1)), graphs=star(n_arms), rewards=rewards)
""",
    "experiments/report/sections/greeting.py": """
from graphbandit.experiments.report.sections.base import Reported, figures_section
from graphbandit.plots.pages.page import Section


def section(reported: Reported) -> Section:
    return figures_section("greeting", "Greeting", [], text="Good <morning>.")
""",
    "experiments/figures/blank.py": """
def plot_blank(results):
    return None
""",
    "cli/greet.py": """
import typer

app = typer.Typer()


@app.command(epilog="Example: graphbandit greet")
def greet() -> None:
    '''Say good morning.'''
    typer.echo("Good morning.")
""",
}

LINES = {
    "learners/__init__.pyi": "from .first_arm import FirstArm as FirstArm",
    "function_classes/__init__.pyi": "from .halved import HalvedClass as HalvedClass",
    "graphs/__init__.pyi": """from .generators.path import path as path
from .generators.coin_graph import coin_graph as coin_graph""",
    "experiments/figures/__init__.pyi": "from .blank import plot_blank as plot_blank",
    "experiments/report/write_report.py": (r"(?<=SECTIONS = \(\n)", '    "greeting",\n'),
    "cli/app.py": (r"(?<=GROUPS = \(\n)", '    "greet",\n'),
    "environments/__init__.py": (
        r"\n\n__all__ = \[\n",
        '\nfrom graphbandit.environments.calm import calm\n\n__all__ = [\n    "calm",\n',
    ),
}
"""The lines for each new thing: at the top of a stub, in a tuple, or both as an import and in `__all__`."""

USES = """
import numpy as np
import graphbandit as gb
from graphbandit.experiments.describe.kinds import parameters
from graphbandit.experiments.describe.learner_kinds import LEARNER_KINDS, build_learner
from graphbandit.experiments.report import write_report
from graphbandit.graphs.sources import SOURCES, graph_source

assert type(build_learner("FirstArm", {})) is gb.learners.FirstArm
made = gb.function_classes.HalvedClass(x0=[[1.0, 0.0]], a0=[[0.0, 0.0]], arms=[[1.0, 0.0], [0.0, 1.0]])
assert made.values(np.array([[3.0, 5.0]])).tolist() == [[[2.0, 5.0]]]

environment = gb.environments.paper(n_arms=4, graph="path", step=2)
assert environment.source.graph == gb.graphs.path(4, step=2)
assert parameters(SOURCES["path"]) == {"n_arms": parameters(SOURCES["star"])["n_arms"], "step": 1}
coins = graph_source("coin", 3, heads=0.4)
whole = coins.draw(np.random.default_rng(0), 20)
rng = np.random.default_rng(0)
assert gb.FeedbackGraphs.concatenate([coins.draw(rng, n) for n in (1, 0, 19)]) == whole
assert {graph.n_edges for graph in whole} == {3, 9}
try:
    graph_source("coin", 3, tails=0.4)
except gb.errors.SettingError as error:
    assert "unknown setting 'tails'; expected another, as the graph 'coin' takes heads" in str(error)

from graphbandit.experiments.describe.environment_kinds import build_environment
assert "calm" in gb.environments.__all__ and gb.environments.calm(4).n_arms == 4
assert build_environment("graphbandit.environments:calm", {"n_arms": 5, "n_rounds": 2}).n_arms == 5

assert gb.experiments.plot_blank(None) is None and "plot_blank" in gb.experiments.__all__
assert write_report.SECTIONS[0] == "greeting"
from graphbandit.experiments.report.sections.greeting import section
assert "<p>Good &lt;morning&gt;.</p>" in section(None).body
"""


def _copied(source: Path, target: Path) -> None:
    """A folder whose files are links, except those that get a line."""
    target.mkdir()
    for path in source.iterdir():
        if path.name == "__pycache__":
            continue
        if path.is_dir():
            _copied(path, target / path.name)
        elif path.relative_to(PACKAGE).as_posix() in LINES:
            (target / path.name).write_text(path.read_text())
        else:
            (target / path.name).symlink_to(path)


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("newcomers")
    _copied(PACKAGE, folder / "graphbandit")
    for name, text in NEW.items():
        assert not (folder / "graphbandit" / name).exists()
        (folder / "graphbandit" / name).write_text(text)
    for name, line in LINES.items():
        path = folder / "graphbandit" / name
        text = path.read_text()
        if isinstance(line, tuple):
            changed, found = re.subn(*line, text)
            assert found == 1
        else:
            changed = f"{line}\n{text}"
        path.write_text(changed)
    return folder


def _run(folder: Path, *words: str) -> str:
    return printed(*words, cwd=folder, environment={"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"})


def test_what_is_added_is_known(copy) -> None:
    _run(copy, "-c", f"import graphbandit\nassert graphbandit.__file__.startswith({str(copy)!r})\n{USES}")


def test_a_command_that_is_added_runs(copy) -> None:
    assert _run(copy, "-m", "graphbandit", "greet") == "Good morning.\n"
