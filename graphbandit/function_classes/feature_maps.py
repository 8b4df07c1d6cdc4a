"""Features phi(x, a) of a context and an arm, from contexts in each of the forms that linear classes take."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol, get_args, runtime_checkable

import numpy as np
import numpy.typing as npt

from graphbandit.base.array_types import Contexts, PerArm
from graphbandit.base.checks import (
    FLOAT,
    LARGEST_FEATURE,
    LARGEST_SCALE,
    as_in_kernels,
    check_features,
    setting_array,
    setting_boolean,
    setting_choice,
    setting_integer,
    within,
)
from graphbandit.base.shapes import Float
from graphbandit.errors import InputError, SettingError

Parameters = Literal["shared", "per-arm"]

_SMALL = LARGEST_FEATURE**2

BLOCK = 2**20
"""Numbers made at a time, at most, so that arrays of shape (n, K, q) never grow with the batch."""


@runtime_checkable
class Embedding(Protocol):
    """A map from R^d to R^size, point by point."""

    @property
    def size(self) -> int:
        """The length of what a point becomes."""

    def embed(self, points: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m size"]:
        """What every point becomes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureMap:
    """phi(x, a) in R^q, and which parameter goes with it.

    parameters  arm_features  contexts   phi(x, a)                       value
    "shared"    none          (n, K, d)  x[a]                            theta'phi
    "shared"    (K, d_a)      (n, d)     x kron z[a], q = d d_a          theta'phi = x'Theta z[a]
    "per-arm"   none          (n, d)     x                               theta[a]'phi
    "per-arm"   none          (n, K, d)  x[a]                            theta[a]'phi

    With `intercept` a 1 is put behind x, and behind z: the second row then has x kron z, x, z and 1. With an
    `embedding` phi is what it makes of these features, and in the second row of (x, z[a]), one behind the other.
    """

    n_arms: int
    dimension: int
    parameters: Parameters
    arm_features: Float[np.ndarray, "arms d"] | None
    intercept: bool
    embedding: Embedding | None

    def __init__(
        self,
        *,
        n_arms: int,
        dimension: int,
        parameters: Parameters,
        arm_features: npt.ArrayLike | None,
        intercept: bool,
        embedding: Embedding | None = None,
    ) -> None:
        object.__setattr__(self, "n_arms", setting_integer("n_arms", n_arms, at_least=1, at_most=2**31 - 1))
        object.__setattr__(self, "dimension", setting_integer("dimension", dimension, at_least=1))
        setting_choice("parameters", parameters, get_args(Parameters))
        object.__setattr__(self, "parameters", parameters)
        setting_boolean("intercept", intercept)
        object.__setattr__(self, "intercept", intercept)
        object.__setattr__(self, "embedding", embedding)
        features = None
        if arm_features is not None:
            if parameters == "per-arm":
                raise SettingError("arm_features came with parameters='per-arm'; expected parameters='shared'")
            features = setting_array("arm_features", arm_features, (self.n_arms, "d"))
            if np.abs(features).max() > LARGEST_FEATURE:
                raise SettingError(f"arm_features go beyond {LARGEST_FEATURE:g}; expected smaller ones")
        object.__setattr__(self, "arm_features", features)

    @cached_property
    def blocks(self) -> int:
        """How many parameters there are: 1, or K."""
        return 1 if self.parameters == "shared" else self.n_arms

    @cached_property
    def size(self) -> int:
        """q, the length of phi and of each parameter."""
        if self.embedding is not None:
            return self.embedding.size
        length = self.dimension + self.intercept
        return length if self.arm_features is None else length * (self.arm_features.shape[1] + self.intercept)

    def check_contexts(self, contexts: Contexts) -> None:
        """Raise InputError unless contexts have one of the expected shapes and features stay of a fair size."""
        if contexts.shape[1:] not in self._shapes:
            hint = ""
            if contexts.shape[1:] == (self.dimension,):  # only a class with shared parameters refuses this
                hint = ": features of each arm; for features of the round use parameters='per-arm'"
            expected = " or ".join(map(str, self._shapes))
            raise InputError(f"each context has shape {contexts.shape[1:]}; expected {expected}{hint}")
        if not within(contexts, self._largest):
            check_features(contexts, largest=self._largest)

    @cached_property
    def _shapes(self) -> tuple[tuple[int, ...], ...]:
        """The shapes that a context may have."""
        joint, plain = self._joint, (self.dimension,)
        if self.parameters == "per-arm":
            return plain, joint
        return (joint,) if self.arm_features is None else (plain,)

    @cached_property
    def _joint(self) -> tuple[int, int]:
        """The shape of a context with a row for each arm."""
        return self.n_arms, self.dimension

    @cached_property
    def _plain(self) -> bool:
        """Whether the rows of a context are its features as they stand."""
        return self.embedding is None and self.arm_features is None and not self.intercept

    @cached_property
    def at_a_time(self) -> int:
        """How many contexts have their features made at a time."""
        return min(256, max(1, BLOCK // (self.n_arms * self.size)))

    @cached_property
    def _largest(self) -> float:
        """How large a feature of a context may be."""
        if self.arm_features is None:
            return LARGEST_FEATURE
        return LARGEST_FEATURE / max(1.0, float(np.abs(self.arm_features).max()))

    def rows(self, contexts: Contexts) -> Float[np.ndarray, "n rows d"]:
        """phi(x_t, a), one row an arm; one row a context where all arms have the same."""
        self.check_contexts(contexts)
        return self._rows(contexts)

    def rows_and_limit(self, contexts: Contexts) -> tuple[Float[np.ndarray, "n rows d"], float]:
        """`rows` as kernels take them, and a limit that the sum of their squares must stay below.

        Contexts that are features as they stand are not checked here, since the kernel that reads them adds up the
        squares anyway. If these reach the limit, call `check_contexts`. All other contexts are checked here, and their
        limit is infinite.
        """
        if self._plain and contexts.shape[1:] == self._joint and contexts.dtype == FLOAT and contexts.flags.carray:
            return contexts, _SMALL
        return as_in_kernels(self.rows(contexts)), math.inf

    def portions(self, contexts: Contexts) -> Iterator[Contexts]:
        """A few contexts at a time."""
        return (contexts[start : start + self.at_a_time] for start in range(0, len(contexts), self.at_a_time))

    def _rows(self, contexts: Contexts) -> Float[np.ndarray, "n rows d"]:
        if self._plain and contexts.ndim == 3 and contexts.dtype == np.float64 and contexts.flags.c_contiguous:
            return contexts
        features = np.asarray(contexts, dtype=np.float64)
        if self.embedding is not None:
            points = self._points(features)
            embedded = self.embedding.embed(points.reshape(-1, points.shape[2]))
            return embedded.reshape(len(points), points.shape[1], self.size)
        if self.arm_features is not None:
            x, z = _with_one(features, self.intercept), _with_one(self.arm_features, self.intercept)
            return np.reshape(x[:, None, :, None] * z[None, :, None, :], (len(x), self.n_arms, self.size))
        if features.ndim == 2:
            features = features[:, None, :]
        return np.ascontiguousarray(_with_one(features, self.intercept))

    def _points(self, contexts: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "n rows d"]:
        """What is embedded: a context's vector, its rows, or its vector with each arm's features behind it."""
        if self.arm_features is None:
            return contexts if contexts.ndim == 3 else contexts[:, None, :]
        n, (arms, d) = len(contexts), self.arm_features.shape
        x = np.broadcast_to(contexts[:, None, :], (n, arms, self.dimension))
        return np.concatenate([x, np.broadcast_to(self.arm_features, (n, arms, d))], axis=2)

    def blocks_of(self, contexts: Contexts) -> Iterable[tuple[slice, Float[np.ndarray, "block rows d"]]]:
        """The features of a few contexts at a time, and which contexts they are."""
        self.check_contexts(contexts)
        n, length = len(contexts), self.at_a_time
        if 0 < n <= length:
            return ((slice(0, n), self._rows(contexts)),)
        parts = (slice(start, min(start + length, n)) for start in range(0, n, length))
        return ((part, self._rows(contexts[part])) for part in parts)


def _with_one(features: Float[np.ndarray, "... d"], intercept: bool) -> Float[np.ndarray, "... e"]:
    if not intercept:
        return features
    return np.concatenate([features, np.ones((*features.shape[:-1], 1))], axis=-1)


def arm_factors(factors: npt.ArrayLike | None, n_arms: int) -> PerArm | None:
    """Known factors of the arms' rewards, as prices are: one positive number for each arm, or None."""
    if factors is None:
        return None
    array = setting_array("factors", factors, (n_arms,))
    if not ((array > 0.0) & (array <= LARGEST_SCALE)).all():
        raise SettingError(f"factors are {array.min()} to {array.max()}; expected above 0 and up to {LARGEST_SCALE:g}")
    return array
