"""The notebook about the paper runs in a Jupyter kernel as it comes, and shows its pictures."""

import os
import struct
from base64 import b64decode
from unittest.mock import patch

import nbformat
from nbclient import NotebookClient

from tests.docs.snippets import DOCS, ROOT, blocks, code_of

PAGE = DOCS / "guide" / "paper-steps.md"
MORE = """
import graphbandit as gb
gb.graphs.star(6)
---
gb.ProbabilisticGraph([[1.0, 0.5], [0.0, 1.0]])
---
gb.simulate({"greedy": gb.Greedy()}, gb.environments.paper(n_arms=4, graph="star"), rounds=8, repeats=2)
---
decision
"""
"""Cells behind the page's own: what else a notebook shows by itself."""


def executed(codes, folder):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in codes])
    with patch.dict(os.environ, PYTHONPATH=str(ROOT), IPYTHONDIR=str(folder / "ipython")):
        os.environ.pop("MPLBACKEND", None)  # nobody's settings but the defaults
        NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    return notebook.cells


def test_the_paper_step_by_step_runs_and_shows_its_pictures(tmp_path):
    own = [code_of(block) for block in blocks(PAGE) if block.kind == "code-cell"]
    assert not any("%matplotlib" in code for code in own)
    cells = executed([*own, *MORE.split("---")], tmp_path)
    shown = [[output["data"] for output in cell.outputs if "data" in output] for cell in cells]
    pictures = [i for i, code in enumerate(own) if "gb.plots." in code.strip().splitlines()[-1]]
    assert len(pictures) >= 2
    for i in pictures:
        (data,) = shown[i]
        width, height = struct.unpack(">II", b64decode(data["image/png"])[16:24])
        assert min(width, height) >= 400
    graph, edges, simulation, decision = (data[0] for data in shown[-4:])
    assert "<svg" in graph["image/svg+xml"]
    assert "<svg" in edges["image/svg+xml"]
    assert "<table" in simulation["text/html"]
    assert "played" in decision["text/html"]
