"""What every function class owes its learners. A new class is tested by adding a line to `CASES`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import graphbandit as gb
from graphbandit.base import saved_files
from graphbandit.errors import GraphBanditError
from graphbandit.function_classes.base import Contest
from graphbandit.rounds.shown import Shown

N_ARMS = 4


@dataclass
class Case:
    """A class of four arms, the shape of a context, and what mean rewards look like in a problem that suits it.

    `exact` is False for a class whose fit may differ in the last bits, or whose bounds and candidates are not those
    of a set that holds its draws (as bootstrapped ones).
    """

    make: Callable[[], gb.function_classes.FunctionClass[Any, Any, Any]]
    shape: tuple[int, ...]
    truth: Callable[[np.ndarray], np.ndarray]
    exact: bool = True
    checks_contexts: bool = True
    rewards: Callable[[np.random.Generator, np.ndarray], np.ndarray] = lambda rng, means: (
        means + 0.2 * rng.normal(size=means.shape)
    )

    def contexts(self, rng, n):
        return rng.uniform(-1, 1, size=(n, *self.shape))

    def observations(self, seed, n, first_round=0):
        rng = np.random.default_rng(seed)
        contexts = self.contexts(rng, n)
        rewards = self.rewards(rng, self.truth(contexts))
        revealed = rng.random((n, N_ARMS)) < 0.5
        return gb.Observations.from_masks(contexts, revealed, rewards, first_round=first_round)


THETA = np.random.default_rng(11).normal(size=(N_ARMS, 3)) / 2
ARMS = np.random.default_rng(12).normal(size=(N_ARMS, 2)) / 2
LANDMARKS = np.random.default_rng(14).uniform(-1, 1, (25, 3))
X0, A0 = np.random.default_rng(13).normal(size=(2, 9, 2))


def joint(contexts):
    """theta'x[a]."""
    return contexts @ THETA[0]


def separate(contexts):
    """theta[a]'x."""
    return (contexts[:, None] * THETA).sum(axis=2)


def per_arm_rows(contexts):
    """theta[a]'x[a]."""
    return np.einsum("nad,ad->na", contexts, THETA)


def bilinear(contexts):
    """x'Theta z[a]."""
    return contexts @ THETA[:3, :2] @ ARMS.T


def clicks(rng, means):
    return (rng.random(means.shape) < means).astype(float)


def grid(contexts):
    return np.stack([separate(contexts), 0.5 - separate(contexts), 0.0 * separate(contexts)], axis=1)


def regressor(regressor, **settings):
    """`entropy` gives the radius by the formula, which grows with the noise whatever the refits say."""
    return gb.RegressorClass(regressor, **{"n_arms": N_ARMS, "dimension": 3, "members": 4, "entropy": 4.0, **settings})


def network(inputs, outputs, **settings):
    torch = pytest.importorskip("torch")

    def make():
        return torch.nn.Sequential(torch.nn.Linear(inputs, 16), torch.nn.Tanh(), torch.nn.Linear(16, outputs))

    settings = {"dimension": inputs, "members": 2, "passes": 15, "learning_rate": 0.03, "entropy": 4.0, **settings}
    return gb.TorchClass(make, n_arms=N_ARMS, **settings)


