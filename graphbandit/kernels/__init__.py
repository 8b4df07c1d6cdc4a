"""The package's inner loops: plain functions on NumPy arrays, compiled by Numba.

Nothing here knows of anything above it, and no class here does more than hold arrays: a kernel takes arrays and
numbers, fills the arrays it was given, and returns numbers. Modules that need a kernel import it when they first use
it, never when the package is imported, so that ``import graphbandit`` compiles and loads nothing.

Numba's cache notices a change only in the file of the kernel that is called, not in those it calls: after editing
one, delete ``graphbandit/kernels/__pycache__``.
"""
