"""Graphs on the arms of a data set: they join arms that are alike, that are confused, or that belong to one group.

All are undirected and have all self-loops. The same data give the same graph: nothing is random, and of two arms that
are equally near, the one with the lower number comes first.
"""

from math import sqrt

import numpy as np

from graphbandit.base.checks import setting_integer
from graphbandit.base.shapes import Float, Int
from graphbandit.errors import SettingError
from graphbandit.graphs.graph import FeedbackGraph

DEGREE = 2
"""The default number of other arms that an arm is joined to, if there are that many."""


def similarity_graph(profiles: Float[np.ndarray, "arms d"], *, degree: int | None = None) -> FeedbackGraph:
    """Join every arm to the `degree` arms whose profiles are nearest to its own in Euclidean distance.

    Two arms are joined if either is among the nearest of the other.

    - `profiles`: (K, d), one row per arm. For classes these are centroids; for items, columns of ratings
      scaled to length one, so that nearest means the largest cosine.
    - `degree`: None (default): 2, or the number of other arms if that is less.

    >>> similarity_graph(np.array([[0.0], [1.0], [3.0], [3.5]]), degree=1).to_dense().astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 0, 0],
           [0, 0, 1, 1],
           [0, 0, 1, 1]])
    """
    distances = np.stack([_squared_distances(profiles, profile) for profile in profiles])
    return _strongest(-distances, degree, above=-np.inf)


def confusion_graph(confusion: Float[np.ndarray, "arms arms"], *, degree: int | None = None) -> FeedbackGraph:
    """Join every class to the `degree` classes it is most often confused with, or to all of them if they are fewer.

    The strength of a pair is confusion[i, j] + confusion[j, i].

    - `confusion`: [i, j] is the share of the rows of class i that are taken for class j, as `confusions` counts them.
    - `degree`: None (default): 2, or the number of other classes if that is less.

    >>> confusion_graph(np.array([[0.8, 0.2, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])).to_dense().astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [0, 0, 1]])
    """
    return _strongest(confusion + confusion.T, degree, above=0.0)


def hierarchy_graph(profiles: Float[np.ndarray, "arms d"], *, n_groups: int | None = None) -> FeedbackGraph:
    """Make each group of arms a clique: the two nearest groups are merged until `n_groups` are left.

    The distance of two groups is the mean distance of their arms' profiles (average linkage).

    - `profiles`: (K, d), one row per arm.
    - `n_groups`: None (default): sqrt(K), rounded.

    >>> hierarchy_graph(np.array([[0.0], [1.0], [3.0], [3.5]]), n_groups=2).to_dense().astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 0, 0],
           [0, 0, 1, 1],
           [0, 0, 1, 1]])
    """
    from scipy.cluster.hierarchy import linkage

    n = len(profiles)
    wanted = round(sqrt(n)) if n_groups is None else setting_integer("n_groups", n_groups, at_least=1, at_most=n)
    members = {arm: [arm] for arm in range(n)}
    if wanted < n:  # linkage needs at least two arms
        for step, merge in enumerate(linkage(profiles, method="average")[: n - wanted]):
            members[n + step] = members.pop(int(merge[0])) + members.pop(int(merge[1]))
    group = np.empty(n, dtype=np.int64)
    for number, arms in members.items():
        group[arms] = number
    return FeedbackGraph.from_dense(group[:, None] == group)


def centroids(features: Float[np.ndarray, "rows d"], labels: Int[np.ndarray, " rows"]) -> Float[np.ndarray, "arms d"]:
    """The mean of the rows of each class; the labels are 0 .. K - 1, and all of them occur."""
    return np.stack([features[labels == k].mean(axis=0) for k in range(int(labels.max()) + 1)])


def confusions(
    features: Float[np.ndarray, "rows d"], labels: Int[np.ndarray, " rows"]
) -> Float[np.ndarray, "arms arms"]:
    """[i, j]: the share of the rows of class i that are nearest to the centroid of class j.

    A row does not count in the centroid of its own class while it is judged. Without the row, its squared distance to
    that centroid is (n / (n - 1))^2 times as large, where n is the size of the class, so no centroid is computed again.
    A row that is alone in its class is always taken for another class.

    - `features`: (rows, d).
    - `labels`: the class of each row, from 0.

    >>> confusions(np.array([[0.0], [1.0], [2.0], [4.0], [5.0], [9.0]]), np.array([0, 0, 0, 1, 1, 1])).round(2)
    array([[1.  , 0.  ],
           [0.33, 0.67]])
    """
    means = centroids(features, labels)
    sizes = np.bincount(labels).astype(np.float64)
    distances = np.stack([_squared_distances(features, mean) for mean in means], axis=1)
    with np.errstate(divide="ignore"):
        farther = (sizes / (sizes - 1)) ** 2
    own = np.arange(len(labels)), labels
    distances[own] = np.where(sizes[labels] > 1, distances[own], 1.0) * farther[labels]
    taken_for = distances.argmin(axis=1)
    counts = np.zeros((len(means), len(means)))
    np.add.at(counts, (labels, taken_for), 1.0)
    return counts / sizes[:, None]


def _squared_distances(
    points: Float[np.ndarray, "rows d"], center: Float[np.ndarray, " d"]
) -> Float[np.ndarray, " rows"]:
    """Squared distances, summed in NumPy's order: that of BLAS depends on the machine's threads."""
    squares: Float[np.ndarray, " rows"] = ((points - center) ** 2).sum(axis=1)
    return squares


def _strongest(strength: Float[np.ndarray, "arms arms"], degree: int | None, *, above: float) -> FeedbackGraph:
    """Join each arm to the `degree` others with the greatest strength, if that is more than `above`."""
    n = len(strength)
    wanted = min(DEGREE, n - 1) if degree is None else setting_integer("degree", degree, at_least=1)
    if wanted >= n:
        raise SettingError(f"degree is {degree}; expected at most {n - 1}, the number of other arms")
    others = strength.copy()
    np.fill_diagonal(others, -np.inf)
    near = np.argsort(-others, axis=1, kind="stable")[:, :wanted]
    joined = np.zeros((n, n), dtype=np.bool_)
    np.put_along_axis(joined, near, np.take_along_axis(others, near, axis=1) > above, axis=1)
    return FeedbackGraph.from_dense(joined | joined.T | np.eye(n, dtype=np.bool_))
