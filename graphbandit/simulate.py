"""Simulation: learners x repeats on one environment, whole epochs at a time."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy

from graphbandit.base.checks import setting_boolean, setting_integer, setting_number
from graphbandit.base.extras import imported
from graphbandit.base.parallel_tasks import side_by_side
from graphbandit.base.regret_fragment import regret_fragment
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float
from graphbandit.environments.base import Environment, Rounds
from graphbandit.errors import SettingError
from graphbandit.learners.base import Learner
from graphbandit.learners.loop import Loop
from graphbandit.rounds.decisions import Decisions


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Final cumulative regret over repeats; `standard_error` and `std` are nan for a single repeat."""

    mean: float
    std: float
    standard_error: float
    minimum: float
    quartile_1: float
    median: float
    quartile_3: float
    maximum: float

    @classmethod
    def of(cls, final: Float[np.ndarray, " repeats"]) -> "Summary":
        """Summarise the final regrets of several repeats."""
        std = float(np.std(final, ddof=1)) if len(final) > 1 else float("nan")
        low, first, middle, third, high = (float(q) for q in np.quantile(final, [0, 0.25, 0.5, 0.75, 1]))
        return cls(
            mean=float(final.mean()),
            std=std,
            standard_error=std / len(final) ** 0.5,
            minimum=low,
            quartile_1=first,
            median=middle,
            quartile_3=third,
            maximum=high,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulationResult:
    """What `simulate` found.

    `regret[name]` is the cumulative regret of that learner, shape (repeats, rounds), in means and not in noisy rewards.
    `decisions[name][repeat]` holds every decision if they were asked for. `states[name][repeat]` is the learner's final
    state. `postponed[name][repeat]` counts the fits that failed and were put off to the next epoch.
    """

    regret: Mapping[str, Float[np.ndarray, "repeats rounds"]]
    decisions: Mapping[str, list[Decisions]]
    states: Mapping[str, list[Any]]
    postponed: Mapping[str, list[int]]
    seed: int

    def summary(self) -> dict[str, Summary]:
        """Mean, standard deviation, standard error and quantiles of the final regret, by learner."""
        return {name: Summary.of(curves[:, -1]) for name, curves in self.regret.items()}

    def bands(
        self, level: float = 0.95
    ) -> dict[str, tuple[Float[np.ndarray, " rounds"], Float[np.ndarray, " rounds"], Float[np.ndarray, " rounds"]]]:
        """The mean curve of each learner, and the lower and upper end of its confidence band, round by round.

        mean -+ t s / sqrt(repeats), t the quantile of Student's distribution; nan for a single repeat.

        - `level`: the probability that the band covers the true mean of a round, 0.95 by default.
        """
        share = setting_number("level", level, above=0.0, below=1.0)
        return {name: _band(curves, share) for name, curves in self.regret.items()}

    def to_pandas(self) -> Any:
        """A frame with a row for each learner, repeat and round: learner, repeat, round (from 1), regret."""
        pd = imported("pandas", "pandas", "to_pandas needs pandas")
        parts = []
        for name, curves in self.regret.items():
            repeats, rounds = curves.shape
            columns = {
                "learner": name,
                "repeat": np.repeat(np.arange(repeats), rounds),
                "round": np.tile(np.arange(1, rounds + 1), repeats),
                "regret": curves.ravel(),
            }
            parts.append(pd.DataFrame(columns))
        return pd.concat(parts, ignore_index=True)

    def _repr_html_(self) -> str:
        """The table and the curves, for notebooks."""
        repeats = {name: len(curves) for name, curves in self.regret.items()}
        return regret_fragment(self.bands(), repeats, {name: sum(failed) for name, failed in self.postponed.items()})

    def __repr__(self) -> str:
        width = max(len(name) for name in ["final regret", *self.regret])
        lines = [f"{'final regret':<{width}}  {'mean':>9}  {'std':>8}  {'s.e.':>8}  {'median':>9}"]
        for name, s in self.summary().items():
            lines.append(f"{name:<{width}}  {s.mean:9.2f}  {s.std:8.2f}  {s.standard_error:8.2f}  {s.median:9.2f}")
        lines += [f"{name}: {sum(failed)} fits failed" for name, failed in self.postponed.items() if any(failed)]
        return "\n".join(lines)


def _band(
    curves: Float[np.ndarray, "repeats rounds"], level: float
) -> tuple[Float[np.ndarray, " rounds"], Float[np.ndarray, " rounds"], Float[np.ndarray, " rounds"]]:
    n, mean = len(curves), curves.mean(axis=0)
    if n == 1:
        return mean, np.full(mean.shape, np.nan), np.full(mean.shape, np.nan)
    reach = float(scipy.special.stdtrit(n - 1, 0.5 + level / 2)) * curves.std(axis=0, ddof=1) / np.sqrt(n)
    return mean, mean - reach, mean + reach


def simulate(
    learners: Mapping[str, Learner[Any]] | Learner[Any],
    environment: Environment,
    *,
    rounds: int,
    repeats: int = 1,
    seed: int = 0,
    horizon_known: bool = True,
    keep_decisions: bool = False,
    chunk: int = 1024,
    workers: int | None = 1,
    progress: Callable[[int], None] | None = None,
) -> SimulationResult:
    """Run every learner on the same instances of an environment and count its regret.

    All learners of a repeat face the same contexts, graphs and noise. Each learner draws its arms from its own stream,
    which is named after it. A learner whose fit fails keeps its last good model for the next epoch; the result counts
    such fits.

    - `learners`: one learner, or a mapping from names to learners.
    - `environment`: where contexts, graphs and rewards come from.
    - `rounds`: how many rounds a repeat has.
    - `repeats`: how many instances are drawn, 1 by default.
    - `seed`: the same seed gives the same results; 0 by default.
    - `horizon_known`: whether learners are told the number of rounds; True by default.
    - `keep_decisions`: whether the result holds every decision; False by default. Those of learners that learn in every
      round are without the learner's own words.
    - `chunk`: how many rounds are held in memory at a time, 1024 by default; it changes no result.
    - `workers`: how many repeats run side by side, 1 by default, None for one a core. They run in processes if the
      learners can be pickled, otherwise in threads. The number changes no result.
    - `progress`: a function that is called with the number of a repeat when it ends; None (default): none.

    >>> from graphbandit import Falcon, environments
    >>> runs = simulate({"FALCON": Falcon()}, environments.paper(n_arms=5, graph="star"), rounds=8, repeats=2)
    >>> runs.regret["FALCON"].shape
    (2, 8)
    """
    named = {"learner": learners} if isinstance(learners, Learner) else learners
    if not isinstance(named, Mapping):
        raise SettingError(f"learners is {learners!r}; expected a learner, or a dictionary from names to learners")
    named = dict(named)
    if not named:
        raise SettingError("learners is empty; expected at least one")
    for name, learner in named.items():
        if not isinstance(learner, Learner):
            raise SettingError(f"learners[{name!r}] is {learner!r}; expected a learner")
        if not isinstance(name, str):
            raise SettingError(f"learners has the name {name!r}; expected a string")
    if not isinstance(environment, Environment):
        raise SettingError(f"environment is {environment!r}; expected an environment, such as environments.paper()")
    n = setting_integer("rounds", rounds, at_least=1)
    n_repeats = setting_integer("repeats", repeats, at_least=1)
    step = setting_integer("chunk", chunk, at_least=1)
    at_once = (os.cpu_count() or 1) if workers is None else setting_integer("workers", workers, at_least=1)
    setting_integer("seed", seed, at_least=0)
    setting_boolean("horizon_known", horizon_known)
    setting_boolean("keep_decisions", keep_decisions)
    if progress is not None and not callable(progress):
        raise SettingError(f"progress is {progress!r}; expected a callable that takes the number of a repeat")
    if environment.n_rounds is not None and n > environment.n_rounds:
        raise SettingError(f"rounds is {n}; expected at most the environment's {environment.n_rounds}")

    def run(repeat: int) -> dict[str, Run]:
        runs = run_repeat(
            list(named.items()),
            environment,
            rounds=n,
            repeat=repeat,
            seed=seed,
            horizon_known=horizon_known,
            keep_decisions=keep_decisions,
            chunk=step,
        )
        return dict(zip(named, runs, strict=True))

    def carried() -> object:
        return named, environment.instance(seed, 0).problem(None)

    done = side_by_side(run, n_repeats, workers=at_once, carried=carried, on_done=progress)
    return SimulationResult(
        regret={name: np.stack([runs[name].regret for runs in done]) for name in named},
        decisions={
            name: [Decisions.concatenate(runs[name].decisions) for runs in done] if keep_decisions else []
            for name in named
        },
        states={name: [runs[name].state for runs in done] for name in named},
        postponed={name: [runs[name].postponed for runs in done] for name in named},
        seed=seed,
    )


@dataclass
class Run:
    """What is kept of one learner on one instance; its loop stays behind, with rounds that nobody will learn from.

    `regret` is cumulative once the run has ended; `learnt` are the rounds after which the learner learnt, the ends of
    its epochs (none for those that learn in every round); `seconds` is the processor time that deciding and learning
    took. At the end, `state` is what the learner knows, and `postponed` the number of fits that failed and were put off
    to the next epoch.
    """

    regret: Float[np.ndarray, " rounds"]
    decisions: list[Decisions] = field(default_factory=list)
    learnt: list[int] = field(default_factory=list)
    seconds: float = 0.0
    state: Any = None
    postponed: int = 0

    def play(self, loop: Loop, rounds: Rounds, rng: np.random.Generator, keep_decisions: bool) -> Loop:
        """Decide and observe these rounds, learn whenever an epoch ends, and return the loop after them."""
        began = time.thread_time()
        shown, start, first = rounds.shown, 0, loop.rounds
        actions = np.empty(len(rounds), np.int64)
        while start < len(rounds):
            ready = loop.ready()
            if ready is not loop:
                self.learnt.append(ready.learnt)
            part = slice(start, min(start + ready.playable, len(rounds)))
            decisions, loop = ready.play(shown[part], rounds.graphs[part], rounds.rewards[part], rng)
            actions[part] = decisions.action
            if keep_decisions:
                self.decisions.append(decisions)
            start = part.stop
        self.seconds += time.thread_time() - began
        self.regret[first : loop.rounds] = rounds.best_means() - rounds.means[np.arange(len(rounds)), actions]
        return loop


def run_repeat(
    learners: Sequence[tuple[str, Learner[Any]]],
    environment: Environment,
    *,
    rounds: int,
    repeat: int,
    seed: int,
    horizon_known: bool = True,
    keep_decisions: bool = False,
    chunk: int = 1024,
) -> list[Run]:
    """One repeat of `simulate`; several of the learners may draw from the stream of the same name."""
    instance = environment.instance(seed, repeat)
    problem = instance.problem(rounds if horizon_known else None)
    loops = [Loop.start(learner, problem) for _, learner in learners]
    streams = [stream(seed, "simulate", name, repeat) for name, _ in learners]
    runs = [Run(np.empty(rounds)) for _ in learners]
    for first in range(0, rounds, chunk):
        part = instance.rounds(first, min(first + chunk, rounds))
        for i, run in enumerate(runs):
            loops[i] = run.play(loops[i], part, streams[i], keep_decisions)
    for run, loop in zip(runs, loops, strict=True):
        np.cumsum(run.regret, out=run.regret)
        run.state, run.postponed = loop.state, loop.postponed
    return runs
