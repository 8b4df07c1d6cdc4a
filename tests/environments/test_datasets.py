"""Data sets by name and from files: what is there is read as it is, what is missing or broken is told plainly."""

import gzip
import sys
import zipfile

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.environments import LabelledData, RatingData, load_dataset, read_labelled, read_ratings
from graphbandit.environments.named_datasets import BUNDLED, DATASETS, KEEL, principal_components
from graphbandit.errors import ExperimentError, InputError, MissingExtraError, SettingError
from graphbandit.experiments import Experiment, Grid, load
from graphbandit.experiments.describe.environment_kinds import ENVIRONMENT_KINDS, build_environment
from graphbandit.experiments.describe.identity import identity
from tests.helpers.commands import invoke
from tests.helpers.real_data import real_data

RNG = np.random.default_rng(7)
X, Y = RNG.integers(0, 16, (40, 3)), np.arange(40) % 4
KEEL_TEXT = "@relation letter\n@attribute a real\n@data\n1, 2.5, A\n3, 4, B\n\n0, -1, A\n"


@pytest.fixture
def folder(tmp_path):
    """One small file of every form."""
    (tmp_path / "sub").mkdir()
    arrays = {"letter_X": X, "letter_y": Y, "letter_classes": np.array(list("ABCD"))}
    np.savez(tmp_path / "sub" / "keel.npz", **arrays)
    np.savez(tmp_path / "mnist5k.npz", X=RNG.integers(0, 255, (30, 60)).astype(np.uint8), y=np.arange(30) % 3)
    ratings = "\n".join(
        f"{u},{10 * i},{(u * i) % 5 + 0.5},99" for u in range(1, 30) for i in range(1, 20) if (u + i) % 3
    )
    with zipfile.ZipFile(tmp_path / "ml-latest-small.zip", "w") as archive:
        archive.writestr("ml-latest-small/ratings.csv", f"userId,movieId,rating,timestamp\r\n{ratings}\n")
        archive.writestr(
            "ml-latest-small/movies.csv", 'movieId,title,genres\r\n10,"One, the film (1995)",Drama\r\n20,Two,War'
        )
    plays = "".join(f"{u},{i},{u * i + 1}\n" for u in range(1, 30) for i in range(1, 20) if (u + i) % 3)
    (tmp_path / "user_artists.csv.gz").write_bytes(
        gzip.compress(f"userID,artistID,listenCount\n{plays}".encode(), mtime=0)
    )
    return tmp_path


def test_named_sets_are_read_from_the_directory_or_a_folder_in_it(folder):
    letter = load_dataset("letter", folder)
    assert isinstance(letter, LabelledData)
    np.testing.assert_array_equal(letter.X, X)
    np.testing.assert_array_equal(letter.y, Y)
    assert letter.class_names == ("A", "B", "C", "D")
    films = load_dataset("movielens", str(folder))
    assert isinstance(films, RatingData)
    assert (films.users[0], films.items[0], films.values[0], films.counts) == (1, 10, 1.5, False)
    assert films.item_names == {10: "One, the film (1995)", 20: "Two"}
    artists = load_dataset("lastfm", folder)
    assert (artists.users[0], artists.items[0], artists.values[0], artists.counts) == (1, 1, 2.0, True)


def test_the_environment_variable_names_the_directory(folder, monkeypatch):
    monkeypatch.setenv("GRAPHBANDIT_DATA", str(folder))
    np.testing.assert_array_equal(load_dataset("letter").X, X)
    monkeypatch.delenv("GRAPHBANDIT_DATA")
    with pytest.raises(
        InputError, match=r"data set 'letter' is in a file: .* GRAPHBANDIT_DATA, with 'keel.npz' or 'letter"
    ):
        load_dataset("letter")


@pytest.mark.parametrize("name", DATASETS)
def test_a_file_that_is_missing_is_named(name, tmp_path):
    with pytest.raises(
        InputError, match=f"data set '{name}' is not in .*; expected in it, or in a folder of it, '"
    ) as caught:
        load_dataset(name, tmp_path)
    assert all(repr(file) in str(caught.value) for file in DATASETS[name].files)
    with pytest.raises(InputError, match="is not in"):
        load_dataset(name, tmp_path / "nowhere")


def test_published_forms_are_read_too(tmp_path):
    (tmp_path / "letter.dat").write_text(KEEL_TEXT)
    letter = load_dataset("letter", tmp_path)
    assert (letter.X.tolist(), letter.y.tolist(), letter.class_names) == (
        [[1, 2.5], [3, 4], [0, -1]],
        ["A", "B", "A"],
        None,
    )
    (tmp_path / "user_artists.dat").write_text("userID\tartistID\tweight\n2\t51\t13883\n")
    artists = load_dataset("lastfm", tmp_path)
    assert (artists.users.tolist(), artists.items.tolist(), artists.values.tolist()) == ([2], [51], [13883.0])
    assert artists.counts


