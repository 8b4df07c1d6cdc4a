"""Kernels of the learners that learn in every round."""
