"""Contextual bandits with graph feedback.

In each round a context and a feedback graph are shown, one arm is played, and the rewards of all the arms it reveals
are seen. The names below are the ones people reach for; everything else is one level down, as in
``gb.learners.UCBN`` or ``gb.graphs.star``. Each is loaded when it is first asked for; `__init__.pyi` lists them.
"""

from graphbandit.base.public_names import lazy_names

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
