"""Other people's formats: logs of Vowpal Wabbit and Open Bandit Pipeline, data frames, Gymnasium, NetworkX.

    gb.interop.vw.read_dsjson(path)          gb.interop.vw.write_dsjson(log, path)      and cb_adf text
    gb.interop.obp.to_log(bandit_feedback)   gb.interop.obp.from_log(log)
    gb.interop.frames.to_frames(log)         gb.interop.frames.read(path)               CSV and Parquet
    gb.interop.gymnasium.to_gymnasium(environment)   gb.interop.gymnasium.from_gymnasium(env, rounds=...)
    gb.interop.networkx.to_networkx(graph)   gb.interop.networkx.from_networkx(graph)

A module is loaded when it is asked for. None of the other packages is needed to install this one; where one is needed
and missing, a `MissingExtraError` says how to install it. ``graphbandit convert vw.dsjson log/`` does it in a shell.
"""

from typing import TYPE_CHECKING

from graphbandit.base.public_names import listing, no_attribute

if TYPE_CHECKING:
    from graphbandit.interop import frames, gymnasium, networkx, obp, vw

__all__ = ["frames", "gymnasium", "networkx", "obp", "vw"]

__dir__ = listing(globals())


def __getattr__(name: str) -> object:
    """Load a module when it is asked for."""
    if name in __all__:
        import importlib

        return importlib.import_module(f"graphbandit.interop.{name}")
    raise no_attribute(__name__, name, __all__)
