"""Linear problems: means are what the formula says, rewards have the distribution that is promised."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.environments import linear
from graphbandit.errors import SettingError
from graphbandit.graphs.generators.star import StarSource
from tests.environments.portions import check_portions

K, D, M = 5, 3, 2
FORMS = ["new", "fixed", "per-arm"]


def built(**settings):
    return linear(**{"n_arms": K, "dimension": D, "arm_dimension": M, "graph": "bandit", **settings})


def literal_score(instance, context, arm):
    """phi(x, a)'theta, with phi written out."""
    if instance.environment.arm_kind == "new":
        return sum(context[arm][i] * instance.theta[i] for i in range(D))
    if instance.environment.arm_kind == "per-arm":
        return sum(context[i] * instance.theta[arm][i] for i in range(D))
    return float(np.kron(context, instance.arm_features[arm]) @ instance.theta)


@pytest.mark.parametrize("arms", FORMS)
def test_means_are_the_formula(arms):
    for link, inverse in {
        "identity": lambda s: s,
        "logistic": lambda s: 1 / (1 + np.exp(-s)),
        "poisson": np.exp,
    }.items():
        instance = built(arm_kind=arms, link=link).instance(seed=1, repeat=2)
        rounds = instance.rounds(0, 40)
        assert rounds.contexts.shape == ((40, K, D) if arms == "new" else (40, D))
        literal = [[inverse(literal_score(instance, x, a)) for a in range(K)] for x in rounds.contexts]
        np.testing.assert_allclose(rounds.means, literal, rtol=1e-12, atol=1e-15)
        assert rounds.means.std() > 0


@pytest.mark.parametrize("arms", FORMS)
@pytest.mark.parametrize(
    "settings", [{}, {"link": "logistic", "diversity": 0.4}, {"link": "poisson", "graph": "random"}]
)
def test_rounds_are_the_same_in_any_portions(arms, settings):
    check_portions(built(arm_kind=arms, **settings).instance(seed=2, repeat=3))


def test_rewards_have_the_distribution_of_their_link():
    normal = built(noise=0.7).instance(0).rounds(0, 4000)
    noise = normal.rewards - normal.means
    assert noise.std() == pytest.approx(0.7, rel=0.02)
    assert abs(noise.mean()) < 0.02
    assert (built().instance(0).rounds(0, 4000).rewards - normal.means).std() == pytest.approx(0.5, rel=0.02)
    clicks = built(link="logistic").instance(0).rounds(0, 4000)
    assert set(np.unique(clicks.rewards)) == {0.0, 1.0}
    likely = clicks.means > 0.7
    assert clicks.rewards[likely].mean() == pytest.approx(clicks.means[likely].mean(), abs=0.02)
    assert clicks.rewards[~likely].mean() == pytest.approx(clicks.means[~likely].mean(), abs=0.02)
    counts = built(link="poisson").instance(0).rounds(0, 4000)
    assert (counts.rewards == counts.rewards.round()).all()
    error = counts.rewards - counts.means
    assert (error**2 / counts.means).mean() == pytest.approx(1.0, abs=0.05)  # the variance is the mean
    assert abs(error.mean()) < 0.03


def test_what_learners_are_told_of_the_noise():
    told = {link: built(link=link).instance(0).problem(9).noise for link in ("identity", "logistic", "poisson")}
    assert told == {"identity": 0.5, "logistic": 0.5, "poisson": None}
    assert built(link="poisson", noise=2.0).instance(0).problem(9).noise == 2.0


@pytest.mark.parametrize("features", ["normal", "sphere"])
@pytest.mark.parametrize("arms", FORMS)
def test_signal_is_the_length_of_theta_and_the_spread_of_means(arms, features):
    environment = linear(arm_kind=arms, feature_law=features, signal=2.0, dimension=6, n_arms=4, arm_dimension=3)
    drawn = [environment.instance(0, repeat) for repeat in range(60)]
    for instance in drawn[:3]:
        lengths = np.sqrt((np.atleast_2d(instance.theta) ** 2).sum(axis=1))
        np.testing.assert_allclose(lengths, 2.0)
        contexts = instance.rounds(0, 300).contexts
        if features == "sphere":
            np.testing.assert_allclose((contexts**2).sum(axis=-1), 6.0)
    spread = np.mean([instance.rounds(0, 256).means ** 2 for instance in drawn])
    assert np.sqrt(spread) == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("features", ["normal", "sphere"])
