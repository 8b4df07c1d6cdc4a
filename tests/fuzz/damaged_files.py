"""Files that were damaged or made up: `load` refuses them, or gives a bandit that decides properly.

They are changed by structure: bytes, entries of the archive, nodes of the manifest, arrays. None may end the process,
hang, take much memory, or make probabilities that are none.
"""

import copy
import io
import json
import math
import resource
import zipfile
from typing import Any

import numpy as np

import graphbandit as gb
from graphbandit.errors import FitError, GraphBanditError, SavedFileError
from tests.fuzz.driver import Case, Part
from tests.fuzz.operations import check, decided
from tests.fuzz.subjects import Subject, fitting_pair, graph
from tests.helpers.archives import entries, npy, packed, places

FILES = 60
"""Damaged files of one bandit."""

MEMORY = 4 << 30
"""What a process may take while it reads them, on top of what it has."""


def replaced(tree: Any, place: tuple[Any, ...], change: Any) -> Any:
    """The manifest with what `change` makes of the value at a place."""
    if not place:
        return change(tree)
    copied = copy.copy(tree)
    copied[place[0]] = replaced(tree[place[0]], place[1:], change)
    return copied


VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1, 2, 10**6, 10**12, 2**31, 2**63, -(2**63), 10**40, 0.5, 1e308, -1e308, "", "x", "inf", [], {},
    [None], [1, 2, 3], {"$float": "nan"}, {"$float": "inf"}, {"$array": 0}, {"$array": 1}, {"$array": 10**9},
    {"$array": -1}, {"$array": "x"}, {"$object": {}}, {"$class": "Problem", "fields": {"n_arms": 3}},
    {"$class": "LinearModel", "fields": {}},
    {"$class": "Uniform", "fields": {}}, {"$own": "Bandit", "fields": {}}, {"$external": {}}, {"$float": []},
)  # fmt: skip


def changed_node(manifest: Any, rng: np.random.Generator) -> Any:
    """The manifest with one node changed, dropped, doubled, or put in the place of another one."""
    found = places(manifest["content"])
    place = found[rng.integers(len(found))] or found[-1]
    if not place:
        return VALUES[rng.integers(len(VALUES))]
    kind = rng.integers(5)
    if kind == 0:
        *parent, key = place
        return replaced(manifest["content"], tuple(parent), lambda one: _without(one, key))
    if kind == 1:
        other = found[rng.integers(len(found))]
        value = manifest["content"]
        for key in other:
            value = value[key]
        return replaced(manifest["content"], place, lambda one: value)
    if kind == 2:
        return replaced(manifest["content"], place, lambda one: [one] * int(rng.choice([1, 2, 2000])))
    if kind == 3:
        return replaced(manifest["content"], place, lambda one: _near(one, rng))
    return replaced(manifest["content"], place, lambda one: VALUES[rng.integers(len(VALUES))])


def _without(one: Any, key: Any) -> Any:
    if isinstance(one, dict):
        return {name: value for name, value in one.items() if name != key}
    return [value for place, value in enumerate(one) if place != key]


def _near(one: Any, rng: np.random.Generator) -> Any:
    """Something like it: a number a little off, another sign, another word."""
    if isinstance(one, bool) or one is None:
        return not one
    if isinstance(one, int):
        return one + int(rng.choice([-1, 1, 7, -7, 1000, 2**31]))
    if isinstance(one, float):
        return one * float(rng.choice([-1, 0, 2, 1e30, 1e-30]))
    if isinstance(one, str):
        return one[::-1] + "x"
    if isinstance(one, list):
        return [*one, *one[:1]] if rng.random() < 0.5 else one[:-1]
    return {str(name) + ("" if rng.random() < 0.9 else "x"): value for name, value in one.items()}


def changed_array(data: bytes, rng: np.random.Generator) -> bytes:
    """An array with other values, of another shape or another type."""
    array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    kind = rng.integers(7)
    if kind == 0 and array.size:
        values = array.copy()
        odd = (
            [0, 1, -1, 10**9, -(10**9), 2**31, 2**62]
            if values.dtype.kind in "iu"
            else [0, 1, -1, math.nan, math.inf, 1e300, 1e-300]
        )
        with np.errstate(all="ignore"):
            values.flat[rng.integers(values.size)] = np.array(odd[rng.integers(len(odd))]).astype(values.dtype)
        return npy(values)
    if kind == 1:
        return npy(np.zeros(tuple(rng.integers(0, 4, size=array.ndim)), dtype=array.dtype))
    if kind == 2:
        return npy(np.zeros((1,) * int(rng.integers(0, 5)), dtype=array.dtype))
    if kind == 3:
        types = ("<f4", "<i4", "<i8", "|b1", "<f8", ">f8", "<c16", "<U3", "<M8[s]", "<u8", "<f2", "|S1")
        with np.errstate(all="ignore"):
            try:
                return npy(array.astype(types[rng.integers(len(types))]))
            except (TypeError, ValueError):
                return npy(np.zeros(array.shape, dtype="|S1"))
    if kind == 4:
        return npy(np.asfortranarray(array.T))
    if kind == 5:
        return npy(np.concatenate([array, array]) if array.ndim else array)
    shape = "(" + ", ".join(str(int(n)) for n in rng.choice([0, 1, 7, 10**6, 10**12, 2**62], size=2)) + ")"
    descr = str(rng.choice(["<f8", "|O", "|S0", "<i8", "|V0"]))
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data[128:]


