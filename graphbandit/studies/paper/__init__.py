"""The paper's experiments, run again: its figures and table, and which of its claims hold."""
