"""Data sets by name: those that come with scikit-learn, and those in the user's files; nothing is ever downloaded."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from graphbandit.base.checks import setting_integer
from graphbandit.base.extras import imported
from graphbandit.base.shapes import Float
from graphbandit.environments.classification import feature_rows
from graphbandit.environments.data_files import (
    LabelledData,
    RatingData,
    as_path,
    column_array,
    ratings_table,
    read_csv,
    read_keel,
    read_labelled,
    read_npz,
    read_ratings,
    read_zipped,
)
from graphbandit.errors import InputError, SettingError

DIRECTORY_VARIABLE = "GRAPHBANDIT_DATA"
"""The environment variable that names the folder of data files."""

MNIST_COMPONENTS = 50
"""The default number of principal components that replace the 784 pixels of an image."""


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """How a data set is read.

    - `read`: called with the first of `files` that exists.
    - `files`: names of files that may hold the data set.
    - `layout`: what these files hold, in words.
    """

    read: "Callable[[Path], LabelledData | RatingData]"
    files: tuple[str, ...]
    layout: str


def _keel(name: str, file: Path) -> LabelledData:
    if file.suffix != ".npz":
        return read_keel(file)
    arrays = read_npz(file, [f"{name}_X", f"{name}_y", f"{name}_classes"])
    classes = tuple(map(str, arrays[f"{name}_classes"]))
    return LabelledData(X=arrays[f"{name}_X"], y=arrays[f"{name}_y"], class_names=classes)


def _movielens(file: Path) -> RatingData:
    data = ratings_table(file, read_csv(file, read_zipped(file, "ratings.csv")))
    films = read_csv(file, read_zipped(file, "movies.csv"))
    titles = zip(
        column_array(file, films, "movieId").tolist(), column_array(file, films, "title").tolist(), strict=True
    )
    return replace(data, item_names=dict(titles))


def _lastfm(file: Path) -> RatingData:
    return replace(read_ratings(file), counts=True)


def _keel_set(name: str) -> Dataset:
    layout = f"arrays {name}_X, {name}_y and {name}_classes, or the file of the KEEL repository"
    return Dataset(read=partial(_keel, name), files=("keel.npz", f"{name}.dat"), layout=layout)


KEEL = ("letter", "penbased", "optdigits", "satimage", "segment", "texture", "vowel", "movement_libras", "led7digit")
BUNDLED = ("digits", "iris", "wine", "breast_cancer")
"""Data sets that come with scikit-learn, and need no file."""

DATASETS: dict[str, Dataset] = {
    **{name: _keel_set(name) for name in KEEL},
    "mnist5k": Dataset(read=read_labelled, files=("mnist5k.npz",), layout="arrays X (images, 784) and y"),
    "movielens": Dataset(
        read=_movielens,
        files=("ml-latest-small.zip",),
        layout="ratings.csv and movies.csv, as GroupLens publishes them",
    ),
    "lastfm": Dataset(
        read=_lastfm,
        files=("user_artists.csv.gz", "user_artists.dat"),
        layout="columns user, artist, count, with commas; or with tabs, as HetRec 2011 publishes it",
    ),
}
"""Data sets in files, by name."""


def load_dataset(
    name: str, folder: str | os.PathLike[str] | None = None, *, components: int | None = None
) -> LabelledData | RatingData:
    """Load a data set by its name.

    - `name`: "digits", "iris", "wine" or "breast_cancer", which come with scikit-learn; or one of `DATASETS`, which are
      read from a file.
    - `folder`: the folder that holds the file, directly or in a subfolder; None (default): the environment variable
      GRAPHBANDIT_DATA.
    - `components`: how many principal components become the features; None (default): the features as they are, but 50
      components for "mnist5k".
    """
    file = dataset_file(name, folder)
    data = _bundled(name) if file is None else DATASETS[name].read(file)
    if isinstance(data, RatingData):
        if components is not None:
            raise SettingError(f"components is {components!r}; expected None with ratings, {name!r}")
        return data
    wanted = MNIST_COMPONENTS if components is None and name == "mnist5k" else components
    return data if wanted is None else replace(data, X=principal_components(data.X, wanted))


def dataset_file(name: str, folder: str | os.PathLike[str] | None = None) -> Path | None:
    """The file of a data set; None for one of scikit-learn's.

    Raises InputError if there is no file, and says which one is expected where.
    """
    if name in BUNDLED:
        return None
    if not isinstance(name, str) or name not in DATASETS:
        raise SettingError(f"data set is {name!r}; expected one of {', '.join(map(repr, (*BUNDLED, *DATASETS)))}")
    files, layout = DATASETS[name].files, DATASETS[name].layout
    wanted = f"{' or '.join(map(repr, files))} ({layout})"
    place = os.environ.get(DIRECTORY_VARIABLE) if folder is None else folder
    if not place:
        raise InputError(f"data set {name!r} is in a file: expected a folder, or {DIRECTORY_VARIABLE}, with {wanted}")
    folder = as_path("folder", place)
    for file in files:
        found = [path for path in (folder / file, *sorted(folder.glob(f"*/{file}"))) if path.is_file()]
        if found:
            return found[0]
    raise InputError(f"data set {name!r} is not in {str(folder)!r}; expected in it, or in a folder of it, {wanted}")


def principal_components(X: npt.ArrayLike, components: int) -> Float[np.ndarray, "rows components"]:
    """The scores of the rows on the directions of the largest variance, the largest first.

    A direction has the sign that makes its largest entry positive. Scores are rounded to 1e-5 of the largest score,
    because the last bits of an eigenvector depend on the linear algebra library and its threads, on which results must
    not depend.

    >>> principal_components(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]), 1).round(3).tolist()
    [[-1.414], [0.0], [1.414]]
    """
    features = feature_rows(X)
    n_kept = setting_integer("components", components, at_least=1, at_most=features.shape[1])
    centred = features - features.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    directions = directions[:, ::-1][:, :n_kept]
    largest = np.abs(directions).round(9).argmax(axis=0)
    directions = directions * np.where(np.take_along_axis(directions, largest[None], axis=0) < 0, -1.0, 1.0)
    scores = centred @ directions
    unit = 10.0 ** (np.floor(np.log10(max(np.abs(scores).max(), 1e-300))) - 5)
    rounded: Float[np.ndarray, "rows components"] = np.round(scores / unit) * unit
    return rounded


def _bundled(name: str) -> LabelledData:
    datasets = imported("sklearn.datasets", "sklearn", f"{name!r} comes with scikit-learn")
    loaded = getattr(datasets, f"load_{name}")()
    return LabelledData(X=loaded.data, y=loaded.target, class_names=tuple(map(str, loaded.target_names)))
