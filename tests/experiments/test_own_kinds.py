"""Learners, environments and function classes of one's own in experiments: found, run, run again once edited."""

import importlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import graphbandit as gb
from graphbandit.errors import ExperimentError, SettingError
from graphbandit.experiments import Experiment, Grid, InProcess, Processes, load, register, run
from graphbandit.experiments.describe import own_kinds
from graphbandit.experiments.describe.planned_runs import planned_runs
from graphbandit.studies import Plan
from tests.helpers.commands import succeed
from tests.helpers.processes import ROOT, printed

MODULE = '''
from dataclasses import dataclass

import numpy as np
import graphbandit as gb
from graphbandit.environments import Environment
from graphbandit.function_classes import FunctionClass, LinearClass


@dataclass(frozen=True)
class Count:
    problem: gb.Problem
    rounds: int = 0


@dataclass(frozen=True, kw_only=True)
class Biased(gb.learners.Learner[Count]):
    """Plays the first arm with this probability."""

    first: float = 0.5
    scale: float = 1.0
    function_class: FunctionClass | None = None

    def init(self, problem):
        if problem.n_arms > 99:
            raise gb.errors.SettingError("n_arms is too large; expected less")
        return Count(problem)

    def rounds_until_update(self, state):
        return 8

    def choose(self, state, shown, rng):
        k = state.problem.n_arms
        p = np.full((len(shown), k), (1 - self.first) / (k - 1))
        p[:, 0] = self.first
        return gb.Decisions.from_probabilities(self.scale * p, graphs=shown.graphs, rng=rng, epoch=1)

    def update(self, state, observations):
        return Count(state.problem, state.rounds + 8)


def stars(n_arms: int = 5) -> Environment:
    return gb.environments.paper(n_arms=n_arms, graph="star")


def flat(n_arms, dimension, ridge: float = 2.0):
    return LinearClass(n_arms=n_arms, dimension=dimension, parameters="per-arm", ridge=ridge)


def told(*, contexts):
    return LinearClass(**contexts.linear)


def nothing():
    return None


def needs(table: np.ndarray):
    return None


class Half(gb.learners.Learner):
    pass


NUMBER = 3
'''
TOML = """
[experiment]
name = "own"
rounds = 16
repeats = 2
[environments.mine]
kind = "my_module:stars"
n_arms = [4, 6]
[learners.biased]
kind = "my_module:Biased"
first = [0.1, 0.9]
[learners.greedy]
kind = "Greedy"
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The folder of a module of one's own, which is forgotten afterwards."""
    forget()
    (tmp_path / "my_module.py").write_text(MODULE)
    others = [folder for folder in sys.path if not Path(folder, "my_module.py").exists()]  # of pages and examples
    monkeypatch.setattr(sys, "path", others)
    yield tmp_path
    forget()


def forget():
    for name in [name for name in sys.modules if name.startswith(("my_module", "my_helper", "my_middle", "my_lab"))]:
        del sys.modules[name]
    importlib.invalidate_caches()


def edit(module, text):
    """The module has another text, which nobody has imported yet."""
    (module / "my_module.py").write_text(text)
    forget()


def experiment(**changes):
    given = {
        "environments": {"star": Grid("paper", {"graph": "star", "n_arms": 5})},
        "learners": {"u": Grid("Uniform")},
    }
    return Experiment(**{"name": "own", "rounds": 8, "repeats": 1, **given, **changes})


def learners_by_key(folder):
    return {each.key: each.learner.name for each in planned_runs(load(folder / "own.toml"))}


def keys_of(folder):
    return set(learners_by_key(folder))


def test_a_file_names_them_by_their_module_and_runs(module):
    (module / "own.toml").write_text(TOML)
    described = load(module / "own.toml")
    one = run(described, out=module / "one", engine=InProcess())
    assert not one.failures
    assert one.learners == ["biased first=0.1", "biased first=0.9", "greedy"]
    two = run(described, out=module / "two", engine=Processes(1))
    assert (module / "one" / "runs.parquet").read_bytes() == (module / "two" / "runs.parquet").read_bytes()
    assert two.runs.num_rows == 12
    again = load(module / "one" / "experiment.toml")  # from beside its results
    assert again == described