@pytest.mark.parametrize("arms", FORMS)
def test_diversity_goes_from_one_context_to_fresh_ones(arms, features):
    still = built(arm_kind=arms, diversity=0.0, feature_law=features).instance(4)
    contexts = still.rounds(0, 600).contexts
    np.testing.assert_array_equal(contexts, np.broadcast_to(contexts[0], contexts.shape))
    np.testing.assert_allclose(contexts[0], still.start)
    assert len(np.unique(still.rounds(0, 600).means, axis=0)) == 1
    assert not np.array_equal(still.environment.instance(4, 1).start, still.start), "another repeat, another context"
    some = built(arm_kind=arms, diversity=0.5, feature_law=features).instance(4).rounds(0, 4000).contexts
    fresh = built(arm_kind=arms, feature_law=features).instance(4).rounds(0, 4000).contexts
    if features == "normal":
        np.testing.assert_allclose(some, np.sqrt(0.75) * still.start + 0.5 * fresh, atol=1e-12)
    else:
        np.testing.assert_allclose((some**2).sum(axis=-1), D)
    assert some.std(axis=0).mean() < 0.7 < fresh.std(axis=0).mean()


def test_repeats_draw_new_parameters_and_fixed_graphs_stay():
    environment = built(graph="random", fixed_graph=True, density=0.2)
    first, again, other = (environment.instance(0, repeat) for repeat in (0, 0, 1))
    np.testing.assert_array_equal(first.theta, again.theta)
    assert not np.array_equal(first.theta, other.theta)
    assert len({first.rounds(0, 600).graphs[i] for i in (0, 255, 256, 599)}) == 1
    assert built(graph="star").source == StarSource(n_arms=K)


def test_a_class_that_is_given_reaches_the_learner():
    functions = gb.FiniteClass(lambda x: np.zeros((len(x), 2, K)), n_functions=2, n_arms=K)
    assert built(function_class=functions).instance(0).problem(10).function_class is functions
    own = built().instance(0).problem(10).function_class
    assert isinstance(own, gb.LinearClass)
    assert own.norm_bound == built().signal
    clicks = built(link="logistic").instance(0).problem(10).function_class
    assert isinstance(clicks, gb.GeneralizedLinearClass)
    assert clicks.link == "logistic"
    result = gb.simulate(gb.learners.Uniform(), built(), rounds=50, repeats=2)
    assert np.asarray(result.regret["learner"])[:, -1].min() > 0


BAD = [
    ({"n_arms": 0}, "n_arms is 0"),
    ({"dimension": 1.5}, "dimension is 1.5"),
    ({"arm_dimension": 0}, "arm_dimension is 0"),
    ({"arm_kind": "old"}, "arm_kind is 'old'; expected one of 'new', 'fixed', 'per-arm'"),
    ({"feature_law": "cube"}, "feature_law is 'cube'; expected one of 'normal', 'sphere'"),
    ({"link": "probit"}, "link is 'probit'; expected one of 'identity', 'logistic', 'poisson'"),
    ({"diversity": -0.1}, "diversity is -0.1"),
    ({"diversity": 1.5}, "diversity is 1.5; expected a number of at most 1"),
    ({"signal": 0.0}, "signal is 0.0"),
    ({"signal": 6.0, "link": "poisson"}, "signal is 6.0; expected at most 5 with link 'poisson'"),
    ({"noise": np.inf}, "noise is inf"),
    ({"graph": "tree"}, "graph is 'tree'; expected one of 'bandit'"),
    ({"graph": "star", "density": 0.1}, "unknown setting 'density'; expected another, as the graph 'star' takes"),
    ({"arms": "new"}, "'arms'; did you mean 'n_arms' or 'arm_kind'"),
    ({"graph": gb.graphs.bandit(3)}, "graph has 3 arms; expected n_arms = 5"),
    ({"fixed_graph": "yes"}, "fixed_graph is 'yes'"),
    ({"function_class": "linear"}, "function_class is 'linear'; expected a FunctionClass"),
]


@pytest.mark.parametrize(("settings", "message"), BAD)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        built(**settings)
