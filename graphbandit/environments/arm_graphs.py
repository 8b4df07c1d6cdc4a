"""Graphs among the arms of a data set: arms that are alike, that are taken for each other, or of one group.

All are undirected, have all self-loops, and are the same for the same data: nothing is drawn, and of two arms that are
equally near, the one with the lower number comes first.
"""

from math import sqrt

import numpy as np

from graphbandit.base.checks import setting_integer
from graphbandit.base.shapes import Float, Int
from graphbandit.errors import SettingError
from graphbandit.graphs.graph import FeedbackGraph

DEGREE = 2
"""How many other arms an arm is joined to by default, if there are that many."""


def similarity_graph(profiles: Float[np.ndarray, "arms d"], *, degree: int | None = None) -> FeedbackGraph:
    """Every arm is joined to the `degree` arms whose profiles are nearest to its own in Euclidean distance.

    Two arms are joined if either is among the nearest of the other.

    - `profiles`: (K, d), one row of numbers an arm. For classes these are centroids; for items, columns of ratings
      scaled to length one, so that nearest means the largest cosine.
    - `degree`: None (default): 2, or the number of other arms where that is less.

    >>> similarity_graph(np.array([[0.0], [1.0], [3.0], [3.5]]), degree=1).to_dense().astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 0, 0],
           [0, 0, 1, 1],
           [0, 0, 1, 1]])
    """
    distances = np.stack([_squared_distances(profiles, profile) for profile in profiles])
    return _strongest(-distances, degree, above=-np.inf)


def confusion_graph(confusion: Float[np.ndarray, "arms arms"], *, degree: int | None = None) -> FeedbackGraph:
    """Every class is joined to the `degree` classes it is most often confused with, or to all if they are fewer.

    What counts for a pair is confusion[i, j] + confusion[j, i].

    - `confusion`: [i, j] is the share of the rows of class i that are taken for j, as `confusions` counts them.
    - `degree`: None (default): 2, or the number of other classes where that is less.

    >>> confusion_graph(np.array([[0.8, 0.2, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])).to_dense().astype(int)
    array([[1, 1, 0],
           [1, 1, 0],
           [0, 0, 1]])
    """
    return _strongest(confusion + confusion.T, degree, above=0.0)


def hierarchy_graph(profiles: Float[np.ndarray, "arms d"], *, n_groups: int | None = None) -> FeedbackGraph:
    """Groups of arms, each a clique: the two nearest groups are merged until `n_groups` are left.

    The distance of two groups is the mean distance of their arms' profiles (average linkage).

    - `profiles`: (K, d), one row of numbers an arm.
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
    if wanted < n:  # linkage wants two arms at least
        for step, merge in enumerate(linkage(profiles, method="average")[: n - wanted]):
            members[n + step] = members.pop(int(merge[0])) + members.pop(int(merge[1]))
    group = np.empty(n, dtype=np.int64)
    for number, arms in members.items():
        group[arms] = number
    return FeedbackGraph.from_dense(group[:, None] == group)


def centroids(features: Float[np.ndarray, "rows d"], labels: Int[np.ndarray, " rows"]) -> Float[np.ndarray, "arms d"]:
    """The mean of the rows of each class; labels are 0 .. K - 1, and none is missing."""
    return np.stack([features[labels == k].mean(axis=0) for k in range(int(labels.max()) + 1)])


def confusions(
    features: Float[np.ndarray, "rows d"], labels: Int[np.ndarray, " rows"]
) -> Float[np.ndarray, "arms arms"]:
    """[i, j]: the share of the rows of class i that are nearest to the centroid of class j.

    A row is left out of the centroid m of its own class while it is judged. Its squared distance to what is left is
    that to m times (n / (n - 1))^2, where n is the size of the class, so leaving it out costs nothing. A row that is
    alone in its class has no centroid left and is always taken for another class.

    - `features`: (rows, d), one row of numbers each.
    - `labels`: the number of each row's class, from 0.

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
    """Summed in NumPy's own order and not in BLAS's, which depends on the machine's threads."""
    squares: Float[np.ndarray, " rows"] = ((points - center) ** 2).sum(axis=1)
    return squares


def _strongest(strength: Float[np.ndarray, "arms arms"], degree: int | None, *, above: float) -> FeedbackGraph:
    """Join each arm to the `degree` others of the greatest strength, as far as it is more than `above`."""
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
