"""Features of a context and an arm together, phi(x, a), from those of each."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from graphbandit.base.checks import setting_choice
from graphbandit.base.shapes import Float
from graphbandit.errors import InputError

Pairing = Literal["outer", "concatenate"]


def pair_features(
    contexts: Float[np.ndarray, "n d"], arms: Float[np.ndarray, "*own arms e"], how: Pairing = "outer"
) -> Float[np.ndarray, "n arms q"]:
    """phi(x, a) for every context and arm: contexts of shape (n, K, q) for a class whose parameters are shared.

    "outer" takes all products x_i z[a]_j, q = d e, so the effect of an arm's feature depends on the context. With an
    intercept in both, x and z[a] are among the products. A linear class with `arm_features` makes the same of x
    and z, in the same order. "concatenate" takes (x, z[a]), q = d + e: the effect of an arm's feature is the same in
    all contexts.

    - `contexts`: x, encoded.
    - `arms`: z, encoded: (K, e), or (n, K, e) where each round has arms of its own.
    - `how`: "outer" (default) or "concatenate".

    >>> pair_features(np.array([[1.0, 3.0]]), np.array([[1.0, 5.0], [1.0, 7.0]]))
    array([[[ 1.,  5.,  3., 15.],
            [ 1.,  7.,  3., 21.]]])
    """
    setting_choice("how", how, get_args(Pairing))
    if contexts.ndim != 2 or arms.ndim not in (2, 3) or (arms.ndim == 3 and len(arms) != len(contexts)):
        raise InputError(
            f"contexts have shape {contexts.shape} and arms {arms.shape}; expected (n, d), and (K, e) or (n, K, e)"
        )
    z = arms if arms.ndim == 3 else arms[None]
    n, d, k, e = len(contexts), contexts.shape[1], z.shape[1], z.shape[2]
    if how == "outer":
        return np.reshape(contexts[:, None, :, None] * z[:, :, None, :], (n, k, d * e))
    x = np.broadcast_to(contexts[:, None, :], (n, k, d))
    return np.concatenate([x, np.broadcast_to(z, (n, k, e))], axis=2)


def pair_names(contexts: Sequence[str], arms: Sequence[str], how: Pairing = "outer") -> tuple[str, ...]:
    """The names of the features that `pair_features` makes.

    - `contexts`: the names of the features of a context.
    - `arms`: the names of the features of an arm.
    - `how`: "outer" (default) or "concatenate".

    >>> pair_names(["intercept", "age"], ["intercept", "price"])
    ('intercept', 'price', 'age', 'age*price')
    """
    setting_choice("how", how, get_args(Pairing))
    if how == "concatenate":
        return (*contexts, *(f"arm {name}" for name in arms))
    return tuple(_product(x, z) for x in contexts for z in arms)


def _product(x: str, z: str) -> str:
    if x == "intercept":
        return z
    return x if z == "intercept" else f"{x}*{z}"
