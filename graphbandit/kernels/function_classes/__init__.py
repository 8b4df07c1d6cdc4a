"""Kernels of the function classes."""
