"""The README's code runs and prints what it says, the README stays short, and its commands exist."""

import re
from pathlib import Path

import pytest

from tests.docs.snippets import ROOT, blocks, run_page

README = ROOT / "README.md"


def test_python_blocks_print_what_they_claim(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block, printed in run_page(README):
        if block.kind == "python":
            assert block.expected is not None, f"line {block.line}: expected a text block with the output below"
            assert printed == block.expected, "python -m tests.docs.snippets README.md"
    assert sum(block.kind == "python" for block in blocks(README)) == 1


def test_it_fits_on_a_screen_and_a_half():
    text = README.read_text()
    assert len(text.splitlines()) <= 90
    assert text.index("pip install graphbandit") < text.index("```python") < text.index("$ make")


def test_code_leaves_nothing_in_the_repository():
    assert not list(ROOT.glob("*.gb"))


def test_links_lead_somewhere():
    for document in (README, ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"):
        for target in re.findall(r"\]\(([^)#]+)", document.read_text()):
            if "://" not in target:
                assert (Path(document).parent / target).exists(), f"{document.name} links to {target}"


@pytest.mark.parametrize("target", ["reproduce", "test", "check", "bench", "docs", "dist", "clean"])
def test_make_targets_exist_and_are_helped(target):
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)
    assert f"make {target}" in makefile
