"""Figures of an experiment, each a Matplotlib ``Figure`` of its own made from `Results`.

`graphbandit.plots.save_figure` writes one as .png, .svg or .pdf, with the same bytes each time.
`graphbandit.experiments` exports them as well; `__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
