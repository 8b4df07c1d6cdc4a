"""The README's code runs and prints what it says, and the README stays short."""

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
