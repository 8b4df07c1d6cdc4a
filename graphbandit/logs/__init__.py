"""Logs of decisions: one format, written as rounds are played, read back in batches of bounded size.

A log holds two tables: decisions (context, graph, arm, probabilities) and rewards (one row for each reward revealed).
`docs/log-format.md` describes the files. `graphbandit.evaluation` says what another policy would have earned.
"""

from graphbandit.base.public_names import listing
from graphbandit.logs.batch import LogBatch
from graphbandit.logs.format import VERSION
from graphbandit.logs.log import Log, LogSummary
from graphbandit.logs.writer import LogWriter

__all__ = ["VERSION", "Log", "LogBatch", "LogSummary", "LogWriter"]

__dir__ = listing(globals())
