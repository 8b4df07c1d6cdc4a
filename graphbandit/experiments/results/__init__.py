"""The results of an experiment: its files, which one process writes and any process can read at any time."""
