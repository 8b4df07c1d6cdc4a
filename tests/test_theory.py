"""The bounds and what they are made of, against values worked by hand and against literal definitions."""

import math

import numpy as np
import pytest

from graphbandit import theory
from graphbandit.errors import InputError, SettingError
from graphbandit.function_classes import BilinearClass, FiniteClass
from graphbandit.theory import (
    DisagreementCoefficient,
    context_gaps,
    disagreement_coefficient,
    gap_dependent_bound,
    minimax_bound,
    minimax_lower_bound,
    uniform_gap,
)

# --- The disagreement coefficient ------------------------------------------------------------------------


def table_class(values):
    """The finite class with these values (contexts, functions, arms), its contexts being row numbers."""
    _, functions, arms = values.shape
    return FiniteClass(lambda x: values[x[:, 0].astype(int)], n_functions=functions, n_arms=arms)


def policy_class(policies, n_arms):
    """The finite class whose function i plays policies[i][x] at context x."""
    return table_class(np.eye(n_arms)[np.array(policies).T])


def row_numbers(n):
    return np.arange(n, dtype=float)[:, None]


def literal_theta(values, truth, epsilon0):
    """Equation (3) word for word, the supremum over every distance above epsilon0 and a fine grid."""
    n, functions, _ = values.shape
    best = [[int(np.argmax(values[x, f])) for x in range(n)] for f in range(functions)]

    def distance(f):
        return sum(best[f][x] != best[truth][x] for x in range(n)) / n

    largest = 0.0
    for eps in [epsilon0, *np.linspace(epsilon0, 1.5, 40), *(distance(f) for f in range(functions))]:
        if eps < epsilon0 or eps == 0:
            continue
        near = [f for f in range(functions) if distance(f) <= eps]
        disputed = sum(any(best[f][x] != best[truth][x] for f in near) for x in range(n))
        largest = max(largest, disputed / n / eps)
    return largest


def near_copies(rng, n, functions, arms):
    """Functions at very different distances from the first, with ties in plenty."""
    values = rng.integers(0, 3, size=(n, functions, arms)).astype(float)
    copied = rng.random((n, functions)) < rng.random(functions)
    return np.where(copied[:, :, None], values[:, :1], values)


EPSILONS = (1e-6, 0.05, 0.1, 0.25, 1 / 3, 0.5, 0.75, 1.0, 1.4)


