"""Regressors in a bandit: learners that play with them, files, batches, and fits that fail."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

import graphbandit as gb
from graphbandit.errors import FitError, SavedFileError
from graphbandit.function_classes import ReductionClass, RegressorClass
from tests.function_classes.regressors import TRUTH, D, K, data_of, made, seen


def played(bandit, rounds, *, first=0, forgiving=False):
    """Play and observe; what was decided, and the errors that were raised on the way."""
    actions, errors = [], []
    for t in range(first, first + rounds):
        rng = np.random.default_rng([7, t])
        context = rng.uniform(size=D)
        for _ in range(2):
            try:
                decision = bandit.decide(context, gb.graphs.complete(K))
                break
            except FitError as error:
                if not forgiving:
                    raise
                errors.append((t, error))
        rewards = TRUTH @ context + 0.05 * rng.normal(size=K)
        bandit.observe(decision, {int(a): rewards[a] for a in decision.revealed})
        actions.append((decision.action, decision.probability, decision.gamma, decision.candidates.tolist()))
    return actions, errors


def bandit_of(functions, learner=None):
    return gb.Bandit(
        learner or gb.AdaCBG(epoch_growth=2.0), gb.Problem(n_arms=K, function_class=functions, noise=0.05), seed=0
    )


@pytest.mark.parametrize(
    "learner",
    [gb.AdaCBG(epoch_growth=2.0), gb.AdaCBG(epoch_growth=2.0, gamma="width"), gb.Falcon()],
    ids=["paper", "width", "falcon"],
)
@pytest.mark.parametrize("settings", [{}, {"kind": ReductionClass, "entropy": 4.0, "tolerance": 0.02}])
def test_learners_play_with_it(learner, settings):
    functions = made(LinearRegression(), per_arm=True, **settings)
    bandit = bandit_of(functions, learner)
    actions, _ = played(bandit, 10)
    assert len(actions) == 10
    assert bandit.state.model.reports[0].observations == functions.n_observed(bandit.state.data)


def test_a_saved_bandit_goes_on_as_if_never_stopped(tmp_path, regressor):
    functions, going_on = made(regressor), made(regressor)
    bandit = bandit_of(functions)
    played(bandit, 20)
    bandit.save(tmp_path / "bandit.gb")
    bandit.save(tmp_path / "again.gb")
    assert (tmp_path / "bandit.gb").read_bytes() == (tmp_path / "again.gb").read_bytes()
    loaded = gb.Bandit.load(tmp_path / "bandit.gb", function_class=going_on)
    assert not loaded.state.model.reports, "nothing is fitted before it is needed"
    copied = pickle.loads(pickle.dumps(bandit))
    expected, _ = played(bandit, 16, first=20)
    assert played(loaded, 16, first=20)[0] == expected
    assert played(copied, 16, first=20)[0] == expected
    with pytest.raises(SavedFileError, match="expected the one saved"):
        gb.Bandit.load(tmp_path / "bandit.gb", function_class=made(Ridge(123.0)))


class Moody(RegressorMixin, BaseEstimator):
    """Least squares that fails between two numbers of observations."""

    def __init__(self, fails_from=10, fails_to=17):
        self.fails_from = fails_from
        self.fails_to = fails_to

    def fit(self, X, y):
        if self.fails_from <= len(y) <= self.fails_to:
            raise ArithmeticError(f"no mood for {len(y)}")
        self.inner_ = Ridge().fit(X, y)
        return self

    def predict(self, X):
        return self.inner_.predict(X)


@pytest.mark.parametrize("learner", [gb.AdaCBG(epoch_growth=2.0), gb.Falcon()], ids=["AdaCBG", "Falcon"])
def test_a_fit_that_fails_leaves_the_bandit_on_its_last_good_model(tmp_path, learner):
    functions = made(Moody())  # three observations a round, and a fit after rounds 2, 4, 8, 16, ...
    bandit = bandit_of(functions, learner)
    played(bandit, 4)
    before = bandit.state
    with pytest.raises(
        FitError, match=r"Moody cannot be fitted to .* observations: ArithmeticError: no mood for"
    ) as info:
        bandit.decide(np.zeros(D), gb.graphs.complete(K))
    assert isinstance(info.value.__cause__, ArithmeticError)
    assert "keeps its last good model" in info.value.__notes__[0]
    assert bandit.state is before
    assert bandit.rounds == 4
    bandit.save(tmp_path / "bandit.gb")
    actions, errors = played(bandit, 5, first=4, forgiving=True)
    assert not errors, "the error came once"
    assert len(actions) == 5
    assert bandit.state.epoch == 4, "with 24 observations the fit succeeds"
    assert functions.n_observed(bandit.state.data) == 24, "and every reward is there"
    assert bandit.state.model.data is bandit.state.data
    loaded = gb.Bandit.load(tmp_path / "bandit.gb", function_class=made(Moody()))
    assert played(loaded, 5, first=4)[0] == actions


@pytest.mark.parametrize(
    "learner",
    [
        gb.Falcon(),
        gb.IDSG(epoch_growth=2.0),
        gb.learners.BootstrappedThompson(epoch_growth=2.0),
        gb.learners.AdaCB(epoch_growth=2.0),
    ],
    ids=repr,
)
def test_the_last_good_model_decides_after_a_failure(learner):
    functions = made(Moody())
    bandit = bandit_of(functions, learner)
    _, errors = played(bandit, 6, forgiving=True)
    assert [t for t, _ in errors] == [4]
    assert bandit.state.epoch == 3
    assert functions.n_observed(bandit.state.data) == 12
    if isinstance(learner, gb.Falcon):  # the others keep draws of plausible functions
        assert functions.n_observed(bandit.state.model.data) == 6
    played(bandit, 5, first=6)
    assert functions.n_observed(bandit.state.data) == 24


def test_explore_then_commit_explores_until_a_fit_succeeds():
    functions = made(Moody())
    bandit = bandit_of(functions, gb.learners.ExploreThenCommit(explore_rounds=4))
    actions, errors = played(bandit, 8, forgiving=True)
    assert [t for t, _ in errors] == [4]
    assert all(probability == 1 / K for _, probability, _, _ in actions)
    assert bandit.state.model is None
    assert functions.n_observed(bandit.state.data) == 12
    actions, _ = played(bandit, 3, first=8)
    assert all(probability == 1 for _, probability, _, _ in actions)
    assert (bandit.state.explored, bandit.state.fitted) == (8, 24)


def test_explore_then_commit_keeps_its_estimate_when_a_later_fit_fails():
    functions = made(Moody(3, 3))
    bandit = bandit_of(functions, gb.learners.ExploreThenCommit(explore_rounds=1))
    late = bandit.decide(np.ones(D), gb.graphs.complete(K))
    bandit.observe(late, {0: 0.5, 1: 0.25})
    bandit.decide(np.ones(D), gb.graphs.complete(K))
    model = bandit.state.model
    assert model is not None
    bandit.observe(late, {2: 0.0})
    _, errors = played(bandit, 1, first=2, forgiving=True)
    assert len(errors) == 1
    assert bandit.state.model is model
    assert (functions.n_observed(bandit.state.data), bandit.state.fitted) == (3, 2)


def test_a_first_fit_that_fails_and_a_failure_in_the_middle_of_a_batch():
    for learner in (gb.AdaCBG(epoch_growth=2.0), gb.Falcon()):
        bandit = bandit_of(made(Moody(1, 20)), learner)
        played(bandit, 1)
        contexts, graph = np.random.default_rng(0).uniform(size=(20, D)), gb.graphs.complete(K)
        with pytest.raises(FitError):
            bandit.decide_batch(contexts, graph)
        assert bandit.rounds == 1
        decisions = bandit.decide_batch(contexts, graph)
        assert [d.epoch for d in decisions] == [1, 2, 2, 3, 3, 3, 3, *[4] * 8, *[5] * 5]
        assert bandit.state.model is None
        for decision in decisions:
            bandit.observe(decision, {0: 0.5, 1: 0.25, 2: 0.0})
        played(bandit, 12, first=21)
        assert bandit.state.model is not None


def test_late_rewards_between_a_failure_and_the_next_round_are_kept():
    functions = made(Moody())
    bandit = bandit_of(functions, gb.Falcon())
    late = bandit.decide(np.ones(D), gb.graphs.complete(K))
    bandit.observe(late, {0: 0.5})
    played(bandit, 3, first=1)
    with pytest.raises(FitError):
        played(bandit, 1, first=4)
    bandit.observe(late, {1: 0.25, 2: 0.0})
    played(bandit, 5, first=4)
    assert functions.n_observed(bandit.state.data) == 24


def test_values_that_are_not_finite_and_predictions_that_fail_are_failures_to_fit():
    class Broken(Ridge):
        def predict(self, X):
            return np.full(len(X), np.nan)

    class Wide(Ridge):
        def predict(self, X):
            return np.zeros((len(X), 2))

    for regressor, message in (
        (Broken(), "Broken fitted to .* observations has a loss of nan"),
        (Wide(), r"Wide cannot be fitted to .*: InputError: 256 predictions have shape \(256, 2\); expected \(256,\)"),
        (KNeighborsRegressor(500), "KNeighborsRegressor cannot be fitted to .*: ValueError: Expected n_neighbors"),
    ):
        functions = made(regressor)
        data = data_of(functions, seen())
        with pytest.raises(FitError, match=message):
            functions.fit(data)
    functions = made(Moody(), per_arm=True)
    with pytest.raises(FitError, match="Moody"):
        functions.fit(data_of(functions, seen(25)))


def test_a_refit_that_fails_is_named_and_the_fits_before_it_stay():
    class Picky(Ridge):
        def fit(self, X, y):
            if len(set(y)) < len(y):
                raise ValueError("the same reward twice")
            return super().fit(X, y)

    functions = made(Picky())
    data = data_of(functions, seen())
    functions.fit(data)
    with pytest.raises(FitError, match=r"Picky, refit 1 of 4, cannot be fitted to .*: ValueError: the same reward"):
        functions.version_space(data, 1.0)
    assert len(functions.fits(data, 1)) == 1


def test_a_simulation_puts_fits_that_fail_off():
    environment = gb.environments.paper(n_arms=5, graph="star", dimension=2)
    functions = RegressorClass(Moody(1, 20), n_arms=5, dimension=2, arm_contexts=False)
    result = gb.simulate(gb.Falcon(function_class=functions), environment, rounds=20)
    assert result.postponed["learner"][0] > 0
    assert result.states["learner"][0].model is not None  # once there was more data
    functions = RegressorClass(Ridge(), n_arms=5, dimension=2)
    runs = [
        gb.simulate(
            gb.AdaCBG(epoch_growth=2.0, function_class=functions),
            environment,
            rounds=20,
            repeats=2,
            chunk=chunk,
            workers=workers,
        )
        for chunk, workers in ((20, 1), (3, 2))
    ]
    np.testing.assert_array_equal(runs[0].regret["learner"], runs[1].regret["learner"])
