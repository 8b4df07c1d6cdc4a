"""Formulas as MathML: browsers draw it by themselves, so a page needs no script and no font from elsewhere."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def inline(self: HTML5Translator, node: nodes.math) -> None:
    """$...$ in a line."""
    self.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def displayed(self: HTML5Translator, node: nodes.math_block) -> None:
    """$$...$$ in lines of its own."""
    self.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Named in conf.py as `html_math_renderer`."""
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
