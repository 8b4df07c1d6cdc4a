"""The package as a whole: importing it costs little, compiling is announced once, and every name is documented."""

import inspect
import subprocess
import sys
from types import SimpleNamespace

import pytest

import graphbandit as gb
from graphbandit.kernels import jit


def test_importing_loads_no_compiler_no_plotting_and_compiles_nothing():
    script = (
        "import sys, graphbandit\n"
        "heavy = ['numba', 'matplotlib', 'networkx', 'scipy.sparse', 'scipy.optimize', 'rich', 'typer', 'jaxtyping',\n"
        "         'sklearn', 'torch', 'lightgbm']\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert done.stderr == ""


def test_compiling_is_announced_once_and_only_for_our_kernels(capsys):
    def compiling(module):
        return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))})

    announcement = jit._Announcement()
    announcement.on_start(compiling("somebody.elses"))
    assert capsys.readouterr().err == ""
    for _ in range(3):
        announcement.on_start(compiling("graphbandit.kernels.planning.sampling"))
    assert capsys.readouterr().err.count("compiling its kernels, once") == 1


def test_compiled_kernels_of_other_sources_are_dropped(tmp_path, monkeypatch):
    folder = tmp_path / "kernels"
    (folder / "__pycache__").mkdir(parents=True)
    (folder / "jit.py").write_text("one")
    monkeypatch.setattr(jit, "__file__", str(folder / "jit.py"))
    jit._drop_stale_kernels()
    compiled = folder / "__pycache__" / "rounds.decide-1.py311.nbi"
    compiled.write_text("made from one")
    jit._drop_stale_kernels()
    assert compiled.exists(), "the sources are the same"
    (folder / "jit.py").write_text("two")
    jit._drop_stale_kernels()
    assert not compiled.exists()


def test_every_public_name_is_there_and_documented():
    for name in gb.__all__:
        thing = getattr(gb, name)
        assert inspect.getdoc(thing), name


def test_two_savable_classes_cannot_share_a_name():
    from dataclasses import dataclass

    from graphbandit.base.saved_files import savable

    with pytest.raises(TypeError, match="FiniteModel is the name of two savable classes"):
        savable(dataclass(type("FiniteModel", (), {"__module__": "elsewhere"})))
