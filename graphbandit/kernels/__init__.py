"""The package's inner loops: plain functions on NumPy arrays, compiled by Numba.

No classes live here, and nothing here knows of anything above it: a kernel takes arrays and numbers, fills the
arrays it was given, and returns numbers. Modules that need a kernel import it when they first use it, never when
the package is imported, so that ``import graphbandit`` compiles and loads nothing.
"""
