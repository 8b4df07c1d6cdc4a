"""Evaluate policies on logs: what would another policy have earned?

`evaluate` values policies on a `Log`, and `compare` compares two of them. `docs/evaluation.md` says which method and
interval to choose; the defaults suit most logs.
"""

from graphbandit.base.public_names import listing
from graphbandit.evaluation.best_policy import BestPolicy, best_policy
from graphbandit.evaluation.evaluate import compare, evaluate
from graphbandit.evaluation.evaluation_table import Difference, EvaluationTable, PolicyValue
from graphbandit.evaluation.intervals import Interval
from graphbandit.evaluation.replay import Replay, replay
from graphbandit.evaluation.settings import INTERVALS, METHODS
from graphbandit.logs import Log, LogBatch, LogSummary, LogWriter

__all__ = [
    "INTERVALS",
    "METHODS",
    "BestPolicy",
    "Difference",
    "EvaluationTable",
    "Interval",
    "Log",
    "LogBatch",
    "LogSummary",
    "LogWriter",
    "PolicyValue",
    "Replay",
    "best_policy",
    "compare",
    "evaluate",
    "replay",
]

__dir__ = listing(globals())
