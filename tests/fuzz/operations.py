"""Random operations on every learner with every class, with bad input in between; twins that were never stopped.

One bandit is handed bad input, is saved and loaded, and decides in batches. Its twin gets the valid calls alone, one
round at a time. Both must decide the same to the last bit, and be the same file at the end.
"""

import copy
from typing import Any

import numpy as np

import graphbandit as gb
from graphbandit.errors import FitError, GraphBanditError
from tests.fuzz.bad_input import bad_call
from tests.fuzz.driver import Case, Defect, Part
from tests.fuzz.subjects import Subject, fitting_pair, graph, mask
from tests.helpers.bandits import content

STEPS = 30


class Twins:
    """A bandit and its undisturbed twin."""

    def __init__(self, one: Subject, case: Case) -> None:
        self.subject, self.case, self.rng = one, case, case.rng
        settings = {"seed": int(case.rng.integers(100)), "max_open": int(case.rng.choice([3, 100_000]))}
        self.one, self.twin = one.bandit(**settings), one.bandit(**settings)
        self.rewards = float(case.rng.choice([0.0, 0.3, 1.0]))

    def step(self) -> None:
        """One valid call on both, and perhaps a bad one, a stop, or a look, on one."""
        names = (
            "decide",
            "decide",
            "batch",
            "observe",
            "observe",
            "observe",
            "keyed",
            "take",
            "learn",
            "arms",
            "forget",
        )
        name = str(self.rng.choice(names))
        try:
            getattr(self, f"_{name}")()
        except FitError:
            self.case.count("fits that failed, and were told")
        self.case.count("valid operations")
        if self.rng.random() < 0.4:
            self._refused()
        if self.rng.random() < 0.15:
            self.one.save(self.case.folder / "stopped.gb")
            self.one = self.subject.load(self.case.folder / "stopped.gb")
            self.case.count("bandits stopped and loaded")

    def compare(self) -> None:
        """Both are the same file."""
        if content(self.one, self.case.folder) != content(self.twin, self.case.folder):
            raise Defect("the bandit that was stopped and disturbed is not its twin")
        self.case.count("twins compared")

    def _shown(self, n: int = 1) -> tuple[np.ndarray, Any, Any]:
        n_arms = self.one.problem.n_arms
        shown = graph(self.subject, self.rng, n_arms, loops=bool(self.one.retired))
        return self.subject.contexts(self.rng, n, n_arms), shown, mask(self.rng, n_arms, shown)

    def _left(self, n: int) -> bool:
        horizon = self.subject.problem.horizon
        return horizon is None or self.one.rounds + n <= horizon

    def _offered(self, available: Any) -> Any:
        """What is on offer once retired arms are taken out; None if that is no arm."""
        retired = self.one.retired
        if available is not None and retired and not np.delete(available, retired).any():
            return None
        return available

    def _decide(self) -> None:
        rows, shown, available = self._shown()
        if self._left(1):
            self._same(
                [decided(self.one, rows[0], shown, self._offered(available))], rows, shown, self._offered(available)
            )

    def _batch(self) -> None:
        n = int(self.rng.integers(1, 7))
        rows, shown, available = self._shown(n)
        if not self._left(n):
            return
        available = self._offered(available)
        try:
            made = self.one.decide_batch(rows, shown, available=available)
        except FitError:
            self.case.count("fits that failed, and were told")
            made = self.one.decide_batch(rows, shown, available=available)
        self._same(made, rows, shown, available)

    def _same(self, made: list[gb.Decision], rows: np.ndarray, shown: Any, available: Any, **more: Any) -> None:
        for decision, row in zip(made, rows, strict=True):
            other = decided(self.twin, row, shown, available, **more)
            if (decision.id, decision.action) != (other.id, other.action):
                raise Defect(f"{decision!r} is not the twin's {other!r}")
            if decision.probabilities.tobytes() != other.probabilities.tobytes():
                raise Defect(f"{decision.probabilities} are not the twin's {other.probabilities}")
            check(decision, None if self.subject.learner.plans_without_graphs else shown, available)
            self.case.count("decisions")

    def _observe(self) -> None:
        if not self.one.open_decisions:
            return
        number = int(self.rng.choice(self.one.open_decisions))
        arms = self.one.awaited(number)
        chosen = arms[self.rng.random(len(arms)) < 0.8]
        rewards = {int(arm): self._reward() for arm in chosen}
        final = bool(self.rng.random() < 0.3)
        for bandit in (self.one, self.twin):
            bandit.observe(number, rewards, final=final)
        self.case.count("rewards", len(rewards))

    def _reward(self) -> float:
        """In [0, 1], which every learner and class takes; often only 0 or 1."""
        drawn = self.rng.random()
        return float(drawn if self.rng.random() < self.rewards else drawn < 0.5)

    def _keyed(self) -> None:
        rows, shown, available = self._shown()
        available = self._offered(available)
        if self._left(1):
            key = f"key {self.rng.integers(6)}"
            known = self.one.decide(key=key) if key in self.one._journal.open_decisions.keys else None
            made = decided(self.one, rows[0], shown, available, key=key)
            other = decided(self.twin, rows[0], shown, available, key=key)
            if made.to_dict() != other.to_dict() or (known is not None and known.to_dict() != made.to_dict()):
                raise Defect(f"the decision of {key!r} is {made!r}, and the twin's {other!r}")

    def _take(self) -> None:
        rows, shown, available = self._shown()
        if not self._left(1) or shown is None:
            return
        decider = self.one.decider()
        made = decider.decide(rows[0], shown, available=self._offered(available))
        taken = [bandit.take([made])[0] for bandit in (self.one, self.twin)]
        if taken[0].to_dict() != taken[1].to_dict():
            raise Defect(f"{taken[0]!r} was taken, and by the twin {taken[1]!r}")

    def _learn(self) -> None:
        n, n_arms = int(self.rng.integers(1, 5)), self.one.problem.n_arms
        rows = self.subject.contexts(self.rng, n, n_arms)
        actions, rewards = self.rng.integers(n_arms, size=n), np.array([self._reward() for _ in range(n)])
        if self._left(n):
            self._both(lambda bandit: bandit.learn(rows, rewards, actions=actions))
        self._both(lambda bandit: bandit.refit())

    def _arms(self) -> None:
        n_arms, kind = self.one.problem.n_arms, self.rng.integers(6)
        if kind == 0 and n_arms < 8:
            self._both(lambda bandit: bandit.add_arms(1))
        elif kind == 1 and len(self.one.retired) < n_arms - 1:
            self._both(lambda bandit: bandit.retire_arms([0]))

    def _forget(self) -> None:
        if self.one.open_decisions:
            number = self.one.open_decisions[0]
            self._both(lambda bandit: bandit.forget(number))

    def _both(self, call: Any) -> None:
        """A call that some learners refuse: both do, and nothing has changed."""
        before, told = content(self.one, self.case.folder), []
        for bandit in (self.one, self.twin):
            try:
                call(bandit)
                told.append("done")
            except GraphBanditError as error:
                told.append(f"{type(error).__name__}: {error}")
        if told[0] != told[1]:
            raise Defect(f"{told[0]}, but of the twin {told[1]}")
        if told[0] != "done" and content(self.one, self.case.folder) != before:
            raise Defect(f"a refused call has changed the bandit: {told[0]}")

    def _refused(self) -> None:
        _, shown, _ = self._shown()
        name, call = bad_call(self.subject, self.one, shown, self.rng)
        before = content(self.one, self.case.folder)
        tried = copy.deepcopy(self.one)
        try:
            call(tried)
        except GraphBanditError:
            self.case.count("bad calls refused")
        except (TypeError, AttributeError) as error:
            raise Defect(f"{name}: {type(error).__name__}: {error}") from error
        else:
            self.case.count("odd calls taken")
            return
        if content(tried, self.case.folder) != before:
            raise Defect(f"{name}: the call was refused and has changed the bandit")
        self.one = tried


