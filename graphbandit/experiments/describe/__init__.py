"""Descriptions of experiments, in Python and as TOML files, and the runs that they ask for."""
