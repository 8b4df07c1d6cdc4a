"""Every function class: what it learns from fixed data, and learners that use all of its methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import graphbandit as gb
from graphbandit import environments, function_classes, graphs, learners
from tests.golden.played import Arrays, simulated
from tests.golden.registry import Outcome, add

K, D, SEEN, NEW, ROUNDS = 5, 3, 48, 12, 48


def _numbers(arms: str, link: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Contexts, means and rewards of SEEN + NEW + ROUNDS rounds; `arms` "own" has a context for each arm."""
    rng = np.random.default_rng(21)
    n = SEEN + NEW + ROUNDS
    contexts = rng.standard_normal((n, K, D) if arms == "own" else (n, D))
    weights = rng.standard_normal(D) if arms == "own" else rng.standard_normal((D, K))
    scores = 0.5 * contexts @ weights
    if link == "logistic":
        means = 1 / (1 + np.exp(-2 * scores))
        return contexts, means, (rng.random(means.shape) < means).astype(np.float64)
    if link == "poisson":
        means = np.exp(scores)
        return contexts, means, rng.poisson(means).astype(np.float64)
    means = 0.5 + 0.3 * scores
    return contexts, means, means + 0.2 * rng.standard_normal(means.shape)


def _features() -> np.ndarray:
    return np.random.default_rng(22).standard_normal((K, 2))


def _landmarks(size: int) -> np.ndarray:
    return np.random.default_rng(23).standard_normal((9, size))


def _values(contexts: np.ndarray) -> np.ndarray:
    """Seven functions of contexts (n, d)."""
    slopes = np.random.default_rng(24).standard_normal((7, D, K))
    return 0.5 + 0.15 * np.einsum("nd,fdk->nfk", contexts, slopes)


def _one_value(contexts: np.ndarray, parameter: np.ndarray) -> np.ndarray:
    # sums in a fixed order: a matrix product adds in an order that depends on how many rows there are
    return 0.5 + 0.1 * (contexts[:, :, None] * parameter).sum(axis=1)


def _observed(functions: Any, contexts: np.ndarray, revealed: np.ndarray, rewards: np.ndarray) -> Any:
    """The data of a function class that has seen these rewards."""
    return functions.add(functions.empty(), gb.Observations.from_masks(contexts, revealed, rewards))


def draws(functions: Any, contexts: np.ndarray, rewards: np.ndarray, count: int, seed: int) -> Any:
    """Draws of a function class that has seen all these rewards."""
    data = _observed(functions, contexts, np.ones(rewards.shape, dtype=np.bool_), rewards)
    return functions.draws(data, noise=0.5, count=count, rng=np.random.default_rng(seed))


def class_arrays(
    functions: Any, contexts: np.ndarray, revealed: np.ndarray, rewards: np.ndarray, new: np.ndarray
) -> Arrays:
    """All that a function class says of `new` contexts once it has seen these rewards."""
    data = _observed(functions, contexts, revealed, rewards)
    radius = float(functions.sharp_radius(data, 0.4, 0.1))
    space = functions.version_space(data, radius)
    drawn = functions.draws(data, noise=0.4, count=10, rng=np.random.default_rng(31))
    lower, upper = functions.bounds(space, new)
    model = functions.fit(data)
    predicted = functions.predict(model, new)
    return {
        "observed": np.array(functions.n_observed(data)),
        "log size": np.array(float(functions.log_size)),
        "smallest loss": np.array(float(functions.smallest_loss(data))),
        "sharp radius": np.array(radius),
        "predicted": predicted,
        "candidates": functions.candidates(space, new),
        "widths": functions.widths(space, model, new, predicted.argmax(axis=1)),
        "lower": lower,
        "upper": upper,
        "draw weights": drawn.weights,
        "drawn": functions.draw_values(drawn, new),
    }


def _finite_from_draws() -> Any:
    base = function_classes.LinearClass(n_arms=K, dimension=D, parameters="per-arm")
    contexts, _, rewards = _numbers("shared", "identity")
    return function_classes.finite_from_draws(base, draws(base, contexts[:20], rewards[:20], 15, 25))


def _regressor(estimator: str, kind: str = "RegressorClass", **settings: Any) -> Any:
    from sklearn import ensemble, linear_model, tree

    made: dict[str, Callable[[], Any]] = {
        "ridge": lambda: linear_model.Ridge(),
        "least squares": lambda: linear_model.LinearRegression(),
        "tree": lambda: tree.DecisionTreeRegressor(max_depth=3),
        "forest": lambda: ensemble.RandomForestRegressor(n_estimators=5, max_depth=3),
        "boosting": lambda: ensemble.HistGradientBoostingRegressor(max_iter=5, early_stopping=False),
    }
    return getattr(function_classes, kind)(made[estimator](), n_arms=K, dimension=D, members=4, **settings)


def _network(outputs: int) -> Callable[[], Any]:
    def make() -> Any:
        from torch import nn

        return nn.Sequential(nn.Linear(D, 8), nn.Tanh(), nn.Linear(8, outputs))

    return make


def _torch(**settings: Any) -> Any:
    outputs = 1 if settings.get("arm_contexts") else K
    return function_classes.TorchClass(_network(outputs), n_arms=K, dimension=D, members=2, passes=6, **settings)


def _linear(kind: str, **settings: Any) -> Callable[[], Any]:
    return lambda: getattr(function_classes, kind)(n_arms=K, dimension=D, **settings)


SHARED, OWN, PER_ARM = ("shared", {}), ("own", {}), ("shared", {"parameters": "per-arm"})
OF_FEATURES = ("shared", {"arm_features": _features()})

