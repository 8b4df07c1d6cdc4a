"""From estimates to probabilities: exploration sets, the sampling program, SquareCB.G's program, the draw."""

from graphbandit.base.public_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
