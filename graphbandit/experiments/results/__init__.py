"""The results of an experiment: the files, reading them at any time, writing them by one process."""
