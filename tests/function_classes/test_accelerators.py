"""Devices and batches: members trained in one computation are those trained one by one, here and on a GPU."""

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import FitError, SettingError
from graphbandit.rounds.observations import Observations

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from torch import nn  # noqa: E402

from benchmarks import accelerators  # noqa: E402
from graphbandit.function_classes import torch_module  # noqa: E402
from graphbandit.function_classes.trained_modules import TrainedModules  # noqa: E402
from tests.function_classes.regressors import check_parts  # noqa: E402

K, D, MEMBERS = 3, 5, 4
CPU = torch.device("cpu")

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU: torch.cuda.is_available() is False")


@pytest.fixture(autouse=True)
def one_thread():
    """Small products are faster so, most of all where other work has the other cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def mlp(width=6, outputs=K):
    return nn.Sequential(nn.Linear(D, width), nn.Tanh(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, outputs))


def normed():
    # a bias before the norm has no gradient but rounding, which Adam makes as large as any
    return nn.Sequential(nn.Linear(D, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, K))


def dropped():
    return nn.Sequential(nn.Linear(D, 8), nn.Dropout(0.2), nn.ReLU(), nn.Linear(8, K))


class Recurrent(nn.Module):
    """PyTorch has no batched form of a recurrent layer."""

    def __init__(self):
        super().__init__()
        self.layer, self.last = nn.LSTM(D, 4, batch_first=True), nn.Linear(4, K)

    def forward(self, x):
        return self.last(self.layer(x[:, None])[0][:, -1])


class Branching(nn.Module):
    """What is computed depends on values, which differ between members."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(D, K)

    def forward(self, x):
        return self.layer(x) if self.layer(x).sum() > 0 else -self.layer(x)


class Hidden(nn.Module):
    """Numbers that are neither parameter nor buffer, so nobody can tell that each module has its own."""

    def __init__(self):
        super().__init__()
        self.layer, self.numbers = nn.Linear(D, K), torch.randn(D)

    def forward(self, x):
        return self.layer(x * self.numbers)


