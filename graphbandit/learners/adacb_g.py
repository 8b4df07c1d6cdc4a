"""AdaCB.G, the adaptive contextual bandit algorithm with graph feedback (Algorithm 1 of Gong & Zhang)."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from graphbandit.base.checks import setting_boolean, setting_choice, setting_number
from graphbandit.base.saved_files import savable
from graphbandit.base.shapes import Bool, Shaped
from graphbandit.errors import InputError, SettingError
from graphbandit.function_classes.base import FunctionClass
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.probabilistic import ProbabilisticGraphs
from graphbandit.learners.base import Learner, candidates_of, check_batch, function_class_of, predicted
from graphbandit.learners.epochs.noise import conservative_noise, warn_of_estimated_noise
from graphbandit.learners.epochs.schedule import (
    EpochSchedule,
    EpochTerms,
    add_epoch,
    check_clock,
    check_rates,
    postponed,
    rounds_left,
)
from graphbandit.learners.problem import Problem
from graphbandit.planning.anytime import Effort
from graphbandit.planning.probabilistic import sample_uncertain_rounds
from graphbandit.planning.sampling import SamplingRule, sample_rounds
from graphbandit.planning.sampling_program import DEFAULT_EFFORT
from graphbandit.planning.weak import check_revealed, sample_weak_rounds
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations


@savable
@dataclass(frozen=True, kw_only=True, eq=False)
class AdaCBGState:
    """What AdaCB.G knows in epoch m.

    `model` is fhat_m (None in epoch 1), `space` F_m, `radius` the radius it was cut with, `noise` the sigma that was
    used for it, `lowest_reward` and `highest_reward` the span of what was seen, `disagreement` w_m = nu_m + mu_m and
    `scale` lambda_m.
    """

    problem: Problem
    rounds: int
    epoch: int
    data: Any
    model: Any
    space: Any
    radius: float
    noise: float | None
    lowest_reward: float
    highest_reward: float
    disagreement: float
    scale: float

    def __post_init__(self) -> None:
        check_clock(self.problem, self.rounds, self.epoch)
        setting_number("disagreement", self.disagreement, above=0.0)
        setting_number("scale", self.scale, at_least=0.0)


@savable
@dataclass(frozen=True, kw_only=True)
class AdaCBG(Learner[AdaCBGState]):
    """Adapts to the graph, to the gaps and to how many functions are still plausible; needs no graph parameter.

    `radius`: "paper" takes beta_m = 16 (M - m + 1) log(2 |F| K^2 T^2 / delta), "sharp" the class's own radius
    (2 sigma^2 log(|F| / delta) if finite), valid at all times at once; `radius_factor` widens either, for a class
    that holds the truth only nearly. `coverage`: what the sampling program asks for, see `sampling_lp`. `gamma`:
    "paper" follows Algorithm 1, "width" the width of F_m at each context, with F_m from all data. `baseline`:
    "exploration-set", or "inverse-gap" for the paper's remark, FALCON's distribution. `eta` is the strength
    of exploitation: gamma^2 is in proportion to it, and 1 is the paper's. The default explores far less, as the
    logarithms in gamma are those of the worst case; docs/exploration.md has the sweep that it comes from. `delta`
    is the probability of failure, `epoch_growth` the factor between epochs.
    Graphs without all self-loops are taken with tight coverage, without any bound (`docs/weak-graphs.md`); an arm that
    nobody reveals is an error, or with `unrevealed="ignore"` never learnt about. So are `ProbabilisticGraphs`
    (`docs/probabilistic-graphs.md`), at one HiGHS program a round.
    `effort` says when a program of more than 3,000 constrained arms, too large to be solved exactly, is good enough.
    Ablations: `candidate_set=False` takes all arms as candidates, `scale_factor=False` sets lambda_m = 1,
    `linear_program=False` plays the baseline. The defaults are the project's; the paper's algorithm is
    ``AdaCBG(radius="paper", coverage="paper", eta=1.0)``.

    >>> import numpy as np
    >>> from graphbandit import Bandit, FiniteClass, Problem, graphs
    >>> functions = FiniteClass(lambda x: np.stack([x, 1 - x], axis=1), n_functions=2, n_arms=3)
    >>> bandit = Bandit(AdaCBG(), Problem(n_arms=3, function_class=functions, noise=0.5))
    >>> decision = bandit.decide([0.1, 0.5, 0.4], graphs.bandit(3))
    >>> decision.candidates, decision.probabilities  # arm 1 or, by the second function, arm 0; never arm 2
    (array([0, 1]), array([0.5, 0.5, 0. ]))
    """

    radius: Literal["sharp", "paper"] = "sharp"
    coverage: Literal["tight", "paper"] = "tight"
    gamma: Literal["paper", "width"] = "paper"
    baseline: Literal["exploration-set", "inverse-gap"] = "exploration-set"
    eta: float = 1e6
    delta: float = 0.1
    radius_factor: float = 1.0
    candidate_set: bool = True
    scale_factor: bool = True
    linear_program: bool = True
    unrevealed: Literal["error", "ignore"] = "error"
    epoch_growth: float = 2.0
    effort: Effort = DEFAULT_EFFORT
    function_class: FunctionClass[Any, Any, Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.effort, Effort):
            raise SettingError(f"effort is {self.effort!r}; expected an Effort")
        setting_choice("radius", self.radius, ("sharp", "paper"))
        setting_choice("coverage", self.coverage, ("tight", "paper"))
        setting_choice("gamma", self.gamma, ("paper", "width"))
        setting_choice("unrevealed", self.unrevealed, ("error", "ignore"))
        setting_choice("baseline", self.baseline, ("exploration-set", "inverse-gap"))
        check_rates(self.eta, self.delta)
        setting_number("radius_factor", self.radius_factor, above=0.0)
        for name in ("candidate_set", "scale_factor", "linear_program"):
            setting_boolean(name, getattr(self, name))
        EpochSchedule(growth=self.epoch_growth)

    @property
    def plans_with_odds(self) -> bool:
        """With tight coverage, the only one that says what to ask for where an arm may not reveal itself."""
        return self.coverage == "tight" and self.linear_program

    def init(self, problem: Problem) -> AdaCBGState:
        """F_1 = F, nu_1 = 1, lambda_1 = 1, and no estimate yet."""
        functions = function_class_of(self.function_class, problem)
        if self.radius == "sharp" and problem.noise is None:
            warn_of_estimated_noise("AdaCB.G")
        data = functions.empty()
        return AdaCBGState(
            problem=problem,
            rounds=0,
            epoch=1,
            data=data,
            model=None,
            space=functions.version_space(data, math.inf),
            radius=math.inf,
            noise=problem.noise,
            lowest_reward=math.inf,
            highest_reward=-math.inf,
            disagreement=1.0 + self._smoothing(problem, 1),
            scale=1.0,
        )

    def rounds_until_update(self, state: AdaCBGState) -> int:
        """Rounds until the epoch, or the horizon, ends."""
        return rounds_left(self._schedule, state.problem, state.rounds, state.epoch)

    def decide(
        self,
        state: AdaCBGState,
        contexts: Shaped[np.ndarray, "n ..."],
        graphs: FeedbackGraphs | ProbabilisticGraphs,
        rng: np.random.Generator,
        *,
        available: Bool[np.ndarray, "n arms"] | None = None,
    ) -> Decisions:
        """Estimates, candidates, exploration set, gamma, baseline, linear program, draw."""
        problem = state.problem
        functions = function_class_of(self.function_class, problem)
        left = self.rounds_until_update(state)
        any_graph = self.plans_with_odds
        available = check_batch(problem.n_arms, left, contexts, graphs, available, loops=not any_graph, odds=any_graph)
        if not graphs.has_all_loops and self.unrevealed == "error":
            check_revealed(graphs, available)
        functions.check_contexts(contexts)
        learnt = state.model is not None
        values = predicted(functions, state.model, contexts) if learnt else np.zeros((len(contexts), problem.n_arms))
        if not learnt and not self.candidate_set:
            # contexts the class cannot evaluate are refused now: at the update it would be too late
            candidates_of(functions, state.space, contexts, available)
        widths = None
        if learnt and self.gamma == "width":
            best = np.argmax(values if available is None else np.where(available, values, -np.inf), axis=1)
            widths = functions.widths(state.space, state.model, contexts, best)
            if widths.shape != values.shape:
                raise InputError(f"the function class gave widths of shape {widths.shape}; expected {values.shape}")
            if available is not None:
                widths = np.where(available, widths, 0.0)
        rule = SamplingRule(
            explore_all=self.baseline == "inverse-gap",
            coverage=self.coverage if self.linear_program and learnt else "none",
            rate=self._rate(state) if learnt else 0.0,
            effort=self.effort,
        )
        candidates = self._candidates(functions, state.space, contexts, available)
        told: dict[str, Any] = {
            "values": values,
            "candidates": candidates,
            "uniforms": rng.random(len(contexts)),
            "epoch": state.epoch,
            "available": available,
            "widths": widths,
        }
        if isinstance(graphs, ProbabilisticGraphs):
            return sample_uncertain_rounds(rule, graphs=graphs, **told)
        sample = sample_rounds if graphs.has_all_loops else sample_weak_rounds
        return sample(rule, graphs=graphs, **told)

    def update(self, state: AdaCBGState, observations: Observations) -> AdaCBGState:
        """End epoch m: fhat_{m+1} from all data, F_{m+1} from the data up to t_m, lambda_{m+1} from the rest."""
        problem, m = state.problem, state.epoch
        functions = function_class_of(self.function_class, problem)
        expected = self.rounds_until_update(state)
        to_split, data, second_half = add_epoch(
            functions,
            state.data,
            observations,
            rounds=state.rounds,
            expected=expected,
            split=self._schedule.split(m),
        )
        basis = data if self.gamma == "width" else to_split
        terms = EpochTerms.of(self._schedule, problem.horizon, m + 1, self.delta)
        low = float(observations.rewards.min(initial=state.lowest_reward))
        high = float(observations.rewards.max(initial=state.highest_reward))
        noise = conservative_noise(
            problem.noise, functions, basis, span=max(high - low, 0.0), epoch=m + 1, delta=self.delta
        )
        radius = self._radius(functions, terms, basis, noise)
        space = functions.version_space(basis, radius)
        disagreement = self._disagreement(functions, space, second_half) + self._smoothing(problem, m + 1)
        scale = disagreement / math.sqrt(state.disagreement) if self.scale_factor else 1.0
        return AdaCBGState(
            problem=problem,
            rounds=state.rounds + expected,
            epoch=m + 1,
            data=data,
            model=functions.fit(data),
            space=space,
            radius=radius,
            noise=noise,
            lowest_reward=low,
            highest_reward=high,
            disagreement=disagreement,
            scale=scale,
        )

    def postpone(self, state: AdaCBGState, observations: Observations) -> AdaCBGState:
        """All observations; fhat_m, F_m and lambda_m serve epoch m + 1 as well, at its rate of exploitation."""
        functions = function_class_of(self.function_class, state.problem)
        after: AdaCBGState = postponed(functions, state, observations, expected=self.rounds_until_update(state))
        return replace(
            after,
            lowest_reward=float(observations.rewards.min(initial=state.lowest_reward)),
            highest_reward=float(observations.rewards.max(initial=state.highest_reward)),
        )

    @cached_property
    def _schedule(self) -> EpochSchedule:
        return EpochSchedule(growth=self.epoch_growth)

    def _rate(self, state: AdaCBGState) -> float:
        """gamma_t / sqrt(|S_t|) = lambda_m sqrt(eta (tau_{m-1} - tau_{m-2}) / (2 log(2 K |F| T^2 / delta))).

        The remark's baseline has tau_{m-1} in place of the epoch's length, and no lambda.
        """
        if self.gamma == "width":
            return math.sqrt(self.eta)
        m, problem = state.epoch, state.problem
        functions = function_class_of(self.function_class, problem)
        terms = EpochTerms.of(self._schedule, problem.horizon, m, self.delta)
        worst = 2.0 * terms.log_term(problem.n_arms, functions.log_size)
        before, earlier = self._schedule.tau(m - 1), self._schedule.tau(m - 2)
        if self.baseline == "inverse-gap":
            return math.sqrt(self.eta * before / worst)
        return state.scale * math.sqrt(self.eta * (before - earlier) / worst)

    def _smoothing(self, problem: Problem, m: int) -> float:
        """mu_m = 64 log(4 M / delta) / (tau_m - tau_{m-1})."""
        terms = EpochTerms.of(self._schedule, problem.horizon, m, self.delta)
        return 64.0 * math.log(4.0 * terms.M / terms.delta) / (self._schedule.tau(m) - self._schedule.tau(m - 1))

    def _radius(self, functions: FunctionClass[Any, Any, Any], terms: EpochTerms, data: Any, noise: float) -> float:
        """beta_m, or the class's sharp radius, which holds at all times at once and so takes the whole delta."""
        if self.radius == "paper":
            logarithm = terms.log_term(functions.n_arms, functions.log_size) + math.log(functions.n_arms)
            return self.radius_factor * 16.0 * (terms.M - terms.epoch + 1) * logarithm
        return self.radius_factor * functions.sharp_radius(data, noise, self.delta) if noise < math.inf else math.inf

    def _candidates(
        self,
        functions: FunctionClass[Any, Any, Any],
        space: Any,
        contexts: Shaped[np.ndarray, "n ..."],
        available: Bool[np.ndarray, "n arms"] | None,
    ) -> Bool[np.ndarray, "n arms"]:
        if self.candidate_set:
            return candidates_of(functions, space, contexts, available)
        everything = np.ones((len(contexts), functions.n_arms), dtype=np.bool_)
        return everything if available is None else np.array(available)

    def _disagreement(self, functions: FunctionClass[Any, Any, Any], space: Any, rounds: Observations) -> float:
        """nu_m: the share of these contexts at which more than one arm is a candidate."""
        if not len(rounds):
            return 1.0
        candidates = self._candidates(functions, space, rounds.contexts, rounds.available)
        return float((candidates.sum(axis=1) > 1).mean())
