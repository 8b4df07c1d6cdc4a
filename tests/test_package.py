"""The package as a whole: importing it costs little, compiling is announced once, and every name is documented."""

from types import SimpleNamespace

import pytest

import graphbandit as gb
from graphbandit.errors import (
    GraphBanditError,
    HorizonError,
    ObservationError,
    SavedFileError,
    SettingError,
    SolverError,
    UnknownDecisionError,
)
from graphbandit.kernels import jit
from tests.helpers.processes import loaded, printed

HEAVY = """
    numba matplotlib networkx scipy.sparse scipy.optimize rich typer jaxtyping sklearn torch lightgbm pyarrow
    graphbandit.experiments
"""


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        ("import graphbandit", HEAVY),
        ("import graphbandit as gb; gb.RegressorClass; gb.TorchClass", "sklearn torch"),
        ("import graphbandit as gb; gb.experiments.load", "pyarrow"),
    ],
)
def test_importing_loads_nothing_heavy_before_it_is_needed(code, modules):
    assert loaded(code, tuple(modules.split())) == []


def test_compiling_is_announced_once_and_only_for_our_kernels(capsys, tmp_path, monkeypatch):
    def compiling(module):
        return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))})

    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    registered = []
    monkeypatch.setattr(jit.atexit, "register", registered.append)
    first = jit.Compilations()
    first.on_start(compiling("somebody.elses"))
    first.on_end(compiling("somebody.elses"))
    assert capsys.readouterr().err == ""
    assert first.count == 0
    for process in (first, jit.Compilations()):  # the second finds what the first left on disk
        for _ in range(3):
            process.on_start(compiling("graphbandit.kernels.planning.one_pass"))
            process.on_start(compiling("numba.np.arrayobj"))
            process.on_end(compiling("numba.np.arrayobj"))
            process.on_end(compiling("graphbandit.kernels.planning.one_pass"))
        assert process.count == 6
    assert capsys.readouterr().err.count("compiling kernels, once per installation") == 1
    assert len(registered) == 1
    registered[0]()
    assert "compiled 6 kernels (planning) in 0.0 s; the next process has them from disk" in capsys.readouterr().err


KERNELS = {
    "inner.py": "from graphbandit.kernels.jit import kernel\n\n@kernel()\ndef part():\n    return {value}\n",
    "outer.py": (
        "from graphbandit.kernels.jit import kernel\nfrom graphbandit.kernels.{folder}.inner import part\n\n"
        "@kernel()\ndef whole():\n    return part()\n"
    ),
}


def test_compiled_kernels_of_other_sources_are_never_used(tmp_path, monkeypatch):
    """An upgrade that changes a callee only, with one cache folder for both versions: Numba alone would not see it."""
    import shutil
    from pathlib import Path

    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    package = tmp_path / "site" / "graphbandit"
    source = Path(gb.__file__).parent
    for file in ["kernels/__init__.py", "kernels/jit.py"]:
        (package / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / file, package / file)
    (package / "__init__.py").write_text("")
    folder = package / "kernels" / "two"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    script = (
        "from graphbandit.kernels.two.outer import whole\n"
        "print(whole(), sum(whole.stats.cache_hits.values()), sum(whole.stats.cache_misses.values()))"
    )
    for place in ({"NUMBA_CACHE_DIR": str(tmp_path / "cache")}, {}):
        found = []
        for value in (1, 1, 2, 2):
            for name, text in KERNELS.items():
                (folder / name).write_text(text.format(value=value, folder="two"))
            environment = {"PYTHONPATH": str(tmp_path / "site"), **place}
            found.append(printed("-B", "-c", script, environment=environment, cwd=tmp_path).split())
        assert found == [["1", "0", "1"], ["1", "1", "0"], ["2", "0", "1"], ["2", "1", "0"]]
    folders = [path.name for path in (folder / "__pycache__").iterdir() if path.is_dir()]
    assert len(folders) == 1, "compiled kernels of the old sources are deleted from the package's own folder"


@pytest.mark.parametrize("frozen", [False, True])
def test_loading_kernels_leaves_the_collector_of_garbage_as_it_was(frozen):
    before = "gc.freeze()" if frozen else "gc.disable()"
    code = f"import gc; {before}; import graphbandit.kernels; print(gc.get_freeze_count() > 0, gc.isenabled())"
    assert printed("-c", code).split() == [str(frozen), str(frozen)]


def test_a_typo_in_a_name_is_answered_by_the_name():
    for module, name, near in [
        (gb, "IDGS", "IDSG"),
        (gb, "idsg", "IDSG"),
        (gb.learners, "UCB_N", "UCBN"),
        (gb.graphs, "complet", "complete"),
        (gb.function_classes, "LinearClas", "LinearClass"),
        (gb.interop, "networkxx", "networkx"),
        (gb.experiments, "write_raport", "write_report"),
    ]:
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'; did you mean '{near}'"):
            getattr(module, name)
    assert not hasattr(gb, "_IDSG")


def test_completion_shows_only_public_names():
    for module in (gb.interop, gb.experiments, gb.evaluation, gb.plots, gb.environments, gb.theory, gb.learners):
        assert dir(module) == sorted(module.__all__)


def test_two_savable_classes_cannot_share_a_name():
    from dataclasses import dataclass

    from graphbandit.base.saved_files import savable

    with pytest.raises(TypeError, match="FiniteModel is the name of two savable classes"):
        savable(dataclass(type("FiniteModel", (), {"__module__": "elsewhere"})))


TOP = """
    AdaCBG Bandit Decision Decisions Falcon Features FeedbackGraph FeedbackGraphs FiniteClass GeneralizedLinearClass
    Greedy IDSG KernelClass LinTS LinUCB LinearClass Observations ProbabilisticGraph ProbabilisticGraphs Problem RegCBG
    RegressorClass SquareCBG TorchClass exploration_set simulate solve_sampling_lp
"""
MODULES = """
    environments errors evaluation experiments features function_classes graphs interop learners planning plots theory
"""


def test_the_top_has_the_names_of_everyday_use_and_no_others():
    assert set(gb.__all__) == {*TOP.split(), *MODULES.split()}


def test_errors_are_of_the_package_and_of_pythons_kind():
    assert issubclass(SettingError, ValueError)
    assert issubclass(UnknownDecisionError, KeyError)
    assert all(
        issubclass(error, GraphBanditError) for error in (HorizonError, ObservationError, SavedFileError, SolverError)
    )
