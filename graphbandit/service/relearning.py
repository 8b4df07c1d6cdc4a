"""Replay: learn from the whole log again, and compare the snapshots with the live ones, byte for byte."""

from dataclasses import dataclass, field

from graphbandit.service.configuration import BanditSettings
from graphbandit.service.learn_all import core_at
from graphbandit.service.learn_one import LogLearner
from graphbandit.service.rows import Kind
from graphbandit.service.store import Store

CHUNK = 2000


@dataclass
class Replayed:
    """What a replay of one bandit found."""

    bandit: str
    decisions: int = 0
    rewards: int = 0
    snapshots: int = 0
    equal: int = 0
    differing: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        """Whether the replay gave every live snapshot."""
        return self.equal == self.snapshots and not self.differing


def replay(store: Store, name: str, settings: BanditSettings) -> Replayed:
    """Replay a bandit from its first row, or from the snapshot that compaction kept as the start."""
    outcome = Replayed(name)
    live = {(row.position, row.rounds): row.hash for row in store.snapshots(name)}
    base = store.statistics(f"{name}/base")
    learner = LogLearner(core_at(store, name, settings), store)
    if base is not None:
        kept = store.snapshot(base[1].decode())
        if kept is not None and kept.data is not None:
            core = core_at(store, name, settings, kept.learnt)
            learner = LogLearner(core, store, core.restore(bytes(kept.data), kept.hash))
            live = {place: hash_ for place, hash_ in live.items() if place[0] >= kept.position}
    outcome.snapshots = len(live)

    def compare() -> None:
        expected = live.get((learner.closed.position, learner.closed.rounds))
        if expected is None:
            return
        found = learner.snapshot()[0].hash
        if found == expected:
            outcome.equal += 1
        else:
            outcome.differing.append(
                f"position {learner.closed.position}: {expected[:12]} is live, {found[:12]} replayed"
            )

    compare()
    after = learner.position
    while rows := store.read(after, limit=CHUNK, bandit=name):
        for row in rows:
            outcome.decisions += row.kind == Kind.DECISION
            outcome.rewards += row.kind == Kind.REWARD
            before = learner.closed
            learner.read(row)
            if learner.closed is not before:
                compare()
        after = rows[-1].position
    if outcome.equal + len(outcome.differing) < outcome.snapshots:
        missing = outcome.snapshots - outcome.equal - len(outcome.differing)
        outcome.differing.append(f"{missing} live snapshots are at positions where the replay has none")
    return outcome