def test_an_edited_learner_is_run_again_and_nothing_else(module):
    (module / "own.toml").write_text(TOML)
    before = keys_of(module)
    edit(module, MODULE + "\n# a remark\n")
    assert not before & keys_of(module)  # the environment is in the same module
    text = TOML.replace('"my_module:stars"', '"paper"\ngraph = "star"')
    (module / "own.toml").write_text(text)
    once = learners_by_key(module)
    edit(module, MODULE)
    other = learners_by_key(module)
    assert {once[key] for key in set(once) & set(other)} == {"greedy"}


def test_a_module_that_is_edited_and_reloaded_is_run_again_in_the_same_process(module):
    (module / "own.toml").write_text(TOML)
    before = run(load(module / "own.toml"), out=module / "out", engine=InProcess())
    assert not before.failures
    keys = keys_of(module)
    assert keys == keys_of(module)
    (module / "my_module.py").write_text(MODULE.replace("p[:, 0] = self.first", "p[:, 0] = 1 / 0 # edited"))
    with pytest.raises(SettingError, match=r"'my_module:.*' has changed since it was imported; expected .*reload"):
        keys_of(module)
    importlib.reload(sys.modules["my_module"])
    assert not keys & keys_of(module)
    after = run(load(module / "own.toml"), out=module / "out", engine=InProcess())
    assert {one["learner"] for one in after.failures} == {"biased first=0.1", "biased first=0.9"}, "the new code runs"


@pytest.mark.parametrize(
    ("own", "helper"),
    [
        ("import my_helper", "my_helper.py"),
        ("from my_helper.parts import SHARE", "my_helper/parts.py"),
        ("def late():\n    import my_helper.parts", "my_helper/parts.py"),
        ("import my_middle", "my_helper.py"),
    ],
)
def test_an_edited_helper_beside_the_module_counts_too(own, helper, module):
    (module / helper).parent.mkdir(exist_ok=True)
    (module / "my_middle.py").write_text("from my_helper import SHARE\n")
    (module / helper).write_text("SHARE = 0.5\n")
    (module / "my_module.py").write_text(f"{own}\n{MODULE}")
    (module / "own.toml").write_text(TOML)
    keys = keys_of(module)
    (module / helper).write_text("SHARE = 0.25\n")
    (module / "unrelated.py").write_text("SHARE = 0.25\n")
    forget()
    other = keys_of(module)
    (module / "unrelated.py").write_text("SHARE = 0.5\n")
    assert not keys & other
    assert other == keys_of(module)


def test_modules_of_a_package_import_each_other(module):
    (module / "my_lab" / "deep").mkdir(parents=True)
    for folder in (module / "my_lab", module / "my_lab" / "deep"):
        (folder / "__init__.py").write_text("")
    (module / "my_lab" / "shares.py").write_text("SHARE = 0.5\n")
    (module / "my_lab" / "deep" / "mine.py").write_text(f"from ..shares import SHARE\n{MODULE}")
    (module / "own.toml").write_text(TOML.replace("my_module", "my_lab.deep.mine"))
    keys = keys_of(module)
    (module / "my_lab" / "shares.py").write_text("SHARE = 0.25\n")
    forget()
    assert not keys & keys_of(module)
    (module / "my_lab" / "shares.py").write_text("SHARE = \n")
    with pytest.raises(SettingError, match=r"shares.py cannot be read: .*; expected Python"):
        keys_of(module)


LEARNER = """
@dataclass(frozen=True, kw_only=True)
class Mine(gb.learners.Uniform):
    share: float = 0.5

    @property
    def half(self):
        return self.share / 2
"""
CHILD = """
@dataclass(frozen=True, kw_only=True)
class Child(Mine):
    more: float = 1.0
    word = "one"
"""
START = """
from dataclasses import dataclass
import graphbandit as gb
from graphbandit.experiments import Experiment, Grid, InProcess, run
from graphbandit.experiments.describe.planned_runs import planned_runs

def keys(**learners):
    star = {"star": Grid("paper", {"graph": "star", "n_arms": 5})}
    made = Experiment(name="own", rounds=8, repeats=1, environments=star, learners=learners)
    assert not run(made, engine=InProcess()).failures
    return {one.learner.name: one.key for one in planned_runs(made)}
"""
NOTEBOOK = f'''
import json, linecache

def cell(number, text):
    """A cell as a notebook runs it."""
    linecache.cache[f"<cell {{number}}>"] = (len(text), None, text.splitlines(True), f"<cell {{number}}>")
    exec(compile(text, f"<cell {{number}}>", "exec"), globals())

cell(1, {START!r})
told, texts = [], [({LEARNER!r}, {CHILD!r})] * 2
texts += [({LEARNER.replace("/ 2", "/ 4")!r}, {CHILD!r}), ({LEARNER!r}, {CHILD.replace('"one"', '"two"')!r})]
for number, (learner, child) in enumerate(texts):
    cell(10 + number, learner)
    cell(20 + number, child)
    told.append(keys(mine=Grid(Mine), child=Grid(Child)))
print(json.dumps(told))
'''


