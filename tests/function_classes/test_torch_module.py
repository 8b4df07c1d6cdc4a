"""PyTorch modules as oracles: training, ensembles, the last layer, and the same weights every time."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import FitError, InputError, MissingExtraError, SavedFileError, SettingError
from graphbandit.rounds.observations import Observations

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from torch import nn  # noqa: E402

from tests.function_classes.regressors import TRUTH, D, K, check_parts, data_of, seen  # noqa: E402


class Net(nn.Module):
    """One hidden layer, and dropout, whose random numbers are PyTorch's own."""

    def __init__(self, inputs=D, outputs=K):
        super().__init__()
        self.hidden = nn.Linear(inputs, 8)
        self.drop = nn.Dropout(0.1)
        self.last = nn.Linear(8, outputs)

    def forward(self, x):
        return self.last(self.drop(torch.tanh(self.hidden(x))))


class ForArms(Net):
    def __init__(self):
        super().__init__(outputs=1)

    def forward(self, x):
        return super().forward(x).squeeze(-1)


def made(make=Net, **settings):
    return gb.TorchClass(make, **{"n_arms": K, "dimension": D, "members": 2, "passes": 10, **settings})


def new_contexts(n=300):
    return np.random.default_rng(3).normal(size=(n, D))


def test_training_is_plain_least_squares():
    """A module without hidden layer, trained long enough, is linear regression for each arm."""
    functions = made(lambda: nn.Linear(D, K).double(), passes=400, batch_size=1000, learning_rate=0.05)
    observations = seen()
    predicted = functions.predict(functions.fit(data_of(functions, observations)), new_contexts(5))
    for arm in range(K):
        of = observations.arms == arm
        x = np.column_stack([observations.contexts[observations.rows[of]], np.ones(of.sum())])
        theta = np.linalg.lstsq(x, observations.rewards[of], rcond=None)[0]
        np.testing.assert_allclose(predicted[:, arm], new_contexts(5) @ theta[:D] + theta[D], atol=1e-3)


def test_modules_that_take_the_contexts_of_single_arms():
    for make in (ForArms, lambda: Net(outputs=1)):
        functions = made(make, arm_contexts=True, passes=60)
        observations = seen(arm_contexts=True)
        data = data_of(functions, observations)
        values = functions.predict(functions.fit(data), observations.contexts)
        assert np.square(values - observations.contexts @ TRUTH[0]).mean() < 0.01
        assert not functions.unseen(data.columns).any()


def test_the_same_data_gives_the_same_weights_and_pytorch_s_generator_is_left_alone():
    data = data_of(made(), seen())
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    values = []
    for seed in (1, 1, 2):
        functions = made(seed=seed)
        values.append(np.stack([functions.values(fit, new_contexts(4)) for fit in functions.fits(data, 3)]))
    assert torch.equal(torch.rand(3), expected)
    np.testing.assert_array_equal(values[0], values[1])
    assert (values[0] != values[2]).all()
    assert (values[0][0] != values[0][1]).all()


def test_training_in_several_threads_gives_the_same_weights():
    functions, contexts = made(), new_contexts(4)
    alone = functions.predict(functions.fit(data_of(functions, seen())), contexts)

    def trained(_):
        return functions.predict(functions.fit(data_of(functions, seen())), contexts)

    with ThreadPoolExecutor(3) as pool:
        for value in pool.map(trained, range(3)):
            np.testing.assert_array_equal(value, alone)


@pytest.mark.parametrize("kind", ["ensemble", "last-layer"])
def test_nothing_depends_on_the_batch(kind):
    functions = made() if kind == "ensemble" else gb.function_classes.LastLayerClass(made())
    data, contexts = data_of(functions, seen()), new_contexts()
    model, space = functions.fit(data), functions.version_space(data, 0.1)
    draws = functions.draws(data, noise=0.1, count=2, rng=np.random.default_rng(0))
    for of in (
        lambda x: functions.predict(model, x),
        lambda x: functions.bounds(space, x)[1],
        lambda x: functions.draw_values(draws, x),
    ):
        check_parts(of, contexts)


