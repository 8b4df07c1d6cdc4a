"""A bandit's file: what is in it, and the check that what comes back fits together."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphbandit.bandit.arm_changes import GraphAndRetired
from graphbandit.bandit.given_graphs import Graph
from graphbandit.bandit.journal import Journal
from graphbandit.bandit.keys import Keys, keys_content, keys_of
from graphbandit.bandit.open_decision import OpenDecision
from graphbandit.bandit.open_decisions import OpenDecisions
from graphbandit.bandit.own_arms import RoundArms
from graphbandit.bandit.state_check import check_state
from graphbandit.bandit.unsavable import HandedIn
from graphbandit.base import saved_files
from graphbandit.base.arm_names import ArmNames
from graphbandit.base.checks import contexts_array
from graphbandit.base.declared import Declared, limits
from graphbandit.base.shapes import Bool, Int
from graphbandit.errors import SavedFileError
from graphbandit.features import Tally
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.probabilistic import ProbabilisticGraph
from graphbandit.learners.base import Learner
from graphbandit.learners.loop import Loop
from graphbandit.learners.played import News, NewsColumns, Played
from graphbandit.learners.problem import Problem
from graphbandit.learners.savable_classes import load_savable_classes


@dataclass(frozen=True, kw_only=True)
class SavedBandit(Declared):
    """All there is to a bandit: its identity, loop, random stream, open decisions, limits, own graph and keys.

    `log` is where its rounds are in the log it writes to, a row (first round, offset, next id of the log) each start.
    """

    identity: str
    loop: Loop
    generator: Mapping[str, Any]
    opened: Mapping[int, OpenDecision]
    forgotten: int
    max_open: int = field(metadata=limits(at_least=1))
    forget_after: int | None = field(metadata=limits(at_least=1))
    graph: Graph | None
    retired: Bool[np.ndarray, " arms"] | None
    tally: Tally
    keys: Keys
    log: Int[np.ndarray, "starts 3"] | None = field(metadata=limits(at_least=0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.log is not None and not (np.diff(self.log[:, 0]) >= 0).all():
            raise ValueError("its places in a log are out of order")

    @property
    def n_arms(self) -> int:
        """How many arms there are."""
        return self.loop.problem.n_arms

    def journal(self) -> Journal:
        """The bandit's journal, as it was when it was saved."""
        rng = np.random.Generator(np.random.PCG64())
        rng.bit_generator.state = self.generator
        opened, forgotten = self.opened.items(), self.forgotten
        open_decisions = OpenDecisions(
            self.identity, self.keys, self.max_open, self.forget_after, opened=opened, forgotten=forgotten
        )
        return Journal(self.loop, open_decisions, GraphAndRetired(self.graph, self.retired), self.tally, rng)


def save_bandit(path: str | os.PathLike[str], journal: Journal) -> None:
    """Write a bandit to a file, atomically. The same bandit gives the same bytes.

    The rows of its log are flushed to disk first, so that a file never knows of rounds that the log lacks.
    """
    if journal.log is not None:
        journal.log.sync()
    loop, open_decisions = journal.settled(), journal.open_decisions
    opened = list(open_decisions.opened.values())
    late = {one.first: one for one in loop.late}
    rounds = [part.part(i, i + 1) for part in loop.waiting for i in range(len(part.actions))]
    content = {
        "identity": open_decisions.identity,
        "learner": loop.learner,
        "problem": loop.problem,
        "state": loop.state,
        "generator": journal.rng.bit_generator.state,
        "rounds": loop.rounds,
        "learnt": loop.learnt,
        **_columns("", rounds),
        "available": [None if one.available is None else np.flatnonzero(one.available) for one in rounds],
        "open_ids": np.array([entry.played.first for entry in opened], dtype=np.int64),
        **_columns("open_", [entry.played for entry in opened]),
        "open_revealed": [entry.revealed for entry in opened],
        "open_observation_probabilities": [entry.observation_probabilities for entry in opened],
        "open_seen": [np.array(sorted(entry.seen), dtype=np.int64) for entry in opened],
        **{f"news_{name}": column for name, column in NewsColumns.of(loop.news)._asdict().items()},
        "late_rounds": np.array(sorted(late), dtype=np.int64),
        **_columns("late_", [late[t] for t in sorted(late)]),
        "unfitted": loop.unfitted,
        "postponed": loop.postponed,
        "forgotten": open_decisions.forgotten,
        "max_open": open_decisions.max_open,
        "forget_after": open_decisions.forget_after,
        "graph": _graph_content(journal.graph),
        "retired": journal.retired,
        "tally": journal.tally,
        **keys_content(open_decisions.keys, own_arms=loop.problem.capacity is not None),
        "log": None if journal.log is None else journal.log.starts,
    }
    if loop.problem.capacity is not None:
        content["open_arms"] = [_arms_content(entry.arms) for entry in opened]
    saved_files.write(path, "bandit", content)


