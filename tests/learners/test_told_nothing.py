"""With nothing told, decisions for rewards y and a + b y are the same; what a half-life and a longest epoch do."""

import inspect
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge

import graphbandit as gb
from graphbandit.learners.base import Learner
from graphbandit.rounds.shown import Shown
from tests.learners.playing import observed

ARMS, D, ROUNDS = 5, 3, 90
GRAPH = gb.graphs.clique_group(ARMS, 2)

LEARNERS: dict[str, Any] = {
    "IDS.G": gb.IDSG(draws=40),
    "IDS.G, frequentist": gb.IDSG(form="frequentist"),
    "AdaCB.G": gb.AdaCBG(),
    "AdaCB.G, width": gb.AdaCBG(gamma="width"),
    "AdaCB": gb.learners.AdaCB(),
    "Thompson": gb.learners.BootstrappedThompson(draws=40),
    "FALCON": gb.Falcon(),
    "RegCB.G": gb.RegCBG(),
    "RegCB": gb.learners.RegCB(),
    "RegCB, elimination": gb.learners.RegCB(form="elimination"),
    "SquareCB": gb.learners.SquareCB(),
    "SquareCB, ridge": gb.learners.SquareCB(oracle="ridge"),
    "SquareCB, offline": gb.learners.SquareCB(oracle="offline"),
    "SquareCB.G": gb.SquareCBG(),
    "SquareCB, gradient": gb.learners.SquareCB(oracle="ogd"),
    "SquareCB.G, online": gb.SquareCBG(oracle="vaw"),
    "AdaCB.G, sharp": gb.AdaCBG(radius="sharp"),
    "uniform": gb.learners.Uniform(),
    "LinUCB": gb.LinUCB(),
    "LinTS": gb.LinTS(),
    "greedy": gb.Greedy(),
    "epsilon-greedy": gb.learners.EpsilonGreedy(),
    "explore, then commit": gb.learners.ExploreThenCommit(explore_rounds=20),
}

EXCLUDED = {
    "Exp3SET": "its losses are in a range that is told, low to high",
    "Exp3DOM": "its losses are in a range that is told, low to high",
    "Exp3G": "its losses are in a range that is told, low to high",
    "Exp3IX": "its losses are in a range that is told, low to high",
    "Exp3LGCU": "its losses are in a range that is told, low to high",
    "Exp3LGCIX": "its losses are in a range that is told, low to high",
    "UCBN": "it has no function class, and needs the noise",
    "UCBMaxN": "it has no function class, and needs the noise",
    "TSN": "its prior and its noise are told",
    "IDSN": "its prior and its noise are told",
    "LateGraph": "it is what the learner inside is",
}
"""Learners whose units are told to them. The `paper` forms of AdaCB.G and AdaCB have the paper's formulas."""

EXCLUDED_CLASSES = {
    "FiniteClass": "it fixes its own units; only its noise is unknown",
    "BilinearClass": "it fixes its own units; only its noise is unknown",
    "GeneralizedLinearClass": "clicks and counts have units of their own; its docstring says so of the identity",
    "TorchClass": "targets are centred and scaled, but rounding changes the path of its optimiser",
    "ReductionClass": "its bounds are searched for, and rounding changes where a search stops",
    "LastLayerClass": "its features are a TorchClass's",
}
"""Classes that do not hold a + b f with every f, or whose fits amplify rounding."""

CLASSES: dict[str, Any] = {
    "linear": gb.LinearClass(n_arms=ARMS, dimension=D, parameters="per-arm", intercept=True),
    "kernel": gb.KernelClass(n_arms=ARMS, dimension=D, parameters="per-arm", n_features=8),
    "regressor": gb.RegressorClass(Ridge(solver="cholesky"), n_arms=ARMS, dimension=D, members=3),
}


HERE = "tests/learners/test_told_nothing.py"


def test_every_learner_and_class_is_tried_or_excluded_for_a_reason() -> None:
    tried = {type(learner).__name__ for learner in LEARNERS.values()}
    known = {
        name
        for name in gb.learners.__all__
        if isinstance(one := getattr(gb.learners, name), type)
        and issubclass(one, Learner)
        and not inspect.isabstract(one)
    }
    assert tried | set(EXCLUDED) == known, f"LEARNERS or EXCLUDED of {HERE} needs a line for every learner"
    assert not tried & set(EXCLUDED)
    classes = {name for name in gb.function_classes.__all__ if name.endswith("Class")} - {"FunctionClass"}
    found = {type(one).__name__ for one in CLASSES.values()} | set(EXCLUDED_CLASSES)
    assert found == classes, f"CLASSES or EXCLUDED_CLASSES of {HERE} needs a line for every function class"


