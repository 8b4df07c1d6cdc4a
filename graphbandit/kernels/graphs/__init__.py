"""Kernels of the graphs room."""
