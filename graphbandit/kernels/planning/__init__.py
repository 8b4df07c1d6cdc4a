"""Kernels of the planning room."""
