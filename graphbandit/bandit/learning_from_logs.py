"""Learn from a log: batch by batch, so that memory does not grow with it, or in parts on a cluster.

Three ways, by what the learner needs of a round:

- data alone, kept as sums: the sums are gathered epoch by epoch, here or in parts, and learnt where epochs end;
- the round itself: rounds are taken batch by batch, and wait until their epoch ends;
- notes of its own (EXP3 and its kin): it is asked what it would note down, round by round, and learns the log's rewards
  with the log's probabilities.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from graphbandit.base.shapes import Shaped
from graphbandit.errors import InputError, LogError, SettingError
from graphbandit.function_classes.base import FunctionClass
from graphbandit.function_classes.merging import merged
from graphbandit.learners.epochs.base import EpochLearner
from graphbandit.learners.epochs.gathered import gathers
from graphbandit.learners.loop import Loop
from graphbandit.learners.played import News, Played
from graphbandit.learners.problem import Problem
from graphbandit.rounds.observations import Observations
from graphbandit.rounds.shown import Shown

if TYPE_CHECKING:
    from graphbandit.logs import Log, LogBatch


def learnt_from_log(loop: Loop, log: Any, cluster: object = None) -> Loop:
    """The loop after all rounds of a log, fitted to what they teach."""
    from graphbandit.logs import Log

    source = Log.of(log)
    learner, problem = loop.learner, loop.problem
    check_fits(source, problem)
    loop.check_horizon(len(source))
    if cluster is not None and not gathers(learner, loop.state):
        raise SettingError(
            f"{type(learner).__name__} cannot learn in parts; expected a learner of epochs that learns from data "
            "alone, such as IDSG, AdaCBG, Falcon or Greedy, and a class that keeps sums, such as LinearClass, "
            "KernelClass or FiniteClass"
        )
    if not len(source):
        return loop
    if gathers(learner, loop.state):
        return _in_sums(loop.ready().refit(), learner, source, cluster)
    after = loop
    for batch in source.batches():
        after = _with_notes(after, batch) if learner.n_notes else _taken(after, batch)
    return after.refit() if learner.refits and after.left > 0 else after


def _in_sums(loop: Loop, learner: EpochLearner[Any], log: Log, cluster: object) -> Loop:
    """Epoch by epoch from sums."""
    functions = learner.functions(loop.problem)
    pieces = _epochs(loop, learner, log)
    if cluster is None:
        sums: Iterator[Any] = _gathered(loop, functions, pieces)
    else:
        sums = iter(_merged_on_cluster(loop, functions, pieces, cluster))
    for piece in pieces:
        loop = loop.take_data(next(sums), len(piece))
    return loop


def _epochs(loop: Loop, learner: EpochLearner[Any], log: Log) -> list[Log]:
    """The rounds of the log by the epochs they belong to."""
    lengths = learner.epochs(loop.problem).portions(loop.state.epoch, loop.rounds, len(log))
    ends = list(accumulate(lengths, initial=0))
    return [log[start:stop] for start, stop in pairwise(ends)]


def _gathered(loop: Loop, functions: FunctionClass[Any, Any, Any], pieces: list[Log]) -> Iterator[Any]:
    data, first = loop.state.data, loop.rounds
    for piece in pieces:
        data = _added(functions, data, piece, loop, first)
        first += len(piece)
        yield data


def _merged_on_cluster(
    loop: Loop, functions: FunctionClass[Any, Any, Any], pieces: list[Log], cluster: object
) -> list[Any]:
    """All data at the end of each epoch: every part of every epoch on its own, then added up."""
    from graphbandit.logs.cluster import on_cluster, partitions

    begins = loop.rounds - pieces[0].first_row
    with on_cluster(cluster) as (compute, workers):
        size = -(-sum(map(len, pieces)) // max(4 * workers, 1))
        parts = [partitions(piece, -(-len(piece) // size)) for piece in pieces]

        def data_of(part: Log) -> Any:
            return _added(functions, functions.empty(), part, loop, begins + part.first_row)

        found = iter(compute(data_of, [part for some in parts for part in some]))
    data, ends = loop.state.data, []
    for some in parts:
        data = merged([data, *(next(found) for _ in some)])
        ends.append(data)
    return ends


def _added(functions: FunctionClass[Any, Any, Any], data: Any, log: Log, loop: Loop, first: int) -> Any:
    """Data with the rewards of a log, whose first round is the bandit's round `first`."""
    for batch in log.batches():
        contexts = contexts_of(batch, loop.problem)
        functions.check_contexts(contexts)
        seen = batch.revealed
        loop.learner.check_rewards(batch.rewards[seen])
        rounds = first + batch.first_row - log.first_row
        data = functions.add(data, Observations.from_masks(contexts, seen, batch.rewards, first_round=rounds))
    return data


