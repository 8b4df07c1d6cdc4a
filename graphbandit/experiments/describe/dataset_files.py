"""Environments from data sets, by name or file, so that an experiment can name them."""

from pathlib import Path
from typing import Any

from graphbandit.environments import (
    LabelledData,
    RatingData,
    TableEnvironment,
    classification,
    load_dataset,
    ratings,
    read_labelled,
    read_ratings,
)
from graphbandit.errors import SettingError


def read_classification(
    *,
    data: str | None = None,
    file: str | None = None,
    label: str | None = None,
    components: int | None = None,
    graph: str = "similarity",
    standardize: bool = True,
    intercept: bool = False,
    right: float = 1.0,
    wrong: float = 0.0,
    reward_noise: float = 0.0,
    noise: float | None = None,
    **graph_options: Any,
) -> TableEnvironment:
    """`classification` of the data set `data`, as `load_dataset` has it, or of a file, as `read_labelled` reads it."""
    _one_of(data, file)
    if data is not None:
        if label is not None:
            raise SettingError(f"label is {label!r}; expected none with a data set: it names a column of a .csv file")
        loaded = load_dataset(data, components=components)
    else:
        if components is not None:
            raise SettingError(f"components is {components!r}; expected none with a file: it is for named data sets")
        loaded = read_labelled(Path(str(file)), label=label)
    if not isinstance(loaded, LabelledData):
        raise SettingError(f"data is {data!r}, which has ratings and no classes; expected kind 'ratings' for it")
    return classification(
        loaded.X,
        loaded.y,
        graph=graph,
        standardize=standardize,
        intercept=intercept,
        right=right,
        wrong=wrong,
        reward_noise=reward_noise,
        noise=noise,
        class_names=loaded.classes,
        **graph_options,
    )


def read_rating_environment(
    *,
    data: str | None = None,
    file: str | None = None,
    n_items: int = 50,
    dimension: int = 10,
    rank: int = 5,
    ridge: float = 0.03,
    least_ratings: int = 5,
    counts: bool | None = None,
    unrated: str | None = None,
    graph: str = "similarity",
    intercept: bool = False,
    reward_noise: float = 0.0,
    noise: float | None = None,
    **graph_options: Any,
) -> TableEnvironment:
    """`ratings` of the data set `data`, as `load_dataset` knows it, or of a file, as `read_ratings` reads it.

    `counts` is what the data set says unless it is given.
    """
    _one_of(data, file)
    loaded = read_ratings(Path(str(file))) if data is None else load_dataset(data)
    if not isinstance(loaded, RatingData):
        raise SettingError(f"data is {data!r}, which has classes and no ratings; expected kind 'classification' for it")
    return ratings(
        loaded.users,
        loaded.items,
        loaded.values,
        n_items=n_items,
        dimension=dimension,
        rank=rank,
        ridge=ridge,
        least_ratings=least_ratings,
        counts=loaded.counts if counts is None else counts,
        unrated=unrated,
        graph=graph,
        intercept=intercept,
        reward_noise=reward_noise,
        noise=noise,
        item_names=loaded.item_names,
        **graph_options,
    )


def _one_of(data: str | None, file: str | None) -> None:
    if (data is None) == (file is None):
        raise SettingError(f"data is {data!r} and file is {file!r}; expected one of them: a data set's name, or a file")
    if data is not None and not isinstance(data, str):
        raise SettingError(f"data is {data!r}; expected the name of a data set")