def rewards_of(contexts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Linear ones; noise belongs to the round, whatever is played."""
    means = contexts @ rng.normal(size=(D, ARMS))
    return np.asarray(means + 0.5 * rng.normal(size=means.shape))


def played(
    learner: Learner,
    functions: Any,
    a: float,
    b: float,
    graph: Any = GRAPH,
    outcomes: Any = rewards_of,
    some: bool = False,
    **problem: Any,
) -> list[np.ndarray]:
    """The probabilities of a run whose rewards are a + b y, on this graph, with all arms on offer, or some."""
    rng = np.random.default_rng(0)
    contexts = rng.normal(size=(ROUNDS, D))
    rewards = a + b * outcomes(contexts, rng)
    offered = (np.arange(ARMS) + np.arange(ROUNDS)[:, None]) % ARMS > 0 if some else None
    likely = isinstance(graph, gb.ProbabilisticGraph)
    edges = rng.random((ROUNDS, ARMS, ARMS)) < (graph.matrix if likely else graph.to_dense())
    state = learner.init(gb.Problem(n_arms=ARMS, function_class=functions, **problem))
    draw, found, t = np.random.default_rng(1), [], 0
    while t < ROUNDS:
        n = min(learner.rounds_until_update(state), ROUNDS - t)
        part = slice(t, t + n)
        repeat = gb.ProbabilisticGraphs.repeat if likely else gb.FeedbackGraphs.repeat
        shown = Shown(contexts[part], repeat(graph, n), None if offered is None else offered[part])
        decisions = learner.decide(state, shown, draw)
        found.append(decisions.probabilities)
        if n < learner.rounds_until_update(state):
            break
        revealed = edges[np.arange(t, t + n), decisions.action]
        state = learner.update(state, observed(contexts[part], revealed, rewards[part], decisions, t))
        t += n
    return found


@pytest.mark.filterwarnings("ignore::graphbandit.errors.EstimatedNoiseWarning")
@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("name", LEARNERS)
def test_units_and_zero_do_not_matter(name: str, kind: str) -> None:
    learner = LEARNERS[name]
    plain = played(learner, CLASSES[kind], 0.0, 1.0)
    for one, other in zip(plain, played(learner, CLASSES[kind], 0.0, 64.0), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(plain, played(learner, CLASSES[kind], 500.0, 80.0), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


WEAK = gb.FeedbackGraph.from_dense(np.eye(ARMS, k=1) + np.eye(ARMS, k=1 - ARMS), require_loops=False)
LIKELY = gb.ProbabilisticGraph.from_graph(GRAPH, 0.6)
OTHERWISE: dict[str, dict[str, Any]] = {
    "some arms on offer": {"some": True},
    "no loops": {"graph": WEAK},
    "edge probabilities, half-life": {"graph": LIKELY, "half_life": 40.0},
    "horizon, short epochs": {"horizon": ROUNDS, "longest_epoch": 8},
}
FAR = ((-1e4, 1.0), (-1e4, 1e3), (0.0, 1e-3))


@pytest.mark.filterwarnings("ignore::graphbandit.errors.EstimatedNoiseWarning")
@pytest.mark.parametrize("how", OTHERWISE)
@pytest.mark.parametrize("name", LEARNERS)
def test_units_and_zero_do_not_matter_on_any_graph(name: str, how: str) -> None:
    learner, settings = LEARNERS[name], OTHERWISE[how]
    if settings.get("graph") is WEAK and learner.needs_loops:
        pytest.skip("it needs self-loops")
    if settings.get("graph") is LIKELY and name == "IDS.G, frequentist":
        pytest.skip("arms of which nothing is known tie exactly, and the last bit of a reward of 10,000 breaks the tie")
    if settings.get("graph") is LIKELY and not learner.plans_with_probabilities:
        pytest.skip("it plans with sure edges alone")
    plain = np.concatenate(played(learner, CLASSES["linear"], 0.0, 1.0, **settings))
    for a, b in FAR:
        found = np.concatenate(played(learner, CLASSES["linear"], a, b, **settings))
        np.testing.assert_allclose(found, plain, atol=1e-9)


def sales(contexts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The price of an arm, where it was sold."""
    sold = rng.random((len(contexts), ARMS)) < 1.0 / (1.0 + np.exp(0.4 * PRICES - contexts[:, :1]))
    return np.asarray(PRICES * sold)


PRICES = np.arange(1.0, ARMS + 1.0)


@pytest.mark.filterwarnings("ignore::graphbandit.errors.EstimatedNoiseWarning")
@pytest.mark.parametrize("link", ["logistic", "poisson"])
@pytest.mark.parametrize("name", [name for name in LEARNERS if not name.startswith("Lin")])
def test_the_currency_of_prices_does_not_matter(name: str, link: str) -> None:
    """Factors and rewards are times b together."""
    found = []
    for b in (1.0, 64.0, 100.0, 1e-3):
        functions = gb.GeneralizedLinearClass(
            n_arms=ARMS, dimension=D, link=link, parameters="per-arm", factors=b * PRICES
        )
        found.append(np.concatenate(played(LEARNERS[name], functions, 0.0, b, outcomes=sales)))
    np.testing.assert_array_equal(found[0], found[1])
    for other in found[2:]:
        np.testing.assert_allclose(other, found[0], atol=1e-9)


@pytest.mark.parametrize(
    "regressor",
    [RandomForestRegressor(n_estimators=4, max_depth=4), GradientBoostingRegressor(n_estimators=8)],
    ids=["forest", "boosting"],
)
@pytest.mark.parametrize("learner", [gb.IDSG(draws=20, epoch_growth=2.0), gb.Greedy()], ids=["IDS.G", "greedy"])
def test_units_and_zero_do_not_matter_to_trees(learner: Learner, regressor: Any) -> None:
    """Splits that are equally good are told apart by the last bits of the targets, unless these are rounded."""
    functions = gb.RegressorClass(regressor, n_arms=ARMS, dimension=D, members=3)
    plain = np.concatenate(played(learner, functions, 0.0, 1.0))
    assert len(np.unique(plain.argmax(axis=1))) > 1
    for a, b in ((500.0, 80.0), (-3.0, 0.01)):
        np.testing.assert_allclose(np.concatenate(played(learner, functions, a, b)), plain, atol=1e-9)


@pytest.mark.filterwarnings("ignore::graphbandit.errors.EstimatedNoiseWarning")
def test_a_told_noise_replaces_the_estimate_and_nothing_else() -> None:
    told = [played(gb.IDSG(draws=40), CLASSES["linear"], a, b, noise=0.5 * b) for a, b in ((0.0, 1.0), (500.0, 80.0))]
    for one, other in zip(*told, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_no_epoch_is_longer_than_the_longest() -> None:
    learner = gb.Greedy()
    problem = gb.Problem(n_arms=2, function_class=gb.LinearClass(n_arms=2, dimension=1), longest_epoch=5)
    assert [learner.epochs(problem).tau(m) for m in range(7)] == [0, 2, 4, 8, 13, 18, 23]
    assert learner.rounds_until_update(learner.init(problem)) == 2


def test_with_a_half_life_a_learner_follows_a_change() -> None:
    """Two arms change places half-way; only the learner that forgets notices."""
    rounds = 600
    functions = gb.LinearClass(n_arms=2, dimension=1, parameters="per-arm")
    lost = {}
    for half_life in (None, 30.0):
        problem = gb.Problem(n_arms=2, function_class=functions, half_life=half_life, longest_epoch=10)
        learner, rng, t = gb.Greedy(), np.random.default_rng(0), 0
        state, regret = learner.init(problem), np.zeros(rounds)
        while t < rounds:
            n = min(learner.rounds_until_update(state), rounds - t)
            contexts, graphs = np.ones((n, 1)), gb.FeedbackGraphs.repeat(gb.graphs.complete(2), n)
            action = learner.decide(state, Shown(contexts, graphs), rng).action
            means = np.where((np.arange(t, t + n) < rounds // 2)[:, None], [1.0, 0.0], [0.0, 1.0])
            regret[t : t + n] = means.max(axis=1) - means[np.arange(n), action]
            rewards = means + 0.3 * rng.normal(size=means.shape)
            seen = gb.Observations.from_masks(contexts, np.ones((n, 2), bool), rewards, first_round=t)
            if n < learner.rounds_until_update(state):
                break
            state, t = learner.update(state, seen), t + n
        lost[half_life] = regret[rounds // 2 :].sum()
    assert lost[30.0] < 0.25 * lost[None]


def test_finite_version_spaces_nest() -> None:
    """F_{m+1} is within F_m, though the radius is the same at all times."""
    rng = np.random.default_rng(4)
    values = 0.3 * rng.normal(size=(1, 30, 4))
    functions = gb.FiniteClass(lambda x: np.repeat(values, len(x), axis=0), n_functions=30, n_arms=4)
    problem = gb.Problem(n_arms=4, function_class=functions, noise=0.5)
    learner, t = gb.AdaCBG(), 0
    state = learner.init(problem)
    sizes, free = [], []
    for _ in range(30):
        n, before = learner.rounds_until_update(state), state.space.members
        shown = Shown(np.zeros((n, 1)), gb.FeedbackGraphs.repeat(gb.graphs.bandit(4), n))
        action = learner.decide(state, shown, rng).action
        revealed = np.arange(4) == action[:, None]
        rewards = values[:, 0] + 0.5 * rng.normal(size=(n, 4))
        state = learner.update(state, gb.Observations.from_masks(np.zeros((n, 1)), revealed, rewards, first_round=t))
        t += n
        assert (state.space.members <= before).all()
        sizes.append(state.space.size)
        free.append(functions.version_space(state.data, state.radius).size)
    assert sizes[-1] >= 1
    assert min(free) < max(free)


@pytest.mark.parametrize("eta", [50.0, 1e5])
@pytest.mark.parametrize("half_life", [None, 30.0])
def test_the_natural_gamma_is_its_formula(eta, half_life):
    """gamma^2 = min(eta, (2 N / complexity)^2) B n / (sigma^2 (complexity + log 1/delta)), N the rewards seen."""
    rng = np.random.default_rng(3)
    functions = gb.LinearClass(n_arms=6, dimension=3, parameters="per-arm")
    bandit = gb.Bandit(
        gb.AdaCBG(eta=eta, delta=0.2),
        gb.Problem(n_arms=6, function_class=functions, half_life=half_life),
        graph=gb.graphs.bandit(6),
    )
    capped = set()
    for _ in range(120):
        context = rng.normal(size=3)
        decision = bandit.decide(context)
        bandit.observe(decision, {arm: float(rng.normal()) for arm in decision.revealed.tolist()})
        state = bandit.state
        if state.model is None or state.difficulty == 0.0:
            continue
        noise, complexity = functions.natural_scale(state.data)
        n = float(state.rounds)
        if half_life is not None:
            n = sum(2.0 ** (-k / half_life) for k in range(state.rounds))
        seen = functions.n_observed(state.data) * n / state.rounds
        trusted = min(eta, (2.0 * seen / max(complexity, 1.0)) ** 2)
        capped.add(trusted == eta)
        arms = len(decision.exploration_set)
        expected = trusted * n * arms / (noise**2 * (complexity - np.log(0.2)))
        assert decision.gamma**2 == pytest.approx(expected, rel=1e-9)
    assert capped == ({False, True} if eta == 50.0 else {False})


FORGETFUL = (gb.IDSG(), gb.AdaCBG(), gb.Greedy(), gb.SquareCBG(), gb.learners.LateGraph(learner=gb.IDSG()))
UNFORGETFUL = (
    gb.LinUCB(),
    gb.LinTS(),
    gb.SquareCBG(oracle="vaw"),
    gb.learners.TSN(),
    gb.learners.Exp3G(),
    gb.learners.ExploreThenCommit(explore_rounds=5),
)


@pytest.mark.parametrize("learner", [*FORGETFUL, *UNFORGETFUL], ids=lambda learner: type(learner).__name__)
def test_a_learner_that_does_not_forget_says_so(learner: Learner) -> None:
    problem = gb.Problem(
        n_arms=2, function_class=gb.LinearClass(n_arms=2, dimension=1), noise=0.5, horizon=50, half_life=20.0
    )
    if learner in FORGETFUL:
        gb.Bandit(learner, problem)
        return
    with pytest.warns(gb.errors.IgnoredSettingWarning, match=r"does not forget: a half_life of 20 rounds"):
        gb.Bandit(learner, problem)


@pytest.mark.parametrize("name", EXCLUDED)
def test_a_learner_that_is_told_the_units_says_so(name: str) -> None:
    text = " ".join((getattr(gb.learners, name).__doc__ or "").split())
    assert "units" in text or "the range of rewards" in text or name == "LateGraph"
