"""Feedback graphs to order, one kind a file: those of the paper's experiments, and other common ones.

All have self-loops. A random one takes a ``numpy.random.Generator`` called `rng`; the same state gives the same graph.

A kind is a function in a file of its name, and a line in `graphbandit/graphs/__init__.pyi`. Environments and experiment
files know it by that name then (without ``_graph`` at the end), and draw it anew in each round if it takes an `rng`. A
kind of which many can be drawn at once has a source of its own in its file, as ``star`` has `StarSource`.
"""