HERE = {"PYTHONPATH": str(ROOT)}


def test_dataclass_learners_of_a_notebook_run_and_run_again_once_edited():
    first, same, method, word = json.loads(printed("-", input=NOTEBOOK, environment=HERE).splitlines()[-1])
    assert first == same
    assert not set(first.values()) & set(method.values()), "a child is as new as the class it is made from"
    assert first["mine"] == word["mine"]
    assert first["child"] != word["child"]


def test_a_script_that_is_run_names_its_own_learner(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"{START}{LEARNER}\nprint(len(keys(mine=Grid(Mine))))\n")
    assert printed(script, environment=HERE).strip() == "1"


def test_function_classes_of_ones_own(module):
    own_kinds.import_from(module)
    linear = {"lin": Grid("linear", {"graph": "star", "arms": "per-arm", "n_arms": 4, "dimension": 3})}
    learners = {
        "sizes": Grid("Greedy", {"function_class": "my_module:flat", "ridge": [1.0, 2.0]}),
        "contexts": Grid("Greedy", {"function_class": "my_module:told"}),
        "both": Grid("my_module:Biased", {"function_class": "my_module:told"}),
    }
    described = experiment(environments=linear, learners=learners)
    assert not run(described, engine=InProcess()).failures
    keys = [each.key for each in planned_runs(described)]
    edit(module, MODULE + "\n# a remark\n")
    assert not set(keys) & {each.key for each in planned_runs(described)}


@dataclass(frozen=True, kw_only=True)
class Still(gb.learners.Uniform):
    """A learner of this test."""

    share: float = 0.5


@dataclass(frozen=True, kw_only=True)
class Other(gb.learners.Uniform):
    """Another learner of this test."""


def test_in_python_the_class_itself_will_do_or_a_name_for_it(monkeypatch):
    monkeypatch.setattr(own_kinds, "_registered", {})
    where = f"{__name__}:Still"
    assert Grid(Still).kind == where
    assert register(Still) is Still
    assert register(Still, "still") is Still
    assert [Grid(name).kind for name in ("Still", "still", where, "Uniform")] == [where, where, where, "Uniform"]
    found = run(experiment(learners={"s": Grid(Still, {"share": [0.1, 0.2]})}), engine=InProcess())
    assert found.learners == ["s share=0.1", "s share=0.2"]
    with pytest.raises(SettingError, match="registered for"):
        register(Other, "still")
    with pytest.raises(SettingError, match="without a colon"):
        register(Other, "a:b")
    with pytest.raises(SettingError, match="at the top of a module"):
        register(lambda: Still())


WRONG = {
    "no module": ("no_such_module:X", "cannot be imported: ModuleNotFoundError"),
    "no such name": ("my_module:Nobody", "has no attribute 'Nobody'"),
    "no name": ("my_module:", "cannot be imported"),
    "no learner": ("my_module:Count", "expected a subclass of graphbandit."),
    "abstract": ("my_module:Half", "is abstract; expected the methods choose, init"),
    "a number": ("my_module:NUMBER", "is 3; expected a class"),
    "needs more than a file holds": ("my_module:needs", "needs table, which a file cannot give"),
    "makes something else": ("my_module:nothing", "makes a NoneType; expected a Learner"),
    "makes an environment": ("my_module:stars", "expected a Learner"),
}


