"""The calls that change a bandit, under its lock.

Each works out what it changes and only then has the journal note it down and do it, so a call that fails or is
interrupted has changed nothing or everything.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from graphbandit.bandit.bandit_log import BanditLog, stage_taken
from graphbandit.bandit.decision_builder import DecisionBuilder
from graphbandit.bandit.given_arms import on_offer
from graphbandit.bandit.given_rewards import rewards_in_order, rewards_of
from graphbandit.bandit.given_rounds import GivenRounds
from graphbandit.bandit.journal import Change, Journal
from graphbandit.bandit.learning_from_rows import learnt_from_rows
from graphbandit.bandit.open_decisions import AnyDecision
from graphbandit.bandit.taken_decisions import take
from graphbandit.base.choices import LogSync
from graphbandit.base.shapes import Shaped
from graphbandit.base.trusted import trusted, tuple_of
from graphbandit.errors import InputError, SettingError
from graphbandit.features import NOTHING, Tally
from graphbandit.features.context_input import is_series
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.learners.loop import Loop
from graphbandit.rounds.decision import Decision
from graphbandit.rounds.shown import Shown


def decide_given(
    journal: Journal, builder: DecisionBuilder, given: GivenRounds, keys: Sequence[str | None]
) -> list[Decision]:
    """Decide rounds with these keys, none of which is known."""
    contexts, graphs, mask, own, tally = given
    loop, n = journal.settled(), len(contexts)
    if journal.retired is not None:
        mask = on_offer(mask, journal.retired)
    # the numbers of contexts without features have been looked at
    plain = mask is None and own is None and loop.problem.features is None
    if plain and isinstance(graphs, FeedbackGraphs) and len(graphs.index) == n:
        shown = Shown.checked(contexts, graphs)
    else:
        shown = Shown(contexts, graphs, mask)
    if not n:
        return []
    decisions, after = journal.decide(shown)
    made, opened = builder.rounds(decisions, shown, loop.rounds, loop.problem.arms, keys, own)
    keyed = [one.detached() for one in made if one.key is not None]
    closed, forgotten = journal.open_decisions.outdated(opened, after.rounds)
    total = None if tally is NOTHING else journal.tally + tally
    if journal.log is not None:
        journal.log.stage_decisions(loop.rounds, contexts, graphs, shown.available, decisions, keys)
    journal.do(Change(after, opened, keyed, closed, forgotten, total, logged=journal.log is not None))
    return made


def decide_plain(
    journal: Journal, builder: DecisionBuilder, contexts: Shaped[np.ndarray, "1 ..."], graphs: FeedbackGraphs
) -> Decision:
    """`decide_given` for one round with a packed graph, all arms and no key: a fifth faster, as most rounds are so."""
    loop = journal.settled()
    if journal.log is not None or journal.retired is not None:
        return decide_given(journal, builder, GivenRounds(contexts, graphs, None, None, NOTHING), [None])[0]
    shown = trusted(Shown, {"contexts": contexts, "graphs": graphs, "available": None})
    decisions, after = journal.decide(shown)
    played = after.waiting.last
    assert played is not None  # the round just decided
    action = decisions.action.item()
    revealed = graphs.first_revealed(action)
    made, entry = builder.round(decisions, 0, action, revealed, played, loop.problem.arms)
    opened = {} if entry is None else {played.first: entry}
    open_decisions = journal.open_decisions
    closed: Sequence[int] = ()
    forgotten = None
    if open_decisions.forget_after is not None or len(open_decisions.opened) >= open_decisions.max_open:
        closed, forgotten = open_decisions.outdated(opened, after.rounds)
    journal.do(tuple_of(Change, (after, opened, (), closed, forgotten, None, None, (), None, False)))
    return made


def decide_keyed(journal: Journal, builder: DecisionBuilder, given: GivenRounds, keys: list[str]) -> list[Decision]:
    """Decide the rounds whose keys are new, each once, and return the decisions of all keys."""
    journal.settled()
    known = journal.open_decisions.keys
    new = {key: row for row, key in reversed(list(enumerate(keys))) if key not in known}
    chosen = sorted(new.values())
    names = [keys[row] for row in chosen]
    made = dict(zip(names, decide_given(journal, builder, given.chosen(chosen), names), strict=True))
    return [made[key] if key in made else known[key] for key in keys]


def take_rounds(journal: Journal, builder: DecisionBuilder, given: Sequence[Decision]) -> list[Decision]:
    """Take over decisions of deciders: those whose keys are new as the next rounds."""
    known = journal.open_decisions.keys
    after, made, opened = take(journal.settled(), known, given, builder.name)
    closed, forgotten = journal.open_decisions.outdated(opened, after.rounds)
    keyed = [one.detached() for one in made.values()]
    new = {str(one.key): one for one in reversed(given) if str(one.key) in made}
    logged = stage_taken(journal.log, journal.graph, [(made[key].id, new[key]) for key in made])
    journal.do(Change(after, opened, keyed, closed, forgotten, logged=logged))
    return [made[key] if (key := str(one.key)) in made else known[key] for one in given]


def observe_rewards(journal: Journal, decision: AnyDecision, rewards: object, *, final: bool) -> None:
    """Take rewards back; the arguments are those of `Bandit.observe`."""
    loop, open_decisions = journal.settled(), journal.open_decisions
    number = open_decisions.number(decision, loop.rounds)
    problem = loop.problem
    arms = problem if problem.capacity is None else open_decisions.arms(number, decision, problem)
    if type(rewards) is not dict and is_series(rewards, "polars"):  # it has no index
        given = rewards_in_order(rewards, open_decisions.entry(number, decision).revealed)
    else:
        given = rewards_of(arms, rewards)
    if not given and number not in open_decisions.opened:
        return  # nothing was revealed, or nothing is awaited any more
    entry = open_decisions.entry(number, decision)
    news = entry.news(given, arms.arms)
    logged = False
    ends = final or len(entry.seen) + len(news.arms) == len(entry.revealed)
    if len(news.arms):
        if journal.checks_rewards:
            loop.learner.check_rewards(np.array(news.rewards))
        # it may learn at once where nothing else is awaited
        loop = loop.observe(news, entry.played, ahead=ends and len(open_decisions.opened) == 1)
        logged = journal.log is not None and journal.log.stage_rewards(number, news)
    closed = (number,) if ends else ()
    journal.do(tuple_of(Change, (loop, {}, (), closed, None, None, entry, news.arms, None, logged)))


def learnt_from_past(loop: Loop, contexts: object, cluster: object, **rows: object) -> tuple[Loop, Tally]:
    """The loop after the past, and what was unknown or missing in its contexts.

    The arguments are those of `Bandit.learn`. Everything is checked.
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


def log_to(journal: Journal, folder: str | os.PathLike[str] | None, sync: LogSync) -> None:
    """Write to this log from now on; the one before is closed, first if it is the same."""
    loop, before = journal.settled(), journal.log
    same = before is not None and folder is not None and before.folder.resolve() == Path(folder).resolve()
    if before is not None and same:
        before.close()
    journal.log = None if folder is None else BanditLog(folder, loop.problem, loop.rounds, sync=sync)
    if before is not None and not same:
        before.close()
