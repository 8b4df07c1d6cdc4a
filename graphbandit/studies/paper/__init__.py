"""The paper's experiments, run again: its figures and table, its claims with yes or no, and what it only argues."""
