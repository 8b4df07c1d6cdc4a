"""The package's inner loops: plain functions on NumPy arrays, compiled by Numba.

Nothing here knows of anything above it, and no class here does more than hold arrays: a kernel takes arrays and
numbers, fills the arrays it was given, and returns numbers. Modules that need a kernel import it when they first use
it, never when the package is imported, so that ``import graphbandit`` compiles and loads nothing.

A folder has the name of the room that uses it. A module that has the name of a module there has its loops:
`planning.anytime` calls `kernels.planning.anytime`.

Named tuples hold arrays that travel together. Numba takes microseconds to recognise one, longer than a short kernel
runs, so Python calls kernels that take them in every round through `base.direct_calls`. Short loops over rounds, arms
and coordinates look alike: each has a sum of its own in the middle, and a function that took it as an argument could
not be inlined.

A graph is a `graphs.adjacency.Graph`, packed or listed. Only `kernels.graphs` tells them apart; other kernels ask
questions, and the anytime solver is given listed graphs alone.

Compiled kernels are kept on disk in folders named by the hash of all sources here (`kernels.jit`), so none is used
after any of them has changed.

Numba is imported here, before any kernel. It makes hundreds of thousands of objects and drops few, and searching them
for garbage takes a sixth of the time of a first decision, so no garbage is collected meanwhile. Freezing and unfreezing
moves all objects into the oldest generation, which is searched only when that is worth it. If objects were frozen
before, they stay frozen.
"""

import gc
from importlib import import_module

_collects = gc.isenabled()
gc.disable()
try:
    import_module("graphbandit.kernels.jit")
finally:
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
    if _collects:
        gc.enable()
