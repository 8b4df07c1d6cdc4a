"""Environments of Gymnasium: ours as one of theirs, and theirs as one of ours.

A step is a round: the action is an arm, the reward that of the arm played, and `info` has what the play revealed. The
next round does not depend on the action, which is what makes it a bandit.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import setting_integer
from graphbandit.base.extras import imported
from graphbandit.base.public_names import listing
from graphbandit.base.shapes import Float
from graphbandit.environments.arrays import ArrayEnvironment, from_arrays
from graphbandit.environments.base import Environment, Instance, Rounds
from graphbandit.environments.blocks import BLOCK
from graphbandit.errors import InputError, SettingError
from graphbandit.function_classes.base import FunctionClass
from graphbandit.graphs import FeedbackGraph, FeedbackGraphs, bandit

__all__ = ["from_gymnasium", "to_gymnasium"]

if TYPE_CHECKING:
    import gymnasium


def to_gymnasium(environment: Environment, *, rounds: int = 1000, seed: int = 0) -> gymnasium.Env[Any, Any]:
    """An environment of ours as a `gymnasium.Env`.

    Observations are dictionaries: `context`, `graph` (K, K) of 0 and 1, where ``graph[j, a]`` says that playing j
    reveals a (all 0 where it is hidden, or known by its probabilities alone), and `available` (K,). After a step `info`
    has `revealed` (K,), the `regret` of the round, and `rewards`, from each revealed arm to its reward, as
    `Bandit.observe` takes them. An episode is `rounds` rounds and ends truncated.

    - `environment`: any environment of ours.
    - `rounds`: of an episode, 1,000 by default.
    - `seed`: of the environment until `reset(seed=...)` names another, 0 by default; each reset without one is the next
      repeat.
    """
    package = imported("gymnasium", "gymnasium")
    if not isinstance(environment, Environment):
        raise SettingError(f"environment is a {type(environment).__name__}; expected an environment of graphbandit")
    setting_integer("rounds", rounds, at_least=1, at_most=environment.n_rounds)
    made: gymnasium.Env[Any, Any] = _made(package)(environment, rounds, setting_integer("seed", seed, at_least=0))
    return made


def from_gymnasium(
    env: Any,
    *,
    rounds: int,
    graphs: FeedbackGraph | FeedbackGraphs | None = None,
    noise: float | None = None,
    seed: int = 0,
    function_class: FunctionClass[Any, Any, Any] | None = None,
) -> ArrayEnvironment:
    """Rounds of a `gymnasium.Env` as an environment of ours, in memory.

    It must be a bandit: actions are `Discrete`, and the next observation does not depend on the action. In each round
    every arm is tried on a copy of the environment, which shows all rewards. After an episode the next one begins.

    - `env`: the environment; it must be possible to copy it (`copy.deepcopy`). It is not changed itself.
    - `rounds`: how many rounds to take.
    - `graphs`: what plays reveal; None (default): the `graph` of observations that have one, else the arm played.
    - `seed`: of the first reset, 0 by default.
    - `function_class`, `noise`: what learners are told; None (default): nothing.
    """
    package = imported("gymnasium", "gymnasium")
    setting_integer("rounds", rounds, at_least=1)
    if not isinstance(env, package.Env):
        raise InputError(f"env is a {type(env).__name__}; expected a gymnasium.Env")
    space = env.action_space
    if not isinstance(space, package.spaces.Discrete):
        raise InputError(f"the actions of env are {space}; expected Discrete")
    arms = [int(space.start) + arm for arm in range(int(space.n))]
    world = copy.deepcopy(env)
    shown, _ = world.reset(seed=seed)
    contexts, rewards, own, masks = [], np.empty((rounds, len(arms))), [], []
    for t in range(rounds):
        context, graph, available = _observed(shown, len(arms))
        contexts.append(context)
        own.append(graph)
        masks.append(available)
        follows = None
        for place, arm in enumerate(arms):
            if available is not None and not available[place]:
                rewards[t, place] = 0.0  # nobody can play it
                continue
            tried = copy.deepcopy(world)
            after, reward, terminated, truncated, _ = tried.step(arm)
            rewards[t, place] = reward
            if follows is not None and not (terminated or truncated or _same(follows[1], after)):
                raise InputError(
                    f"in round {t} the next observation depends on the action; expected a bandit, in which it does not"
                )
            follows = (tried, after, bool(terminated or truncated))
        assert follows is not None  # some arm is available
        world, shown, ended = follows
        if ended:
            shown, _ = world.reset()
    if graphs is None:
        known = [graph for graph in own if graph is not None]
        graphs = FeedbackGraphs.from_dense(np.stack(known), require_loops=False) if len(known) == rounds else None
    return from_arrays(
        contexts=np.stack(contexts),
        graphs=bandit(len(arms)) if graphs is None else graphs,
        rewards=rewards,
        available=np.stack(masks) if all(mask is not None for mask in masks) else None,
        function_class=function_class,
        noise=noise,
    )


def _observed(shown: Any, n_arms: int) -> tuple[Float[np.ndarray, ...], Any, Any]:
    """The context, graph and arms on offer of an observation; a plain one is a context."""
    if not isinstance(shown, dict):
        return np.asarray(shown, dtype=np.float64), None, None
    if "context" not in shown:
        raise InputError(f"the observation has {', '.join(map(str, shown))}; expected an array, or a dict with context")
    graph, available = shown.get("graph"), shown.get("available")
    if graph is not None:
        graph = np.asarray(graph, dtype=np.bool_)
        if graph.shape != (n_arms, n_arms):
            raise InputError(f"the graph of an observation has shape {graph.shape}; expected ({n_arms}, {n_arms})")
    return (
        np.asarray(shown["context"], dtype=np.float64),
        graph,
        None if available is None else np.asarray(available, dtype=np.bool_),
    )


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    return np.array_equal(np.asarray(one), np.asarray(other))


def _made(package: Any) -> Any:
    """The class, made when the package is loaded."""

    class GraphBanditEnv(package.Env):  # type: ignore[misc]
        """Rounds of an environment, one after the other."""

        metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

        def __init__(self, environment: Environment, rounds: int, seed: int) -> None:
            self.environment, self._rounds, self._seed, self._repeat = environment, rounds, seed, -1
            first = environment.instance(seed).rounds(0, 1)
            k, spaces = environment.n_arms, package.spaces
            self.action_space = spaces.Discrete(k)
            self.observation_space = spaces.Dict(
                {
                    "context": spaces.Box(-np.inf, np.inf, first.contexts.shape[1:], np.float64),
                    "graph": spaces.MultiBinary((k, k)),
                    "available": spaces.MultiBinary(k),
                }
            )
            self._instance: Instance | None = None

        def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
            """The first round of a repeat."""
            super().reset(seed=seed)
            if seed is not None:
                self._seed, self._repeat = seed, -1
            self._repeat += 1
            self._instance = self.environment.instance(self._seed, self._repeat)
            self._at = 0
            self._draw()
            return self._shown(), {}

        def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
            """Play an arm."""
            if self._instance is None or self._at >= self._rounds:
                raise SettingError("the episode has not begun or is over; expected reset() before step()")
            arm, i = int(action), self._at - self._first
            part = self._block
            if not self.action_space.contains(arm) or (part.available is not None and not part.available[i, arm]):
                raise InputError(f"action is {action!r}; expected an arm that is available")
            revealed = part.graphs[i : i + 1].revealed([arm])[0]
            info = {
                "revealed": revealed,
                "rewards": {a: float(part.rewards[i, a]) for a in np.flatnonzero(revealed).tolist()},
                "regret": float(part.best_means(slice(i, i + 1))[0] - part.means[i, arm]),
            }
            reward = float(part.rewards[i, arm])
            self._at += 1
            over = self._at >= self._rounds
            if not over and self._at >= self._first + len(part):
                self._draw()
            return self._last if over else self._shown(), reward, False, over, info

        def _draw(self) -> None:
            assert self._instance is not None
            self._first = self._at
            self._block: Rounds = self._instance.rounds(self._at, min(self._at + BLOCK, self._rounds))

        def _shown(self) -> dict[str, Any]:
            part, i, k = self._block, self._at - self._first, self.environment.n_arms
            known = part.shown.graphs
            graph: npt.NDArray[np.int8] = np.zeros((k, k), dtype=np.int8)
            if isinstance(known, FeedbackGraphs):
                graph = known[i].to_dense().astype(np.int8)
            available = np.ones(k, dtype=np.int8) if part.available is None else part.available[i].astype(np.int8)
            context = np.asarray(part.contexts[i], dtype=np.float64)
            self._last = {"context": context, "graph": graph, "available": available}
            return self._last

    return GraphBanditEnv


__dir__ = listing(globals())
