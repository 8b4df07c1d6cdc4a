"""The API reference: every name people reach for has an example, and every example runs."""

import inspect
import sys

import matplotlib as mpl
import pytest

from tests.docs.snippets import DOCS

sys.path.insert(0, str(DOCS / "_extensions"))

import api_pages
import plain_docstrings

NAMES = {public.page: public.value for listed in api_pages.public_names().values() for public in listed}


@pytest.mark.parametrize("example", sorted(api_pages.EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    exec(compile(example.read_text(), str(example), "exec"), {"__name__": "__example__"})


def test_examples_are_of_names_that_exist():
    unknown = set(api_pages.examples()) - set(NAMES)
    assert not unknown


def test_every_name_at_the_top_has_an_example():
    examples = api_pages.examples()
    without = []
    for page, value in NAMES.items():
        inside = vars(value).values() if inspect.isclass(value) else ()
        texts = [inspect.getdoc(value) or "", *(inspect.getdoc(member) or "" for member in inside)]
        if page.count(".") == 1 and page not in examples and not any(">>>" in text for text in texts):
            without.append(page)
    assert not without


def test_every_name_has_a_sentence():
    assert not [page for page, value in NAMES.items() if not inspect.getdoc(value)]


def test_docstrings_become_what_sphinx_reads():
    text = """Draw |F| arms of `AdaCBG`, see `docs/paper.md`.

    x_ = sum_a p(a)

gamma: how much is explored,
    on a log scale.
delta: a probability.

>>> 1 + 1
2"""
    lines = plain_docstrings.converted(text.splitlines())
    assert lines[0] == ("Draw \\|F\\| arms of :py:obj:`AdaCBG <graphbandit.AdaCBG>`\\ , see :doc:`/paper`\\ .")
    assert "- ``gamma``: how much is explored," in lines
    assert "  on a log scale." in lines
    assert "   x_ = sum_a p(a)" in lines
    assert ".. code-block:: pycon" in lines


def test_an_index_stands_beside_a_letter_with_an_accent():
    mathml = pytest.importorskip("mathml", reason="needs the extra docs")  # one of docs/_extensions
    drawn = mathml.mathml(r"\hat f_m + \tilde p_2", None, as_block=True)
    assert drawn.count("<msub>") == 2
    assert "munder" not in drawn
