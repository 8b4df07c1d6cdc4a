"""The paper's experiments run again: its figures, its table, and which of its claims hold."""
