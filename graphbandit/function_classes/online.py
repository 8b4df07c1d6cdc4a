"""Online oracles of linear regression: they predict, see what is revealed, and learn, round by round.

Contexts of shape (n, d) have a parameter theta_a for each arm, f(x, a) = x'theta_a; contexts of shape (n, K, d), a
vector for each arm, share one, f(x, a) = x_a'theta. With the observations (x, y) so far, lam = `regularisation` and
A = lam I + sum x x':

    "ridge"   x'theta,                      theta = A^-1 sum y x
    "vaw"     x'theta / (1 + x' A^-1 x)     the forecaster of Vovk, Azoury and Warmuth: x counts before its y is seen
    "ogd"     x'theta,                      theta moved by step_factor u / sqrt(sum of squared gradients) against each
                                            gradient, u the span of the rewards seen, so that units do not matter

For one observation at a time, the regret of "vaw" against the best theta is at most lam |theta|^2 +
d Y^2 log(1 + n / (lam d)) for |y| <= Y, |x| <= 1. All that one round reveals is predicted before any of it is learnt.
"""

import math
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from graphbandit.base.array_types import Contexts, RoundsByArms
from graphbandit.base.checks import check_features, contexts_array, setting_choice, setting_integer, setting_number
from graphbandit.base.declared import limits
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.errors import InputError
from graphbandit.rounds.observations import Observations

Oracle = Literal["ridge", "vaw", "ogd"]

ORACLES: tuple[Oracle, ...] = get_args(Oracle)


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class OnlineState:
    """What an oracle has learnt: theta, A^-1 (of no size for "ogd"), and the sums of squared gradients.

    Rewards are counted from the first one seen, `shift`; `lowest` and `highest` are the span of all.
    """

    parameters: Float[np.ndarray, "blocks d"]
    inverses: Float[np.ndarray, "blocks d_or_none d_or_none"]
    squares: Float[np.ndarray, " blocks"] = field(metadata=limits(at_least=0.0))
    shift: float
    lowest: float
    highest: float

    @property
    def unit(self) -> float:
        """The span of the rewards seen, 1 while they are all the same."""
        span = self.highest - self.lowest
        return span if span > 0.0 else 1.0


@savable
@dataclass(frozen=True, kw_only=True)
class OnlineLinear:
    """A linear regression that is updated after every observation.

    `start`, `predict` and `update` take states and return states and values; the class holds settings only.

    - `oracle`: "ridge" regression, "vaw" (the forecaster of Vovk, Azoury and Warmuth) or "ogd" (online gradient
      descent).
    - `n_arms`: K.
    - `regularisation`: lam of "ridge" and "vaw", 1 by default.
    - `step_factor`: the factor of the steps of "ogd", 1 by default.

    What the methods take:

    - `state`: what is known; None before the first observation.
    - `contexts`: one row a round.
    - `observations`: the rewards to learn from.

    >>> oracle = OnlineLinear(oracle="vaw", n_arms=1)
    >>> seen = Observations.from_masks(np.array([[1.0], [1.0]]), np.array([[True], [True]]), np.array([[1.0], [3.0]]))
    >>> state = oracle.update(None, seen)
    >>> oracle.predict(state, np.array([[1.0]]))  # 1 + (0 + 2) / (1 + 1 + 1 + 1): A counts lam, both x and the new one
    array([[1.5]])
    """

    oracle: Oracle
    n_arms: int
    regularisation: float = 1.0
    step_factor: float = 1.0

    def __post_init__(self) -> None:
        setting_choice("oracle", self.oracle, ORACLES)
        setting_integer("n_arms", self.n_arms, at_least=1)
        setting_number("regularisation", self.regularisation, above=0.0)
        setting_number("step_factor", self.step_factor, above=0.0)

    def start(self, contexts: Contexts) -> OnlineState:
        """The state before any observation, of the size that these contexts ask for."""
        features = self._features(contexts)
        blocks, size = (1 if contexts.ndim == 3 else self.n_arms), features.shape[2]
        width = 0 if self.oracle == "ogd" else size
        inverses = np.tile(np.eye(width) / self.regularisation, (blocks, 1, 1))
        return OnlineState(
            parameters=np.zeros((blocks, size)),
            inverses=inverses,
            squares=np.zeros(blocks),
            shift=0.0,
            lowest=math.inf,
            highest=-math.inf,
        )

    def predict(self, state: OnlineState | None, contexts: Contexts) -> RoundsByArms:
        """f(x, a) for every context and arm; 0 before any observation."""
        from graphbandit.kernels.function_classes import online

        features = self._features(contexts)
        values = np.zeros((len(contexts), self.n_arms))
        if state is not None:
            self._check_size(state, contexts, features)
            online.predict(features, state.parameters, state.inverses, self.oracle == "vaw", values)
            values += state.shift
        return values

    def update(self, state: OnlineState | None, observations: Observations) -> OnlineState:
        """The state after these observations, one after the other."""
        from graphbandit.kernels.function_classes import online

        observations.check(self.n_arms)
        old = self.start(observations.contexts) if state is None else state
        features = self._features(observations.contexts)
        self._check_size(old, observations.contexts, features)
        rewards = observations.rewards
        new = OnlineState(
            parameters=old.parameters.copy(),
            inverses=old.inverses.copy(),
            squares=old.squares.copy(),
            shift=float(rewards[0]) if old.lowest == math.inf and len(rewards) else old.shift,
            lowest=float(rewards.min(initial=old.lowest)),
            highest=float(rewards.max(initial=old.highest)),
        )
        seen = (features, observations.rows, observations.arms, rewards - new.shift)
        if self.oracle == "ogd":
            online.update_gradient(*seen, self.step_factor * new.unit, new.parameters, new.squares)
        else:
            online.update_ridge(*seen, new.parameters, new.inverses)
        return new

    def _features(self, contexts: Contexts) -> Float[np.ndarray, "n arms_or_one d"]:
        array = np.array(contexts_array(contexts))
        check_features(array)
        if array.ndim == 2:
            return array[:, None, :]
        if array.ndim != 3 or array.shape[1] != self.n_arms:
            raise InputError(f"contexts have shape {array.shape}; expected (n, d) or (n, {self.n_arms}, d)")
        return array

    def _check_size(
        self, state: OnlineState, contexts: Contexts, features: Float[np.ndarray, "n arms_or_one d"]
    ) -> None:
        expected = (1 if contexts.ndim == 3 else self.n_arms, features.shape[2])
        if state.parameters.shape != expected:
            raise InputError(
                f"contexts have shape {contexts.shape}, for parameters of shape {expected}; "
                f"expected contexts as before, for parameters of shape {state.parameters.shape}"
            )
        blocks, size = expected if self.oracle != "ogd" else (expected[0], 0)
        if state.inverses.shape != (blocks, size, size) or len(state.squares) != blocks:
            raise InputError(
                f"the state has inverses of shape {state.inverses.shape} and {len(state.squares)} squares; expected "
                f"{(blocks, size, size)} and {blocks}, as {self.oracle!r} has them"
            )
