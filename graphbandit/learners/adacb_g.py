"""AdaCB.G, the adaptive contextual bandit algorithm with graph feedback (Algorithm 1 of Gong & Zhang)."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from graphbandit.base.array_types import ArmMasks, Contexts, RoundsByArms
from graphbandit.base.checks import setting_boolean, setting_choice, setting_number
from graphbandit.base.program_constants import CoverageName
from graphbandit.base.saved_files import savable
from graphbandit.errors import SettingError
from graphbandit.function_classes.base import Contest, Prospector, Prospects, some_choice
from graphbandit.learners.base import candidates_of, prospector_of, spreads_of
from graphbandit.learners.epochs.base import (
    AnyFunctionClass,
    EndedEpoch,
    EpochLearner,
    RewardSpan,
    check_rates,
    estimator,
    reward_span,
    rounds_that_count,
)
from graphbandit.learners.epochs.noise import conservative_noise, likely_noise, warn_of_estimated_noise
from graphbandit.learners.epochs.schedule import EpochTerms
from graphbandit.learners.problem import Problem
from graphbandit.planning.anytime import Effort
from graphbandit.planning.revealed import check_revealed
from graphbandit.planning.sampled_rounds import SamplingRule, sample_rounds
from graphbandit.planning.sampling_program import DEFAULT_EFFORT
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations
from graphbandit.rounds.shown import Shown
from graphbandit.rounds.words import Words

Baseline = Literal["exploration-set", "inverse-gap"]

Unrevealed = Literal["error", "ignore"]

Coverage = Literal["tight", "paper"]

Radius = Literal["natural", "sharp", "paper"]


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class AdaCBGState(RewardSpan):
    """What AdaCB.G knows in epoch m.

    - `problem`, `rounds`, `epoch`, `data`: as in `EpochState`.
    - `lowest_reward`, `highest_reward`: the span of the rewards seen.
    - `model`: fhat_m, None in epoch 1.
    - `space`, `radius`: F_m, and the radius it was cut with.
    - `noise`: the sigma that was used for the radius; None: none was.
    - `disagreement`: w_m = nu_m + mu_m.
    - `scale`: lambda_m.
    - `difficulty`: sigma^2 times complexity, by which gamma in natural units is divided; 0 while nothing is known of
      them.
    """

    model: Any
    space: Any
    radius: float
    noise: float | None
    disagreement: float
    scale: float
    difficulty: float

    def __post_init__(self) -> None:
        super().__post_init__()
        setting_number("disagreement", self.disagreement, above=0.0)
        setting_number("scale", self.scale, at_least=0.0)
        setting_number("difficulty", self.difficulty, at_least=0.0)


ETA = {"natural": 100_000.0, "paper": 1.0, "width": 1e6}
"""Strength of exploitation by the rule of gamma; docs/exploration.md has the sweeps."""

GROWTH = {"natural": 1.2, "paper": 2.0, "width": 2.0}
"""The factor between the ends of epochs by the rule of gamma."""


class _Epoch(NamedTuple):
    """What the rounds of an epoch have in common."""

    rule: SamplingRule
    functions: AnyFunctionClass
    prospects: Prospector
    """fhat and the candidates"""
    noise: float | None
    """sigma, if doubts count: for that, F_m and sigma must be known"""
    by_widths: bool
    """whether gamma follows the widths of F_m"""
    said: Words | None
    """the words of its decisions; None without an estimate"""


def _of_all_arms(estimate: Callable[[Contexts, ArmMasks | None], RoundsByArms]) -> Prospector:
    """Estimates, and every arm on offer as a candidate."""

    def prospects(contexts: Contexts, available: ArmMasks | None) -> Prospects:
        values = estimate(contexts, available)
        return Prospects(values, np.ones(values.shape, dtype=np.bool_) if available is None else np.array(available))

    return prospects


def settings_of_paper(learner: str, fixed: tuple[str, ...], settings: dict[str, Any]) -> dict[str, Any]:
    """These settings and those that the paper fixes; SettingError if one of the latter is given."""
    for name in fixed:
        if name in settings:
            raise SettingError(
                f"{learner}.paper() got {name}={settings[name]!r}; expected none, as the paper fixes "
                f"{', '.join(fixed[:-1])} and {fixed[-1]}: {learner}({name}=...) is another algorithm"
            )
    return {**dict.fromkeys(fixed, "paper"), **settings}


@savable
@dataclass(frozen=True, kw_only=True)
class AdaCBG(EpochLearner[AdaCBGState]):
    """Adapts to the graph, to the gaps and to how many functions are still plausible; needs no graph parameter.

    Each epoch fits fhat_m to all data and keeps F_m, the functions whose losses are near the smallest. In a round, the
    candidates are the arms that some function of F_m calls best, and the sampling program finds p, the cheapest
    distribution that reveals every candidate a with probability at least 1 / (|S| + gamma c(a)). With tight coverage it
    also takes graphs without all self-loops and `ProbabilisticGraphs` (one HiGHS program a round); no bound is proven
    for these (`docs/weak-graphs.md`, `docs/probabilistic-graphs.md`).

    - `radius`: how F_m is cut. "natural" (default) and "sharp": the class's own radius (2 sigma^2 log(|F| / delta) if
      finite), valid at all times at once. They differ if the problem does not give sigma: "natural" takes a value that
      is likely for noise that is about Gaussian; "sharp" takes at least half the span of the rewards, which is enough
      for any noise within it. "paper": beta_m = 16 (M - m + 1) log(2 |F| K^2 T^2 / delta).
    - `coverage`: what the sampling program demands. "tight" (default): the probability above. "paper": what the
      baseline reveals, as in Algorithm 1.
    - `eta`: strength of exploitation; gamma^2 is in proportion to it. None (default): 100,000 with a "natural" gamma,
      the paper's 1 with "paper", 1e6 with "width" (`docs/exploration.md` has the sweeps).
    - `gamma`: how gaps are weighed. "natural": gamma^2 = min(eta, (2 N / complexity)^2) B n / (sigma^2 complexity),
      with n the rounds so far, N the rewards seen, and sigma and the complexity of the class from the data. So units do
      not matter, and little is exploited while there are few rewards for each parameter. F_m is from all data and
      nested. B takes the place of |S| in the demands: it is |S|, or the number of arms in a greedy cover of the
      candidates if that is smaller. While the data says nothing about sigma, the cover is played uniformly, unless the
      class weighs its functions. "paper" follows Algorithm 1, in units of the rewards. "width" follows the width of F_m
      at each context, with F_m from all data. None (default): "paper" if `radius` and `coverage` are both "paper", else
      "natural"; if only one of them is "paper", you must give a gamma.
    - `baseline`: what the program improves on. "exploration-set" (default), or "inverse-gap": FALCON's distribution,
      the paper's remark.
    - `doubt`: with a "natural" gamma, every candidate a is observed with probability at least doubt P(a), at most 1 /
      B, so that an arm that looks bad after a few rewards is tried again. 0.2 by default; 0: P(a) does not count. P(a)
      is about the probability that a is the best arm: erfc(c(a) / (sqrt(2) s(a))) / sum over candidates, s(a) the
      standard deviation of c(a). Finite classes weigh their functions, as IDS.G does: c(a) is that of the mean of all
      functions, also before there is data, and P(a) is the weight of those whose best arm is a. Inverse gaps then
      demand no more than Thompson sampling would pay for: P(a) or, if that is more, W(j) / c(j) with an arm j that
      reveals a, W(j) = sum over out(j) of P(b) c(b) (up to 512 arms). Doubt is used up to 3,000 candidates.
    - `delta`: probability of failure, 0.1 by default.
    - `radius_factor`: widens either radius, for a class that contains the truth only approximately; 1 by default.
    - `candidate_set`: True by default; False takes all arms as candidates (ablation).
    - `scale_factor`: True by default; False sets lambda_m = 1 (ablation). A "natural" gamma has none.
    - `linear_program`: True by default; False plays the baseline (ablation).
    - `unrevealed`: what to do with an arm that no arm on offer reveals. "error" (default), or "ignore": demand nothing
      for it.
    - `epoch_growth`: factor between the ends of epochs; smaller fits more often. None (default): 1.2 with a "natural"
      gamma, else the paper's 2.
    - `effort`: when the answer to a program of more than 3,000 constrained arms, which is too large to be solved
      exactly, is good enough; at a relative gap of 0.01 by default.
    - `function_class`: the functions that may be the truth; None (default): those of the problem.
    - `floor`: every arm on offer is observed with this probability at least (`Learner`); None (default): no floor.

    The paper's algorithm is ``AdaCBG.paper()``.

    >>> import numpy as np
    >>> from graphbandit import Bandit, FiniteClass, Problem, graphs
    >>> functions = FiniteClass(lambda x: np.stack([x, 1 - x], axis=1), n_functions=2, n_arms=3)
    >>> bandit = Bandit(AdaCBG(), Problem(n_arms=3, function_class=functions, noise=0.5))
    >>> decision = bandit.decide([0.1, 0.5, 0.4], graphs.bandit(3))
    >>> decision.candidates, decision.probabilities  # arm 1 or, by the second function, arm 0; never arm 2
    (array([0, 1]), array([0.5, 0.5, 0. ]))
    """

    radius: Radius = "natural"
    coverage: Coverage = "tight"
    eta: float | None = None
    gamma: Literal["natural", "paper", "width"] | None = None
    baseline: Baseline = "exploration-set"
    doubt: float = 0.2
    delta: float = 0.1
    radius_factor: float = 1.0
    candidate_set: bool = True
    scale_factor: bool = True
    linear_program: bool = True
    unrevealed: Unrevealed = "error"
    epoch_growth: float | None = None  # type: ignore[assignment]  # `growth` is what counts
    effort: Effort = DEFAULT_EFFORT
    function_class: AnyFunctionClass | None = None

    said: ClassVar[Words] = {
        **EpochLearner.said,
        "candidates": "candidates",
        "exploration set": "exploration_set",
        "gamma": "gamma",
    }

    def __post_init__(self) -> None:
        if not isinstance(self.effort, Effort):
            raise SettingError(f"effort is {self.effort!r}; expected an Effort")
        setting_choice("radius", self.radius, get_args(Radius))
        setting_choice("coverage", self.coverage, get_args(Coverage))
        if self.gamma is None and (self.radius == "paper") != (self.coverage == "paper"):
            raise SettingError(
                f"radius is {self.radius!r} and coverage is {self.coverage!r}, so only one of them is the paper's; "
                "expected AdaCBG.paper(), or a gamma beside them: 'paper', 'natural' or 'width'"
            )
        setting_choice("gamma", self.gamma_rule, tuple(ETA))
        setting_choice("unrevealed", self.unrevealed, get_args(Unrevealed))
        setting_choice("baseline", self.baseline, get_args(Baseline))
        check_rates(self.exploitation, self.delta)
        setting_number("doubt", self.doubt, at_least=0.0, at_most=1.0)
        setting_number("radius_factor", self.radius_factor, above=0.0)
        for name in ("candidate_set", "scale_factor", "linear_program"):
            setting_boolean(name, getattr(self, name))
        super().__post_init__()

    @classmethod
    def paper(cls, **settings: Any) -> "AdaCBG":
        """Algorithm 1 as the paper states it: its radius, coverage, gamma and epochs.

        - `settings`: all others, such as `eta`, `delta` or `function_class`; `radius`, `coverage` and `gamma` are
          refused.

        >>> AdaCBG.paper(delta=0.05).exploitation
        1.0
        """
        return cls(**settings_of_paper("AdaCBG", ("radius", "coverage", "gamma"), settings))

    @cached_property
    def gamma_rule(self) -> str:
        """The `gamma` that is used."""
        if self.gamma is not None:
            return self.gamma
        return "paper" if self.radius == self.coverage == "paper" else "natural"

    @cached_property
    def exploitation(self) -> float:
        """The `eta` that is used."""
        return ETA[self.gamma_rule] if self.eta is None else self.eta

    @property
    def growth(self) -> float:
        """The `epoch_growth` that is used."""
        return GROWTH[self.gamma_rule] if self.epoch_growth is None else self.epoch_growth

    @property
    def plans_with_probabilities(self) -> bool:
        """With tight coverage, the only one that says what to demand if an arm may not reveal itself."""
        return self.coverage == "tight" and self.linear_program

    @property
    def needs_loops(self) -> bool:
        """Only for the paper's coverage, or to play the baseline."""
        return not self.plans_with_probabilities

    def init(self, problem: Problem) -> AdaCBGState:
        """F_1 = F, nu_1 = 1, lambda_1 = 1, and no estimate yet."""
        functions = self.functions(problem)
        if self.radius == "sharp" and problem.noise is None:
            warn_of_estimated_noise("AdaCB.G")
        data = self.no_data(problem)
        return AdaCBGState(
            problem=problem,
            rounds=0,
            epoch=1,
            data=data,
            model=self._model(functions, problem, data) if self._weighs(problem) else None,
            space=functions.version_space(data, math.inf),
            radius=math.inf,
            noise=problem.noise,
            lowest_reward=math.inf,
            highest_reward=-math.inf,
            disagreement=1.0 + self._smoothing(problem, 1),
            scale=1.0,
            difficulty=0.0,
        )

    def choose(self, state: AdaCBGState, shown: Shown, rng: np.random.Generator) -> Decisions:
        """Estimates, candidates, exploration set, gamma, baseline, linear program, draw."""
        contexts, graphs, available = shown.contexts, shown.graphs, shown.available
        assert graphs is not None  # rounds without a graph were refused
        if not graphs.has_all_loops and self.unrevealed == "error":
            check_revealed(graphs, available, state.problem.arms)
        epoch: _Epoch = self.of_epoch(state)
        values, candidates, chances, deviations = epoch.prospects(contexts, available)
        functions, widths = epoch.functions, None
        if epoch.by_widths:
            widths = functions.widths(state.space, state.model, contexts, shown.best_offered(values))
            widths = spreads_of(functions, "widths", widths, contexts)
            if available is not None:
                widths = np.where(available, widths, 0.0)
        if chances is None and deviations is None and epoch.noise is not None and some_choice(candidates):
            contest = Contest(shown.best_offered(values), candidates, epoch.noise, state.radius)
            deviations = functions.deviations(state.space, state.model, contexts, contest)
            deviations = spreads_of(functions, "deviations", deviations, contexts)
        return sample_rounds(
            epoch.rule,
            values=values,
            candidates=candidates,
            graphs=graphs,
            uniforms=rng.random(len(contexts)),
            epoch=state.epoch,
            available=available,
            widths=widths,
            deviations=deviations,
            chances=chances,
            words=epoch.said,
        )

    def prepared(self, state: AdaCBGState) -> "_Epoch":
        """The sampling rule, and fhat and F_m, ready for use."""
        natural, functions = self.gamma_rule == "natural", self.functions(state.problem)
        rule = SamplingRule(
            explore="all" if self.baseline == "inverse-gap" else "candidates",
            coverage=self._coverage(state),
            rate=0.0 if state.model is None else self._rate(state),
            effort=self.effort,
            doubt=self.doubt,
            by_cover=natural and self.coverage == "tight" and self.baseline == "exploration-set",
        )
        doubts = natural and state.difficulty != 0.0 and self.doubt != 0.0 and 0.0 < state.radius < math.inf
        noise = None if not doubts or state.noise is None else float(state.noise)
        noise = noise if noise is not None and 0.0 < noise < math.inf else None
        if self.candidate_set:
            prospects = prospector_of(functions, state.model, state.space, noise)
        else:
            prospects = _of_all_arms(estimator(functions, state.model))
        learnt = state.model is not None
        by_widths, said = learnt and self.gamma_rule == "width", self.said if learnt else None
        return _Epoch(rule, functions, prospects, noise, by_widths, said)

    def _coverage(self, state: AdaCBGState) -> CoverageName:
        """What the program demands in this epoch."""
        if not self.linear_program:
            return "none"
        if (
            self.gamma_rule == "natural"
            and self.baseline == "exploration-set"
            and state.difficulty == 0.0
            and not self._weighs(state.problem)
        ):
            return "cover"
        return "none" if state.model is None else self.coverage

    def split(self, state: AdaCBGState) -> int:
        """The paper's t_m: data up to there makes F_{m+1}, the rest of the epoch measures it. Otherwise no split."""
        return self.epochs(state.problem).split(state.epoch) if self.gamma_rule == "paper" else state.rounds

    def learnt(self, state: AdaCBGState, ended: EndedEpoch) -> AdaCBGState:
        """fhat_{m+1} and F_{m+1} from all data; the paper's F_{m+1} up to t_m, and lambda_{m+1} from the rest.

        F_{m+1} is within F_m if the class can tell, unless the world changes or the radius is the paper's.
        """
        problem, m = state.problem, state.epoch
        functions = self.functions(problem)
        rule = self.gamma_rule
        basis = ended.to_split if rule == "paper" else ended.data
        terms = EpochTerms.of(self.epochs(problem), problem.horizon, m + 1, self.delta)
        low, high = reward_span(state, ended.observations)
        if self.radius == "natural":
            rounds = max(state.rounds + ended.length, 1)
            weight = functions.n_observed(basis) * rounds_that_count(problem, rounds) / rounds
            noise = likely_noise(problem.noise, functions, basis, count=weight, epoch=m + 1, delta=self.delta)
        else:
            span = max(high - low, 0.0)
            noise = conservative_noise(problem.noise, functions, basis, span=span, epoch=m + 1, delta=self.delta)
        radius = self._radius(functions, terms, basis, noise)
        space = functions.version_space(basis, radius)
        if self.radius != "paper" and problem.half_life is None:
            space = functions.nested(state.space, space)
        disagreement, scale, difficulty = 1.0, 1.0, 0.0
        if rule == "natural":
            difficulty = self._difficulty(functions, problem, ended.data, max(state.rounds + ended.length, 1))
        else:
            disagreement = self._disagreement(functions, space, ended.from_split) + self._smoothing(problem, m + 1)
            scale = disagreement / math.sqrt(state.disagreement) if self.scale_factor else 1.0
        return AdaCBGState(
            problem=problem,
            rounds=state.rounds + ended.length,
            epoch=m + 1,
            data=ended.data,
            model=self._model(functions, problem, ended.data),
            space=space,
            radius=radius,
            noise=noise,
            lowest_reward=low,
            highest_reward=high,
            disagreement=disagreement,
            scale=scale,
            difficulty=difficulty,
        )

    def _model(self, functions: AnyFunctionClass, problem: Problem, data: Any) -> Any:
        """With a natural gamma, the mean of the plausible functions if the class has weights for them; else fhat."""
        return functions.posterior(data, problem.noise) if self._weighs(problem) else functions.fit(data)

    def _weighs(self, problem: Problem) -> bool:
        """Whether this class has weights, and they count."""
        return (
            self.gamma_rule == "natural" and self.doubt > 0.0 and self.candidate_set and self.functions(problem).weighs
        )

    def _difficulty(self, functions: AnyFunctionClass, problem: Problem, data: Any, rounds: int) -> float:
        """sigma^2 (complexity + log(1 / delta)) max(1, eta (complexity / 2 N)^2), N the rewards seen in these rounds.

        0 while the rewards do not show how noisy they are.
        """
        noise, complexity = functions.natural_scale(data)
        if problem.noise:
            noise = problem.noise
        seen = functions.n_observed(data) * rounds_that_count(problem, rounds) / rounds
        untrusted = max(1.0, self.exploitation / (2.0 * seen / max(complexity, 1.0)) ** 2) if seen else 1.0
        return noise * noise * (complexity - math.log(self.delta)) * untrusted

    def refit(self, state: AdaCBGState, observations: Observations) -> AdaCBGState:
        """fhat and F_m from all data so far; lambda_m stays, as it is measured over whole epochs."""
        after = super().refit(state, observations)
        return replace(after, disagreement=state.disagreement, scale=state.scale)

    def grown(self, state: AdaCBGState, problem: Problem) -> AdaCBGState:
        """fhat and F_m for all arms; lambda_m stays."""
        after = super().grown(state, problem)
        return replace(after, disagreement=state.disagreement, scale=state.scale)

    def _rate(self, state: AdaCBGState) -> float:
        """gamma_t / sqrt(B_t): sqrt(eta n / difficulty), n the rounds so far.

        The paper's is lambda_m sqrt(eta (tau_{m-1} - tau_{m-2}) / (2 log(2 K |F| T^2 / delta))); its remark's baseline
        has tau_{m-1} in place of the epoch's length, and no lambda.
        """
        m, problem = state.epoch, state.problem
        if self.gamma_rule == "natural":
            if state.difficulty == 0.0:
                return 0.0
            return math.sqrt(self.exploitation * rounds_that_count(problem, state.rounds) / state.difficulty)
        if self.gamma_rule == "width":
            return math.sqrt(self.exploitation)
        functions, schedule = self.functions(problem), self.epochs(problem)
        terms = EpochTerms.of(schedule, problem.horizon, m, self.delta)
        worst = 2.0 * terms.log_term(problem.n_arms, functions.log_size)
        before, earlier = schedule.tau(m - 1), schedule.tau(m - 2)
        if self.baseline == "inverse-gap":
            return math.sqrt(self.exploitation * before / worst)
        return state.scale * math.sqrt(self.exploitation * (before - earlier) / worst)

    def _smoothing(self, problem: Problem, m: int) -> float:
        """mu_m = 64 log(4 M / delta) / (tau_m - tau_{m-1})."""
        schedule = self.epochs(problem)
        terms = EpochTerms.of(schedule, problem.horizon, m, self.delta)
        return 64.0 * math.log(4.0 * terms.M / terms.delta) / (schedule.tau(m) - schedule.tau(m - 1))

    def _radius(self, functions: AnyFunctionClass, terms: EpochTerms, data: Any, noise: float) -> float:
        """beta_m, or the class's sharp radius, which holds at all times at once and so takes the whole delta."""
        if self.radius == "paper":
            logarithm = terms.log_term(functions.n_arms, functions.log_size) + math.log(functions.n_arms)
            return self.radius_factor * 16.0 * (terms.M - terms.epoch + 1) * logarithm
        return self.radius_factor * functions.sharp_radius(data, noise, self.delta) if noise < math.inf else math.inf

    def _disagreement(self, functions: AnyFunctionClass, space: Any, rounds: Observations) -> float:
        """nu_m: the share of these contexts at which more than one arm is a candidate."""
        if not len(rounds):
            return 1.0
        if self.candidate_set:
            candidates = candidates_of(functions, space, rounds.contexts, rounds.available)
        elif rounds.available is None:
            candidates = np.ones((len(rounds), functions.n_arms), dtype=np.bool_)
        else:
            candidates = rounds.available
        return float((candidates.sum(axis=1) > 1).mean())
