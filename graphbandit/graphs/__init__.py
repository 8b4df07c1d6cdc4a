"""Feedback graphs: which rewards does playing an arm reveal?

One graph, a batch, graphs whose edges have probabilities; generators, parameters, and networks of millions of nodes.
Each is loaded when it is first asked for; `__init__.pyi` lists them.
"""

from graphbandit.base.public_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