CLASSES: dict[str, tuple[Callable[[], Any], str, str]] = {
    "finite": (lambda: function_classes.FiniteClass(_values, n_functions=7, n_arms=K), "shared", "identity"),
    "finite from parameters": (
        lambda: function_classes.finite_from_parameters(
            _one_value, np.random.default_rng(26).standard_normal((9, D, K)), n_arms=K
        ),
        "shared",
        "identity",
    ),
    "finite from draws": (_finite_from_draws, "shared", "identity"),
    "bilinear": (
        lambda: function_classes.BilinearClass(
            **{
                name: np.random.default_rng(27 + i).standard_normal((n, D))
                for i, (name, n) in enumerate({"x0": 8, "a0": 8, "arms": K}.items())
            },
            scale=2.0,
        ),
        "shared",
        "identity",
    ),
    "regressor, ridge": (lambda: _regressor("ridge"), "shared", "identity"),
    "regressor, perturbed": (lambda: _regressor("ridge", resampling="perturbed"), "shared", "identity"),
    "regressor, per arm": (lambda: _regressor("tree", per_arm=True), "shared", "identity"),
    "regressor, arm features": (lambda: _regressor("forest", arm_features=_features()), "shared", "identity"),
    "regressor, arm contexts": (lambda: _regressor("boosting", arm_contexts=True), "own", "identity"),
    "regressor, reduction": (
        lambda: _regressor("least squares", "ReductionClass", entropy=6.0, tolerance=0.05), "shared",
        "identity",
    ),
    "torch": (_torch, "shared", "identity"),
    "torch, arm contexts": (lambda: _torch(arm_contexts=True), "own", "identity"),
    "last layer": (lambda: function_classes.LastLayerClass(_torch()), "shared", "identity"),
    "last layer, arm contexts": (
        lambda: function_classes.LastLayerClass(_torch(arm_contexts=True), ridge=0.5), "own", "identity",
    ),
}  # fmt: skip
"""How a class is built, which contexts it takes, and which rewards it is shown."""

for _arms, (_contexts, _settings) in {
    "arm contexts": OWN, "per arm": PER_ARM, "arm features": OF_FEATURES,
}.items():  # fmt: skip
    CLASSES[f"linear, {_arms}"] = (_linear("LinearClass", **_settings), _contexts, "identity")
    CLASSES[f"linear, {_arms}, intercept"] = (
        _linear("LinearClass", **_settings, intercept=True, ridge=0.3, norm_bound=2.0), _contexts, "identity",
    )  # fmt: skip
    for _link in ("identity", "logistic", "poisson"):
        CLASSES[f"generalized linear, {_link}, {_arms}"] = (
            _linear("GeneralizedLinearClass", **_settings, link=_link), _contexts, _link,
        )  # fmt: skip
    for _kernel in ("rbf", "laplacian", "matern-3/2", "matern-5/2"):
        CLASSES[f"kernel, {_kernel}, {_arms}"] = (
            _linear("KernelClass", **_settings, kernel=_kernel, n_features=20, lengthscale=2.0, seed=1),
            _contexts, "identity",
        )  # fmt: skip
    CLASSES[f"kernel, landmarks, {_arms}"] = (
        _linear("KernelClass", **_settings, landmarks=_landmarks(D + 2 * (_arms == "arm features")), lengthscale=1.5),
        _contexts, "identity",
    )  # fmt: skip

PLAYED = {
    "AdaCBG": {"eta": 10.0},
    "AdaCBG, gamma=width": {"eta": 10.0, "gamma": "width", "coverage": "paper"},
    "AdaCBG, radius=paper": {"eta": 10.0, "radius": "paper", "gamma": "natural"},
    "IDSG": {"draws": 20, "epoch_growth": 2.0},
    "IDSG, frequentist": {"form": "frequentist", "epoch_growth": 2.0},
    "RegCB": {},
    "BootstrappedThompson": {"draws": 20, "epoch_growth": 2.0},
}
"""Between them they ask a class for all that it offers."""

REFITTED = ("regressor", "torch", "last layer")


def learnt(name: str) -> Outcome:
    """What the class says of new contexts after it has seen some rewards."""
    build, arms, link = CLASSES[name]
    contexts, _, rewards = _numbers(arms, link)
    revealed = np.random.default_rng(30).random((SEEN, K)) < 0.5
    arrays = class_arrays(build(), contexts[:SEEN], revealed, rewards[:SEEN], contexts[SEEN : SEEN + NEW])
    numbers = {key: float(arrays[key]) for key in ("sharp radius", "smallest loss")}
    return Outcome(arrays, numbers)


def played(name: str, learner: str, chunk: int) -> Outcome:
    """A learner with this class."""
    build, arms, link = CLASSES[name]
    contexts, means, rewards = _numbers(arms, link)
    rows = slice(SEEN + NEW, None)
    functions = build()
    where = environments.from_arrays(
        contexts=contexts[rows],
        means=means[rows],
        rewards=rewards[rows],
        graphs=graphs.clique_group(K, 3),
        function_class=functions,
        noise=0.4,
    )
    arrays = simulated(
        getattr(learners, learner.split(",")[0])(**PLAYED[learner]),
        where,
        rounds=ROUNDS // 2 if name.startswith("regressor, reduction") else ROUNDS,
        repeats=1,
        seed=5,
        horizon_known=True,
        chunk=chunk,
    )
    return Outcome(arrays, {"final regret": float(arrays["regret"][0, -1])})


for _name in CLASSES:
    add(f"classes/learnt/{_name}", lambda chunk, n=_name: learnt(n))
    for _learner in PLAYED:
        add(
            f"classes/played/{_name}/{_learner}",
            lambda chunk, n=_name, who=_learner: played(n, who, chunk),
            slow=_name.startswith(REFITTED),
        )
