"""A read-only copy of a bandit: it decides, learns nothing, and can be sent to other processes."""

import hashlib
import secrets
from collections.abc import Sequence

import numpy as np

from graphbandit.bandit.decision_builder import may_reveal
from graphbandit.bandit.given_arms import on_offer
from graphbandit.bandit.given_graphs import Graph
from graphbandit.bandit.given_rounds import GivenRounds, RoundReader, given_rounds
from graphbandit.bandit.keys import check_key, check_keys
from graphbandit.bandit.own_arms import with_own_arms
from graphbandit.base.shapes import Bool
from graphbandit.learners.problem import Problem
from graphbandit.learners.snapshot import Snapshot
from graphbandit.rounds.decision import Decision
from graphbandit.rounds.shown import Shown


def uniform(snapshot: str, key: str) -> float:
    """The number in [0, 1) that draws the decision of a key under a snapshot of this name: 53 bits of SHA-256.

    `Bandit.decider` and the decision service both draw by it, so the same state under the same name gives a key the
    same decision in either.

    >>> uniform("ab", "visit-17") == uniform("ab", "visit-17") != uniform("ab", "visit-18")
    True
    """
    digest = hashlib.sha256(f"{snapshot}\0{key}".encode("utf-8", "surrogatepass")).digest()
    return float(int.from_bytes(digest[:8], "big") >> 11) * 2.0**-53


class Decider:
    """Decides any number of rounds as its bandit would have when the decider was made, and learns nothing.

    The draw is a function of what the learner knew and of the decision's key alone: any number of deciders, in any
    process, give the same key the same decision for the same context. Hand the decisions to `Bandit.take`, then
    observe their rewards there. `Bandit.decider` makes one; it can be pickled.

    >>> from graphbandit import Bandit, LinUCB, Problem, graphs
    >>> bandit = Bandit(LinUCB(alpha=1.0), Problem(arms=["a", "b"], noise=0.5), graph=graphs.complete(2))
    >>> decision = bandit.decider().decide([1.0], key="visit-1")
    >>> (taken,) = bandit.take([decision])
    >>> bandit.observe("visit-1", {"a": 1.0, "b": 0.0})
    """

    def __init__(
        self,
        snapshot: Snapshot,
        *,
        identity: str,
        graph: Graph | None,
        retired: Bool[np.ndarray, " arms"] | None,
        name: str | None = None,
    ) -> None:
        self._snapshot, self._identity, self._graph, self._retired = snapshot, identity, graph, retired
        self._name = f"{identity}\n{snapshot.learnt}" if name is None else name

    def __repr__(self) -> str:
        return f"Decider({type(self._snapshot.learner).__name__}, learnt={self.learnt})"

    @property
    def problem(self) -> Problem:
        """The problem of its bandit."""
        return self._snapshot.problem

    @property
    def learnt(self) -> int:
        """How many rounds its learner had learnt from."""
        return self._snapshot.learnt

    # the arguments are those of Bandit.decide and Bandit.decide_batch, written out so that help() shows them
    def decide(
        self,
        context: object = None,
        graph: object = None,
        *,
        available: object = None,
        key: str | None = None,
        arms: object = None,
    ) -> Decision:
        """Decide one round; the arguments are those of `Bandit.decide`. Without a key, a random one is made."""
        given = RoundReader().read(self.problem, self._graph, context, graph, available, arms)
        return self._decided(given, [_key(key)], brought_graphs=graph is not None)[0]

    def decide_batch(
        self,
        contexts: object = None,
        graphs: object = None,
        *,
        available: object = None,
        keys: Sequence[str] | None = None,
        arms: object = None,
    ) -> list[Decision]:
        """Decide many rounds; the arguments are those of `Bandit.decide_batch`."""
        given = given_rounds(self.problem, self._graph, contexts, graphs, available, arms, keys)
        return self._decided(given, _keys(keys, len(given.contexts)), brought_graphs=graphs is not None)

    def _decided(self, given: GivenRounds, keys: list[str], *, brought_graphs: bool) -> list[Decision]:
        """Decide these rounds; `brought_graphs` says whether the caller gave them graphs."""
        contexts, graphs, available, own, _ = given
        shown = Shown(contexts, graphs, on_offer(available, self._retired))
        if not len(shown):
            return []
        batch = self._snapshot.decide(shown, np.array([uniform(self._name, key) for key in keys]))
        rows = zip(keys, batch.action.tolist(), batch.probability.tolist(), may_reveal(graphs, batch), strict=True)
        made = [
            Decision(
                id=-1,
                action=action,
                probability=probability,
                revealed=revealed.copy(),
                bandit=self._identity,
                batch=batch,
                row=row,
                arms=self.problem.arms,
                key=key,
                context=contexts[row : row + 1],
                available=None if shown.available is None else shown.available[row : row + 1],
                graph=graphs[row] if graphs is not None and (brought_graphs or own is not None) else None,
            )
            for row, (key, action, probability, revealed) in enumerate(rows)
        ]
        return made if own is None else [with_own_arms(one, its) for one, its in zip(made, own, strict=True)]


def _key(key: object) -> str:
    return secrets.token_hex(12) if key is None else check_key(key)


def _keys(keys: Sequence[str] | None, n: int) -> list[str]:
    """The caller's keys, or random ones."""
    return [_key(key) for key in ([None] * n if keys is None else check_keys(keys, n))]