def test_images_are_reduced_to_principal_components(folder):
    pixels = read_labelled(folder / "mnist5k.npz").X
    assert load_dataset("mnist5k", folder).X.shape == (30, 50)
    few = load_dataset("mnist5k", folder, components=4).X
    centred = pixels - pixels.mean(axis=0)
    _, lengths, directions = np.linalg.svd(centred, full_matrices=False)
    directions *= np.sign(directions[np.arange(len(directions)), np.abs(directions).argmax(axis=1)])[:, None]
    np.testing.assert_allclose(few, centred @ directions[:4].T, atol=1e-4 * np.abs(few).max())
    np.testing.assert_allclose(np.sqrt((few**2).sum(axis=0)), lengths[:4], rtol=1e-4)
    assert load_dataset("letter", folder, components=2).X.shape == (40, 2)
    with pytest.raises(SettingError, match="components is 61; expected a whole number of at most 60"):
        load_dataset("mnist5k", folder, components=61)
    with pytest.raises(SettingError, match="components is 3; expected None with ratings, 'movielens'"):
        load_dataset("movielens", folder, components=3)
    assert principal_components(np.ones((3, 2)), 1).tolist() == [[0.0]] * 3


def test_own_files(tmp_path):
    np.savez(tmp_path / "own.npz", X=X, y=Y)
    np.testing.assert_array_equal(read_labelled(tmp_path / "own.npz").X, X)
    (tmp_path / "own.csv").write_text("a,kind,b\n1,cat,2.5\n3,dog,4\n")
    for name, content in (
        ("own.csv", None),
        ("packed.csv.gz", gzip.compress(b"a,kind,b\n1,cat,2.5\n3,dog,4\n", mtime=0)),
    ):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        data = read_labelled(tmp_path / name, label="kind")
        assert (data.X.tolist(), data.y.tolist()) == ([[1, 2.5], [3, 4]], ["cat", "dog"])
    np.savez(tmp_path / "rated.npz", users=[1, 2], items=[3, 4], values=[0.5, 1.5])
    assert read_ratings(tmp_path / "rated.npz").values.tolist() == [0.5, 1.5]
    (tmp_path / "rated.csv").write_text("who,what,stars,when\nann,x,4,now\nbob,y,2,then\n")
    assert read_ratings(tmp_path / "rated.csv").users.tolist() == ["ann", "bob"]


CSV = "a,kind\n1,cat\n2,dog\n"
BROKEN = [
    ("own.npz", b"PK\x03\x04 not really", None, "is not a .npz file of arrays"),
    ("own.npz", b"", None, "is not a .npz file of arrays"),
    ("own.csv", b"a,kind\n1,cat\n2\n", "kind", "is not a table"),
    ("own.csv", b"", "kind", "is not a table"),
    ("own.csv", CSV.encode(), None, r"label is None; expected the column .*\['a', 'kind'\]"),
    ("own.csv", CSV.encode(), "sort", "expected one column 'sort'"),
    ("own.csv", b"a,kind\n1,cat\n,dog\n", "kind", "whose column 'a' has no value in row 1"),
    ("own.csv", b"a,kind\n1,cat\n2,\n", "kind", "whose column 'kind' has no value in row 1"),
    ("own.csv", b"a,kind\nx,cat\ny,dog\n", "kind", "whose column 'a' is .*x.* and so on; expected numbers"),
    ("own.csv", b"a,a,kind\n1,2,cat\n", "kind", "expected one column 'a'"),
    ("own.csv", b"kind\ncat\ndog\n", "kind", "nothing but the column 'kind'"),
    ("own.csv", b"a,kind\n", "kind", "nothing but the column 'kind'|is not a table"),
    ("own.csv.gz", b"not packed", "kind", "is not a readable file"),
    ("own.csv.gz", gzip.compress(CSV.encode() * 50, mtime=0)[:-12], "kind", "is not a readable file"),
    ("own.dat", b"@data\n1,2,A\n1,B\n", None, "without rows of one length"),
    ("own.dat", b"@data\n", None, "without rows of one length"),
    ("own.dat", b"1,x,A\n", None, "a feature is not a number"),
    ("own.dat", b"\xff\xfe\x00", None, "is not text"),
    ("own.txt", b"", None, "expected a name that ends in .npz"),
    ("own.npz", None, None, "which does not exist"),
    ("own.csv", None, "kind", "which does not exist"),
    ("own.npz", b"", "kind", "label is 'kind'; expected none"),
]


