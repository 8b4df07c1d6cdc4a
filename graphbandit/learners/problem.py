"""What a learner is told before the first round, and how contexts become arrays."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import numpy as np

from graphbandit.base.arm_names import MOST_ARMS, ArmNames
from graphbandit.base.array_types import Contexts
from graphbandit.base.checks import LARGEST_SCALE, finite_contexts, numbers, optional_number, setting_integer
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Float
from graphbandit.errors import InputError, SettingError
from graphbandit.features import NOTHING, ArmFeatures, Encoder, Features, Tally, as_encoder, pair_features
from graphbandit.features.pair_features import Pairing
from graphbandit.function_classes.base import FunctionClass
from graphbandit.function_classes.generalized_linear import GeneralizedLinearClass
from graphbandit.function_classes.linear import LinearClass
from graphbandit.function_classes.named import ClassName, class_for


@savable
@dataclass(frozen=True, kw_only=True, init=False)
class Problem:
    """A bandit problem as its learner sees it.

    - `n_arms`: the number of arms; None (default): that of `arms`, or `capacity`.
    - `arms`: the names of the arms, or how many there are; None (default): `n_arms` of them, or `capacity`.
    - `features`: how contexts become arrays: `Features`, what `Features` takes, or a fitted scikit-learn transformer;
      None (default): contexts are arrays.
    - `arm_features`: a row of features for each arm: a frame, a mapping from arm to row, an array, or `ArmFeatures`;
      None (default): none. With `capacity`, how a row becomes numbers: what `features` takes, or `ArmFeatures` of other
      arms.
    - `noise`: the sub-Gaussian scale sigma of the rewards, at most 0.5 for rewards in [0, 1]; None (default): not
      known. Draws and gamma then take it from the data, and confidence radii use an estimate that errs on the high
      side.
    - `function_class`: the functions that may be the truth: a function class, or with features "linear", "logistic",
      "poisson", "kernel", or a class that is built with the right sizes. None (default): the learner names its own, or
      needs none.
    - `horizon`: the number of rounds T; None (default): a run without end.
    - `half_life`: for a world that changes, the number of rounds after which a reward counts half as much; None
      (default): all count the same. Learners that do not forget warn about it: those of every round, such as LinUCB and
      EXP3, online oracles, and explore-then-commit.
    - `longest_epoch`: the most rounds between two updates of a learner of epochs; None (default): it learns when an
      epoch ends.
    - `capacity`: the largest number of arms in a round, if every round brings its own arms with their features; it
      takes the place of `arms`. None (default): all rounds have the same arms.

    >>> problem = Problem(arms=["tea", "cake"], features={"age": "number"}, function_class="linear")
    >>> problem.n_arms, problem.function_class.dimension
    (2, 3)
    """

    n_arms: int
    arms: ArmNames | None
    features: Encoder | None
    arm_features: ArmFeatures | Encoder | None
    function_class: FunctionClass[Any, Any, Any] | None
    horizon: int | None
    noise: float | None
    half_life: float | None
    longest_epoch: int | None
    capacity: int | None

    def __init__(
        self,
        *,
        n_arms: int | None = None,
        arms: Iterable[str] | int | None = None,
        features: object = None,
        arm_features: object = None,
        noise: float | None = None,
        function_class: FunctionClass[Any, Any, Any] | Callable[..., Any] | ClassName | None = None,
        horizon: int | None = None,
        half_life: float | None = None,
        longest_epoch: int | None = None,
        capacity: int | None = None,
    ) -> None:
        size, names = _arms(arms, n_arms) if capacity is None else (_capacity(capacity, arms, n_arms), None)
        encoder = None if features is None else as_encoder(features)
        rows: ArmFeatures | Encoder | None
        if capacity is not None:
            rows = _encoder_of_arms(arm_features)
        else:
            rows = None if arm_features is None else _arm_features(arm_features, size, names)
        if encoder is None and rows is not None and (capacity or not isinstance(function_class, FunctionClass)):
            encoder = Features({})  # a context is then no more than the constant 1
        if horizon is not None:
            setting_integer("horizon", horizon, at_least=1, at_most=2**62)
        optional_number("noise", noise, at_least=0.0, at_most=LARGEST_SCALE)
        optional_number("half_life", half_life, at_least=1e-3, at_most=2.0**62)
        if longest_epoch is not None:
            setting_integer("longest_epoch", longest_epoch, at_least=1, at_most=2**62)
        self.__dict__.update(
            n_arms=size,
            arms=names,
            features=encoder,
            arm_features=rows,
            function_class=_function_class(function_class, size, encoder, rows),
            capacity=capacity,
            horizon=horizon,
            noise=noise,
            half_life=half_life,
            longest_epoch=longest_epoch,
        )

    def grown(self, new: Sequence[str] | int, arm_features: object = None) -> "Problem":
        """This problem with more arms after the existing ones.

        - `new`: their names, or how many there are if arms have no names.
        - `arm_features`: their features, if arms have features: what `ArmFeatures.add` takes; None (default): none.
        """
        if self.capacity is not None:
            raise SettingError("rounds bring their own arms (capacity=...), so arms cannot be added or retired")
        if (self.arm_features is None) != (arm_features is None):
            has = "no features" if self.arm_features is None else "features"
            expected = "None" if self.arm_features is None else "a row for each new arm"
            raise SettingError(
                f"arm_features is {type(arm_features).__name__}, but the problem's arms have {has}; expected {expected}"
            )
        if isinstance(new, int):
            if self.arms is not None:
                raise SettingError(f"the new arms are {new!r}; expected their names, as the others have")
            size, arms = self.n_arms + setting_integer("the number of new arms", new, at_least=1), None
        else:
            if self.arms is None:
                raise SettingError("the new arms have names, which the others have not; expected how many they are")
            arms = ArmNames.of([*self.arms, *ArmNames.of(new)])
            size = len(arms)
        features, functions = self.arm_features, self.function_class
        if isinstance(features, ArmFeatures):
            names = list(range(self.n_arms, size)) if arms is None else list(arms)[self.n_arms :]
            features = features.add(arm_features, arms=names)
        if functions is not None:
            functions = functions.grown(size, features.values if isinstance(features, ArmFeatures) else None)
        return replace(self, n_arms=size, arms=arms, arm_features=features, function_class=functions)

    def encode(self, contexts: object, *, many: bool) -> tuple[Contexts, Tally]:
        """Contexts as an array with the round as its first axis, and a tally of unknown and missing values.

        - `contexts`: one context or several: what `features` reads, or an array if there are no features.
        - `many`: whether there are several.
        """
        if self.features is None:
            if contexts is None and not many:
                return np.ones((1, 1)), NOTHING
            rows = numbers("the contexts" if many else "the context", contexts, has="have" if many else "has")  # type: ignore[arg-type]
            return finite_contexts(rows if many else rows[None]), NOTHING
        if contexts is None and not many and not self.features.column_names:
            contexts = {}
        values, seen = self.features.encode_counted(contexts)
        if values.ndim != (2 if many else 1):
            if many:
                raise InputError("there is one context; expected several, such as a list of one, or a call of `decide`")
            raise InputError("there are several contexts; expected one (`decide_batch` takes several)")
        return (values if many else values[None]), seen

    def with_arms(
        self, contexts: Float[np.ndarray, "n d"], arms: Sequence[Float[np.ndarray, "_ e"]]
    ) -> Float[np.ndarray, "n capacity q"]:
        """phi(x, a) of rounds that bring their own arms, one row for each place; places without an arm are 0.

        Linear classes, and learners without a class, take all products x_i z[a]_j; other classes take (x, z[a]).

        - `contexts`: x, a row for each round.
        - `arms`: z of each round, a row for each arm.
        """
        how = _pairing(self.function_class)
        rows = [pair_features(contexts[t : t + 1], z, how)[0] for t, z in enumerate(arms)]
        places = np.zeros((len(rows), self.n_arms, rows[0].shape[1] if rows else 0))
        for place, row in zip(places, rows, strict=True):
            place[: len(row)] = row
        return places


def _capacity(capacity: int, arms: object, n_arms: int | None) -> int:
    """How many places there are for the arms of a round."""
    setting_integer("capacity", capacity, at_least=1, at_most=MOST_ARMS)
    if arms is not None:
        raise SettingError("arms came with capacity; expected one of them: rounds bring their own arms, or they do not")
    if n_arms is not None and n_arms != capacity:
        raise SettingError(f"n_arms is {n_arms!r}; expected capacity, {capacity}, or None")
    return capacity


def _encoder_of_arms(given: object) -> Encoder:
    """How the arms of a round become numbers."""
    if given is None:
        raise SettingError("arm_features is None; expected features, by which the arms of a round are known")
    return given.encoder if isinstance(given, ArmFeatures) else as_encoder(given)


def _pairing(functions: FunctionClass[Any, Any, Any] | None) -> Pairing:
    """How contexts and arms are combined: a linear function of (x, z) would rank arms the same in all contexts."""
    linear = functions is None or isinstance(functions, LinearClass | GeneralizedLinearClass)
    return "outer" if linear else "concatenate"


def _arms(arms: Iterable[str] | int | None, n_arms: int | None) -> tuple[int, ArmNames | None]:
    """How many arms there are, and their names if they have any."""
    if arms is None and n_arms is None:
        raise SettingError("arms is None, and n_arms is None; expected the names of the arms, or how many there are")
    names = None
    if isinstance(arms, Iterable):
        names = ArmNames.of(arms)
        size = len(names)
    else:
        size = setting_integer("n_arms" if arms is None else "arms", n_arms if arms is None else arms, at_least=1)
    setting_integer("n_arms", size, at_least=1, at_most=MOST_ARMS)
    if n_arms is not None and arms is not None and n_arms != size:
        raise SettingError(f"n_arms is {n_arms!r}, but there are {size} arms; expected the same number")
    return size, names


def _arm_features(given: object, n_arms: int, names: ArmNames | None) -> ArmFeatures:
    """The features of these arms, in their order."""
    arms = list(range(n_arms)) if names is None else list(names)
    if not isinstance(given, ArmFeatures):
        return ArmFeatures.from_table(given, arms=arms)
    if list(given.arms) != arms:
        raise SettingError(f"arm_features are of the arms {given.arms!r}; expected {arms!r}, in this order")
    return given


def _function_class(
    wanted: object, n_arms: int, features: Encoder | None, arm_features: ArmFeatures | Encoder | None
) -> FunctionClass[Any, Any, Any] | None:
    """The function class, built if it was named, and checked against the arms and features."""
    if wanted is None:
        return None
    if isinstance(arm_features, Encoder):
        assert features is not None  # where none were given, they are the constant 1
        return _own_arms_class(wanted, n_arms, features.size, arm_features.size)
    if _is_to_be_built(wanted):
        if features is None:
            raise SettingError(
                f"function_class is {wanted!r}, but features is None; expected features, from which it takes its sizes"
            )
        rows = None if arm_features is None else arm_features.values
        return class_for(wanted, n_arms=n_arms, dimension=features.size, arm_features=rows)
    functions = check_function_class(wanted, n_arms)
    dimension = getattr(functions, "dimension", None)
    if features is not None and isinstance(dimension, int) and dimension != features.size:
        raise SettingError(f"function_class has dimension {dimension}; expected {features.size}, as features has")
    return functions


def _own_arms_class(wanted: object, capacity: int, d: int, e: int) -> FunctionClass[Any, Any, Any]:
    """A function class for rounds that bring their own arms, of contexts of d numbers and arms of e."""
    sizes = {"outer": d * e, "concatenate": d + e}
    if _is_to_be_built(wanted):
        made = class_for(wanted, n_arms=capacity, dimension=sizes["outer"], own_arms=True)
        if _pairing(made) == "concatenate":
            made = class_for(wanted, n_arms=capacity, dimension=sizes["concatenate"], own_arms=True)
    else:
        made = check_function_class(wanted, capacity)
    made.check_own_arms()
    expected, found = sizes[_pairing(made)], getattr(made, "dimension", None)
    if isinstance(found, int) and found != expected:
        how = "times" if _pairing(made) == "outer" else "plus"
        raise SettingError(
            f"function_class has dimension {found}; expected {expected}: {d} features of a context {how} {e} of an arm"
        )
    return made


def _is_to_be_built(wanted: object) -> TypeGuard[ClassName | Callable[..., Any]]:
    """Whether this is a name, or a callable that makes a function class."""
    return isinstance(wanted, str) or (callable(wanted) and not isinstance(wanted, FunctionClass))


def check_function_class(function_class: object, n_arms: int) -> FunctionClass[Any, Any, Any]:
    """Raise SettingError unless this is a function class of that many arms, and return it."""
    if not isinstance(function_class, FunctionClass):
        raise SettingError(f"function_class is {function_class!r}; expected a FunctionClass")
    if function_class.n_arms != n_arms:
        raise SettingError(f"function_class has {function_class.n_arms} arms; expected n_arms = {n_arms}")
    return function_class
