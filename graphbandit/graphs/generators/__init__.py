"""Feedback graphs to order, one kind a file: those of the paper's experiments, and other common ones.

All have self-loops. A random one takes a ``numpy.random.Generator`` called `rng`; the same state gives the same graph.

A kind is a function in a file of its name, and a line in `graphbandit/graphs/__init__.pyi`. Environments and experiment
files then know it by that name (without ``_graph`` at the end), and draw a new graph in each round if the function
takes an `rng`. If many graphs can be drawn at once, the file also has a source, as ``star`` has `StarSource`.
"""