CASES = {
    "regressor": Case(lambda: regressor(Ridge(1e-6), arm_contexts=True), (N_ARMS, 3), joint, exact=False),
    "regressor-per-arm": Case(lambda: regressor(Ridge(1e-6), per_arm=True), (3,), separate, exact=False),
    "regressor-one-hot": Case(
        lambda: regressor(make_pipeline(PolynomialFeatures(2), Ridge(1e-6))), (3,), separate, exact=False
    ),
    "regressor-boosting": Case(
        lambda: regressor(
            HistGradientBoostingRegressor(max_iter=40), arm_features=np.eye(N_ARMS), resampling="perturbed"
        ),
        (3,),
        separate,
        exact=False,
    ),
    "torch": Case(lambda: network(3, N_ARMS), (3,), separate, exact=False),
    "torch-arm-contexts": Case(lambda: network(3, 1, arm_contexts=True), (N_ARMS, 3), joint, exact=False),
    "last-layer": Case(
        lambda: gb.function_classes.LastLayerClass(network(3, N_ARMS), norm_bound=2.0), (3,), separate, exact=False
    ),
    "last-layer-arm-contexts": Case(
        lambda: gb.function_classes.LastLayerClass(network(3, 1, arm_contexts=True)), (N_ARMS, 3), joint, exact=False
    ),
    "finite": Case(lambda: gb.FiniteClass(grid, n_functions=3, n_arms=N_ARMS), (3,), separate, checks_contexts=False),
    "bilinear": Case(
        lambda: gb.function_classes.BilinearClass(x0=X0, a0=A0, arms=ARMS),
        (2,),
        lambda x: np.einsum("nd,ad->na", x - X0[3], ARMS - A0[3]),
    ),
    "linear": Case(lambda: gb.LinearClass(n_arms=N_ARMS, dimension=3), (N_ARMS, 3), joint),
    "linear-intercept": Case(
        lambda: gb.LinearClass(n_arms=N_ARMS, dimension=3, intercept=True), (N_ARMS, 3), lambda x: joint(x) + 0.3
    ),
    "linear-arm-features": Case(lambda: gb.LinearClass(n_arms=N_ARMS, dimension=3, arm_features=ARMS), (3,), bilinear),
    "linear-per-arm": Case(lambda: gb.LinearClass(n_arms=N_ARMS, dimension=3, parameters="per-arm"), (3,), separate),
    "linear-per-arm-rows": Case(
        lambda: gb.LinearClass(n_arms=N_ARMS, dimension=3, parameters="per-arm"), (N_ARMS, 3), per_arm_rows
    ),
    "logistic": Case(
        lambda: gb.GeneralizedLinearClass(n_arms=N_ARMS, dimension=3, link="logistic", norm_bound=2.0),
        (N_ARMS, 3),
        lambda x: 1 / (1 + np.exp(-3 * joint(x))),
        rewards=clicks,
    ),
    "logistic-per-arm": Case(
        lambda: gb.GeneralizedLinearClass(n_arms=N_ARMS, dimension=3, link="logistic", parameters="per-arm"),
        (3,),
        lambda x: 1 / (1 + np.exp(-3 * separate(x))),
        rewards=clicks,
    ),
    "poisson": Case(
        lambda: gb.GeneralizedLinearClass(n_arms=N_ARMS, dimension=3, link="poisson", parameters="per-arm"),
        (3,),
        lambda x: np.exp(separate(x)),
        rewards=lambda rng, means: rng.poisson(means).astype(float),
    ),
    "identity-arm-features": Case(
        lambda: gb.GeneralizedLinearClass(n_arms=N_ARMS, dimension=3, link="identity", arm_features=ARMS),
        (3,),
        bilinear,
    ),
    "kernel-fourier": Case(
        lambda: gb.KernelClass(n_arms=N_ARMS, dimension=3, parameters="per-arm", n_features=40, ridge=0.1),
        (3,),
        lambda x: np.sin(2 * separate(x)),
    ),
    "kernel-nystrom": Case(
        lambda: gb.KernelClass(n_arms=N_ARMS, dimension=3, landmarks=LANDMARKS, ridge=0.1, kernel="matern-5/2"),
        (N_ARMS, 3),
        lambda x: np.sin(2 * joint(x)),
    ),
    "kernel-arm-features": Case(
        lambda: gb.KernelClass(n_arms=N_ARMS, dimension=3, arm_features=ARMS, n_features=60, ridge=0.1),
        (3,),
        bilinear,
    ),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def same(one, other):
    """Equal to the last bit, whatever they are made of: by what a file would hold of them."""
    arrays_one, arrays_other = {}, {}
    assert saved_files._encode(one, arrays_one) == saved_files._encode(other, arrays_other)
    assert list(arrays_one) == list(arrays_other)


def reloaded(path, value):
    saved_files.write(path, "test", {"value": value})
    return saved_files.read(path, "test", dict)["value"]


def test_parts_are_the_whole(case):
    functions, seen = case.make(), case.observations(0, 300)
    whole = functions.add(functions.empty(), seen)
    parts = functions.empty()
    for first, stop in [(0, 1), (1, 2), (2, 150), (150, 150), (150, 299), (299, 300)]:
        parts = functions.add(parts, seen.between(first, stop))
    assert functions.n_observed(parts) == functions.n_observed(whole) == seen.n_observed
    assert functions.n_observed(functions.empty()) == 0
    same(parts, whole)
    same(functions.fit(parts), functions.fit(whole))
    assert functions.smallest_loss(parts) == functions.smallest_loss(whole)
    same(functions.version_space(parts, 1.0), functions.version_space(whole, 1.0))


def test_adding_leaves_the_old_data_as_it_was(case):
    functions = case.make()
    first = functions.add(functions.empty(), case.observations(0, 40))
    before = functions.predict(functions.fit(first), case.contexts(np.random.default_rng(1), 9))
    functions.add(first, case.observations(2, 40, first_round=40))
    after = functions.predict(functions.fit(first), case.contexts(np.random.default_rng(1), 9))
    np.testing.assert_array_equal(before, after)
    assert functions.n_observed(functions.empty()) == 0


def fitted(case, rounds):
    """The class, its data after some rounds, and its fit to them."""
    functions = case.make()
    data = functions.add(functions.empty(), case.observations(0, rounds))
    return functions, data, functions.fit(data)


def test_predictions_do_not_depend_on_the_batch_and_fit_the_truth(case):
    functions, _, model = fitted(case, 600)
    contexts = case.contexts(np.random.default_rng(3), 40)
    values = functions.predict(model, contexts)
    assert values.shape == (40, N_ARMS)
    assert values.dtype == np.float64
    for t in (0, 17, 39):
        np.testing.assert_array_equal(functions.predict(model, contexts[t : t + 1])[0], values[t])
    assert functions.predict(model, contexts[:0]).shape == (0, N_ARMS)
    truth = case.truth(contexts)
    assert ((values - truth) ** 2).mean() < 0.3 * max(truth.var(), 0.02)


def test_the_smallest_loss_is_that_of_the_fit(case):
    functions, seen = case.make(), case.observations(0, 200)
    data = functions.add(functions.empty(), seen)
    values = functions.predict(functions.fit(data), seen.contexts)[seen.rows, seen.arms]
    assert functions.smallest_loss(data) == pytest.approx(((values - seen.rewards) ** 2).sum(), rel=1e-6)


def test_candidates(case):
    functions, data, model = fitted(case, 80)
    rng = np.random.default_rng(4)
    contexts = case.contexts(rng, 60)
    values = functions.predict(model, contexts)
    offered = rng.random((60, N_ARMS)) < 0.6
    offered[~offered.any(axis=1)] = True
    smaller = np.zeros((60, N_ARMS), dtype=bool)
    for radius in (0.0, 0.1, 1.0, 10.0, 1000.0, np.inf):
        space = functions.version_space(data, radius)
        found = functions.candidates(space, contexts)
        assert found.dtype == np.bool_
        assert found.shape == (60, N_ARMS)
        if radius < np.inf:
            assert found[np.arange(60), np.argmax(values, axis=1)].all()
        assert (smaller <= found).all()
        smaller = found
        np.testing.assert_array_equal(functions.candidates(space, contexts[7:8])[0], found[7])
        among = functions.candidates(space, contexts, offered)
        assert (among <= offered).all()
        assert among.any(axis=1).all()
        assert (found & offered <= among).all()


def test_bounds_and_widths(case):
    functions, data, model = fitted(case, 80)
    contexts = case.contexts(np.random.default_rng(5), 50)
    values = functions.predict(model, contexts)
    best = np.argmax(values, axis=1)
    previous = None
    for radius in (0.1, 1.0, 10.0):
        space = functions.version_space(data, radius)
        lower, upper = functions.bounds(space, contexts)
        widths = functions.widths(space, model, contexts, best)
        assert lower.shape == upper.shape == widths.shape == (50, N_ARMS)
        assert (lower <= values + 1e-9).all()
        assert (values <= upper + 1e-9).all()
        assert (widths >= 0).all()
        np.testing.assert_allclose(widths[np.arange(50), best], 0.0, atol=1e-12)
        best_lower, best_upper = lower[np.arange(50), best][:, None], upper[np.arange(50), best][:, None]
        candidates = functions.candidates(space, contexts)
        assert (upper[candidates] >= np.broadcast_to(best_lower, upper.shape)[candidates] - 1e-9).all()
        assert (best_lower <= best_upper).all()
        deviations = functions.deviations(space, model, contexts, Contest(best, candidates, 0.5, radius))
        contest = Contest(best[7:8], candidates[7:8], 0.5, radius)
        one = functions.deviations(space, model, contexts[7:8], contest)
        np.testing.assert_array_equal(one[0], deviations[7])
        assert (deviations[candidates] >= 0.0).all()
        np.testing.assert_allclose(deviations[np.arange(50), best], 0.0, atol=1e-12)
        if previous is not None:
            assert (lower <= previous[0] + 1e-12).all()
            assert (upper >= previous[1] - 1e-12).all()
            assert (widths >= previous[2] - 1e-12).all()
        previous = lower, upper, widths
    lower, upper = functions.bounds(functions.version_space(functions.empty(), np.inf), contexts)
    assert np.isfinite(lower).all()
    assert np.isfinite(upper).all()
    assert (lower <= upper).all()


def test_draws(case):
    functions, seen = case.make(), case.observations(0, 80)
    data = functions.add(functions.empty(), seen)
    contexts = case.contexts(np.random.default_rng(6), 30)
    draws = functions.draws(data, noise=0.2, count=12, rng=np.random.default_rng(0))
    assert len(draws) >= 1
    assert (draws.weights >= 0).all()
    assert draws.weights.sum() == pytest.approx(1.0)
    values = functions.draw_values(draws, contexts)
    assert values.shape == (30, len(draws), N_ARMS)
    np.testing.assert_array_equal(functions.draw_values(draws, contexts[8:9])[0], values[8])
    again = functions.draws(data, noise=0.2, count=12, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(functions.draw_values(again, contexts), values)
    functions.draws(functions.empty(), noise=0.2, count=3, rng=np.random.default_rng(0))
    if case.exact:
        # a space wide enough for all draws bounds them, and has what they call best among its candidates
        space = functions.version_space(data, 60.0)
        lower, upper = functions.bounds(space, contexts)
        assert (lower[:, None] <= values + 1e-9).all()
        assert (values <= upper[:, None] + 1e-9).all()
        candidates = functions.candidates(space, contexts)
        assert candidates[np.arange(30)[:, None], np.argmax(values, axis=2)].all()


def test_sharp_radius_grows_with_noise_and_certainty(case):
    functions = case.make()
    data = functions.add(functions.empty(), case.observations(0, 40))
    radius = functions.sharp_radius(data, 0.2, 0.1)
    assert 0 < radius < np.inf
    assert functions.sharp_radius(data, 0.4, 0.1) >= radius
    assert functions.sharp_radius(data, 0.2, 0.01) > radius
    assert functions.log_size > 0


def test_values_survive_a_file(case, tmp_path):
    functions = case.make()
    data = functions.add(functions.empty(), case.observations(0, 50))
    contexts = case.contexts(np.random.default_rng(7), 5)
    model, space = functions.fit(data), functions.version_space(data, 1.0)
    draws = functions.draws(data, noise=0.2, count=4, rng=np.random.default_rng(0))
    for value in (data, model, space, draws):
        same(reloaded(tmp_path / "file", value), value)
    more = case.observations(1, 30, first_round=50)
    same(functions.add(reloaded(tmp_path / "file", data), more), functions.add(data, more))
    restored = reloaded(tmp_path / "file", draws)
    np.testing.assert_array_equal(functions.draw_values(restored, contexts), functions.draw_values(draws, contexts))


def test_contexts_that_do_not_fit_are_refused(case):
    if not case.checks_contexts:
        pytest.skip("the callable takes any contexts")
    functions = case.make()
    right = case.contexts(np.random.default_rng(8), 3)
    functions.check_contexts(right)
    nan, infinite = right.copy(), right.copy()
    nan.flat[1], infinite.flat[1] = np.nan, np.inf
    for wrong in (right[..., :-1], right[..., None], right[:, None, None], nan, infinite):
        with pytest.raises(GraphBanditError, match=r"contexts have|each context has"):
            functions.check_contexts(wrong)


LEARNERS = {
    "adacb.g": gb.AdaCBG(),
    "adacb.g-paper": gb.AdaCBG(radius="paper", gamma="natural"),
    "adacb.g-width": gb.AdaCBG(gamma="width"),
    "falcon": gb.Falcon(),
    "greedy": gb.Greedy(),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_run_and_resume_with_it(case, name, tmp_path):
    functions = case.make()
    problem = gb.Problem(n_arms=N_ARMS, function_class=functions, noise=0.2)
    graph = gb.graphs.star(N_ARMS)
    rng = np.random.default_rng(9)
    contexts = case.contexts(rng, 40)
    rewards = case.rewards(rng, case.truth(contexts))
    bandit = gb.Bandit(LEARNERS[name], problem, seed=1)

    def play(bandit, rounds):
        actions = []
        for t in rounds:
            decision = bandit.decide(contexts[t], graph)
            bandit.observe(decision, {int(a): float(rewards[t, a]) for a in decision.revealed})
            actions.append((decision.action, decision.probability))
        return actions

    play(bandit, range(25))
    bandit.save(tmp_path / "bandit")
    callable_class = functions if hasattr(functions, "__external__") else None
    copy = gb.Bandit.load(tmp_path / "bandit", function_class=callable_class)
    assert play(copy, range(25, 40)) == play(bandit, range(25, 40))
    masks = np.ones((3, N_ARMS), dtype=bool)
    masks[:, 0] = False
    for decision in bandit.decide_batch(contexts[:3], graph, available=masks):
        assert decision.action != 0


def test_noise_is_estimated_with_it(case):
    """Without a noise in the problem the learner needs the smallest loss, and all of F until there is enough data."""
    problem = gb.Problem(n_arms=N_ARMS, function_class=case.make())
    rng = np.random.default_rng(10)
    contexts = case.contexts(rng, 1100)
    rewards = case.rewards(rng, case.truth(contexts))
    learner = gb.AdaCBG(radius="sharp")
    with pytest.warns(gb.errors.EstimatedNoiseWarning):
        state = learner.init(problem)
    radii = []
    for _ in range(10):
        n = learner.rounds_until_update(state)
        rounds = slice(state.rounds, state.rounds + n)
        graphs = gb.FeedbackGraphs.repeat(gb.graphs.complete(N_ARMS), n)
        learner.decide(state, Shown(contexts[rounds][:20], graphs[:20]), rng)
        seen = gb.Observations.from_masks(
            contexts[rounds], np.ones((n, N_ARMS), dtype=bool), rewards[rounds], first_round=state.rounds
        )
        state = learner.update(state, seen)
        radii.append(state.radius)
    assert radii[0] == np.inf
    assert radii[-1] > 0
