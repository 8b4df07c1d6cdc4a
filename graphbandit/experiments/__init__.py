"""Experiments: environments x learners x repeats, described once, run anywhere, resumed at any time.

`graphbandit.studies` has studies made of them: the paper's claims, the leaderboard, how much to explore. Each name is
loaded when it is first asked for, because results and figures need Arrow, which is slow to import. `__init__.pyi` and
that of `figures` list them.
"""

from graphbandit.base.public_names import lazy_names, listing
from graphbandit.experiments import figures

_own, _, _names = lazy_names(__name__, __file__)
__all__ = [*_names, *figures.__all__]

__dir__ = listing(globals())


def __getattr__(name: str) -> object:
    return getattr(figures, name) if name in figures.__all__ else _own(name)
