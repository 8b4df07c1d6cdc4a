"""What a learner asks of a function class F of mean-reward functions f(context, arm).

A class is a frozen value of settings. What it has seen is a separate `data` value, so nothing here ever changes
anything: `add` returns new data, `fit` a model, `version_space` the functions still plausible. The learner knows
nothing about which class it has, and the class nothing about epochs.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from graphbandit.base.array_types import ArmMasks, Contexts, RoundIndices, RoundsByArms
from graphbandit.base.declared import Declared, limits
from graphbandit.base.program_constants import ROW_LIMIT
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.errors import SettingError
from graphbandit.function_classes.scale import Scale
from graphbandit.rounds.observations import Observations

FIXED_NUMBER = (
    "every round brings the features of its arms, (n, arms, d), so their number is fixed; expected as many arms as may "
    "ever come, and available= for those that are there"
)
"""Why no arms can join."""

Data = TypeVar("Data")
Model = TypeVar("Model")
Space = TypeVar("Space")


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class Draws(Declared):
    """Plausible functions f_1 .. f_B with weights.

    - `members`: what `FunctionClass.draw_values` needs to evaluate them: indices, parameters or models.
    - `weights`: of the functions; they sum to one.
    """

    members: Any
    weights: Float[np.ndarray, " draws"] = field(metadata=limits(at_least=0.0, at_most=1.0))

    def __len__(self) -> int:
        return len(self.weights)


class Contest(NamedTuple):
    """The arms of some rounds whose gaps to the best are asked about.

    - `best`, `candidates`: of every round.
    - `noise`, `radius`: sigma, and the radius that the space was cut with.
    """

    best: RoundIndices
    candidates: ArmMasks
    noise: float
    radius: float


class Prospects(NamedTuple):
    """What a class says of some rounds, all of it at once.

    - `values`: fhat(x, a).
    - `candidates`: the arms that some function of the space calls best.
    - `chances`: P(a), the probability that an arm is the best on offer; None (default): the model does not give it.
    - `deviations`: what `FunctionClass.deviations` finds; None (default): it is yet to be asked, or there is no choice.
    """

    values: RoundsByArms
    candidates: ArmMasks
    chances: RoundsByArms | None = None
    deviations: RoundsByArms | None = None


def some_choice(candidates: ArmMasks) -> bool:
    """Whether some round has more than one candidate, and not too many to doubt each: else deviations do not count."""
    rounds, n_arms = candidates.shape
    if n_arms <= ROW_LIMIT:
        return bool(np.count_nonzero(candidates) > rounds)
    counts = np.count_nonzero(candidates, axis=1)
    return bool(((counts > 1) & (counts <= ROW_LIMIT)).any())


Predictor = Callable[[Contexts], RoundsByArms]
"""`FunctionClass.predict` of one model."""

Drawer = Callable[[Contexts], Float[np.ndarray, "n draws arms"]]
"""`FunctionClass.draw_values` of the same draws."""

Prospector = Callable[[Contexts, ArmMasks | None], Prospects]
"""`FunctionClass.prospects` of one model and space."""


class FunctionClass(ABC, Generic[Data, Model, Space]):
    """A set F of functions from (context, arm) to mean reward, with its least-squares oracle.

    `predict`, `draw_values` and `prospects` are asked for in every round of an epoch, with the same model, draws and
    space. `predictor`, `drawer` and `prospector` give them as functions of the contexts; classes of the package do a
    part of the work there, once.

    What the methods take:

    - `n_arms`, `arm_features`: the number of arms, and the features of all arms, if arms have features.
    - `observations`: the rewards to add.
    - `data`: what the class keeps of the observations so far.
    - `model`: the estimate fhat, or what stands for it.
    - `radius`: how much larger than the smallest loss the loss of a plausible function may be.
    - `space`: the version space.
    - `contexts`: one row a round.
    - `available`: the arms on offer in each round; None (default): all.
    - `best`: the arm of each round that others are compared with.
    - `contest`: the arms whose gaps to the best are asked about.
    - `noise`: sigma, the sub-Gaussian scale of the rewards; None: not known.
    - `delta`: the probability of failure.
    - `draws`: functions that `draws` returned.
    - `count`: the largest number of functions to draw.
    - `rng`: draws them.
    """

    predict_checks: bool = False
    """Whether `predict` makes all of `check_contexts` itself (default: no)."""

    evaluates_all: bool = False
    """Whether all contexts that pass `check_contexts` can be evaluated (default: no, they are tried)."""

    weighs: bool = False
    """Whether `posterior` weighs all functions, even without data, and `prospects` returns P(a) (default: no)."""

    draws_fit: bool = False
    """Whether `drawer` always gives arrays as kernels take them (default: no, they are checked)."""

    @property
    @abstractmethod
    def n_arms(self) -> int:
        """K."""

    @property
    @abstractmethod
    def log_size(self) -> float:
        """log |F|, or for an infinite class its metric entropy."""

    def grown(self, n_arms: int, arm_features: Float[np.ndarray, "arms d"] | None) -> "FunctionClass[Any, Any, Any]":
        """This class with more arms."""
        raise SettingError(
            f"{type(self).__name__} cannot take more arms; expected a linear, generalised linear, kernel or regressor "
            "class, or a new bandit that learns from past rows"
        )

    def grown_data(self, data: Data) -> Data:
        """Convert the data of the same class with fewer arms; nothing is known about the new arms."""
        raise SettingError(f"{type(self).__name__} cannot take over data of fewer arms; expected a new bandit")

    def check_own_arms(self) -> None:
        """Raise SettingError unless every round may bring its own arms: all parameters are shared between arms."""
        raise SettingError(
            f"function_class is a {type(self).__name__}, which knows arms by their numbers; expected a class whose "
            "arms share all parameters, because every round has different arms"
        )

    @abstractmethod
    def check_contexts(self, contexts: Contexts) -> None:
        """Raise InputError unless these contexts have the shape this class expects."""

    def check_data(self, data: Data) -> None:
        """Raise InputError unless the data, which may come from a file, fits this class (default: not checked)."""
        return

    def check_draws(self, draws: Draws) -> None:
        """Raise InputError unless `draw_values` can take these draws (default: not checked, it raises itself)."""
        return

    @abstractmethod
    def empty(self, half_life: float | None = None) -> Data:
        """Data without observations; with a half-life, observations that are that many rounds older weigh half."""

    @abstractmethod
    def add(self, data: Data, observations: Observations) -> Data:
        """The data with these observations added."""

    @abstractmethod
    def n_observed(self, data: Data) -> int:
        """How many rewards the data holds."""

    @abstractmethod
    def fit(self, data: Data) -> Model:
        """The offline least-squares oracle: argmin over f in F of sum (f(x, a) - y)^2."""

    @abstractmethod
    def predict(self, model: Model, contexts: Contexts) -> RoundsByArms:
        """The model's mean reward of every arm."""

    def predictor(self, model: Model) -> Predictor:
        """`predict` of this model, for many calls."""
        return partial(self.predict, model)

    def stays_within(self, model: Model) -> bool:
        """Whether `predict` and `prospects` of this model always give arrays of the right shape with finite values up
        to `LARGEST`, at all contexts that pass `check_contexts` (default: no, they are checked).
        """
        return False

    @abstractmethod
    def smallest_loss(self, data: Data) -> float:
        """min over f in F of L(f), L(f) = sum (f(x, a) - y)^2."""

    @abstractmethod
    def sharp_radius(self, data: Data, noise: float, delta: float) -> float:
        """A radius at which f* stays in the version space with probability 1 - delta, at all times at once."""

    @abstractmethod
    def version_space(self, data: Data, radius: float) -> Space:
        """F_m = { f in F : L(f) <= min L + radius }, equation (1) of the paper; all of F at radius infinity."""

    @abstractmethod
    def candidates(self, space: Space, contexts: Contexts, available: ArmMasks | None = None) -> ArmMasks:
        """A(x; F_m): the arms that some function of the space calls best among those available."""

    def outlook(
        self, model: Model, space: Space, contexts: Contexts, available: ArmMasks | None = None
    ) -> tuple[RoundsByArms, ArmMasks]:
        """`predict` and `candidates` in one call: a decision needs both, and a class may share work between them."""
        self.check_contexts(contexts)
        return self.predict(model, contexts), self.candidates(space, contexts, available)

    def posterior(self, data: Data, noise: float | None) -> Model:
        """The mean of all functions, weighed by how plausible they are; the fit if a class does not weigh them."""
        return self.fit(data)

    def prospects(
        self,
        model: Model,
        space: Space,
        contexts: Contexts,
        available: ArmMasks | None = None,
        noise: float | None = None,
    ) -> Prospects:
        """`outlook`, and what is known beside it of which arm is best.

        - `noise`: sigma, where deviations will be asked for, so that a class may find them in the same pass; None
          (default): they will not.
        """
        return self.prospector(model, space, noise)(contexts, available)

    def prospector(self, model: Model, space: Space, noise: float | None) -> Prospector:
        """`prospects` of this model and space, for many calls (default: `outlook`, and no more)."""
        return lambda contexts, available: Prospects(*self.outlook(model, space, contexts, available))

    @abstractmethod
    def widths(self, space: Space, model: Model, contexts: Contexts, best: RoundIndices) -> RoundsByArms:
        """w(a) = sup over f in the space of |(f - fhat)(x, a) - (f - fhat)(x, best)|."""

    def deviations(self, space: Space, model: Model, contexts: Contexts, contest: Contest) -> RoundsByArms:
        """About a standard deviation of fhat(x, best) - fhat(x, a) for every candidate a; elsewhere it may be 0.

        That is w(a) sigma / sqrt(radius), the width that a space of radius sigma^2 would have.
        """
        return self.widths(space, model, contexts, contest.best) * (contest.noise / math.sqrt(contest.radius))

    @abstractmethod
    def bounds(self, space: Space, contexts: Contexts) -> tuple[RoundsByArms, RoundsByArms]:
        """Lower and upper bounds: the infimum and the supremum of f(x, a) over f in the space."""

    def natural_scale(self, data: Data) -> Scale:
        """The noise that the data shows, in the units of the rewards, and how much there is to learn.

        Unlike the noise of a confidence radius, this does not err on the high side.
        """
        count = self.n_observed(data)
        noise = math.sqrt(self.smallest_loss(data) / count) if count else 0.0
        return Scale(noise=noise, complexity=max(self.log_size, 1.0))

    def unit(self, data: Data) -> float:
        """The size of a reward that counts as 1 in formulas made for rewards in [0, 1].

        1 for a class that fixes its own units; the span of the rewards seen where the class holds a + b f with every
        f (1 while they are all the same); the largest factor where rewards are factor times outcome.
        """
        return 1.0

    def nested(self, before: Space, after: Space) -> Space:
        """The functions of a version space that were also in an earlier one, if the class can tell; otherwise all.

        - `before`, `after`: the version spaces of two epochs.

        If no function is in both, return `after`: the truth was lost before, or is not in the class.
        """
        return after

    @abstractmethod
    def draws(self, data: Data, *, noise: float | None, count: int, rng: np.random.Generator) -> Draws:
        """Plausible functions with their weights given this data; at most `count` of them where F is infinite.

        Where `noise` is None, the draws allow for all plausible values of it.
        """

    @abstractmethod
    def draw_values(self, draws: Draws, contexts: Contexts) -> Float[np.ndarray, "n draws arms"]:
        """f_b(x, a) for every context, draw and arm."""

    def drawer(self, draws: Draws) -> Drawer:
        """`draw_values` of these draws, for many calls."""
        return partial(self.draw_values, draws)