def load_bandit(path: str | os.PathLike[str], given: Mapping[str, Any], classes: Sequence[type]) -> SavedBandit:
    """The bandit that was saved there.

    - `given`: the values that a file cannot hold, as `HandedIn` takes them.
    - `classes`: the user's own dataclasses that may be in it.
    """
    load_savable_classes()
    again = HandedIn(path, given)
    saved = saved_files.read(path, "bandit", again.replace, classes)
    try:
        bandit = _restored(saved)
        again.check(bandit.loop)
        return bandit
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise SavedFileError(f"{path} is damaged: {type(error).__name__}: {error}") from error


def _graph_content(graph: Graph | None) -> dict[str, Any] | None:
    """A graph as a file holds it: its edges, or their probabilities."""
    if graph is None:
        return None
    names = None if graph.arms is None else list(graph.arms)
    if isinstance(graph, FeedbackGraph):
        return {"edges": graph.edges(), "n_arms": graph.n_arms, "arms": names}
    return {"matrix": graph.matrix, "arms": names}


def _graph(content: dict[str, Any] | None, n_arms: int) -> Graph | None:
    """What `_graph_content` made."""
    if content is None:
        return None
    if "matrix" in content:
        found, size = content["matrix"], len(content["matrix"])
    else:
        found, size = content["edges"], int(content["n_arms"])
    if size != n_arms:  # before anything of that size is made
        raise ValueError("its graph and its arms do not fit each other")
    if "matrix" in content:
        return ProbabilisticGraph(found, arms=content["arms"])
    return FeedbackGraph.from_edges(found, size, require_loops=False).with_arms(content["arms"])


def _restored(saved: dict[str, Any]) -> SavedBandit:
    learner, problem, state = saved["learner"], saved["problem"], saved["state"]
    if not isinstance(learner, Learner) or not isinstance(problem, Problem):
        raise TypeError("no learner and problem in it")
    check_state(learner, problem, state)
    rounds, learnt = int(saved["rounds"]), int(saved["learnt"])
    masks = _masks(saved["available"], problem.n_arms)
    if not len(masks) == len(saved["actions"]) == rounds - learnt:
        raise ValueError("its rounds and contexts do not fit each other")
    if not saved["open_ids"].ndim == saved["late_rounds"].ndim == 1:
        raise ValueError("its ids are not columns")
    waiting = _rows(saved, "", range(learnt, learnt + len(masks)), masks)
    opened = _rows(saved, "open_", saved["open_ids"].tolist())
    late = _rows(saved, "late_", saved["late_rounds"].tolist())
    every = (*waiting, *opened, *late)
    if len({(row.contexts.shape, row.notes.shape) for row in every}) > 1:
        raise ValueError("its contexts have different shapes")
    if learner._is_ours and any(row.notes.shape[1] != learner.n_notes for row in every):
        raise ValueError("its notes are not those of its learner")
    if not all(0 <= int(row.actions[0]) < problem.n_arms for row in every):
        raise ValueError("its rounds and its arms do not fit each other")
    unfitted = saved["unfitted"]
    loop = Loop.resumed(
        learner,
        problem,
        state,
        learnt=learnt,
        waiting=waiting,
        news=_news(saved, {*range(learnt, rounds), *(row.first for row in late)}, problem.n_arms),
        late=late,
        unfitted=None if unfitted is None else int(unfitted),
        postponed=int(saved["postponed"]),
        opened=opened,
    )
    if getattr(state, "rounds", learnt) != learnt or loop.left < 0:
        raise ValueError("its rounds and its learner's state do not fit each other")
    return SavedBandit(
        identity=saved["identity"],
        loop=loop,
        generator=_generator(saved["generator"]),
        opened=dict(_open_decisions(saved, opened, rounds, problem.n_arms)),
        forgotten=int(saved["forgotten"]),
        max_open=saved["max_open"],
        forget_after=saved["forget_after"],
        graph=_graph(saved["graph"], problem.n_arms),
        retired=saved["retired"],
        tally=saved["tally"],
        keys=keys_of(saved, saved["identity"], problem.arms, set(saved["open_ids"].tolist())),
        log=saved["log"],
    )


def _generator(state: Any) -> Mapping[str, Any]:
    """The state of a random stream, if it is one."""
    stream = np.random.PCG64()
    stream.state = state
    return stream.state


