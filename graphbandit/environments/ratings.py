"""Recommendation as a bandit: arms are items, contexts are users, and rewards are the users' ratings."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import (
    LARGEST,
    first_not_finite,
    numbers,
    setting_boolean,
    setting_choice,
    setting_integer,
    setting_number,
)
from graphbandit.base.shapes import Bool, Float, Int
from graphbandit.environments.arm_graphs import hierarchy_graph, similarity_graph
from graphbandit.environments.classification import label_array, standardised
from graphbandit.environments.factors import factorize, principal_factors
from graphbandit.environments.graph_setting import GraphSetting, source_of
from graphbandit.environments.known_rewards import KnownRewardsEnvironment
from graphbandit.errors import InputError, SettingError
from graphbandit.function_classes.base import FunctionClass
from graphbandit.graphs.graph import FeedbackGraph

if TYPE_CHECKING:
    import scipy.sparse

Unrated = Literal["model", "zero"]

ITEM_GRAPHS: dict[str, Callable[..., FeedbackGraph]] = {"similarity": similarity_graph, "hierarchy": hierarchy_graph}
"""Graphs on the items, by name; the names of `graphs.sources.SOURCES` are allowed as well."""


def ratings(
    users: "npt.ArrayLike",
    items: "npt.ArrayLike",
    values: "npt.ArrayLike",
    *,
    n_arms: int = 50,
    graph: GraphSetting = "similarity",
    dimension: int = 10,
    intercept: bool = False,
    rank: int = 5,
    ridge: float = 0.03,
    least_ratings: int = 5,
    counts: bool = False,
    unrated: Unrated | None = None,
    reward_noise: float = 0.0,
    noise: float | None = None,
    function_class: FunctionClass[Any, Any, Any] | None = None,
    item_names: Mapping[Any, str] | None = None,
    **graph_options: Any,
) -> KnownRewardsEnvironment:
    """Make a bandit whose arms are the most rated items, and whose contexts are users.

    **Rewards** are the ratings, shifted and scaled so that the lowest of all ratings is 0 and the highest 1. Counts are
    replaced by log(1 + count), and a count of 0 is the reward 0. Several ratings of an item by one user are averaged.

    **Contexts** are standardised factors of the users, computed from the ratings of all items that are not arms. So a
    context never contains the ratings to predict. With unrated="model" the factors are fitted to the ratings that
    exist, with "zero" to the whole table.

    `KnownRewardsEnvironment` describes the order of the users.

    - `users`, `items`, `values`: `users[k]` gave `items[k]` the rating `values[k]`.
    - `n_arms`: K, the number of arms; 50 by default.
    - `graph`: "similarity" (default) joins an item to the `degree` (2) items whose columns of ratings have the largest
      cosine with its own (less the item's mean rating, unless they are counts; 0 for missing ratings). "hierarchy"
      makes a clique of each of `n_groups` (sqrt K) clusters of such columns. The kinds, graphs and sources that
      `paper` takes are allowed as well.
    - `dimension`: the number of factors in a context, 10 by default.
    - `intercept`: whether to add a last feature that is always 1; False by default.
    - `rank`: the rank of the factorisation that fills in missing ratings, 5 by default.
    - `ridge`: the penalty of the factorisations, 0.03 by default.
    - `least_ratings`: users with fewer ratings of arms, or of other items, are left out; 5 by default.
    - `counts`: whether the values are counts, such as of plays; False by default.
    - `unrated`: the reward of an arm that a user did not rate. "model": b_i + u'v_i, from a factorisation of the arms'
      ratings alone, clipped to [0, 1]. "zero": 0. None (default): "zero" for counts, "model" otherwise.
    - `reward_noise`: the standard deviation of normal noise added to the rewards; 0 by default.
    - `noise`: the noise that learners are told; None (default): as in `KnownRewardsEnvironment`.
    - `function_class`: the function class that learners are told; None (default): a linear function for each item.
    - `item_names`: a mapping from items to names; None (default): the items themselves.
    - `**graph_options`: settings of the kind of graph, such as ``degree=3``; none by default.
    """
    setting_integer("n_arms", n_arms, at_least=2)
    for name, value in (("dimension", dimension), ("rank", rank), ("least_ratings", least_ratings)):
        setting_integer(name, value, at_least=1)
    setting_number("ridge", ridge, above=0.0)
    for name, switch in (("counts", counts), ("intercept", intercept)):
        setting_boolean(name, switch)
    if unrated is None:
        unrated = "zero" if counts else "model"
    setting_choice("unrated", unrated, get_args(Unrated))
    scores = _scores(values, counts)
    _, rows = _ids("users", users, len(scores))
    item_ids, columns = _ids("items", items, len(scores))
    entries, known = _matrices(rows, columns, scores)
    often: Float[np.ndarray, " items"] = known.sum(axis=0)
    if len(item_ids) <= n_arms:
        raise InputError(f"n_arms is {n_arms}; expected fewer than the {len(item_ids)} different items")
    arms = np.sort(np.argsort(-often, kind="stable")[:n_arms])
    others = np.setdiff1d(np.arange(len(item_ids)), arms)
    kept = (known[:, arms].sum(axis=1) >= least_ratings) & (known[:, others].sum(axis=1) >= least_ratings)
    if not kept.any():
        raise InputError(
            f"users are {len(kept)}, none with least_ratings = {least_ratings} ratings of the {n_arms} most rated "
            "items and as many of other items; expected some"
        )
    rated = known[kept][:, arms].toarray() > 0
    given = entries[kept][:, arms].toarray()
    table = given if unrated == "zero" else _completed(given, rated, rank, ridge)
    elsewhere = entries[kept][:, others], known[kept][:, others]
    factors = (
        principal_factors(elsewhere[0], rank=dimension)
        if unrated == "zero"
        else _known_factors(*elsewhere, dimension, ridge)
    )
    contexts = standardised(factors, name="the table of users and their factors")

    def profiles(kind: str) -> Float[np.ndarray, "arms users"]:
        return _item_profiles(given, rated, centre=not counts)

    names = {} if item_names is None else item_names
    if not isinstance(names, Mapping):
        raise SettingError(f"item_names is {names!r}; expected a mapping from items to names")
    return KnownRewardsEnvironment(
        contexts=np.column_stack([contexts, np.ones(len(contexts))]) if intercept else contexts,
        means=table,
        source=source_of(graph, graph_options, n_arms, ITEM_GRAPHS, profiles),
        arms=tuple(str(names.get(item, item)) for item in item_ids[arms].tolist()),
        reward_noise=reward_noise,
        noise=noise,
        function_class=function_class,
    )


def _scores(values: npt.ArrayLike, counts: bool) -> Float[np.ndarray, " ratings"]:
    """The values scaled to [0, 1]."""
    array = numbers("values", values, has="have")
    if array.ndim != 1 or len(array) == 0:
        raise InputError(f"values have shape {array.shape}; expected (ratings,), at least one")
    if not (np.abs(array) <= LARGEST).all():
        raise InputError(f"values have {first_not_finite(array, largest=LARGEST)}; expected finite numbers")
    if counts and array.min() < 0:
        raise InputError(f"values have {array.min():g}; expected counts of at least 0")
    scores = np.log1p(array) if counts else array
    low, high = 0.0 if counts else scores.min(), scores.max()
    if high <= low:
        raise InputError(f"values are all {array[0]:g}; expected different ones")
    scaled: Float[np.ndarray, " ratings"] = (scores - low) / (high - low)
    return scaled


def _ids(name: str, given: npt.ArrayLike, n: int) -> tuple[np.ndarray, Int[np.ndarray, " ratings"]]:
    """The distinct ids, sorted, and the position of each rating's id among them."""
    ids = label_array(name, given)
    if ids.shape != (n,):
        raise InputError(f"{name} have shape {ids.shape}; expected ({n},), one for each of values")
    if ids.dtype.kind not in "iuSU":
        raise InputError(f"{name} have type {ids.dtype}; expected whole numbers or texts")
    return np.unique(ids, return_inverse=True)


def _matrices(
    rows: Int[np.ndarray, " ratings"], columns: Int[np.ndarray, " ratings"], scores: Float[np.ndarray, " ratings"]
) -> "tuple[scipy.sparse.csr_array[np.float64], scipy.sparse.csr_array[np.float64]]":
    """The mean score of each user and item, and a 1 where there is one."""
    from scipy.sparse import csr_array

    shape = int(rows.max()) + 1, int(columns.max()) + 1
    pairs, pair = np.unique(rows * shape[1] + columns, return_inverse=True)
    times = np.bincount(pair)
    where = np.divmod(pairs, shape[1])
    sums = np.bincount(pair, weights=scores)
    return csr_array((sums / times, where), shape=shape), csr_array((np.ones(len(pairs)), where), shape=shape)


def _completed(
    given: Float[np.ndarray, "users arms"], rated: Bool[np.ndarray, "users arms"], rank: int, ridge: float
) -> Float[np.ndarray, "users arms"]:
    """The ratings, with b_i + u'v_i in place of missing ones."""
    from scipy.sparse import csr_array

    level = given[rated].mean()
    # shrinks the mean of an item with few ratings towards the mean of all
    usual = level + np.where(rated, given - level, 0.0).sum(axis=0) / (rated.sum(axis=0) + 1.0)
    known = csr_array(rated.astype(np.float64))
    left, right = factorize(csr_array(np.where(rated, given - usual, 0.0)), known, rank=rank, ridge=ridge)
    modelled = usual + np.einsum("ur,ir->ui", left, right)
    return np.where(rated, given, modelled.clip(0.0, 1.0))


def _known_factors(
    entries: "scipy.sparse.csr_array[np.float64]",
    known: "scipy.sparse.csr_array[np.float64]",
    dimension: int,
    ridge: float,
) -> Float[np.ndarray, "users d"]:
    """The users' factors, fitted to the existing ratings less their mean."""
    level = entries.sum() / known.sum()
    left, _ = factorize(entries - level * known, known, rank=dimension, ridge=ridge)
    return left


def _item_profiles(
    given: Float[np.ndarray, "users arms"], rated: Bool[np.ndarray, "users arms"], *, centre: bool
) -> Float[np.ndarray, "arms users"]:
    """The columns of ratings scaled to length one, so that the nearest has the largest cosine; an empty one is 0."""
    means = given.sum(axis=0) / np.maximum(rated.sum(axis=0), 1)
    columns = np.where(rated, given - means, 0.0) if centre else given
    lengths = np.sqrt((columns**2).sum(axis=0))
    return np.ascontiguousarray((columns / np.where(lengths > 0, lengths, 1.0)).T)
