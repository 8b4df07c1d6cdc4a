"""Networks from files of every format, whole and broken, and the value they give."""

import bz2
import gzip
import io
import pickle
import re
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from graphbandit.errors import GraphError, NetworkFileError, SettingError
from graphbandit.graphs.networks import files as network_files
from graphbandit.graphs.networks.files import edge_format, read_network
from graphbandit.graphs.networks.network import Network
from graphbandit.kernels.graphs.networks import read_pairs
from tests.helpers.real_data import real_data

FORMATS = {
    "snap": "# Undirected graph\n# FromNodeId\tToNodeId\n10\t20\n20\t30\n\n20\t10\n30\t30\n",
    "snap with blanks": "# Nodes: 3\n10 20\n20   30\n20 10\n30 30\n",
    "konect": "% sym unweighted\n% 4 3 3\n10 20 1 1230000\n20 30 1 1230000\n20 10 -1 5\n30 30 1 0.5\n",
    "matrix market": "%%MatrixMarket matrix coordinate pattern\n% made up\n3 3 4\n10 20\n20 30\n20 10\n30 30\n",
    "csv": "10,20\n20,30\n20,10\n30,30\n",
    "csv with headings": "src,dst\n10,20\n20,30\n20,10\n30,30\n",
    "csv with weights": "user,friend,weight\n10,20,0.5\n20,30,1.5\n20,10,7\n30,30,x\n",
    "csv with blanks": "10 , 20\n 20, 30 \n20 ,10\n30,30\n",
    "semicolons": "source;target\n10;20\n20;30\n20;10\n30;30\n",
    "tabs": "10\t20\n20\t30\n20\t10\n30\t30",
    "windows": "\ufeffu,v\r\n10,20\r\n20,30\r\n20,10\r\n30,30\r\n",
    "comment inside": "10 20\n# half way\n20 30\n20 10\n% nearly there\n30 30\n",
}

