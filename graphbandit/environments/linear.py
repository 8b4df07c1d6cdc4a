"""Linear synthetic problems, and clicks and counts: the mean reward is link(phi(x, a)'theta)."""

from dataclasses import dataclass
from math import pi, sqrt
from typing import Any, Literal, get_args

import numpy as np

from graphbandit.base.checks import LARGEST_SCALE, optional_number, setting_choice, setting_integer, setting_number
from graphbandit.base.seeds import stream
from graphbandit.base.shapes import Float
from graphbandit.environments.base import Rounds, check_repeat
from graphbandit.environments.blocks import BLOCK, BlockInstance, GraphEnvironment
from graphbandit.environments.graph_setting import GraphSetting
from graphbandit.errors import SettingError
from graphbandit.function_classes import FunctionClass, GeneralizedLinearClass, LinearClass
from graphbandit.function_classes.evidence import LINKS, Link
from graphbandit.graphs.sources import GraphSource
from graphbandit.learners.problem import Problem, check_function_class

ArmKind = Literal["new", "fixed", "per-arm"]
FeatureLaw = Literal["normal", "sphere"]
Change = Literal["none", "sudden", "slow"]

NOISE = 0.5
"""The default noise of rewards, which learners are told; rewards in [0, 1] are sub-Gaussian with this scale."""

POISSON_LIMIT = 5.0
"""The largest `signal` with Poisson counts, whose means are exp(signal times a standard normal number)."""


