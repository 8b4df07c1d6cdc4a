"""What `Bandit.learn` learns from: past rows, or a log."""

import os
import sys

from graphbandit.bandit.learning_from_rows import learnt_from_rows
from graphbandit.errors import InputError, SettingError
from graphbandit.features import NOTHING, Tally
from graphbandit.learners.loop import Loop


def learnt_from_past(loop: Loop, contexts: object, cluster: object, **rows: object) -> tuple[Loop, Tally]:
    """The loop after the past, and what was unknown or missing in its contexts.

    The arguments are those of `Bandit.learn`. All is checked.
    """
    if not _is_log(contexts):
        if cluster is not None:
            raise SettingError("cluster came without a log; expected learn(log, cluster=...)")
        return learnt_from_rows(loop, contexts, **rows)
    if any(value is not None for value in rows.values()):
        *others, last = rows
        raise InputError(f"{', '.join(others)} or {last} came with a log, which has them")
    from graphbandit.bandit.learning_from_logs import learnt_from_log  # few bandits learn from logs

    return learnt_from_log(loop, contexts, cluster), NOTHING


def _is_log(value: object) -> bool:
    """Whether this is a log, or the path of one."""
    if isinstance(value, str | os.PathLike):
        return True
    logs = sys.modules.get("graphbandit.logs")  # without it, nobody has a log
    return logs is not None and isinstance(value, logs.Log)
