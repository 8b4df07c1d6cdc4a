"""What would another policy have earned? Logs in, values and intervals out."""

from graphbandit.logs import Log, LogBatch, LogSummary, LogWriter

__all__ = ["Log", "LogBatch", "LogSummary", "LogWriter"]