class Placed(nn.Module):
    """A row's value depends on where in the batch it stands."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(D, K)

    def forward(self, x):
        return self.layer(x) + 0.01 * torch.arange(len(x), device=x.device)[:, None]


def made(make=mlp, **settings):
    return gb.TorchClass(make, **{"n_arms": K, "dimension": D, "members": MEMBERS, "passes": 3, **settings})


def data_of(functions, n=60, half_life=None):
    rng = np.random.default_rng(0)
    shape = (n, K, D) if functions.arm_contexts else (n, D)
    contexts, revealed, rewards = rng.normal(size=shape), rng.random((n, K)) < 0.5, rng.normal(size=(n, K))
    return functions.add(functions.empty(half_life), Observations.from_masks(contexts, revealed, rewards))


def new_contexts(functions, n=300):
    return np.random.default_rng(1).normal(size=(n, K, D) if functions.arm_contexts else (n, D))


def values_of(functions, data, n=20):
    return functions.values_of(functions.fits(data, MEMBERS + 1), new_contexts(functions, n))


@pytest.mark.parametrize(
    ("make", "settings", "half_life"),
    [
        (mlp, {}, None),
        (mlp, {"weight_decay": 0.1, "batch_size": 17}, 10.0),
        (lambda: mlp(outputs=1), {"arm_contexts": True}, None),
        (lambda: mlp(outputs=1).double(), {"arm_contexts": True}, None),
        (lambda: nn.Sequential(mlp(outputs=1), nn.Flatten(0)), {"arm_contexts": True}, None),
        (normed, {"batch_size": 20}, None),
    ],
)
def test_members_trained_in_one_batch_are_those_trained_one_by_one(make, settings, half_life):
    together, alone = made(make, **settings), made(make, batched=False, **settings)
    data = data_of(together, half_life=half_life)
    np.testing.assert_allclose(values_of(together, data), values_of(alone, data), rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(
        together.values(together.fits(data, 1)[0], new_contexts(together)),
        alone.values(alone.fits(data, 1)[0], new_contexts(alone)),
    )


def test_buffers_are_each_member_s_own():
    functions = made(normed, batch_size=20)
    fits = functions.fits(data_of(functions), MEMBERS + 1)
    means = [fit.function.function.module[1].running_mean for fit in fits]
    assert len({mean.numpy().tobytes() for mean in means}) == MEMBERS + 1


def test_dropout_is_drawn_for_each_member_and_again_the_same():
    values = [values_of(functions, data_of(functions)) for functions in (made(dropped), made(dropped))]
    np.testing.assert_array_equal(*values)
    assert len(np.unique(values[0][:, 1:, 0])) == MEMBERS * 20


def test_it_does_not_matter_which_fits_are_asked_for_first():
    functions = made()
    first, second = data_of(functions), data_of(functions)
    functions.fit(first)
    functions.fits(first, 2)
    assert len(first.reports) == MEMBERS + 1
    np.testing.assert_array_equal(values_of(functions, first), values_of(functions, second))


@pytest.mark.parametrize("width", [4, 5, 6, 7, 30])
@pytest.mark.parametrize("make", [mlp, lambda width: nn.Sequential(nn.Linear(D, width), nn.Linear(width, K))])
def test_values_do_not_depend_on_the_batch(width, make):
    functions = made(lambda: make(width), passes=1)
    data, contexts = data_of(functions), new_contexts(functions)
    space = functions.version_space(data, 1e9)
    draws = functions.draws(data, noise=0.1, count=2, rng=np.random.default_rng(0))
    layers = gb.function_classes.LastLayerClass(functions)
    for of in (
        lambda x: functions.predict(functions.fit(data), x),
        lambda x: functions.bounds(space, x)[1],
        lambda x: functions.draw_values(draws, x),
        lambda x: layers.predict(layers.fit(data), x),
    ):
        check_parts(of, contexts)


def test_threads_may_ask_the_same_members_at_once():
    functions = made(passes=1)
    data = data_of(functions)
    whole = values_of(functions, data, 300)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: values_of(functions, data, 300), range(24)))
    assert all(np.array_equal(values, whole) for values in found)


def test_modules_that_mind_the_place_of_a_row_are_given_one_at_a_time():
    functions = made(Placed)
    data, contexts = data_of(functions), new_contexts(functions, 5)
    whole = values_of(functions, data, 5)
    fits = functions.fits(data, MEMBERS + 1)
    np.testing.assert_array_equal(functions.values_of(fits, contexts[3:4]), whole[3:4])


@pytest.mark.parametrize("make", [Recurrent, Branching, Hidden])
def test_modules_that_cannot_be_batched_are_refused_until_one_says_one_by_one(make):
    with pytest.raises(SettingError, match=r"cannot be trained in one batch: .*; expected batched=False"):
        made(make)
    functions = made(make, batched=False)
    assert np.isfinite(values_of(functions, data_of(functions))).all()
    assert made(make, members=1)._groups() == [(0,), (1,)], "one refit is no batch"


def test_reports_of_a_batch_share_its_time():
    reports = []
    functions = made(on_fit=reports.append)
    functions.fits(data_of(functions), MEMBERS + 1)
    assert [report.fit for report in reports] == list(range(MEMBERS + 1))
    assert len({report.seconds for report in reports[1:]}) == 1


def test_a_batch_that_fails_is_a_failure_to_fit_and_the_estimate_stays(monkeypatch):
    functions = made()
    data = data_of(functions)

    def fail(*_):
        raise RuntimeError("out of memory")

    with monkeypatch.context() as patch:
        patch.setattr(torch_module, "train_together", fail)
        with pytest.raises(FitError, match=r"refits 1 to 4 of 4, cannot be fitted to .*: RuntimeError: out of memory"):
            functions.fits(data, MEMBERS + 1)
    assert len(data.reports) == 1
    assert np.isfinite(values_of(functions, data)).all()


def test_devices_where_there_is_no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert made().device == made(device="auto").device == made(device="cpu").device == CPU
    with pytest.raises(SettingError, match=r"device is 'cuda', but PyTorch .* finds no GPU here; expected 'cpu', or"):
        made(device="cuda")


def test_bad_settings_are_refused():
    with pytest.raises(SettingError, match="device is 'tpu'"):
        made(device="tpu")
    with pytest.raises(SettingError, match="batched is 1"):
        made(batched=1)


def test_files_and_pickles_name_no_device(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)

    def play(bandit, rounds):
        chosen = []
        for t in rounds:
            decision = bandit.decide(np.random.default_rng(t).normal(size=D), gb.graphs.star(K))
            bandit.observe(decision, {int(a): float(a) for a in decision.revealed})
            chosen.append((decision.action, decision.probability))
        return chosen

    bandit = gb.Bandit(gb.AdaCBG(), gb.Problem(n_arms=K, function_class=made(device="auto"), noise=0.1))
    play(bandit, range(8))
    bandit.save(tmp_path / "bandit.gb")
    loaded = gb.Bandit.load(tmp_path / "bandit.gb", function_class=made(device="cpu"))
    assert play(loaded, range(8, 12)) == play(bandit, range(8, 12))


def test_copies_on_a_device_are_in_no_pickle():
    networks, rows = TrainedModules([mlp().eval(), mlp().eval()], outputs=K), np.ones((2, D))
    values = networks.values((0, 1), rows, CPU)
    loaded = pickle.loads(pickle.dumps(networks))
    assert not loaded._placed
    np.testing.assert_array_equal(loaded.values((0, 1), rows, CPU), values)


def test_the_benchmark_runs_and_says_where_there_is_no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    sizes = accelerators.Sizes(
        observations=200, members=2, width=4, batch_sizes=(8,), steps=(2, 2), contexts=(1, 3), turns=1
    )
    results = accelerators.measure(sizes, lambda _: None)
    here, gone = results["rows"][:2], results["rows"][2:]
    assert [row["batched"] for row in here] == [False, True]
    assert all(row["seconds_a_pass"] == 25 * row["seconds_a_step"] > 0 for row in here)
    assert here[1]["difference"] < 1e-5
    assert [row["missing"] for row in gone] == ["no GPU", "no GPU"]
    assert accelerators.table(results).count("no GPU") == 12


@needs_gpu
@pytest.mark.parametrize("batched", [True, False])
def test_a_gpu_learns_what_the_processor_learns_and_the_same_again(batched):
    here, there = made(batched=batched), made(batched=batched, device="cuda")
    values = [values_of(functions, data_of(here)) for functions in (here, there, there)]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-2, atol=1e-3)
    np.testing.assert_array_equal(values[1], values[2])
    assert made(device="auto").device.type == "cuda"
    again = [values_of(made(dropped, batched=batched, device="cuda"), data_of(here)) for _ in range(2)]
    np.testing.assert_array_equal(*again)


@needs_gpu
@pytest.mark.parametrize("width", [4, 5, 7, 30])
def test_values_of_a_gpu_do_not_depend_on_the_batch(width):
    functions = made(lambda: mlp(width), device="cuda", passes=1)
    data, contexts = data_of(functions), new_contexts(functions)
    fits, layers = functions.fits(data, MEMBERS + 1), gb.function_classes.LastLayerClass(functions)
    for of in (lambda x: functions.values_of(fits, x), lambda x: layers.predict(layers.fit(data), x)):
        check_parts(of, contexts)


@needs_gpu
def test_the_gpu_s_generator_is_left_alone():
    torch.cuda.manual_seed(5)
    expected = torch.rand(3, device="cuda")
    for device in ("cuda", "cpu"):
        torch.cuda.manual_seed(5)
        functions = made(dropped, device=device)
        functions.fits(data_of(functions), MEMBERS + 1)
        assert torch.equal(torch.rand(3, device="cuda"), expected)


@needs_gpu
def test_what_is_pickled_beside_a_gpu_is_loaded_without(tmp_path):
    functions = made(device="auto")
    data = data_of(functions)
    values = values_of(functions, data)
    networks = functions.fits(data, 2)[1].function.function.together
    (tmp_path / "networks").write_bytes(pickle.dumps(networks))
    script = (
        "import pickle, sys, numpy as np, torch; assert not torch.cuda.is_available();"
        "networks = pickle.loads(open(sys.argv[1], 'rb').read());"
        f"print(networks.values((0, 1), np.ones((1, {D})), torch.device('cpu')).shape)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "networks"],
        capture_output=True,
        text=True,
        check=True,
        env={"CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout == f"(1, 2, {K})\n"
    assert values.shape == (20, MEMBERS + 1, K)


@needs_gpu
def test_modules_made_on_a_gpu_are_refused():
    with pytest.raises(SettingError, match="make returned a module on cuda; expected one made on the processor"):
        made(lambda: mlp().to("cuda"))
