"""Benchmarks: the package and its rivals, measured side by side in one run. `make bench`, or `graphbandit bench`."""