@dataclass(frozen=True, kw_only=True)
class LinearEnvironment(GraphEnvironment):
    """The mean reward of arm a in context x is link(phi(x, a)'theta); a repeat draws theta anew.

    The setting `arm_kind` says what a context and phi are, with d = `dimension`:

    - "new": a context is a matrix of K rows, new features of every arm; phi(x, a) = x[a], and theta is in R^d.
    - "fixed": contexts are in R^d, and arm a keeps its features z_a in R^m, m = `arm_dimension`; phi(x, a) is the
      Kronecker product of x and z_a, so the mean is x'Theta z_a, where theta holds the d rows of Theta in turn.
    - "per-arm": contexts are in R^d, and each arm has its own theta_a in R^d; the mean is x'theta_a.

    Features are standard normal, or uniform on the sphere whose radius is the square root of their dimension, which has
    the same second moments. theta (or each theta_a) is uniform on the sphere of radius `signal`, so phi'theta has
    variance signal^2. The features g_t of each round are mixed with g_0, which is drawn once a repeat: x_t =
    sqrt(1 - w^2) g_0 + w g_t with w = `diversity`, scaled back to the sphere if features lie on one. At w = 0 contexts
    never change: this is a linear bandit with fixed arms, in which nothing makes a greedy learner explore, and it may
    stay with a wrong arm forever. At w = 1 every round has new contexts.

    Learners are told the class that contains the truth, linear or generalised linear with its norm bound, unless
    `function_class` is given. `curve`, `noise_spread` and `change` violate assumptions of the learners and need link =
    "identity".

    - `n_arms`: K, 50 by default.
    - `graph`: as in `paper`; "random" by default.
    - `graph_options`: settings of the kind of graph, such as ``{"density": 0.1}``; none by default.
    - `fixed_graph`: whether the graph is drawn once a repeat instead of in each round; False by default.
    - `dimension`: d, 10 by default.
    - `arm_kind`: "new" (default): new features of all arms in each round. "fixed": a context in each round, and
      features of the arms that never change. "per-arm": a theta for each arm.
    - `arm_dimension`: the number of features of an arm with arm_kind="fixed", 5 by default.
    - `feature_law`: "normal" (default): standard normal. "sphere": uniform on a sphere.
    - `diversity`: how much contexts differ between rounds, from 0 (they never change) to 1 (default: always new).
    - `signal`: the length of theta, which is the standard deviation of phi'theta; 1 by default, at most 5 with
      "poisson".
    - `link`: "identity" (default): rewards phi'theta + N(0, noise^2). "logistic": 1 with probability 1 / (1 +
      exp(-phi'theta)), otherwise 0. "poisson": counts with mean exp(phi'theta).
    - `noise`: with "identity", the standard deviation of the noise, 0.5 by default. With the other links it is
      only what learners are told: 0.5 by default for clicks, None for counts, which are not sub-Gaussian.
    - `curve`: adds curve * sin(2 phi'theta) to the means, so that no linear function is the truth; 0 by default.
    - `noise_spread`: the largest noise of an arm divided by the smallest, 1 by default. The others are spaced evenly
      between them on a log scale, and learners are told the largest.
    - `change`: "none" (default): theta stays. "sudden": from `change_round` on, theta is another vector, drawn anew.
      "slow": theta turns towards the other vector and reaches it in that round.
    - `change_round`: the round in which the change happens or ends, 1000 by default.
    - `function_class`: the function class that learners are told; None (default): the one that contains the truth.
    """

    dimension: int = 10
    arm_kind: ArmKind = "new"
    arm_dimension: int = 5
    feature_law: FeatureLaw = "normal"
    diversity: float = 1.0
    signal: float = 1.0
    link: Link = "identity"
    noise: float | None = None
    curve: float = 0.0
    noise_spread: float = 1.0
    change: Change = "none"
    change_round: int = 1000
    function_class: FunctionClass[Any, Any, Any] | None = None

    def __post_init__(self) -> None:
        for name in ("n_arms", "dimension", "arm_dimension"):
            setting_integer(name, getattr(self, name), at_least=1)
        setting_choice("arm_kind", self.arm_kind, get_args(ArmKind))
        setting_choice("feature_law", self.feature_law, get_args(FeatureLaw))
        setting_choice("link", self.link, LINKS)
        if setting_number("diversity", self.diversity, at_least=0.0) > 1:
            raise SettingError(f"diversity is {self.diversity!r}; expected a number of at most 1")
        if setting_number("signal", self.signal, above=0.0) > POISSON_LIMIT and self.link == "poisson":
            raise SettingError(f"signal is {self.signal!r}; expected at most {POISSON_LIMIT:g} with link 'poisson'")
        optional_number("noise", self.noise, at_least=0.0)
        if self.function_class is not None:
            check_function_class(self.function_class, self.n_arms)
        setting_number("curve", self.curve, at_least=0.0, at_most=LARGEST_SCALE)
        setting_number("noise_spread", self.noise_spread, at_least=1.0, at_most=LARGEST_SCALE)
        setting_choice("change", self.change, get_args(Change))
        setting_integer("change_round", self.change_round, at_least=1)
        if self.link != "identity" and (self.curve or self.noise_spread > 1.0 or self.change != "none"):
            raise SettingError(f"link is {self.link!r}; expected 'identity' with curve, noise_spread or change")
        super().__post_init__()

    @property
    def told_noise(self) -> float | None:
        """The sub-Gaussian scale that learners are told."""
        return NOISE if self.noise is None and self.link != "poisson" else self.noise

    def instance(self, seed: int, repeat: int = 0) -> "LinearInstance":
        """Draw theta, the arms' features, the context g_0 and, if it is fixed, the graph."""
        check_repeat(seed, repeat)
        rng = stream(seed, "linear", repeat, "parameters")
        rows, size = (self.n_arms if self.arm_kind == "per-arm" else 1), self.dimension
        arm_features = None
        if self.arm_kind == "fixed":
            arm_features = self.draw_features(rng, (self.n_arms, self.arm_dimension))
            size *= self.arm_dimension
        theta = self._draw_theta(rng, rows, size)
        after, scales = theta, np.ones(self.n_arms)
        if self.change != "none":
            after = self._draw_theta(stream(seed, "linear", repeat, "change"), rows, size)
        if self.noise_spread > 1.0:
            order = stream(seed, "linear", repeat, "loudness").permutation(self.n_arms)
            scales = self.noise_spread ** (-order / max(self.n_arms - 1, 1))
        return LinearInstance(
            environment=self,
            seed=seed,
            repeat=repeat,
            theta=theta if self.arm_kind == "per-arm" else theta[0],
            theta_after=after if self.arm_kind == "per-arm" else after[0],
            noise_scales=scales,
            arm_features=arm_features,
            start=self.draw_features(rng, self.context_shape),
            source=self.source_of_repeat("linear", seed, repeat),
        )

    def _draw_theta(self, rng: np.random.Generator, rows: int, size: int) -> Float[np.ndarray, "rows size"]:
        directions = rng.standard_normal((rows, size))
        theta: Float[np.ndarray, "rows size"] = (
            self.signal * directions / np.sqrt((directions**2).sum(axis=1, keepdims=True))
        )
        return theta

    @property
    def context_shape(self) -> tuple[int, ...]:
        """The shape of one context."""
        return (self.n_arms, self.dimension) if self.arm_kind == "new" else (self.dimension,)

    def draw_features(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Float[np.ndarray, "..."]:
        """Draw feature vectors along the last axis.

        - `rng`: draws them.
        - `shape`: the shape of the array.
        """
        return self.shaped(rng.standard_normal(shape))

    def shaped(self, normals: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        """Normal vectors, scaled to the sphere if features lie on one."""
        if self.feature_law == "normal":
            return normals
        lengths = np.sqrt((normals**2).sum(axis=-1, keepdims=True))
        onto: Float[np.ndarray, ...] = normals * (sqrt(normals.shape[-1]) / lengths)
        return onto


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearInstance(BlockInstance):
    """One repeat. theta has shape (d,), (d m,) or (K, d) for arm_kind="new", "fixed" or "per-arm".

    `theta_after` is what theta changes to, and `noise_scales` are the arms' shares of the largest noise.
    """

    stream_name = "linear"

    environment: LinearEnvironment
    theta: Float[np.ndarray, "..."]
    theta_after: Float[np.ndarray, "..."]
    noise_scales: Float[np.ndarray, " arms"]
    arm_features: Float[np.ndarray, "arms m"] | None
    start: Float[np.ndarray, "..."]
    source: GraphSource

    def problem(self, horizon: int | None) -> Problem:
        """What a learner is told: the form of the means and their scale, but not theta."""
        given = self.environment.function_class
        return Problem(
            n_arms=self.environment.n_arms,
            function_class=self.own_class() if given is None else given,
            horizon=horizon,
            noise=self.environment.told_noise,
        )

    def own_class(self) -> LinearClass | GeneralizedLinearClass:
        """The class that contains the truth: linear, or generalised linear with the environment's link."""
        settings = self.environment
        told: dict[str, Any] = {
            "n_arms": settings.n_arms,
            "dimension": settings.dimension,
            "parameters": "per-arm" if settings.arm_kind == "per-arm" else "shared",
            "arm_features": self.arm_features,
            "norm_bound": settings.signal,
        }
        if settings.link == "identity":
            return LinearClass(**told)
        return GeneralizedLinearClass(**told, link="logistic" if settings.link == "logistic" else "poisson")

    def scores(
        self, contexts: Float[np.ndarray, "n ..."], theta: Float[np.ndarray, "..."] | None = None
    ) -> Float[np.ndarray, "n arms"]:
        """phi(x, a)'theta."""
        weights = self.theta if theta is None else theta
        if self.environment.arm_kind == "new":
            shared: Float[np.ndarray, "n arms"] = np.einsum("nkd,d->nk", contexts, weights)
            return shared
        if self.arm_features is not None:
            matrix = weights.reshape(self.environment.dimension, -1)
            weights = np.einsum("dm,km->kd", matrix, self.arm_features)
        scores: Float[np.ndarray, "n arms"] = np.einsum("nd,kd->nk", contexts, weights)
        return scores

    def means(self, contexts: Float[np.ndarray, "n ..."], first: int = 0) -> Float[np.ndarray, "n arms"]:
        """f*(x, .) of consecutive rounds that start with round `first`."""
        settings = self.environment
        scores = self.scores(contexts)
        if settings.change != "none":
            before, after = self._mixture(first, len(contexts))
            scores = before[:, None] * scores + after[:, None] * self.scores(contexts, self.theta_after)
        if settings.link == "logistic":
            return 0.5 * (1.0 + np.tanh(0.5 * scores))  # the logistic function, in a form that cannot overflow
        if settings.link == "poisson":
            return np.asarray(np.exp(scores))
        if settings.curve > 0.0:
            scores = scores + settings.curve * np.sin(2.0 * scores)
        return scores

    def _mixture(self, first: int, n: int) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """The weights of theta and of `theta_after` in the rounds first .. first + n - 1."""
        share = np.minimum(np.arange(first, first + n) / self.environment.change_round, 1.0)
        if self.environment.change == "sudden":
            changed = (share >= 1.0).astype(np.float64)
            return 1.0 - changed, changed
        return np.cos(0.5 * pi * share), np.sin(0.5 * pi * share)

    def _block(self, number: int) -> Rounds:
        settings = self.environment
        fresh = settings.draw_features(self.draws("contexts", number), (BLOCK, *settings.context_shape))
        w = settings.diversity
        contexts = fresh if w == 1 else settings.shaped(sqrt(1 - w**2) * self.start + w * fresh)
        means = self.means(contexts, number * BLOCK)
        return Rounds(
            contexts=contexts,
            graphs=self.source.draw(self.draws("graphs", number), BLOCK),
            means=means,
            rewards=self._rewards(means, self.draws("noise", number)),
        )

    def _rewards(self, means: Float[np.ndarray, "n arms"], rng: np.random.Generator) -> Float[np.ndarray, "n arms"]:
        if self.environment.link == "logistic":
            return (rng.random(means.shape) < means).astype(np.float64)
        if self.environment.link == "poisson":
            return rng.poisson(means).astype(np.float64)
        scale = NOISE if self.environment.noise is None else self.environment.noise
        return means + scale * self.noise_scales * rng.standard_normal(means.shape)


# The settings have their lines here and in the class, because `help` of either shows only its own.
def linear(
    *,
    n_arms: int = 50,
    graph: GraphSetting = "random",
    fixed_graph: bool = False,
    dimension: int = 10,
    arm_kind: ArmKind = "new",
    arm_dimension: int = 5,
    feature_law: FeatureLaw = "normal",
    diversity: float = 1.0,
    signal: float = 1.0,
    link: Link = "identity",
    noise: float | None = None,
    curve: float = 0.0,
    noise_spread: float = 1.0,
    change: Change = "none",
    change_round: int = 1000,
    function_class: FunctionClass[Any, Any, Any] | None = None,
    **graph_options: Any,
) -> LinearEnvironment:
    """Make a `LinearEnvironment`, whose docstring explains x, phi and theta.

    - `n_arms`: K, 50 by default.
    - `graph`: as in `paper`; "random" by default.
    - `fixed_graph`: whether the graph is drawn once a repeat instead of in each round; False by default.
    - `dimension`: d, 10 by default.
    - `arm_kind`: "new" (default): new features of all arms in each round. "fixed": a context in each round, and
      features of the arms that never change. "per-arm": a theta for each arm.
    - `arm_dimension`: the number of features of an arm with arm_kind="fixed", 5 by default.
    - `feature_law`: "normal" (default): standard normal. "sphere": uniform on a sphere.
    - `diversity`: how much contexts differ between rounds, from 0 (they never change) to 1 (default: always new).
    - `signal`: the length of theta, which is the standard deviation of phi'theta; 1 by default, at most 5 with
      "poisson".
    - `link`: "identity" (default): rewards phi'theta + N(0, noise^2). "logistic": 1 with probability 1 / (1 +
      exp(-phi'theta)), otherwise 0. "poisson": counts with mean exp(phi'theta).
    - `noise`: with "identity", the standard deviation of the noise, 0.5 by default. With the other links it is
      only what learners are told: 0.5 by default for clicks, None for counts, which are not sub-Gaussian.
    - `curve`: adds curve * sin(2 phi'theta) to the means, so that no linear function is the truth; 0 by default.
    - `noise_spread`: the largest noise of an arm divided by the smallest, 1 by default. The others are spaced evenly
      between them on a log scale, and learners are told the largest.
    - `change`: "none" (default): theta stays. "sudden": from `change_round` on, theta is another vector, drawn anew.
      "slow": theta turns towards the other vector and reaches it in that round.
    - `change_round`: the round in which the change happens or ends, 1000 by default.
    - `function_class`: the function class that learners are told; None (default): the one that contains the truth.
    - `**graph_options`: settings of the kind of graph, such as ``density=0.1``; none by default.

    >>> linear(arm_kind="per-arm", graph="clique_group", n_cliques=4).source
    CliqueGroupSource(n_arms=50, n_cliques=4)
    >>> linear(n_arms=3, dimension=2, link="logistic").instance(seed=0).rounds(0, 2).rewards
    array([[0., 0., 1.],
           [0., 0., 0.]])
    """
    return LinearEnvironment(
        n_arms=n_arms,
        dimension=dimension,
        arm_kind=arm_kind,
        arm_dimension=arm_dimension,
        feature_law=feature_law,
        diversity=diversity,
        signal=signal,
        link=link,
        noise=noise,
        curve=curve,
        noise_spread=noise_spread,
        change=change,
        change_round=change_round,
        graph=graph,
        graph_options=graph_options,
        fixed_graph=fixed_graph,
        function_class=function_class,
    )