@pytest.mark.parametrize(("name", "content", "label", "message"), BROKEN)
def test_broken_files_are_refused(name, content, label, message, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_labelled(tmp_path / name, label=label)


def test_broken_archives_and_ratings_are_refused(folder):
    np.savez(folder / "own.npz", X=X)
    with pytest.raises(InputError, match=r"lacks the array 'y'; expected X, y"):
        read_labelled(folder / "own.npz")
    np.savez(folder / "objects.npz", X=np.array([None, 1]), y=[0, 1])
    with pytest.raises(InputError, match=r"is not a .npz file of arrays"):
        read_labelled(folder / "objects.npz")
    with pytest.raises(InputError, match="lacks the array 'vowel_X'"):
        load_dataset("vowel", folder)
    (folder / "few.csv").write_text("user,item\n1,2\n")
    with pytest.raises(InputError, match="1 rows and 2 columns; expected rows of user, item and value"):
        read_ratings(folder / "few.csv")
    archive = folder / "ml-latest-small.zip"
    whole = archive.read_bytes()
    archive.write_bytes(whole[:300])
    with pytest.raises(InputError, match=r"is not a .zip file"):
        load_dataset("movielens", folder)
    spoilt = bytearray(whole)
    spoilt[100:120] = bytes(20)
    archive.write_bytes(bytes(spoilt))
    with pytest.raises(InputError, match=r"is not a .zip file"):
        load_dataset("movielens", folder)
    with zipfile.ZipFile(archive, "w") as empty:
        empty.writestr("README.txt", "")
    with pytest.raises(InputError, match=r"holds 0 files 'ratings.csv'; expected one"):
        load_dataset("movielens", folder)


def test_what_is_no_path_is_refused():
    for read in (read_labelled, read_ratings):
        with pytest.raises(InputError, match="file is 3; expected a path"):
            read(3)
    with pytest.raises(InputError, match="folder is 3; expected a path"):
        load_dataset("letter", 3)
    with pytest.raises(SettingError, match=r"data set is \['letter'\]; expected one of"):
        load_dataset(["letter"])


def test_an_unknown_name_is_refused():
    with pytest.raises(SettingError, match=r"data set is 'lettr'; expected one of 'digits', .*'letter'"):
        load_dataset("lettr")


@pytest.mark.parametrize(("name", "shape", "n_classes"), [("digits", (1797, 64), 10), ("iris", (150, 4), 3)])
def test_sets_of_scikit_learn(name, shape, n_classes):
    pytest.importorskip("sklearn")
    data = load_dataset(name)
    assert data.X.shape == shape
    environment = gb.environments.classification(data.X, data.y, class_names=data.class_names, graph="confusion")
    assert environment.n_arms == n_classes == len(environment.arms)
    assert {load_dataset(other).y.max() for other in BUNDLED} == {9, 2, 1}


def test_without_scikit_learn_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(
        MissingExtraError, match=r"'iris' comes with scikit-learn: pip install 'graphbandit\[sklearn\]'"
    ):
        load_dataset("iris")


FILE = """\
[experiment]
name = "sets"
rounds = 50
repeats = 2

[environments.letters]
kind = "classification"
data = "letter"
graph = "confusion"
degree = [1, 2]

[environments.own]
kind = "classification"
file = "own.csv"
label = "kind"

[environments.films]
kind = "ratings"
data = "movielens"
n_arms = 10
dimension = 2
degree = 3

[environments.clicks]
kind = "linear"
n_arms = 6
arm_kind = "per-arm"
link = "logistic"
graph = "clique_group"
n_cliques = 2

[learners.any]
kind = "Uniform"
"""


@pytest.fixture
def experiment_file(folder, monkeypatch):
    monkeypatch.setenv("GRAPHBANDIT_DATA", str(folder))
    (folder / "own.csv").write_text("a,kind\n1,cat\n3,dog\n2,cat\n4,cow\n")
    (folder / "sets.toml").write_text(FILE)
    return folder / "sets.toml"


def test_experiments_name_data_sets(experiment_file):
    out = experiment_file.parent / "out"
    done = invoke("run", experiment_file, "--workers", 1, "--out", out)
    assert done.exit_code == 0, done.output
    shown = invoke("show", out)
    assert shown.exit_code == 0
    assert "letters degree=2" in shown.output
    results = gb.experiments.Results.open(out)
    letters = results.regret("letters degree=1", "any")
    assert ((letters > 25) & (letters < 50)).all(), "three of four are wrong"
    np.testing.assert_array_equal(letters, results.regret("letters degree=2", "any"))  # the same rows, the same play


def test_a_changed_file_is_another_environment(experiment_file):
    folder = experiment_file.parent
    points = load(experiment_file).environment_points()

    def identities():
        return [identity(point.kind, point.settings, ENVIRONMENT_KINDS) for point in points]

    before = identities()
    assert "letter sha256:" in before[0]
    (folder / "own.csv").write_text("a,kind\n1,cat\n3,dog\n2,cat\n5,cow\n7,cow\n")
    np.savez(folder / "sub" / "keel.npz", letter_X=X + 1, letter_y=Y, letter_classes=np.array(list("ABCD")))
    after = identities()
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, False, False, True, True]
    assert build_environment(points[2].kind, points[2].settings).n_rows == 5
    bundled = identity("classification", {"data": "iris"}, ENVIRONMENT_KINDS)
    assert '"data": "iris"' in bundled


