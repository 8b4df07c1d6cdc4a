"""`graphbandit bench` runs the benchmarks of its own checkout, and no others."""

from pathlib import Path

import pytest

import graphbandit as gb
from graphbandit.cli.bench import checkout
from graphbandit.errors import SettingError


def test_a_checkout_is_known_by_its_project_file() -> None:
    assert checkout() == Path(gb.__file__).parents[1]


@pytest.mark.parametrize(
    "project",
    [None, "[project]\nname = 'another'\n", "not TOML", "[tool.x]\n"],
    ids=["none", "another", "damaged", "no name"],
)
def test_benchmarks_that_lie_beside_an_installed_package_are_not_run(
    project: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("benchmarks", "graphbandit"):
        (tmp_path / name).mkdir()
    (tmp_path / "benchmarks" / "run.py").write_text("raise SystemExit('somebody else runs')")
    if project is not None:
        (tmp_path / "pyproject.toml").write_text(project)
    monkeypatch.setattr(gb, "__file__", str(tmp_path / "graphbandit" / "__init__.py"))
    with pytest.raises(SettingError, match="expected a checkout of the sources"):
        checkout()
