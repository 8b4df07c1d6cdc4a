"""Figures of an experiment, each a Matplotlib ``Figure`` of its own made from `Results`.

`graphbandit.plots.save_figure` writes one as .png, .svg or .pdf, with the same bytes each time.
`graphbandit.experiments` exports them as well; `__init__.pyi` lists them.
"""

from graphbandit.base.public_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