def _news(saved: dict[str, Any], known: set[int], n_arms: int) -> list[News]:
    """The rewards that are not learnt, of known rounds and arms and with the probabilities that they were revealed."""
    news = NewsColumns(*(saved[f"news_{name}"] for name in NewsColumns._fields))
    if [column.dtype for column in news] != [np.int64, np.int64, np.float64, np.float64]:
        raise ValueError("its rewards have columns of another type")
    k = len(news.rounds)
    if not all(column.shape == (k,) for column in news):
        raise ValueError("its rewards have columns of different lengths")
    fits = (news.arms >= 0) & (news.arms < n_arms) & np.isfinite(news.rewards)
    fits &= (news.observation_probabilities > 0) & (news.observation_probabilities <= 1 + 1e-6)
    if not fits.all() or not known.issuperset(news.rounds.tolist()):
        raise ValueError("its rounds and its rewards do not fit each other")
    return [News(*(column.tolist() for column in news))] if k else []


def _open_decisions(
    saved: dict[str, Any], played: list[Played], rounds: int, n_arms: int
) -> Iterable[tuple[int, OpenDecision]]:
    """The open decisions, each with arms that may be revealed, those seen among them."""
    columns = (saved["open_revealed"], saved["open_observation_probabilities"], saved["open_seen"])
    owned = [_arms(content, n_arms) for content in saved.get("open_arms", [None] * len(played))]
    last = -1
    for one, own, revealed, q, seen in zip(played, owned, *columns, strict=True):
        ascending = np.concatenate([[-1], revealed, [n_arms if own is None else own.n_arms]])
        if not last < one.first < rounds or revealed.dtype != np.int64 or not (np.diff(ascending) > 0).all():
            raise ValueError("its rounds and its open decisions do not fit each other")
        if not np.isin(seen, revealed).all():
            raise ValueError("its open decisions have rewards of arms that they did not reveal")
        if q.dtype != np.float64 or q.shape != revealed.shape or not ((q > 0) & (q <= 1 + 1e-6)).all():
            raise ValueError("its open decisions and their observation probabilities do not fit each other")
        last = one.first
        yield one.first, OpenDecision(one, revealed, q, set(seen.tolist()), own)


def _arms_content(own: RoundArms | None) -> dict[str, Any] | None:
    """The arms of a round as a file holds them."""
    return None if own is None else {"n_arms": own.n_arms, "names": None if own.arms is None else list(own.arms)}


def _arms(content: dict[str, Any] | None, n_arms: int) -> RoundArms | None:
    """What `_arms_content` made."""
    if content is None:
        return None
    names = None if content["names"] is None else ArmNames.of(content["names"])
    count = int(content["n_arms"])
    if not 1 <= count <= n_arms or (names is not None and len(names) != count):
        raise ValueError("its open decisions and their arms do not fit each other")
    return RoundArms(count, names)


def _columns(prefix: str, rows: list[Played]) -> dict[str, Any]:
    """Rounds as arrays that a file can hold."""
    return {
        f"{prefix}contexts": np.concatenate([row.contexts for row in rows]) if rows else np.empty((0,)),
        f"{prefix}actions": np.concatenate([row.actions for row in rows]) if rows else np.empty(0, dtype=np.int64),
        f"{prefix}notes": np.concatenate([row.notes for row in rows]) if rows else np.empty((0, 0)),
    }


def _rows(
    saved: dict[str, Any],
    prefix: str,
    rounds: Iterable[int],
    masks: list[Bool[np.ndarray, "1 arms"] | None] | None = None,
) -> list[Played]:
    """What `_columns` made arrays of."""
    contexts, notes = (contexts_array(saved[f"{prefix}{name}"]) for name in ("contexts", "notes"))
    actions = saved[f"{prefix}actions"]
    if notes.ndim != 2 or actions.dtype != np.int64 or actions.ndim != 1:
        raise ValueError("its notes or actions are not columns")
    given = [None] * len(actions) if masks is None else masks
    return [
        Played(first, contexts[i : i + 1], actions[i : i + 1], notes[i : i + 1], mask)
        for i, (first, mask, _, _) in enumerate(zip(rounds, given, contexts, notes, strict=True))
    ]


def _masks(arms: list[Int[np.ndarray, " some"] | None], n_arms: int) -> list[Bool[np.ndarray, "1 arms"] | None]:
    """The arms on offer in each round as masks."""
    masks: list[Bool[np.ndarray, "1 arms"] | None] = []
    for some in arms:
        mask = None if some is None else np.zeros((1, n_arms), dtype=np.bool_)
        if some is not None and mask is not None:
            mask[0, some] = True
        masks.append(mask)
    return masks