@pytest.mark.parametrize("seed", range(12))
def test_theta_is_the_literal_definition(seed, monkeypatch):
    monkeypatch.setattr(theory, "VALUES_AT_A_TIME", 50)  # so that several blocks are needed
    rng = np.random.default_rng(seed)
    n, functions, arms = rng.integers([3, 1, 1], [16, 9, 5])
    values = near_copies(rng, n, functions, arms)
    truth = int(rng.integers(functions))
    theta = disagreement_coefficient(table_class(values), row_numbers(n), truth)
    for eps in (*EPSILONS, *theta.distances):
        assert theta(float(eps)) == pytest.approx(literal_theta(values, truth, eps), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_theta_of_the_papers_class(seed):
    rng = np.random.default_rng(seed)
    # Centres close to each other, so that the functions disagree at some of the contexts only.
    bilinear = BilinearClass(x0=0.3 * rng.normal(size=(8, 3)), a0=rng.normal(size=(8, 3)), arms=rng.normal(size=(5, 3)))
    contexts = rng.normal(size=(40, 3))
    theta = disagreement_coefficient(bilinear, contexts, truth=2)
    assert 0 < theta.distances[0] < 0.5
    for eps in EPSILONS:
        assert theta(eps) == pytest.approx(literal_theta(bilinear.values(contexts), 2, eps), rel=1e-12)


def test_theta_by_hand():
    # Four contexts. Against f* = 0000 the others are at distance 1/4, 1/4 and 3/4; the first two together dispute
    # half of the contexts, all three of them all four.
    policies = [[0, 0, 0, 0], [1, 0, 0, 0], [0, 2, 0, 0], [0, 1, 1, 1]]
    theta = disagreement_coefficient(policy_class(policies, 3), row_numbers(4), truth=0)
    assert theta.distances.tolist() == [0.25, 0.75]
    assert theta.masses.tolist() == [0.5, 1.0]
    # 0.5 / 0.25 = 2 up to 1/4; then 0.5 / eps until that is below 1 / 0.75, at 3/8; flat; then 1 / eps.
    epsilons = np.array([0.0, 0.1, 0.25, 0.3, 0.375, 0.5, 0.75, 1.0, 2.0])
    assert theta(epsilons) == pytest.approx([2, 2, 2, 5 / 3, 4 / 3, 4 / 3, 4 / 3, 1, 0.5])
    # From the second function: the first at 1/4, the third at 2/4, the last at 4/4.
    theta = disagreement_coefficient(policy_class(policies, 3), row_numbers(4), truth=1)
    assert theta.distances.tolist() == [0.25, 0.5, 1.0]
    assert theta.masses.tolist() == [0.25, 0.5, 1.0]
    assert theta(0.0) == theta(1.0) == 1.0


def test_thresholds_have_theta_two():
    # Threshold rules on a line: those within k points of f* dispute 2 k points.
    n = 100
    policies = [[int(x >= c) for x in range(n)] for c in range(n + 1)]
    theta = disagreement_coefficient(policy_class(policies, 2), row_numbers(n), truth=50)
    assert theta.distances == pytest.approx(np.arange(1, 51) / n)
    assert theta.masses == pytest.approx(np.arange(1, 51) / 50)
    assert theta(np.linspace(0.0, 0.5, 30)) == pytest.approx(2.0)


@pytest.mark.parametrize("policies", [[[0, 1, 0]], [[0, 1, 0]] * 4])
def test_theta_is_zero_when_everyone_agrees(policies):
    theta = disagreement_coefficient(policy_class(policies, 2), row_numbers(3), truth=0)
    assert len(theta.distances) == len(theta.masses) == 0
    assert theta(0.0) == theta(0.5) == 0.0
    assert theta(np.array([0.0, 0.5])).tolist() == [0.0, 0.0]


def test_ties_go_to_the_lowest_arm():
    values = np.array([[[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]])
    assert disagreement_coefficient(table_class(values[:, :2]), row_numbers(1), truth=0)(0.1) == 0.0
    assert disagreement_coefficient(table_class(values), row_numbers(1), truth=0)(0.1) == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_theta_never_increases_and_has_no_jump(seed):
    theta = disagreement_coefficient(
        table_class(near_copies(np.random.default_rng(seed), 30, 12, 4)), row_numbers(30), truth=0
    )
    epsilons = np.linspace(1e-9, 1.2, 5001)
    values = theta(epsilons)
    assert (np.diff(values) <= 1e-12).all()
    assert (values <= 1 / epsilons + 1e-12).all()
    for eps in theta.distances:
        assert theta(float(np.nextafter(eps, 0))) == pytest.approx(theta(float(eps)), rel=1e-12)
    closed_form = (theta.masses / np.maximum(epsilons[:, None], theta.distances)).max(axis=1)
    assert values == pytest.approx(closed_form, rel=1e-12)


def test_kinds_and_shapes():
    theta = DisagreementCoefficient(distances=[0.5], masses=[0.5])
    assert isinstance(theta(0.25), float)
    assert theta(np.full((2, 3), 0.25)).shape == (2, 3)
    assert not theta.distances.flags.writeable
    with pytest.raises(AttributeError):
        theta.distances = np.zeros(1)
    sizes = {"log_size": 1.0}
    for horizon in (10, 10.0, np.int64(10), np.array(10)):
        assert isinstance(minimax_lower_bound(horizon=horizon, independence_number=2, **sizes), float)
    rounds = np.arange(1, 7).reshape(2, 3)
    for bound in (
        minimax_lower_bound(horizon=rounds, independence_number=2, **sizes),
        minimax_bound(horizon=rounds, mean_independence_number=2, n_arms=2, **sizes),
        gap_dependent_bound(horizon=rounds, gap=0.5, mean_independence_number=2, disagreement=theta, **sizes),
    ):
        assert bound.shape == (2, 3)
        assert bound.dtype == np.float64


# --- The bounds ------------------------------------------------------------------------------------------


def test_minimax_by_hand():
    # log(50 * log(2048) * log(100 * 2048) / 0.1) = log(500 * 7.62462 * 12.22979) = log(46623.6) = 10.74986;
    # 5 * 2048 * 10.74986 = 110078.6, whose root is 331.78.
    bound = minimax_bound(horizon=2048, mean_independence_number=5, log_size=math.log(50), n_arms=100)
    assert bound == pytest.approx(331.78, abs=0.01)
    # log T and log(K T) count as 1: what is left is sqrt(1 * 1 * log(1 / 0.1)).
    assert minimax_bound(horizon=1, mean_independence_number=1, log_size=0.0, n_arms=1) == pytest.approx(
        1.5174, abs=1e-4
    )
    # At T = 1, K = 100 only the second of the two is log 100 = 4.60517.
    bound = minimax_bound(horizon=1, mean_independence_number=3, log_size=0.0, n_arms=100, delta=0.5)
    assert bound == pytest.approx(math.sqrt(3 * math.log(4.60517 / 0.5)), rel=1e-6)


def test_minimax_over_rounds():
    rounds = np.array([1, 2, 3, 10, 1000, 10**9])
    curve = minimax_bound(horizon=rounds, mean_independence_number=2.5, log_size=3.0, n_arms=7, delta=0.999)
    for T, value in zip(rounds.tolist(), curve, strict=True):
        single = minimax_bound(horizon=T, mean_independence_number=2.5, log_size=3.0, n_arms=7, delta=0.999)
        assert value == pytest.approx(single, rel=1e-14)
    assert (np.diff(curve) > 0).all()
    assert minimax_bound(horizon=2, mean_independence_number=1, log_size=0.0, n_arms=1, delta=0.999) >= 0
    # A class of e^5000 functions: |F| itself would overflow.
    assert minimax_bound(horizon=100, mean_independence_number=1, log_size=5000.0, n_arms=2) == pytest.approx(
        math.sqrt(100 * (5000 + math.log(math.log(100) * math.log(200) / 0.1)))
    )


def test_lower_bound_by_hand():
    assert minimax_lower_bound(horizon=100, independence_number=4, log_size=math.log(50)) == pytest.approx(
        20 * math.sqrt(3.912023), rel=1e-6
    )
    rounds = np.array([1.0, 4.0, 9.0])
    assert minimax_lower_bound(horizon=rounds, independence_number=1, log_size=1.0).tolist() == [1.0, 2.0, 3.0]
    assert minimax_lower_bound(horizon=7, independence_number=1, log_size=0.0) == 0.0


def test_gap_dependent_by_hand():
    # One rival at distance 1/2: theta = 1 up to 1/2 and 1/(2 eps) beyond. With T = 1000, alpha = 2, |F| = 2,
    # delta = 0.1 and Delta = 1 the second term is theta times 2 log(2e7) log(1000) = 2 * 16.81124 * 6.90776 = 232.2559.
    theta = DisagreementCoefficient(distances=[0.5], masses=[0.5])
    sizes = {"mean_independence_number": 2.0, "log_size": math.log(2), "disagreement": theta}
    # They meet at eps = 0.2323, on the flat part.
    assert gap_dependent_bound(horizon=1000, gap=1.0, **sizes) == pytest.approx(232.2559, abs=1e-3)
    # With Delta = 0.1, 2322.559 / (2 eps) = 100 eps at eps = sqrt(11.612795) = 3.40776, beyond 1/2.
    assert gap_dependent_bound(horizon=1000, gap=0.1, **sizes) == pytest.approx(340.776, abs=1e-3)
    # At T = 1 log T counts as 1: 2 log(20) theta(eps) = eps, eps = sqrt(log 20).
    assert gap_dependent_bound(horizon=1, gap=1.0, **sizes) == pytest.approx(math.sqrt(math.log(20)))


@pytest.mark.parametrize("gap", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_gap_dependent_is_the_least_maximum(seed, gap):
    rng = np.random.default_rng(seed)
    theta = disagreement_coefficient(table_class(near_copies(rng, 60, 15, 4)), row_numbers(60), truth=0)
    rounds = np.array([1, 3, 50, 2**11, 10**6, 10**10])
    sizes = {"mean_independence_number": 3.5, "log_size": math.log(15), "delta": 0.05}
    bound = gap_dependent_bound(horizon=rounds, gap=gap, disagreement=theta, **sizes)
    epsilons = np.geomspace(1e-9, 1e6, 200_001)
    for T, value in zip(rounds.tolist(), bound, strict=True):
        log_T = max(math.log(T), 1.0)
        most = 3.5 * (2 * math.log(T) + math.log(15 / 0.05)) * log_T / gap
        grid = np.maximum(epsilons * gap * T, theta(epsilons) * most).min()
        assert grid * (1 - 1e-3) <= value <= grid * (1 + 1e-12)
        # theta(eps) <= 1 / eps, which gives the minimax rate up to logarithms.
        assert value <= math.sqrt(most * gap * T) * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_bisection_agrees_with_the_closed_form(seed):
    rng = np.random.default_rng(seed)
    theta = disagreement_coefficient(table_class(near_copies(rng, 40, 9, 3)), row_numbers(40), truth=0)
    sizes = {"gap": 0.2, "mean_independence_number": 2.0, "log_size": 2.0, "horizon": np.geomspace(1, 1e12, 25)}
    exact = gap_dependent_bound(disagreement=theta, **sizes)
    bisected = gap_dependent_bound(disagreement=lambda eps: theta(eps), **sizes)
    assert bisected == pytest.approx(exact, rel=1e-12)


def test_any_callable_as_theta():
    sizes = {"horizon": 1000, "gap": 0.5, "mean_independence_number": 2.0, "log_size": math.log(2)}
    most = 2 * math.log(2e7) * math.log(1000) / 0.5
    assert gap_dependent_bound(disagreement=lambda eps: 7.0, **sizes) == pytest.approx(7 * most)
    assert gap_dependent_bound(disagreement=lambda eps: 1 / eps, **sizes) == pytest.approx(math.sqrt(most * 500))
    assert gap_dependent_bound(disagreement=lambda eps: 0.0, **sizes) == 0.0
    # A jump: where the second term falls from above the first to below it, the first one decides.
    jump = gap_dependent_bound(disagreement=lambda eps: 10.0 if eps < 0.75 else 0.1, **sizes)
    assert jump == pytest.approx(0.75 * 0.5 * 1000)


def test_no_disagreement_no_regret():
    nothing = DisagreementCoefficient(distances=[], masses=[])
    sizes = {"gap": 0.5, "mean_independence_number": 2.0, "log_size": 0.0, "disagreement": nothing}
    assert gap_dependent_bound(horizon=100, **sizes) == 0.0
    assert gap_dependent_bound(horizon=np.array([1, 100]), **sizes).tolist() == [0.0, 0.0]


# --- The uniform gap -------------------------------------------------------------------------------------


def test_gaps_by_hand():
    means = [[0.75, 0.25, 0.5], [0.0, -1.0, -3.0], [0.5, 0.5, 0.0]]
    assert context_gaps(means).tolist() == [0.25, 1.0, 0.0]
    assert uniform_gap(means[:2]) == 0.25
    assert uniform_gap(means) == 0.0
    assert uniform_gap([[3.0], [4.0]]) == math.inf


def test_gaps_leave_the_means_alone():
    means = np.random.default_rng(0).normal(size=(20, 6))
    before = means.copy()
    gaps = context_gaps(means)
    assert np.array_equal(means, before)
    for row, gap in zip(means, gaps, strict=True):
        first, second = sorted(row, reverse=True)[:2]
        assert gap == first - second


# --- Refusals --------------------------------------------------------------------------------------------

TWO = policy_class([[0, 1], [1, 1]], 2)
STEP = DisagreementCoefficient(distances=[0.5], masses=[0.5])


def minimax(**changes):
    return minimax_bound(**{"horizon": 10, "mean_independence_number": 2, "log_size": 1.0, "n_arms": 3} | changes)


def gap_dependent(**changes):
    sizes = {"horizon": 10, "gap": 0.5, "mean_independence_number": 2, "log_size": 1.0, "disagreement": STEP}
    return gap_dependent_bound(**sizes | changes)


def lower(**changes):
    return minimax_lower_bound(**{"horizon": 10, "independence_number": 2, "log_size": 1.0} | changes)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: minimax(horizon=0), SettingError, "horizon is 0; expected a finite number of at least 1"),
        (lambda: minimax(horizon=np.array([3.0, np.nan])), SettingError, "horizon is array"),
        (lambda: minimax(horizon="ten"), SettingError, "horizon is 'ten'"),
        (lambda: minimax(horizon="10"), SettingError, "horizon is '10'"),
        (lambda: minimax(horizon=True), SettingError, "horizon is True"),
        (lambda: minimax(horizon=[[1], [2, 3]]), SettingError, "horizon is "),
        (lambda: minimax(mean_independence_number=0.5), SettingError, "mean_independence_number is 0.5; .* at least 1"),
        (
            lambda: minimax(mean_independence_number=4),
            SettingError,
            "mean_independence_number is 4; .* at most n_arms, 3",
        ),
        (lambda: minimax(log_size=-1.0), SettingError, "log_size is -1.0; .* at least 0"),
        (lambda: minimax(n_arms=2.5), SettingError, "n_arms is 2.5; expected a whole number"),
        (lambda: minimax(delta=0.0), SettingError, "delta is 0.0; .* above 0 and below 1"),
        (lambda: minimax(delta=1), SettingError, "delta is 1; .* above 0 and below 1"),
        (lambda: lower(horizon=0.5), SettingError, "horizon is 0.5"),
        (lambda: lower(independence_number=0), SettingError, "independence_number is 0"),
        (lambda: lower(log_size=math.inf), SettingError, "log_size is inf"),
        (lambda: gap_dependent(horizon=-3), SettingError, "horizon is -3"),
        (lambda: gap_dependent(gap=0.0), SettingError, "gap is 0.0; expected a finite number above 0"),
        (lambda: gap_dependent(gap=math.inf), SettingError, "gap is inf"),
        (lambda: gap_dependent(mean_independence_number=None), SettingError, "mean_independence_number is None"),
        (lambda: gap_dependent(log_size=math.nan), SettingError, "log_size is nan"),
        (lambda: gap_dependent(delta=2), SettingError, "delta is 2"),
        (lambda: gap_dependent(disagreement=3.0), SettingError, "disagreement is 3.0; expected a callable"),
        (lambda: gap_dependent(disagreement=lambda e: -1.0), SettingError, "disagreement at .* is -1.0; .* at least 0"),
        (lambda: gap_dependent(disagreement=lambda e: math.nan), SettingError, "disagreement at .* is nan"),
        (
            lambda: gap_dependent(disagreement=lambda e: 1e9 * e),
            SettingError,
            "expected a function that never increases",
        ),
        (lambda: uniform_gap([0.5, 0.25]), InputError, r"means has shape \(2,\); expected \(n, arms\)"),
        (lambda: uniform_gap(np.zeros((0, 3))), InputError, r"means has shape \(0, 3\)"),
        (lambda: uniform_gap([[0.5, math.nan]]), InputError, r"means has nan at \[0, 1\]"),
        (lambda: context_gaps([["a", "b"]]), InputError, "means is not an array of numbers"),
        (lambda: disagreement_coefficient("F", row_numbers(2), 0), InputError, "expected a finite class"),
        (lambda: disagreement_coefficient(TWO, row_numbers(2), 2), SettingError, "truth is 2; .* from 0 to 1"),
        (lambda: disagreement_coefficient(TWO, row_numbers(2), -1), SettingError, "truth is -1"),
        (lambda: disagreement_coefficient(TWO, row_numbers(2), 0.0), SettingError, "truth is 0.0"),
        (lambda: disagreement_coefficient(TWO, row_numbers(0), 0), InputError, "expected at least one row"),
        (lambda: disagreement_coefficient(TWO, [[math.inf]], 0), InputError, "contexts have inf"),
        (lambda: STEP(-0.1), InputError, "epsilon0 is -0.1; expected finite numbers of at least 0"),
        (lambda: STEP(np.array([0.1, np.inf])), InputError, "epsilon0 is array"),
        (lambda: STEP("a"), InputError, "epsilon0 is 'a'"),
        (lambda: DisagreementCoefficient(distances=[0.5, 0.25], masses=[0.5, 0.5]), SettingError, "distances is"),
        (lambda: DisagreementCoefficient(distances=[0.0], masses=[0.5]), SettingError, "distances is .* above 0"),
        (lambda: DisagreementCoefficient(distances=[1.5], masses=[1.0]), SettingError, "distances is .* none above 1"),
        (lambda: DisagreementCoefficient(distances=[0.5], masses=[0.25]), SettingError, "masses is"),
        (lambda: DisagreementCoefficient(distances=[0.1, 0.2], masses=[0.5, 0.4]), SettingError, "masses is"),
        (lambda: DisagreementCoefficient(distances=[0.5], masses=[1.1]), SettingError, "masses is"),
        (lambda: DisagreementCoefficient(distances=[0.5], masses=[]), SettingError, "masses has shape"),
        (lambda: DisagreementCoefficient(distances=0.5, masses=0.5), SettingError, "distances has shape"),
        (
            lambda: DisagreementCoefficient(distances=[[1], [1, 2]], masses=[1]),
            SettingError,
            "distances is not an array",
        ),
    ],
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_contexts_must_fit_the_class():
    bilinear = BilinearClass(x0=np.zeros((1, 3)), a0=np.zeros((1, 3)), arms=np.ones((2, 3)))
    with pytest.raises(InputError, match=r"contexts have shape \(4, 2\); expected \(n, 3\)"):
        disagreement_coefficient(bilinear, np.zeros((4, 2)), truth=0)