def decided(bandit: gb.Bandit, row: np.ndarray, shown: Any, available: Any, **more: Any) -> gb.Decision:
    """A decision; after a fit that failed the bandit goes on with its last model."""
    try:
        return bandit.decide(row, shown, available=available, **more)
    except FitError:
        return bandit.decide(row, shown, available=available, **more)


def check(decision: gb.Decision, shown: Any, available: Any) -> None:
    """The probabilities are some, of arms on offer, and what may be revealed follows from them."""
    p, q = decision.probabilities, decision.observation_probabilities
    if not (np.isfinite(p).all() and (p >= 0).all() and abs(p.sum() - 1.0) < 1e-9):
        raise Defect(f"{p} are no probabilities")
    if decision.probability != p[decision.action] or not decision.probability > 0:
        raise Defect(f"arm {decision.action} was drawn with {decision.probability}, of {p}")
    if available is not None and p[~available].any():
        raise Defect(f"{p} has arms that are not on offer, {available}")
    if isinstance(shown, gb.FeedbackGraph):
        matrix = shown.to_dense()
        if decision.revealed.tolist() != np.flatnonzero(matrix[decision.action]).tolist():
            raise Defect(f"arm {decision.action} reveals {decision.revealed}, of {matrix}")
        if not np.allclose(q, p @ matrix, rtol=1e-9, atol=1e-12):
            raise Defect(f"{q} are not the probabilities of rewards, {p @ matrix}")


def run(case: Case) -> None:
    one = fitting_pair(case)
    case.count("pairs of learner and class")
    case.told = one.name
    twins = Twins(one, case)
    for _ in range(STEPS):
        twins.step()
    twins.compare()


PART = Part("random operations, bad input, twins that were never stopped", 26, run)
