"""What the theory promises: the paper's regret bounds, and the quantities of a problem that they are made of.

Every bound here is an order of growth: the paper gives it up to a constant that it does not work out, and here that
constant is 1. So compare shapes and ratios (twice the arms, four times the rounds), not levels. The bounds are for
rewards in [0, 1], a class that contains the truth, and graphs with all self-loops; alpha(G) bounds the exploration
sets of AdaCB.G on undirected graphs only.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import contexts_array, first_not_finite, setting_array, setting_integer, setting_number
from graphbandit.base.public_names import listing
from graphbandit.base.shapes import Float, Int, Shaped
from graphbandit.errors import InputError, SettingError
from graphbandit.function_classes.finite_base import FiniteFunctionClass

__all__ = [
    "DisagreementCoefficient",
    "context_gaps",
    "disagreement_coefficient",
    "gap_dependent_bound",
    "minimax_bound",
    "minimax_lower_bound",
    "uniform_gap",
]

Numbers = TypeVar("Numbers", float, Shaped[np.ndarray, "..."])
"""A number or an array of numbers; the result is of the same kind."""

VALUES_AT_A_TIME = 2**22
"""How many values f(x, a) are held at once: 32 MB."""

SLACK = 1e-9
"""The relative rounding error up to which theta does not count as increasing."""


def minimax_bound(
    *, n_arms: int, horizon: Numbers, mean_independence_number: float, log_size: float, delta: float = 0.1
) -> Numbers:
    """Theorem 3.2, up to the constant: sqrt( E[alpha(G)] T log( |F| log T log(K T) / delta ) ).

    It holds with probability 1 - delta. The inner logarithms, log T and log(K T), count as 1 where they are smaller,
    which is at T = 1 and 2 only, so nothing is negative.

    - `n_arms`: K.
    - `horizon`: T; an array of them gives a curve.
    - `mean_independence_number`: E[alpha(G)].
    - `log_size`: log |F|; it may be large, because |F| itself is never computed.
    - `delta`: 0.1 by default.

    >>> few = minimax_bound(horizon=2**11, mean_independence_number=5, log_size=math.log(50), n_arms=100)
    >>> many = minimax_bound(horizon=2**11, mean_independence_number=100, log_size=math.log(50), n_arms=100)
    >>> round(few, 1), round(many, 1)
    (331.8, 1483.8)
    """
    T = _horizon_array(horizon)
    K = setting_integer("n_arms", n_arms, at_least=1)
    alpha = _independence("mean_independence_number", mean_independence_number)
    if alpha > K:
        raise SettingError(f"mean_independence_number is {mean_independence_number!r}; expected at most n_arms, {K}")
    inner = np.log(_log(T)) + np.log(np.maximum(math.log(K) + np.log(T), 1.0))
    return _same_kind(horizon, np.sqrt(alpha * T * (_log_size(log_size) + inner - math.log(_delta(delta)))))


def minimax_lower_bound(*, horizon: Numbers, independence_number: float, log_size: float) -> Numbers:
    """The least worst-case regret of any learner, up to the constant: sqrt( alpha(G) T log |F| ), section 3.2.

    This is for one graph that stays the same, with the worst class of that size and the worst truth in it; an easy
    instance can cost far less.

    - `horizon`: T; an array of them gives a curve.
    - `independence_number`: alpha(G).
    - `log_size`: log |F|.

    >>> round(minimax_lower_bound(horizon=2**11, independence_number=5, log_size=math.log(50)), 1)
    200.1
    """
    T = _horizon_array(horizon)
    return _same_kind(
        horizon, np.sqrt(_independence("independence_number", independence_number) * T * _log_size(log_size))
    )


def uniform_gap(means: "npt.ArrayLike") -> float:
    """Delta of the uniform gap assumption (Assumption 2.2): the smallest of `context_gaps`, infinite for one arm.

    At 0 some context has two best arms, and the assumption does not hold.

    - `means`: f*(x, a), with a row for each context and a column for each arm.

    >>> uniform_gap([[0.9, 0.1, 0.5], [0.25, 0.5, 0.0]])
    0.25
    """
    return float(context_gaps(means).min())


def context_gaps(means: "npt.ArrayLike") -> Float[np.ndarray, " n"]:
    """The gap between the best arm and the second best: min over a != best of f*(x, best) - f*(x, a).

    With one arm the gap is infinite.

    - `means`: f*(x, a), with a row for each context and a column for each arm.

    >>> context_gaps([[1.0, 0.0, 0.5], [0.25, 0.5, 0.0]])
    array([0.5 , 0.25])
    """
    try:
        array = np.asarray(means, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("means is not an array of numbers; expected an array of shape (n, arms)") from None
    if array.ndim != 2 or not array.size:
        raise InputError(f"means has shape {array.shape}; expected (n, arms), at least one of each")
    if not np.isfinite(array).all():
        raise InputError(f"means has {first_not_finite(array)}; expected finite numbers")
    if array.shape[1] == 1:
        return np.full(len(array), np.inf)
    ordered = np.partition(array, -2, axis=1)
    return np.asarray(ordered[:, -1] - ordered[:, -2])


@dataclass(frozen=True, kw_only=True, eq=False)
class DisagreementCoefficient:
    """theta(F, .), the policy disagreement coefficient of equation (3), for finitely many functions and contexts.

    theta(F, eps0) = sup over eps >= eps0 of P(some f in F_eps has pi_f(x) != pi_f*(x)) / eps, where pi_f(x) is f's best
    arm at x and F_eps = { f in F : P(pi_f(x) != pi_f*(x)) <= eps }.

    - `distances`: eps_1 < .. < eps_s, the different values above 0 that P(pi_f != pi_f*) takes in F.
    - `masses`: D_1 <= .. <= D_s, D_i the probability that some function no farther than eps_i disagrees.

    Between two distances F_eps stays as it is and 1 / eps falls, so that the supremum is taken at a distance or at eps0
    itself:

        theta(F, eps0) = max over i of D_i / max(eps0, eps_i),

    continuous, never increasing, flat below eps_1, 0 if there is no distance at all, and at most 1 / eps0.

    >>> theta = DisagreementCoefficient(distances=[0.25, 0.5], masses=[0.75, 0.75])
    >>> theta(0.0), theta(0.25), theta(0.5)
    (3.0, 3.0, 1.5)
    """

    distances: Float[np.ndarray, " steps"]
    masses: Float[np.ndarray, " steps"]

    def __init__(self, *, distances: "npt.ArrayLike", masses: "npt.ArrayLike") -> None:
        eps = _any_length("distances", distances)
        mass = _any_length("masses", masses)
        if eps.shape != mass.shape:
            raise SettingError(f"masses has shape {mass.shape}; expected {eps.shape}, one for each distance")
        if (np.diff(eps, prepend=0.0) <= 0).any() or (eps > 1).any():
            raise SettingError(f"distances is {eps}; expected increasing numbers above 0, none above 1")
        if (np.diff(mass, prepend=0.0) < 0).any() or (mass < eps).any() or (mass > 1).any():
            raise SettingError(f"masses is {mass}; expected numbers that never fall, from their distances to 1")
        object.__setattr__(self, "distances", eps)
        object.__setattr__(self, "masses", mass)

    def __call__(self, epsilon0: Numbers) -> Numbers:
        """theta(F, epsilon0), exact, for one number or an array of them; its limit at epsilon0 = 0."""
        try:
            eps = np.asarray(epsilon0, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"epsilon0 is {epsilon0!r}; expected finite numbers of at least 0") from None
        if not np.isfinite(eps).all() or (eps < 0).any():
            raise InputError(f"epsilon0 is {epsilon0!r}; expected finite numbers of at least 0")
        farther = np.append(np.maximum.accumulate((self.masses / self.distances)[::-1])[::-1], 0.0)
        reached = np.searchsorted(self.distances, eps, side="right")
        here = np.append(0.0, self.masses)[reached] / np.where(reached > 0, eps, 1.0)
        return _same_kind(epsilon0, np.maximum(here, farther[reached]))


def disagreement_coefficient(
    function_class: FiniteFunctionClass, contexts: "npt.ArrayLike", truth: int
) -> DisagreementCoefficient:
    """theta(F, .) of equation (3) for a finite class.

    The answer is exact for the distribution in which each row of `contexts` is as likely as any other; for contexts
    drawn from another distribution it is an estimate. A function's best arm is the lowest one on ties. A byte is kept
    for every pair of a context and a function.

    - `function_class`: F.
    - `contexts`: one row each.
    - `truth`: the number of f* in F.

    >>> from graphbandit.function_classes import FiniteClass
    >>> thresholds = FiniteClass(lambda x: np.stack([x >= [1, 2, 3], x < [1, 2, 3]], axis=2), n_functions=3, n_arms=2)
    >>> theta = disagreement_coefficient(thresholds, np.array([[0.0], [1.0], [2.0], [3.0]]), truth=1)
    >>> theta.distances, theta.masses
    (array([0.25]), array([0.5]))
    >>> theta(0.25), theta(1.0)
    (2.0, 0.5)
    """
    if not isinstance(function_class, FiniteFunctionClass):
        raise InputError(f"function_class is {function_class!r}; expected a finite class, such as FiniteClass")
    index = setting_integer("truth", truth, at_least=0)
    if index >= function_class.n_functions:
        raise SettingError(f"truth is {truth!r}; expected a function from 0 to {function_class.n_functions - 1}")
    rows = contexts_array(contexts)
    function_class.check_contexts(rows)
    n = len(rows)
    if not n:
        raise InputError(f"contexts have shape {rows.shape}; expected at least one row")

    disagrees = np.empty((n, function_class.n_functions), dtype=np.bool_)
    block = max(1, VALUES_AT_A_TIME // (function_class.n_functions * function_class.n_arms))
    for start in range(0, n, block):
        best = function_class.values(rows[start : start + block]).argmax(axis=2)
        disagrees[start : start + block] = best != best[:, [index]]

    # In counts of contexts: how far each function is from f*, and at which distance a context is first disputed.
    far = disagrees.sum(axis=0)
    by_distance = np.argsort(far, kind="stable")
    ranked = disagrees[:, by_distance]
    disputed: Int[np.ndarray, " some"] = far[by_distance][ranked.argmax(axis=1)[ranked.any(axis=1)]]
    steps = np.unique(far[far > 0])
    masses = np.searchsorted(np.sort(disputed), steps, side="right")
    return DisagreementCoefficient(distances=steps / n, masses=masses / n)


def gap_dependent_bound(
    *,
    horizon: Numbers,
    gap: float,
    mean_independence_number: float,
    log_size: float,
    disagreement: DisagreementCoefficient | Callable[[float], float],
    delta: float = 0.1,
) -> Numbers:
    """Theorem 3.1, up to the constant, on an instance whose uniform gap is Delta.

    min over eps > 0 of max{ eps Delta T, theta(F, eps) E[alpha(G)] log(T^2 |F| / delta) log(T) / Delta }

    It holds with probability 1 - delta. log T counts as 1 where it is smaller, at T = 1 and 2.

    The first term rises with eps and the second never does, so the least maximum is where they meet: in closed form for
    a `DisagreementCoefficient`, by bisection to rounding for any other callable. If theta is 0 throughout, so is the
    bound; the paper's proof has a further term of order log T log log T, which Theorem 3.1 leaves out.

    - `horizon`: T; an array of them gives a curve.
    - `gap`: Delta, see `uniform_gap`.
    - `mean_independence_number`: E[alpha(G)].
    - `log_size`: log |F|.
    - `disagreement`: theta; a callable must be finite for every eps > 0 and never increase.
    - `delta`: 0.1 by default.

    >>> theta = DisagreementCoefficient(distances=[0.25, 0.5], masses=[0.75, 0.75])
    >>> sizes = {"mean_independence_number": 5.0, "log_size": math.log(50), "gap": 0.5}
    >>> round(gap_dependent_bound(horizon=2**20, disagreement=theta, **sizes), 1)
    14115.5
    >>> round(gap_dependent_bound(horizon=2**20, disagreement=lambda eps: 3.0, **sizes), 1)
    14115.5
    """
    T = _horizon_array(horizon)
    Delta = setting_number("gap", gap, above=0.0)
    alpha = _independence("mean_independence_number", mean_independence_number)
    logarithm = 2.0 * np.log(T) + _log_size(log_size) - math.log(_delta(delta))
    if not callable(disagreement):
        raise SettingError(f"disagreement is {disagreement!r}; expected a callable from epsilon to theta")
    ratios = alpha * logarithm * _log(T) / (Delta**2 * T)
    eps = np.array([_meeting_point(disagreement, float(ratio)) for ratio in ratios.ravel()])
    return _same_kind(horizon, eps.reshape(T.shape) * Delta * T)


def _meeting_point(theta: DisagreementCoefficient | Callable[[float], float], ratio: float) -> float:
    """The smallest eps from which on eps >= ratio theta(eps); 0 if this holds everywhere."""
    if isinstance(theta, DisagreementCoefficient):
        # The largest of the points at which eps max(eps, eps_i) = ratio D_i, as theta is the maximum of these curves.
        target = ratio * theta.masses
        return float(np.minimum(target / theta.distances, np.sqrt(target)).max(initial=0.0))
    # Bisection of log2 eps, until no number lies between the two ends.
    lower, upper = -1000.0, 1000.0
    theta_lower, theta_upper = math.inf, 0.0
    while lower < (middle := (lower + upper) / 2.0) < upper:
        eps = 2.0**middle
        value = setting_number(f"disagreement at {eps!r}", theta(eps), at_least=0.0)
        if not theta_upper * (1.0 - SLACK) <= value <= theta_lower * (1.0 + SLACK):
            raise SettingError(f"disagreement gives {value!r} at {eps!r}; expected a function that never increases")
        if eps < ratio * value:
            lower, theta_lower = middle, value
        else:
            upper, theta_upper = middle, value
    return 2.0**upper if lower > -1000.0 else 0.0


def _log(T: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """log T, and 1 where that is smaller."""
    return np.asarray(np.maximum(np.log(T), 1.0))


def _any_length(name: str, value: npt.ArrayLike) -> Float[np.ndarray, " steps"]:
    """`value` as a read-only array of finite numbers that may be empty."""
    empty = value.shape == (0,) if isinstance(value, np.ndarray) else isinstance(value, list | tuple) and not value
    return setting_array(name, value, (0,) if empty else ("steps",))


def _horizon_array(horizon: object) -> Float[np.ndarray, "..."]:
    expected = "expected a finite number of at least 1, or an array of them"
    try:
        T = np.asarray(horizon, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SettingError(f"horizon is {horizon!r}; {expected}") from None
    if isinstance(horizon, bool | str) or not np.isfinite(T).all() or (T < 1).any():
        raise SettingError(f"horizon is {horizon!r}; {expected}")
    return T


def _same_kind(given: Numbers, values: npt.ArrayLike) -> Numbers:
    """A float for a number, an array for an array."""
    array = np.asarray(values)
    return cast(Numbers, float(array) if np.ndim(given) == 0 else array)


def _independence(name: str, value: float) -> float:
    return setting_number(name, value, at_least=1.0)


def _log_size(value: float) -> float:
    return setting_number("log_size", value, at_least=0.0)


def _delta(value: float) -> float:
    return setting_number("delta", value, above=0.0, below=1.0)


__dir__ = listing(globals())