WRONG = [
    ('data = "letter"', 'data = "lettr"', 8, "data set is 'lettr'; expected one of"),
    ('data = "letter"', 'data = "vowel"', 6, "lacks the array 'vowel_X'"),
    ('data = "letter"', 'data = "movielens"', 8, "data is 'movielens', which has ratings and no classes"),
    ('data = "letter"', "data = 3", 8, "data is 3; expected the name of a data set"),
    ('data = "letter"', 'data = "letter"\nfile = "own.csv"', 8, "data is 'letter' and file is"),
    ('data = "letter"\n', "", 6, "data is None and file is None; expected one of them"),
    ('data = "letter"', 'data = "letter"\nlabel = "kind"', 9, "label is 'kind'; expected none with a data set"),
    ('"confusion"', '"confused"', 9, "graph is 'confused'; expected one of 'similarity', 'confusion', 'hierarchy'"),
    ("degree = [1, 2]", "degre = 1", 10, "unknown setting 'degre' of kind 'classification'; did you mean 'degree'?"),
    ("degree = [1, 2]", "degree = [1, 4]", 10, "degree is 4; expected at most 3"),
    ('label = "kind"', 'label = "sort"', 14, "expected one column 'sort'"),
    ('label = "kind"', 'label = "kind"\ncomponents = 1', 16, "components is 1; expected none with a file"),
    ('"own.csv"', '"no.csv"', 14, "which does not exist"),
    ('data = "movielens"', 'data = "letter"', 19, "data is 'letter', which has classes and no ratings"),
    ("n_arms = 10", "n_arms = 30", 20, "n_arms is 30; expected fewer than the 19"),
    ('link = "logistic"', 'link = "probit"', 28, "link is 'probit'"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), WRONG)
def test_mistakes_in_experiment_files_are_told_with_their_line(experiment_file, old, new, line, message):
    assert FILE.count(old) == 1
    experiment_file.write_text(FILE.replace(old, new))
    with pytest.raises(ExperimentError, match=message) as caught:
        load(experiment_file)
    assert f"sets.toml, line {line}: " in str(caught.value)


def test_an_experiment_survives_being_written_as_a_file(experiment_file):
    from graphbandit.experiments.describe.toml_writer import to_toml

    read = load(experiment_file)
    (experiment_file.parent / "again.toml").write_text(to_toml(read, relative_to=experiment_file.parent))
    again = load(experiment_file.parent / "again.toml")
    assert [p.label for p in again.environment_points()] == [p.label for p in read.environment_points()]
    own = Experiment(
        name="own", rounds=5, repeats=1, environments={"l": Grid("linear")}, learners={"u": Grid("Uniform")}
    )
    assert own.n_runs == 1


@pytest.mark.parametrize("name", [*KEEL, "mnist5k"])
def test_real_classification_sets(name):
    data = load_dataset(name, real_data())
    n_classes = len(np.unique(data.y))
    for graph in ("similarity", "confusion", "hierarchy"):
        environment = gb.environments.classification(data.X, data.y, graph=graph, class_names=data.class_names)
        assert environment.n_arms == n_classes
        assert environment.source.graph.is_undirected
        assert environment.source.graph.has_all_loops
    regret = gb.simulate(gb.learners.Uniform(), environment, rounds=600).regret["learner"][0, -1]
    assert regret == pytest.approx(600 * (1 - 1 / n_classes), abs=60)


@pytest.mark.parametrize(("name", "n_ratings"), [("movielens", 100_836), ("lastfm", 92_834)])
def test_real_ratings(name, n_ratings):
    data = load_dataset(name, real_data())
    assert len(data.values) == n_ratings
    environment = gb.environments.ratings(
        data.users, data.items, data.values, counts=data.counts, item_names=data.item_names
    )
    assert environment.n_arms == 50
    assert environment.n_rows > 400
    assert (environment.means >= 0).all()
    assert (environment.means <= 1).all()
    if name == "movielens":
        assert "Pulp Fiction (1994)" in environment.arms