TEXTS = {
    "csv": "ann,bob\nbob,carl\nbob,ann\ncarl,carl\n",
    "csv with headings": "source,target\nann,bob\nbob,carl\nbob,ann\ncarl,carl\n",
    "quoted": '"ann","bob"\n"bob", "carl"\nbob,ann\ncarl,carl\n',
    "tabs": "% asym\nann\tbob\t1\nbob\tcarl\t2\nbob\tann\t1\ncarl\tcarl\t1\n",
    "blanks": "ann bob\n\nbob  carl\nbob ann\r\ncarl carl",
}


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("block", [network_files.BLOCK, 7, 1])
@pytest.mark.parametrize("kind", FORMATS)
def test_numbers_in_every_format(kind: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if block < 100:
        # the first block must hold the lines that are looked at; the rest may come in any portions
        monkeypatch.setattr(network_files, "_whole_lines", in_portions(block))
    network = read_network(written(tmp_path / "edges.txt", FORMATS[kind]))
    assert network.edges().tolist() == [[0, 1], [1, 2]]
    assert network.names.tolist() == [10, 20, 30]
    assert (network.loops_dropped, network.repeats_dropped) == (1, 1)
    assert repr(network) == "Network(n_nodes=3, n_edges=2; dropped: 1 self-loop, 1 repeat)"


def in_portions(lines: int):
    original = network_files._whole_lines

    def portions(stream, told):
        text = b"".join(original(stream, told)).split(b"\n")[:-1]
        head = next(i for i, line in enumerate(text) if b"10" in line) + 1
        yield b"\n".join(text[:head]) + b"\n"
        for start in range(head, len(text), lines):
            yield b"\n".join(text[start : start + lines]) + b"\n"

    return portions


@pytest.mark.parametrize("kind", TEXTS)
def test_text_in_every_format(kind: str, tmp_path: Path) -> None:
    network = read_network(written(tmp_path / "edges.txt", TEXTS[kind]))
    assert network.names == ("ann", "bob", "carl")
    assert network.edges().tolist() == [[0, 1], [1, 2]]
    assert (network.loops_dropped, network.repeats_dropped) == (1, 1)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_compression_is_seen_whatever_the_name(pack, tmp_path: Path) -> None:
    for name in ("edges.csv.gz", "edges"):
        network = read_network(written(tmp_path / name, pack(FORMATS["snap"].encode())))
        assert network.names.tolist() == [10, 20, 30]
    two = pack(b"10 20\n") + pack(b"20 30\n")
    assert read_network(written(tmp_path / "two", two)).n_edges == 2


def test_formats_are_recognised(tmp_path: Path) -> None:
    seen = {kind: edge_format(written(tmp_path / "edges", FORMATS[kind])) for kind in FORMATS}
    assert [seen[kind].comment for kind in ("snap", "konect", "matrix market", "csv")] == ["#", "%", "%", ""]
    assert seen["csv with headings"].skip == 1
    assert (seen["matrix market"].skip, seen["matrix market"].separator) == (3, " ")


def test_what_cannot_be_seen_can_be_said(tmp_path: Path) -> None:
    path = written(tmp_path / "edges", "1 2\n2 03\n3 x1\n")
    with pytest.raises(NetworkFileError, match=r"line 3 is '3 x1'; expected two whole numbers .*ids='text'"):
        read_network(path)
    assert read_network(path, ids="text").names == ("1", "2", "03", "3", "x1")
    titled = written(tmp_path / "titled", "king,queen\nann,bob\n")
    assert read_network(titled).n_edges == 2
    assert read_network(titled, header=True).names == ("ann", "bob")
    from_to = written(tmp_path / "names", "from,to\nann,bob\n")
    assert read_network(from_to).names == ("ann", "bob")
    assert read_network(from_to, header=False).names == ("from", "to", "ann", "bob")
    for options, message in [({"ids": "words"}, "ids is 'words'"), ({"header": 1}, "header is 1")]:
        with pytest.raises(SettingError, match=message):
            read_network(path, **options)


def test_text_nodes_may_start_with_a_hash_unless_the_file_does(tmp_path: Path) -> None:
    assert read_network(written(tmp_path / "tags", "love,#cats\n#cats,#dogs\n")).names == ("love", "#cats", "#dogs")


def test_numbers_of_any_size(tmp_path: Path) -> None:
    largest = 2**63 - 9  # the longest that surely fit, as the first of 19 digits may be any
    text = f"-5 {largest}\n{largest} 7\n-{largest} -5\n"
    network = read_network(written(tmp_path / "edges", text))
    assert network.names.tolist() == [-largest, -5, 7, largest]
    assert network.edges().tolist() == [[0, 1], [1, 3], [2, 3]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "which has no edges in it"),
        ("\n\n", "which has no edges in it"),
        ("# only\n# comments\n", "which has no edges in it"),
        ("%%MatrixMarket matrix\n3 3 0\n", "which has no edges in it"),
        ("src,dst\n", "which has only a line of headings"),
        ("1,2\n3\n", "line 2 is '3'; expected 2 columns as in the lines before"),
        ("1\n2\n", "line 1 is '1'; expected two nodes a line"),
        ("1 2\n3 4 5 6\n", "line 2 is '3 4 5 6'; expected 2 columns"),
        ("1,2\n3,\n", "line 2 is '3,'; expected two whole numbers with a comma between"),
        ("1,2\n3,4.5\n", "line 2 is '3,4.5'; expected two whole numbers"),
        ("1,2\n3,4\nx,5\n", "line 3 is 'x,5'; expected two whole numbers"),
        ("1,2\n3,4\n5,6x\n", "line 3 is '5,6x'; expected two whole numbers"),
        ("1,x\n3,4\n5,6\n", "line 1 is '1,x'; expected two whole numbers"),
        ("# c\n1 2\n- 4\n5 6\n", "line 3 is '- 4'; expected two whole numbers with a blank between"),
        ("1 2\n2 9223372036854775808\n3 4\n", "line 2 is '2 9223372036854775808'"),
        ("ann,bob\nbob,\n", "line 2 is 'bob,'; expected two nodes with a comma between"),
        (b"1 2\n\0\0\n", "is not text .it has a zero byte"),
        (b"\x93NUMPY\xff\xfe", "is not text in UTF-8"),
        (np.random.default_rng(0).bytes(5000), "is not text"),
        ("1 2\r3 4\r5 6\r", "whose lines end only in carriage returns"),
        ("1 2\n" * 1500 + "3 4\n5;6\n", "line 1502 is '5;6'"),
        ("a b\n" * 1500 + "c\n", "line 1501 is 'c'; expected two nodes with a blank between"),
        (b"ann bob\n" * 1500 + b"\xff carl\n", "line 1501 is .*expected text in UTF-8"),
        ("x" * 200_000 + ",y\n", "line 1 is 'xxxxx"),
    ],
)
def test_broken_files_are_refused_with_their_line(text: str | bytes, message: str, tmp_path: Path) -> None:
    content = text.encode() if isinstance(text, str) else text
    for path in (written(tmp_path / "edges", content), written(tmp_path / "edges.gz", gzip.compress(content))):
        with pytest.raises(NetworkFileError, match=f"file is '.*{path.name}', .*{message}"):
            read_network(path)


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    text = "".join(f"{i} {i * i % 10007}\n" for i in range(1, 10000)).encode()
    packed = gzip.compress(text)
    torn = bytearray(packed)
    torn[len(torn) // 2] ^= 0xFF
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:bz2") as tar:
        member = tarfile.TarInfo("flixster/out.flixster")
        member.size = len(text)
        tar.addfile(member, io.BytesIO(text))
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archived:
        archived.writestr("edges.csv", text)
    for content, message in [
        (packed[:-9], "cannot be read to its end"),
        (packed[: len(packed) // 2], "cannot be read to its end"),
        (packed[:5], "cannot be read to its end"),
        (bytes(torn), "cannot be read to its end"),
        (bz2.compress(text)[:-10], "cannot be read to its end"),
        (archive.getvalue(), "is a tar archive; expected the file of edges in it"),
        (zipped.getvalue(), "is a zip archive; expected the file of edges in it"),
    ]:
        with pytest.raises(NetworkFileError, match=message):
            read_network(written(tmp_path / "edges", content))
    with pytest.raises(NetworkFileError, match="which does not exist"):
        read_network(tmp_path / "gone")
    with pytest.raises(NetworkFileError, match="cannot be read to its end: Is a directory"):
        read_network(tmp_path)


def test_lines_without_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_files, "BLOCK", 10)
    with pytest.raises(NetworkFileError, match="cannot be read to its end: a line has more than 40 bytes"):
        read_network(written(tmp_path / "edges", "1 2\n3 4" + 100 * " 5"))


@pytest.mark.parametrize("separator", [" ", ",", ";"])
def test_the_compiled_reader_is_the_literal_one(separator: str) -> None:
    between = r"[ \t\r]+" if separator == " " else rf"[ \t\r]*{separator}[ \t\r]*"
    edge = re.compile(rf"[ \t\r]*(-?\d+){between}(-?\d+)(?=[ \t\r{separator}]|$)")
    rng = np.random.default_rng(2)
    read = refused = 0
    anything = ["", "7", "-", "x", "#", "%", ",", ";", " ", "\t", "\r"]
    likely = [
        ["", " ", "#"],
        ["7", "-12", "305", "x"],
        ["", " "],
        [separator],
        ["", " "],
        ["8", "-9"],
        anything,
        anything,
    ]
    for _ in range(1000):
        lines = [
            "".join(rng.choice(likely[i] if rng.random() < 0.95 else anything) for i in range(len(likely)))
            for _ in range(rng.integers(1, 4))
        ]
        text = "".join(f"{line}\n" for line in lines).encode()
        expected, wrong, place = [], -1, 0
        for line in lines:
            found = edge.match(line)
            if line.strip(" \t\r") and line.strip(" \t\r")[0] not in "#%":
                if found is None:
                    wrong = place
                    break
                expected.append([int(found[1]), int(found[2])])
            place += len(line) + 1
        pairs = np.empty((len(lines), 2), dtype=np.int64)
        n, at = read_pairs(np.frombuffer(text, dtype=np.uint8), ord(separator), pairs)
        assert (pairs[:n].tolist(), at) == (expected, wrong), text
        read, refused = read + len(expected), refused + (wrong >= 0)
    assert read > 100
    assert refused > 100


@pytest.mark.parametrize("block", [50, 1000, network_files.BLOCK])
def test_reading_is_the_same_for_any_block(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    pairs = rng.integers(-40, 40, size=(500, 2)) * rng.choice([1, 10**9])
    path = written(tmp_path / "edges.gz", gzip.compress("".join(f"{a}\t{b}\n" for a, b in pairs).encode()))
    monkeypatch.setattr(network_files, "BLOCK", block)
    calls = []
    network = read_network(path, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (path.stat().st_size, path.stat().st_size)
    assert_is(network, pairs)
    as_text = read_network(written(tmp_path / "text", "".join(f"n{a},n{b}\n" for a, b in pairs)))
    number = [int(name.removeprefix("n")) for name in as_text.names]
    friends = {frozenset((number[i], number[j])) for i, j in as_text.edges()}
    assert friends == {frozenset(pair) for pair in pairs.tolist() if pair[0] != pair[1]}


def assert_is(network: Network, pairs: np.ndarray) -> None:
    """The literal reading: a set of pairs of different names."""
    friends = {frozenset(pair) for pair in pairs.tolist() if pair[0] != pair[1]}
    names = sorted(set(pairs.ravel().tolist()))
    assert network.names.tolist() == names
    assert {frozenset((names[i], names[j])) for i, j in network.edges().tolist()} == friends
    assert network.n_edges == len(friends)
    loops = sum(a == b for a, b in pairs.tolist())
    assert (network.loops_dropped, network.repeats_dropped) == (loops, len(pairs) - loops - len(friends))
    for node in range(network.n_nodes):
        row = network.rows.of(node)
        assert (np.diff(row) > 0).all()
        assert network.degrees[node] == len(row) == sum(names[node] in pair for pair in friends)


@pytest.mark.parametrize("spread", [1, 10**6, 10**12])
@pytest.mark.parametrize("seed", range(5))
def test_networks_from_pairs(seed: int, spread: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, 30, size=(rng.integers(1, 60), 2)) * spread
    network = Network.from_edges(pairs)
    assert_is(network, pairs)
    parts = parts_of(network)
    assert sorted(map(len, parts)) == sorted(network.component_sizes.tolist())
    assert network.n_components == len(set(map(frozenset, parts)))


def parts_of(network: Network) -> list[set[int]]:
    """The connected part of every node, by looking around until nothing new is found."""
    found = []
    for node in range(network.n_nodes):
        part, before = {node}, 0
        while len(part) > before:
            before = len(part)
            part |= {int(j) for i in part for j in network.rows.of(i)}
        found.append(part)
    return found


def test_nodes_without_edges_are_kept_where_nodes_are_counted() -> None:
    network = Network.from_edges([(0, 3)], n_nodes=5)
    assert (network.n_nodes, network.n_components, network.names) == (5, 4, None)
    empty = Network.from_edges([], n_nodes=0)
    assert (empty.n_nodes, empty.n_edges, empty.n_components) == (0, 0, 0)
    assert Network.from_edges([]).n_nodes == 0
    for edges, options, error, message in [
        ([(0, 1, 2)], {}, GraphError, r"edges have shape \(1, 3\)"),
        ([(0.5, 1)], {}, GraphError, "type float64; expected pairs of whole numbers"),
        ([(0, 5)], {"n_nodes": 5}, GraphError, r"edge 0 is \(0, 5\); expected nodes of 0 .. 4"),
        ([(0, 1)], {"n_nodes": -1}, SettingError, "n_nodes is -1"),
        (np.array([[0, 2**63]], dtype=np.uint64), {}, GraphError, "edges have the node 9223372036854775808"),
    ]:
        with pytest.raises(error, match=message):
            Network.from_edges(edges, **options)


def test_networks_do_not_change() -> None:
    network = Network.from_edges([(5, 6), (6, 7)])
    for array in (*network.rows, network.names, network.degrees, network.component_sizes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    again = pickle.loads(pickle.dumps(network))
    assert again.edges().tolist() == network.edges().tolist()
    with pytest.raises(ValueError, match="read-only"):
        again.rows.indices[0] = 1


REAL = {
    "flixster_asu_induced5000": (5000, 24507, 1),
    "lastfm_asia": (7624, 27806, 1),
    "snap_ego_facebook": (4039, 88234, 1),
    "lastfm_hetrec2011": (1892, 12717, 20),
}


@pytest.mark.parametrize("name", REAL)
def test_real_networks_have_their_published_sizes(name: str) -> None:
    network = read_network(real_data(name, "edges.csv.gz"))
    assert (network.n_nodes, network.n_edges, network.n_components) == REAL[name]
