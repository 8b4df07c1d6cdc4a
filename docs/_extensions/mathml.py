"""Formulas as MathML: browsers draw it by themselves, so a page needs no script and no font from elsewhere."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

ACCENT_AND_INDEX = re.compile(
    r"<munderover>\s*(<mi>[^<]*</mi>)\s*(<m[in]>[^<]*</m[in]>)\s*"
    r"(<mo stretchy=.false.>[\u02c6~\u00af]</mo>)\s*</munderover>"
)
"""What docutils makes of `\\hat f_m`: the index under the letter."""


def mathml(tex: str, node: nodes.Node, *, as_block: bool) -> str:
    """The formula; one that cannot be read is a warning, and `make docs` stops at warnings."""
    try:
        drawn = str(tex2mathml(tex, as_block=as_block))
    except MathError as error:
        logger.warning("formula %r: %s", tex, error, location=node)
        return f"<code>{tex}</code>"
    return ACCENT_AND_INDEX.sub(r'<msub><mover accent="true">\1\3</mover>\2</msub>', drawn)


def inline(self: HTML5Translator, node: nodes.math) -> None:
    """$...$ in a line."""
    self.body.append(mathml(node.astext(), node, as_block=False))
    raise nodes.SkipNode


def displayed(self: HTML5Translator, node: nodes.math_block) -> None:
    """$$...$$ in lines of its own."""
    self.body.append(f'<div class="math">{mathml(node.astext(), node, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Named in conf.py as `html_math_renderer`."""
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
