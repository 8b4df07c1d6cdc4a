"""The functions that may be the truth: each class with its least-squares oracle, version space and candidates."""

from graphbandit.base.public_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
