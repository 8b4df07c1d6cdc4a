"""Every piece of code and every command on the site is run, and prints what the page says it prints."""

import os
import re
import tomllib
from operator import attrgetter
from pathlib import Path

import matplotlib as mpl
import pytest
import typer

import graphbandit as gb
from graphbandit import __version__
from graphbandit.cli.app import app
from tests.docs.snippets import ROOT, RUN_BY_HAND, blocks, commands, pages, run_page

LONG = os.environ.get("GRAPHBANDIT_TEST_DOCS") == "all"
RUN = {"python", "code-cell", "console", "toml"}
SHOWN = {"text", "json", "bibtex", "toctree", "glossary", "include", "grid", "eval-rst", "py:module", "toml"}
RUN_ELSEWHERE = {
    "docs/features.md": "tests/features/test_page.py",
    "docs/evaluation.md": "tests/evaluation/test_page.py",
    "docs/log-format.md": "tests/evaluation/test_page.py",
    "docs/service.md": "tests/service/test_documents.py",
}
"""Pages whose code is run by a test beside what they are about: it needs a server, or values to compare with."""
PAGES = {str(page.relative_to(ROOT)): page for page in pages()}
ELSEWHERE = {"README.md": "tests/test_readme.py", **{n: t for n, t in RUN_ELSEWHERE.items() if n in PAGES}}
CODE = [n for n, page in PAGES.items() if n not in ELSEWHERE and any(block.kind in RUN for block in blocks(page))]


@pytest.mark.parametrize("name", CODE)
def test_code_runs_and_prints_what_the_page_says(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    for block, printed in run_page(PAGES[name], long=LONG):
        if block.expected is not None and block.kind in ("python", "console"):
            assert printed == block.expected, f"{name}, line {block.line}; python -m tests.docs.snippets {name}"


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_run_elsewhere_is_run_there(name):
    assert Path(name).name in (ROOT / ELSEWHERE[name]).read_text()


@pytest.mark.parametrize("name", PAGES)
def test_every_block_is_of_a_kind_that_is_run_or_shown(name):
    kinds = RUN | SHOWN | ({"sh"} if name in ELSEWHERE else set())
    for block in blocks(PAGES[name]):
        assert block.kind in kinds, f"{name}, line {block.line} has a block of kind {block.kind!r}"


@pytest.mark.parametrize("name", PAGES)
def test_long_runs_say_when_they_were_last_run(name):
    for block in blocks(PAGES[name]):
        if block.is_long:
            last = re.search(r"Last run on (\d{4}-\d\d-\d\d) with version (\S+)", block.box)
            assert last, f"{name}, line {block.line}: expected 'Last run on DATE with version VERSION' in its box"
            assert last[2].rstrip(".,:") <= __version__


def test_commands_of_the_shell_name_what_there_is():
    makefile = (ROOT / "Makefile").read_text()
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    seen = set()
    for name, page in PAGES.items():
        for block in blocks(page):
            for words in commands(block) if block.kind == "console" else ():
                seen.add(words[0])
                assert words[0] in {"graphbandit", *RUN_BY_HAND}, f"{name}, line {block.line}: {words}"
                if words[0] == "make":
                    assert re.search(rf"^{words[1]}:", makefile, flags=re.MULTILINE), f"{name}: no target {words[1]}"
                for extra in re.findall(r"\[([\w,]+)\]", " ".join(words)) if words[0] == "pip" else ():
                    assert set(extra.split(",")) <= extras, f"{name}: {words}"
        for extra in re.findall(r"graphbandit\[([\w,]+)\]", page.read_text()):
            assert set(extra.split(",")) <= extras, f"{name} names the extra {extra}"
    assert {"pip", "graphbandit"} <= seen


@pytest.mark.parametrize("name", PAGES)
def test_commands_in_the_text_exist(name):
    known = typer.main.get_command(app).commands
    for line in re.findall(r"`graphbandit ([a-z][^`\n]*)`", PAGES[name].read_text()):
        words = line.split()
        assert words[0] in known, f"{name} names the command {words[0]!r}"
        command = known[words[0]]
        if hasattr(command, "commands") and len(words) > 1:  # a group of commands
            assert words[1] in command.commands, f"{name} names the command {words[0]} {words[1]}"
            command = command.commands[words[1]]
        options = {o for p in command.params for o in (*p.opts, *getattr(p, "secondary_opts", ()))}
        for option in (word for word in words if word.startswith("--")):
            assert option in options, f"{name} names {option} of graphbandit {words[0]}"


@pytest.mark.parametrize("name", PAGES)
def test_names_of_the_package_in_the_text_exist(name):
    for path in re.findall(r"`gb\.([\w.]+)", PAGES[name].read_text()):
        attrgetter(path.rstrip("."))(gb)
