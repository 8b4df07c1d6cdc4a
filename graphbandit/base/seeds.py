"""Random streams by name, so that results depend on what is drawn and never on when, where or in which order."""

import hashlib
import struct

import numpy as np

from graphbandit.base.checks import setting_integer


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """The random generator that belongs to `seed` and a path of names.

    Different paths give independent streams; the same path gives the same stream in every process and on every
    machine. ``("repeat", 3, "contexts")`` is a path.

    >>> [int(stream(0, name).integers(100)) for name in ("contexts", "contexts", "noise")]
    [36, 36, 83]
    """
    key = "\0".join(f"{type(name).__name__}:{name}" for name in names)
    digest = hashlib.sha256(key.encode()).digest()
    spawn_key = struct.unpack_from("<4I", digest)
    entropy = setting_integer("seed", seed, at_least=0)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy, spawn_key=spawn_key)))
