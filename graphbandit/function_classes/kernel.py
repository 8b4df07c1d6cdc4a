"""Functions of a reproducing kernel's space, approximated: linear in random Fourier or Nystrom features."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import optional_number, setting_array, setting_choice, setting_integer, setting_number
from graphbandit.base.saved_files import savable
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float
from graphbandit.errors import SettingError
from graphbandit.function_classes.feature_maps import Embedding, FeatureMap, Parameters
from graphbandit.function_classes.linear import LinearFunctionClass

Kernel = Literal["rbf", "laplacian", "matern-3/2", "matern-5/2"]

KERNELS: tuple[Kernel, ...] = get_args(Kernel)
"""In the order of the constants of `kernels.embeddings`."""

JITTER = 1e-10
"""Least pivot of the landmarks' kernel matrix, which nearly equal landmarks make singular."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FourierFeatures:
    """cos(w'x) and sin(w'x) at frequencies w drawn from the kernel's spectrum (Rahimi and Recht, 2007).

    Inner products are the kernel's on average, with an error of about 1 / sqrt(size). The spectrum of the RBF kernel
    is normal, that of the Laplacian Cauchy in each coordinate, that of a Matern kernel Student's with twice its
    smoothness as degrees of freedom.
    """

    kernel: Kernel
    dimension: int
    size: int
    lengthscale: float
    seed: int

    @cached_property
    def frequencies(self) -> Float[np.ndarray, "waves d"]:
        """The frequencies of this seed."""
        rng = stream(self.seed, "fourier features")
        shape = (self.size // 2, self.dimension)
        if self.kernel == "laplacian":
            return rng.standard_cauchy(shape) / self.lengthscale
        frequencies = rng.standard_normal(shape) / self.lengthscale
        if self.kernel != "rbf":
            freedom = 3.0 if self.kernel == "matern-3/2" else 5.0
            frequencies *= np.sqrt(freedom / rng.chisquare(freedom, size=(shape[0], 1)))
        return frequencies

    def embed(self, points: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m size"]:
        """The waves at every point."""
        from graphbandit.kernels.function_classes.embeddings import fourier_features

        out = np.empty((len(points), self.size))
        fourier_features(np.ascontiguousarray(points), self.frequencies, out)
        return out


@dataclass(frozen=True, kw_only=True, eq=False)
class NystromFeatures:
    """U'^-1 k(x, landmarks), U'U the landmarks' kernel matrix: inner products are exact between landmarks."""

    kernel: Kernel
    landmarks: Float[np.ndarray, "marks d"]
    lengthscale: float

    @property
    def size(self) -> int:
        """One a landmark."""
        return len(self.landmarks)

    @cached_property
    def factor(self) -> Float[np.ndarray, "marks marks"]:
        """U."""
        from graphbandit.kernels.cholesky import cholesky
        from graphbandit.kernels.function_classes.embeddings import kernel_matrix

        gram, factor = np.empty((self.size, self.size)), np.empty((self.size, self.size))
        kernel_matrix(KERNELS.index(self.kernel), self.lengthscale, self.landmarks, self.landmarks, gram)
        cholesky(gram, JITTER, factor)
        return factor

    def embed(self, points: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m size"]:
        """The features of every point."""
        from graphbandit.kernels.function_classes.embeddings import nystrom_features

        out, kind = np.empty((len(points), self.size)), KERNELS.index(self.kernel)
        nystrom_features(kind, self.lengthscale, np.ascontiguousarray(points), self.landmarks, self.factor, out)
        return out


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class KernelClass(LinearFunctionClass):
    """f(x, a) = c + theta'phi(x, a), phi features with inner products about k: kernel ridge regression at fixed cost.

    It is a `LinearClass` of these features, so its guarantees are for functions linear in them; for others they are as
    good as the features are.

    - `n_arms`: K.
    - `dimension`: d, the length of a context, or of an arm's row of it.
    - `kernel`: k, with l the lengthscale: "rbf" (default) exp(-|x - z|^2 / (2 l^2)), "laplacian" exp(-|x - z|_1 / l),
      "matern-3/2" or "matern-5/2".
    - `n_features`: the number of random Fourier features, 200 by default.
    - `lengthscale`: l, the distance at which contexts count as different; 1 by default.
    - `landmarks`: points of the space that contexts live in, for Nystrom features, one each; None (default): random
      ones.
    - `parameters`: "shared" (default): k is on the rows of contexts (n, K, d), or on (x, z[a]) for contexts (n, d) and
      `arm_features`. "per-arm": a function for each arm.
    - `arm_features`: (K, d_a) features of the arms, z; None (default): none.
    - `ridge`: as in `LinearClass`; None (default): from the data.
    - `norm_bound`: a bound on the norm of a function in the kernel's space; None (default): none.
    - `resolution`: the scale at which functions count as different in `log_size`, 0.01 by default.
    - `seed`: of the random features, 0 by default.

    >>> smooth = KernelClass(n_arms=2, dimension=3, parameters="per-arm", n_features=100)
    >>> smooth.features.rows(np.zeros((1, 3))).shape
    (1, 1, 100)
    """

    features: FeatureMap
    kernel: Kernel
    n_features: int
    lengthscale: float
    seed: int
    landmarks: Float[np.ndarray, "marks d"] | None
    ridge: float | None
    norm_bound: float | None
    resolution: float

    # the settings that it shares with LinearClass are written out, so that help() shows them
    def __init__(
        self,
        *,
        n_arms: int,
        dimension: int,
        kernel: Kernel = "rbf",
        n_features: int = 200,
        lengthscale: float = 1.0,
        landmarks: "npt.ArrayLike | None" = None,
        parameters: Parameters = "shared",
        arm_features: "npt.ArrayLike | None" = None,
        ridge: float | None = None,
        norm_bound: float | None = None,
        resolution: float = 0.01,
        seed: int = 0,
    ) -> None:
        setting_choice("kernel", kernel, KERNELS)
        plain = FeatureMap(
            n_arms=n_arms, dimension=dimension, parameters=parameters, arm_features=arm_features, intercept=False
        )
        length = plain.dimension + (0 if plain.arm_features is None else plain.arm_features.shape[1])
        scale = setting_number("lengthscale", lengthscale, at_least=1e-25, below=1e25)
        setting_integer("seed", seed, at_least=0)
        setting_integer("n_features", n_features, at_least=2)
        if n_features % 2:
            raise SettingError(f"n_features is {n_features}; expected an even number, a cosine and a sine each")
        marks = None if landmarks is None else setting_array("landmarks", landmarks, ("landmarks", length))
        embedding: Embedding
        if marks is None:
            embedding = FourierFeatures(kernel=kernel, dimension=length, size=n_features, lengthscale=scale, seed=seed)
        else:
            embedding = NystromFeatures(kernel=kernel, landmarks=marks, lengthscale=scale)
        features = replace(plain, embedding=embedding)
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "kernel", kernel)
        object.__setattr__(self, "n_features", n_features)
        object.__setattr__(self, "lengthscale", scale)
        object.__setattr__(self, "seed", seed)
        object.__setattr__(self, "landmarks", marks)
        object.__setattr__(self, "ridge", optional_number("ridge", ridge, above=0.0))
        object.__setattr__(self, "norm_bound", optional_number("norm_bound", norm_bound, above=0.0))
        object.__setattr__(self, "resolution", setting_number("resolution", resolution, above=0.0))
