"""The learners, one algorithm a file."""

from graphbandit.base.public_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
