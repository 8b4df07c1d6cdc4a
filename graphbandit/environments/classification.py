"""Classification as a bandit: arms are classes, and only the right one is rewarded."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import check_within, first_not_finite, numbers, setting_boolean, setting_number
from graphbandit.base.shapes import Float, Int, Shaped
from graphbandit.environments.arm_graphs import (
    centroids,
    confusion_graph,
    confusions,
    hierarchy_graph,
    similarity_graph,
)
from graphbandit.environments.graph_setting import GraphSetting, source_of
from graphbandit.environments.known_rewards import KnownRewardsEnvironment
from graphbandit.errors import InputError, SettingError
from graphbandit.function_classes.base import FunctionClass
from graphbandit.graphs.graph import FeedbackGraph

CLASS_GRAPHS: dict[str, Callable[..., FeedbackGraph]] = {
    "similarity": similarity_graph,
    "confusion": confusion_graph,
    "hierarchy": hierarchy_graph,
}
"""Graphs on the classes, by name; the names of `graphs.sources.SOURCES` are allowed as well."""


def classification(
    X: "npt.ArrayLike",
    y: "npt.ArrayLike",
    *,
    graph: GraphSetting = "similarity",
    standardise: bool = True,
    intercept: bool = False,
    right: float = 1.0,
    wrong: float = 0.0,
    reward_noise: float = 0.0,
    noise: float | None = None,
    function_class: FunctionClass[Any, Any, Any] | None = None,
    class_names: Sequence[str] | None = None,
    **graph_options: Any,
) -> KnownRewardsEnvironment:
    """Make a bandit whose arms are the classes of labelled rows, in sorted order.

    Regret is computed from the rewards, not from their means given the context: it is the number of rounds with a wrong
    class times `right` - `wrong`. `KnownRewardsEnvironment` describes the order of the rows.

    - `X`: one row of features per context.
    - `y`: the class of each row.
    - `graph`: "similarity" (default) joins a class to the `degree` (2) classes with the nearest centroids. "confusion"
      joins it to the `degree` (2) classes that a nearest-centroid classifier most often confuses it with. "hierarchy"
      makes a clique of each of `n_groups` (sqrt K) clusters of centroids. All of them use
      standardised features of all rows. The kinds, graphs and sources that `paper` takes are allowed as well.
    - `standardise`: whether features are scaled to mean 0 and variance 1 over the rows, and constant ones are dropped;
      True by default.
    - `intercept`: whether to add a last feature that is always 1, for function classes without one; False by default.
    - `right`, `wrong`: the reward of the right class, 1 by default, and of any other, 0 by default.
    - `reward_noise`: the standard deviation of normal noise added to the rewards; 0 by default.
    - `noise`: the noise that learners are told; None (default): as in `KnownRewardsEnvironment`, so 0.5 for
      rewards 0 and 1.
    - `function_class`: the function class that learners are told; None (default): a linear function for each class.
    - `class_names`: names of the classes in sorted order; None (default): the labels.
    - `**graph_options`: settings of the kind of graph, such as ``degree=3``; none by default.

    >>> X, y = np.array([[0.0], [0.2], [1.0], [1.3], [5.0], [5.1]]), list("aabbcc")
    >>> environment = classification(X, y, degree=1)
    >>> environment.arms, environment.source.graph.to_dense().astype(int).tolist()
    (('a', 'b', 'c'), [[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    """
    features = feature_rows(X)
    classes, labels = _classes(y, len(features))
    names = tuple(map(str, classes)) if class_names is None else tuple(class_names)
    if len(names) != len(classes):
        raise SettingError(f"class_names has {len(names)} names; expected {len(classes)}, one for each class of y")
    setting_boolean("standardise", standardise)
    setting_boolean("intercept", intercept)
    gain, loss = setting_number("right", right), setting_number("wrong", wrong)
    if gain <= loss:
        raise SettingError(f"right is {right!r}; expected a number above wrong = {wrong!r}")
    scaled = standardised(features)

    def profiles(kind: str) -> Float[np.ndarray, "arms d"]:
        return confusions(scaled, labels) if kind == "confusion" else centroids(scaled, labels)

    contexts = scaled if standardise else features
    return KnownRewardsEnvironment(
        contexts=np.column_stack([contexts, np.ones(len(contexts))]) if intercept else contexts,
        means=np.where(labels[:, None] == np.arange(len(classes)), gain, loss),
        source=source_of(graph, graph_options, len(classes), CLASS_GRAPHS, profiles),
        arms=names,
        reward_noise=reward_noise,
        noise=noise,
        function_class=function_class,
    )


def feature_rows(X: npt.ArrayLike) -> Float[np.ndarray, "rows d"]:
    """X as a matrix of finite numbers with at least one row and one column."""
    features = numbers("X", X)
    if features.ndim != 2 or 0 in features.shape:
        raise InputError(f"X has shape {features.shape}; expected (rows, features), at least one of each")
    check_within("X has", features)
    return features


def standardised(features: Float[np.ndarray, "rows d"], *, name: str = "X") -> Float[np.ndarray, "rows kept"]:
    """Scale every column to mean 0 and variance 1; constant columns are dropped.

    >>> standardised(np.array([[1.0, 7.0], [3.0, 7.0]])).tolist()
    [[-1.0], [1.0]]
    """
    varying = features[:, features.min(axis=0) < features.max(axis=0)]
    if varying.shape[1] == 0:
        raise InputError(
            f"{name} has {features.shape[1]} features, all the same in every row; expected one that varies"
        )
    centred = varying - varying.mean(axis=0)
    # before squaring, because the squares of tiny numbers would vanish
    centred /= np.abs(centred).max(axis=0)
    scaled: Float[np.ndarray, "rows kept"] = centred / np.sqrt((centred**2).mean(axis=0))
    return scaled


def label_array(name: str, value: npt.ArrayLike) -> Shaped[np.ndarray, "..."]:
    """Labels or ids as an array of any type; texts become NumPy strings."""
    try:
        given = np.asarray(value)
    except ValueError:
        raise InputError(f"{name} has rows of different lengths; expected one label for each row") from None
    if given.dtype.kind == "O" and given.ndim == 1 and all(isinstance(label, str) for label in given):
        return given.astype(np.str_)
    return given


def _classes(y: npt.ArrayLike, n: int) -> tuple[np.ndarray, Int[np.ndarray, " rows"]]:
    """The distinct labels, sorted, and the position of each row's label among them."""
    given = label_array("y", y)
    if given.shape != (n,):
        raise InputError(f"y has shape {given.shape}; expected ({n},), one label for each row of X")
    if given.dtype.kind not in "biufSU":
        raise InputError(f"y has type {given.dtype}; expected a number or a text for every row")
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise InputError(f"y has {first_not_finite(given)}; expected a label for every row")
    classes, labels = np.unique(given, return_inverse=True)
    if len(classes) < 2:
        raise InputError(f"y has one class only, {classes[0]!s}; expected at least two")
    return classes, labels