@pytest.mark.parametrize("arm_contexts", [False, True])
def test_the_last_layer_is_ridge_regression_on_what_it_is_given(arm_contexts):
    networks = made(ForArms if arm_contexts else Net, arm_contexts=arm_contexts)
    functions = gb.function_classes.LastLayerClass(networks, ridge=0.5)
    observations = seen(arm_contexts=arm_contexts)
    data = data_of(functions, observations)
    model = functions.fit(data)
    assert sum(report.fits == 1 for report in model.reports) == 1
    assert len(model.reports) == 2, "one training, no refits"
    module = networks.fits(data, 1)[0].function.function.module

    def phi(x):
        with torch.no_grad():
            hidden = torch.tanh(module.hidden(torch.tensor(x, dtype=torch.float32))).double().numpy()
        return np.concatenate([hidden, np.ones((*x.shape[:-1], 1))], axis=-1)

    new = np.random.default_rng(1).normal(size=(6, K, D) if arm_contexts else (6, D))
    values, (lower, upper) = functions.predict(model, new), functions.bounds(functions.version_space(data, 0.3), new)
    contexts = observations.contexts
    stored = contexts[observations.rows, observations.arms] if arm_contexts else contexts[observations.rows]
    for arm in range(K):
        of = np.full(len(observations.arms), True) if arm_contexts else observations.arms == arm
        x, z = phi(stored[of]), phi(new[:, arm] if arm_contexts else new)
        matrix = 0.5 * np.eye(9) + x.T @ x
        center = z @ np.linalg.solve(matrix, x.T @ observations.rewards[of])
        half = np.sqrt(0.3 * np.einsum("nd,dn->n", z, np.linalg.solve(matrix, z.T)))
        np.testing.assert_allclose(values[:, arm], center, atol=1e-5)
        np.testing.assert_allclose(lower[:, arm], center - half, atol=1e-5)
        np.testing.assert_allclose(upper[:, arm], center + half, atol=1e-5)


def test_widths_of_the_last_layer():
    functions = gb.function_classes.LastLayerClass(made())
    data, contexts = data_of(functions, seen()), new_contexts(6)
    other = functions.add(data, seen(10))
    best = np.zeros(6, dtype=int)
    space = functions.version_space(data, 0.1)
    exact = functions.widths(space, functions.fit(data), contexts, best)
    lower, upper = functions.bounds(space, contexts)
    values = functions.predict(functions.fit(data), contexts)
    half = upper - values
    assert (exact <= half + half[:, :1] + 1e-12).all()
    assert (exact[:, 1:] > 0).all()
    estimate = functions.predict(functions.fit(other), contexts)
    mixed = functions.widths(space, functions.fit(other), contexts, best)
    ahead = np.maximum(upper - estimate, 0) + np.maximum(estimate - lower, 0)[:, :1]
    assert (mixed[:, 1:] >= ahead[:, 1:] - 1e-12).all()
    assert (mixed[:, 0] == 0).all()


@pytest.mark.parametrize("learner", [gb.AdaCBG(), gb.AdaCBG(gamma="width"), gb.Falcon()])
@pytest.mark.parametrize("kind", ["ensemble", "last-layer"])
def test_bandits_play_and_resume_with_it(tmp_path, kind, learner):
    def fresh(**settings):
        return made(**settings) if kind == "ensemble" else gb.function_classes.LastLayerClass(made(**settings))

    def play(bandit, rounds):
        made_then = []
        for t in rounds:
            context = np.random.default_rng([1, t]).uniform(size=D)
            decision = bandit.decide(context, gb.graphs.star(K))
            bandit.observe(decision, {int(a): float(TRUTH[a] @ context) for a in decision.revealed})
            made_then.append((decision.action, decision.probability, decision.gamma))
        return made_then

    bandit = gb.Bandit(learner, gb.Problem(n_arms=K, function_class=fresh(), noise=0.1))
    play(bandit, range(10))
    bandit.save(tmp_path / "bandit.gb")
    loaded = gb.Bandit.load(tmp_path / "bandit.gb", function_class=fresh())
    copied = pickle.loads(pickle.dumps(bandit))
    expected = play(bandit, range(10, 20))
    assert play(loaded, range(10, 20)) == expected
    assert play(copied, range(10, 20)) == expected
    with pytest.raises(SavedFileError, match="expected the one saved"):
        gb.Bandit.load(tmp_path / "bandit.gb", function_class=fresh(passes=11))