def damaged(data: bytes, rng: np.random.Generator) -> tuple[str, bytes]:
    """The file, damaged in one way, and a name for that."""
    kind = rng.integers(10)
    if kind == 0:
        content = bytearray(data)
        for place in rng.integers(len(content), size=int(rng.integers(1, 9))):
            content[place] = int(rng.integers(256))
        return "bytes changed", bytes(content)
    if kind == 1:
        return "cut short", data[: rng.integers(len(data))]
    files = entries(data)
    arrays = [name for name in files if name != "manifest.json"]
    name = arrays[rng.integers(len(arrays))]
    if kind == 2:
        if rng.random() < 0.5:
            return "compressed", packed(files, zipfile.ZIP_DEFLATED)
        text = json.loads(files["manifest.json"])
        text[str(rng.choice(["version", "kind", "format"]))] = VALUES[rng.integers(22)]
        return "head changed", packed({**files, "manifest.json": json.dumps(text).encode()})
    if kind == 3:
        other = arrays[rng.integers(len(arrays))]
        return "array of another place", packed({**files, name: files[other]})
    if kind == 4:
        return "entry gone", packed({key: value for key, value in files.items() if key != name})
    if kind < 7:
        return "array changed", packed({**files, name: changed_array(files[name], rng)})
    manifest = json.loads(files["manifest.json"])
    for _ in range(int(rng.choice([1, 1, 2]))):
        manifest["content"] = changed_node(manifest, rng)
        if not isinstance(manifest["content"], dict):
            break
    return "manifest changed", packed({**files, "manifest.json": json.dumps(manifest).encode()})


def saved(one: Subject, case: Case) -> bytes:
    """A bandit after some rounds, with decisions that await rewards, late news and a key."""
    rng, bandit = (
        case.rng,
        one.bandit(graph=gb.graphs.complete(one.problem.n_arms) if case.rng.random() < 0.3 else None),
    )
    n_arms = one.problem.n_arms
    for t in range(int(rng.integers(3, 14))):
        shown = graph(one, rng, n_arms)
        decision = decided(bandit, one.contexts(rng, 1, n_arms)[0], shown, None, key="k" if t == 1 else None)
        revealed = decision.revealed[rng.random(len(decision.revealed)) < 0.7]
        bandit.observe(decision, {int(arm): float(rng.random()) for arm in revealed})
    bandit.save(case.folder / "good.gb")
    return (case.folder / "good.gb").read_bytes()


def use(one: Subject, bandit: gb.Bandit, rng: np.random.Generator) -> None:
    """Decide and observe a few rounds; errors must be typed, and probabilities right."""
    n_arms = bandit.problem.n_arms
    if n_arms > 1000:
        return
    for _ in range(4):
        shown = graph(one, rng, n_arms)
        try:
            context = one.contexts(rng, 1, n_arms)[0]
            decision = bandit.decide(context, shown)
            check(decision, None if bandit.learner.plans_without_graphs else shown, None)
            bandit.observe(decision, {int(arm): float(rng.random()) for arm in decision.revealed})
            for number in bandit.open_decisions[:2]:
                bandit.observe(number, {int(arm): 0.5 for arm in bandit.awaited(number)})
        except FitError:
            continue
        except GraphBanditError:
            return


def run(case: Case) -> None:
    one = fitting_pair(case)
    data, path = saved(one, case), case.folder / "bad.gb"
    _limit_memory()
    for number in range(FILES):
        name, content = damaged(data, case.rng)
        path.write_bytes(content)
        case.count("damaged files")
        case.told = f"{name}, file {number}: {one.name}"
        try:
            bandit = one.load(path)
        except SavedFileError:
            case.count("refused")
            continue
        case.count(f"loaded: {name}")
        case.told = f"{name}, file {number}, after it was loaded: {one.name}"
        use(one, bandit, case.rng)


def _limit_memory() -> None:
    """Let reading a file fail where it takes much more memory than the file."""
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = used + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))


PART = Part("damaged and made-up files, by structure", 4, run)