@pytest.mark.parametrize(("kind", "message"), WRONG.values(), ids=WRONG)
def test_what_is_no_learner_is_refused_before_anything_runs(kind, message, module):
    own_kinds.import_from(module)
    with pytest.raises(ExperimentError, match=message) as caught:
        experiment(learners={"mine": Grid(kind)})
    assert caught.value.place[:2] == ("learners", "mine")


@pytest.mark.parametrize(
    ("role", "kind", "message"),
    [
        ("environment", "my_module:Biased", "expected a subclass of graphbandit."),
        ("environment", "my_module:nothing", "makes a NoneType; expected an Environment"),
        ("environment", "my_module:needs", "a file cannot give"),
        ("function class", "my_module:nothing", "makes a NoneType; expected a FunctionClass"),
        ("function class", "my_module:needs", "a file cannot give"),
        ("function class", "my_module:Nobody", "no attribute"),
        ("function class", "flat", "function_class is 'flat'"),
    ],
)
def test_what_is_no_environment_or_function_class_is_refused(role, kind, message, module):
    own_kinds.import_from(module)
    learners, environments = {"mine": Grid("Greedy", {"function_class": kind})}, {"mine": Grid(kind)}
    with pytest.raises(ExperimentError, match=message):
        experiment(**({"environments": environments} if role == "environment" else {"learners": learners}))


def test_a_module_with_a_mistake_is_told_with_its_line(module):
    (module / "my_module.py").write_text("1 / 0\n")
    (module / "own.toml").write_text(TOML)
    with pytest.raises(ExperimentError, match=r"own.toml, line 7: .*ZeroDivisionError"):
        load(module / "own.toml")


def test_probabilities_that_sum_to_two_are_failures(module):
    own_kinds.import_from(module)
    found = run(experiment(learners={"mine": Grid("my_module:Biased", {"scale": 2.0})}), engine=InProcess())
    assert "sum 2" in found.failures[0]["error"]


def test_the_leaderboard_takes_them(module, monkeypatch):
    monkeypatch.chdir(module)
    sizes = ["--only", "linear_still", "--rounds", 8, "--repeats", 2, "--workers", 1]
    said = succeed("leaderboard", "--learner", "my_module:Biased", *sizes, "--out", "board")
    assert "Biased" in said.output
    assert "Biased" in (module / "board" / "tables.md").read_text()
    assert "--learner my_module:Biased" in (module / "board" / "report.html").read_text()


def test_the_leaderboard_says_where_they_cannot_play(module):
    own_kinds.import_from(module)
    edit(module, MODULE.replace("n_arms > 99", "function_class is None"))
    plan = Plan(study="leaderboard", only=("arms", "linear_still"), learners=("my_module:Biased",))
    assert all("Biased" in one.learners for one in plan.experiments().values())
    edit(module, MODULE.replace("n_arms > 99", "n_arms > 4"))
    with pytest.raises(SettingError, match="can play none of linear_still, arms: n_arms is too large"):
        plan.experiments()
    edit(module, MODULE.replace("n_arms > 99", "horizon > 2000"))
    assert "Biased cannot play" in Plan(study="leaderboard", only=("arms",), learners=("my_module:Biased",)).remark
    with pytest.raises(SettingError, match="expected different ones"):
        Plan(study="leaderboard", learners=("my_module:Biased", "my_module:Biased"))
    edit(module, MODULE.replace("n_arms > 99", "mistake"))
    with pytest.raises(ExperimentError, match="it cannot be built: AttributeError"):
        Plan(study="leaderboard", only=("arms",), learners=("my_module:Biased",)).experiments()
    with pytest.raises(ExperimentError, match="no attribute 'Nobody'"):
        Plan(study="leaderboard", only=("arms",), learners=("my_module:Nobody",)).experiments()


def test_a_saved_bandit_never_imports_code(module):
    own_kinds.import_from(module)
    mine = importlib.import_module("my_module")
    bandit = gb.Bandit(mine.Biased(), gb.Problem(n_arms=3), graph=gb.graphs.star(3))
    bandit.save(module / "mine.gb")
    forget()
    with pytest.raises(gb.errors.SavedFileError, match=r"classes=\[Biased\]"):
        gb.Bandit.load(module / "mine.gb")
    assert "my_module" not in sys.modules
    mine = importlib.import_module("my_module")
    assert gb.Bandit.load(module / "mine.gb", classes=[mine.Biased, mine.Count]).learner == mine.Biased()