def _taken(loop: Loop, batch: LogBatch) -> Loop:
    """The rounds of a batch as they were played."""
    contexts = contexts_of(batch, loop.problem)
    functions = getattr(loop.learner, "function_class", None) or loop.problem.function_class
    if functions is not None:
        functions.check_contexts(contexts)
    notes = np.empty((len(batch), 0))
    return loop.take(Played(loop.rounds, contexts, batch.actions, notes, batch.available), _news(loop, batch))


def _with_notes(loop: Loop, batch: LogBatch) -> Loop:
    """The rounds of a batch one by one, with the notes that the learner would have made."""
    if batch.graphs is None:
        raise LogError(f"the log has no graphs; {type(loop.learner).__name__} expects those of its rounds")
    contexts, rng = contexts_of(batch, loop.problem), np.random.default_rng(0)  # has no effect: nothing is played
    news = _news(loop, batch)
    starts = np.searchsorted(news.rounds, np.arange(loop.rounds, loop.rounds + len(batch) + 1)).tolist()
    shown = Shown(contexts, batch.graphs, batch.available)
    for row in range(len(batch)):
        loop, one = loop.ready(), slice(row, row + 1)
        loop.learner.check_shown(loop.problem, shown[one])
        noted = loop.learner.chosen(loop.problem, loop.state, shown[one], rng).notes
        mask = None if shown.available is None else shown.available[one]
        played = Played(loop.rounds, contexts[one], batch.actions[one], noted, mask)
        loop = loop.take(played, news.part(starts[row], starts[row + 1]))
    return loop


def _news(loop: Loop, batch: LogBatch) -> News:
    """The rewards of a batch with the log's probabilities, 1 where the log has none."""
    rows, arms = np.nonzero(batch.revealed)
    rewards = batch.rewards[rows, arms]
    loop.learner.check_rewards(rewards)
    q = batch.q[rows, arms]
    unknown = np.isnan(q)
    if unknown.any():
        if loop.learner.n_notes or not loop.learner._is_ours:
            raise LogError(
                f"{type(loop.learner).__name__} needs the probability with which a reward was revealed; expected the "
                "probabilities of all arms and the graph, or observation probabilities",
                table="decisions",
                row=batch.first_row + int(rows[np.argmax(unknown)]),
            )
        q = np.where(unknown, 1.0, q)
    return News(rows + loop.rounds, arms, rewards, np.minimum(q, 1.0))


def contexts_of(batch: LogBatch, problem: Problem) -> Shaped[np.ndarray, "n ..."]:
    """The contexts of a batch; those of a log without contexts are the constant that `decide(None)` has."""
    if batch.contexts[:1].size:
        return batch.contexts
    one, _ = problem.encode(None, many=False)
    return np.repeat(one, len(batch), axis=0)


def check_fits(log: Log, problem: Problem) -> None:
    """Raise unless the log has the problem's arms and contexts of its features."""
    if log.n_arms != problem.n_arms:
        raise InputError(f"the log has {log.n_arms} arms; expected {problem.n_arms}, as the problem has")
    if log.arms is not None and problem.arms is not None and tuple(log.arms) != tuple(problem.arms):
        place = next(i for i, (a, b) in enumerate(zip(log.arms, problem.arms, strict=True)) if a != b)
        raise InputError(
            f"the log's arm {place} is {log.arms[place]!r}; expected {problem.arms[place]!r}: the names and the order "
            "of the problem's arms"
        )
    features = problem.features
    if features is not None and log.context_shape not in ((features.size,), (0,)):
        raise InputError(
            f"the log's contexts have shape {log.context_shape}; expected ({features.size},), as the problem's "
            "features make them"
        )
