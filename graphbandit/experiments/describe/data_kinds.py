"""Environments from data sets, which an experiment gives by name or as a file."""

from pathlib import Path
from typing import Any

from graphbandit.environments import (
    KnownRewardsEnvironment,
    LabelledData,
    RatingData,
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
    **settings: Any,
) -> KnownRewardsEnvironment:
    """`classification` of a data set or a file; further settings go to `classification`.

    - `data`: the name of a data set, for `load_dataset`.
    - `file`: the name of a file, for `read_labelled`.
    - `label`: the column of the file that holds the classes.
    - `components`: the number of principal components of the data set.
    """
    _one_of(data, file)
    if data is not None and label is not None:
        raise SettingError(f"label is {label!r}; expected none with a data set: it names a column of a .csv file")
    if file is not None and components is not None:
        raise SettingError(f"components is {components!r}; expected none with a file: it is for named data sets")
    loaded = read_labelled(Path(str(file)), label=label) if data is None else load_dataset(data, components=components)
    if not isinstance(loaded, LabelledData):
        raise SettingError(f"data is {data!r}, which has ratings and no classes; expected kind 'ratings' for it")
    return classification(loaded.X, loaded.y, class_names=loaded.class_names, **settings)


def read_rating_environment(
    *, data: str | None = None, file: str | None = None, counts: bool | None = None, **settings: Any
) -> KnownRewardsEnvironment:
    """`ratings` of a data set or a file; further settings go to `ratings`.

    - `data`: the name of a data set, for `load_dataset`.
    - `file`: the name of a file, for `read_ratings`.
    - `counts`: whether the values are counts; None (default): what the data set says.
    """
    _one_of(data, file)
    loaded = read_ratings(Path(str(file))) if data is None else load_dataset(data)
    if not isinstance(loaded, RatingData):
        raise SettingError(f"data is {data!r}, which has classes and no ratings; expected kind 'classification' for it")
    given = {"counts": loaded.counts if counts is None else counts, "item_names": loaded.item_names, **settings}
    return ratings(loaded.users, loaded.items, loaded.values, **given)


def _one_of(data: str | None, file: str | None) -> None:
    if (data is None) == (file is None):
        raise SettingError(f"data is {data!r} and file is {file!r}; expected one of them: a data set's name, or a file")