def test_poor_data_is_fitted():
    for functions in (made(), gb.function_classes.LastLayerClass(made())):
        for contexts in (np.ones((1, D)), np.ones((5, D)), np.ones((5, 1)) * [1e20, 0.0]):
            revealed = np.eye(1, K, dtype=bool).repeat(len(contexts), 0)
            data = data_of(functions, Observations.from_masks(contexts, revealed, np.full((len(contexts), K), 0.5)))
            space = functions.version_space(data, 0.1)
            assert np.isfinite(functions.predict(functions.fit(data), new_contexts(2))).all()
            assert functions.candidates(space, new_contexts(2))[:, 1:].any()


def test_no_data():
    functions = gb.function_classes.LastLayerClass(made())
    data, contexts = functions.empty(), new_contexts(2)
    assert (functions.predict(functions.fit(data), contexts) == 0).all()
    assert functions.candidates(functions.version_space(data, np.inf), contexts).all()
    lower, upper = functions.bounds(functions.version_space(data, np.inf), contexts)
    assert (lower < 0).all()
    assert (upper > 0).all()
    draws = functions.draws(data, noise=0.1, count=3, rng=np.random.default_rng(0))
    assert functions.draw_values(draws, contexts).shape == (2, 3, K)


def test_training_that_diverges_is_a_failure_to_fit():
    functions = made(learning_rate=1e30)
    with pytest.raises(FitError, match=r"Net fitted to .* observations has a loss of (nan|inf)"):
        functions.fit(data_of(functions, seen()))

    class Failing(Net):
        def forward(self, x):
            if self.training:
                raise RuntimeError("no forward in training")
            return super().forward(x)

    functions = made(Failing)
    with pytest.raises(FitError, match=r"Failing cannot be fitted to .*: RuntimeError: no forward in training"):
        functions.fit(data_of(functions, seen()))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"make": Net()}, "expected a callable that returns a new module"),
        ({"make": 3}, "make is 3; expected a callable"),
        ({"make": lambda: 3}, "make returned 3; expected a torch.nn.Module"),
        ({"make": nn.Identity}, r"make returned Identity\(\); expected a torch.nn.Module that has parameters"),
        ({"dimension": 5}, r"expected one that takes contexts of shape \(2, 5\)"),
        ({"n_arms": 4}, r"values of shape \(2, 3\); expected \(2, 4\)"),
        ({"arm_contexts": True}, r"values of shape \(2, 3\); expected \(2,\) or \(2, 1\)"),
        ({"passes": 0}, "passes is 0"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0"),
        ({"weight_decay": -1.0}, "weight_decay is -1.0"),
        ({"members": 0}, "members is 0"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        made(**settings)


def test_last_layers_that_are_not_are_refused():
    class Squashed(Net):
        def forward(self, x):
            return torch.sigmoid(super().forward(x))

    with pytest.raises(SettingError, match="expected that its values are what its last Linear layer gives"):
        gb.function_classes.LastLayerClass(made(Squashed))
    with pytest.raises(SettingError, match=r"expected one with a torch.nn.Linear as its last layer"):
        gb.function_classes.LastLayerClass(made(lambda: nn.Linear(D, K)))
    with pytest.raises(SettingError, match="networks is 3; expected a TorchClass"):
        gb.function_classes.LastLayerClass(3)
    with pytest.raises(SettingError, match="ridge is 0"):
        gb.function_classes.LastLayerClass(made(), ridge=0)
    functions = gb.function_classes.LastLayerClass(made())
    with pytest.raises(InputError, match=r"contexts have shape \(1, 5\)"):
        functions.predict(functions.fit(functions.empty()), np.zeros((1, 5)))


def test_without_pytorch_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'graphbandit\[torch\]'"):
        made()


@pytest.mark.parametrize("width", [5, 7, 9, 31])
def test_odd_widths_do_not_depend_on_the_place_in_a_batch(width):
    """PyTorch sums in an order that follows where a row begins in memory, unless rows are a cache line apart."""
    functions = made(lambda: nn.Sequential(nn.Linear(D, width), nn.Tanh(), nn.Linear(width, K)), passes=1)
    rng = np.random.default_rng(width)
    seen = Observations.from_masks(rng.normal(size=(40, D)), np.ones((40, K), dtype=bool), rng.random((40, K)))
    model = functions.fit(functions.add(functions.empty(), seen))
    contexts = np.repeat(rng.normal(size=(1, D)), 40, axis=0)
    values = functions.predict(model, contexts)
    np.testing.assert_array_equal(values, np.repeat(values[:1], 40, axis=0))
    np.testing.assert_array_equal(functions.predict(model, contexts[:1]), values[:1])
