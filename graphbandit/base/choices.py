"""Choices of settings that several rooms offer, each stated once.

They are here and not beside what they choose so that the command line can offer them without loading it.
"""

from typing import Literal

Method = Literal["direct", "ips", "snips", "dr", "graph-ips", "graph-snips", "graph-balanced", "graph-dr"]
"""How `evaluate` estimates the value of a policy."""

IntervalKind = Literal["asymptotic", "bootstrap", "bernstein", "betting", "sequence"]
"""The interval of such a value."""

Support = Literal["all", "part"]
"""Whether a policy may play arms that could not be revealed."""

WrittenFormat = Literal["vw-dsjson", "vw-text", "obp", "log"]
"""What `convert` writes."""

LogFormat = Literal[WrittenFormat, "csv", "parquet"]
"""What `convert` reads."""

ContextForm = Literal["auto", "shared", "arms", "both"]
"""Which of Vowpal Wabbit's features form the context."""

LogSync = Literal["file", "append"]
"""When a log is flushed to disk."""

Sampler = Literal["union-find", "random-walk", "bfs"]
"""How connected subgraphs are cut from a network."""
