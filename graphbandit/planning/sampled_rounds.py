"""From estimates and candidates to decisions, for a whole batch: gaps, S, gamma, baseline, sampling program, draw.

The plan of a round depends on its kind of graph. All three kinds share the rule, the program and its certificate.

**Known graphs with all self-loops**, as in the paper: one compiled pass. It leaves programs that it cannot certify to
Python.

**Weakly observable graphs**, in which some arm does not reveal itself, an open question of the paper. The program has
the tight demands, with s = 1 if that has a solution, and otherwise the largest s with which it has one; decisions
report s as `coverage_factor`. No bound is claimed. `docs/weak-graphs.md` says why best has a row of its own.

    q(a) >= s / (|S| + gamma c(a))         for every candidate a != best that an available arm reveals
    q(best) >= s / (|S| + gamma c(j))      if best does not reveal itself; j the cheapest arm that does

**Probabilistic graphs**, of which only the edge probabilities are known. With q(a) = sum_j p(j) P[j, a] the tight
demands stay the same. An arm is left out of S once those taken before reveal it with probabilities that sum to 1. Each
of them has a gap no larger than the arm's own, so with self-loops of probability 1 the baseline meets

    q(a) >= sum over j in S of P[j, a] / (|S| + gamma c(j))  >=  1 / (|S| + gamma c(a))          for every candidate a

and the program always has a solution. Otherwise it is scaled like that of a weakly observable graph, and the demand of
best is max over j of P[j, best] / (|S| + gamma c(j)). No bound is claimed. A round whose probabilities are all 0 or 1
is decided as its graph is, bit for bit.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphbandit.base.array_types import ArmMask, ArmMasks, ArmsByArms, PerArm, PerRound, RoundsByArms
from graphbandit.base.checks import INTEGER, everyone_always, kernel_mask
from graphbandit.base.direct_calls import DirectCall, kernels_of
from graphbandit.base.program_constants import (
    COVER_ARMS,
    COVERAGES,
    EXPLORES,
    ROW_LIMIT,
    SOLVERS,
    CoverageName,
    ExploreName,
)
from graphbandit.base.shapes import Int
from graphbandit.base.trusted import tuple_of
from graphbandit.graphs.batch import FeedbackGraphs
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.graphs.kernel_forms import WHOLE, kernel_batches, kernel_graph, packed_batch
from graphbandit.graphs.probabilistic import ProbabilisticGraphs
from graphbandit.planning.anytime import Effort
from graphbandit.planning.certified_program import Program, SamplingSolution
from graphbandit.planning.cover import cover_of
from graphbandit.planning.demands import Limits, ceilings_of, chances_of, demand_of_candidates
from graphbandit.planning.revealed import revealed_by_some
from graphbandit.planning.sampling_program import (
    DEFAULT_EFFORT,
    compiled_solvers,
    kept_room,
    solve,
    solve_scaled,
)
from graphbandit.rounds.decisions import Columns, Decisions, decisions_of_kernel
from graphbandit.rounds.drawn_arms import uniform_over
from graphbandit.rounds.words import Words

if TYPE_CHECKING:
    from graphbandit.kernels.planning.one_pass import Outcome, Rounds, Rule
    from graphbandit.kernels.planning.program import Room, Solvers


@dataclass(frozen=True, kw_only=True)
class SamplingRule:
    """How probabilities follow from gaps, candidates and graph.

    - `explore`: what S is, one of `EXPLORES`.
    - `coverage`: the demands of the sampling program, or "none" to play the baseline, or "cover" to play uniformly
      on few arms that reveal all candidates, whatever their gaps.
    - `rate`: gamma = rate sqrt(|S|), or, with widths, gamma = rate times the gamma of the smallest bound.
    - `flat`: gamma = rate, whatever |S| is; False by default.
    - `effort`: for programs too large to be solved exactly.
    - `doubt`: each candidate's demand is at least this share of the probability that it is the best arm, if that
      probability is known (`planning.demands.chances_of`); then demands by inverse gaps are also limited by
      `planning.demands.ceilings_of`. 0 by default.
    - `by_cover`: in demands and gamma, use the size of a cover (`planning.cover`) instead of |S| if it is smaller: then
      arms are asked for as often as playing the cover can reveal them, not only as often as playing S can. Up to
      `COVER_ARMS` arms.
    """

    explore: ExploreName
    coverage: CoverageName
    rate: float
    flat: bool = False
    effort: Effort = DEFAULT_EFFORT
    by_cover: bool = False
    doubt: float = 0.0

    def __getstate__(self) -> dict[str, Any]:
        # an address is valid in this process only
        return {name: value for name, value in self.__dict__.items() if name not in ("in_kernels", "solvers")}

    @cached_property
    def in_kernels(self) -> "Rule":
        """The rule as kernels take it; cached, because every round asks for it."""
        rule: Rule = kernels_of("planning.one_pass").Rule(
            EXPLORES.index(self.explore),
            COVERAGES.index(self.coverage),
            float(self.rate),
            self.flat,
            float(self.doubt),
            kernels_of("planning.exploration").exploration_set_pointer() if self.explore == "candidates" else 0,
            kernels_of("graphs.domination").size_with_cover_pointer() if self.by_cover else 0,
            kernels_of("planning.demands").demand_pointer() if self.coverage != "none" else 0,
        )
        return rule

    @cached_property
    def solvers(self) -> "Solvers":
        """The addresses of the compiled solvers, or a placeholder if there are no programs to solve."""
        if self.coverage != "none":
            return compiled_solvers(ROW_LIMIT)
        none: Solvers = kernels_of("planning.program").Solvers(0, 0, 0)
        return none

    @cached_property
    def without_program(self) -> "SamplingRule":
        """The same rule without the program: the baseline is played."""
        return replace(self, coverage="none")


UNIFORM = SamplingRule(explore="all", coverage="none", rate=0.0)
"""All arms on offer, each as often as the others."""


class PlannedRounds(NamedTuple):
    """The rounds of a batch, and the arrays that receive what is decided for them."""

    rounds: "Rounds"
    outcome: "Outcome"

    def mask(self, t: int) -> ArmMask:
        """The arms on offer in round t."""
        masks = self.rounds.available
        mask: ArmMask = masks[t if len(masks) > 1 else 0]
        return mask

    def candidates(self, t: int) -> ArmMask:
        """The candidates of round t."""
        masks = self.rounds.candidates
        mask: ArmMask = masks[t if len(masks) > 1 else 0]
        return mask

    def part(self, chosen: Int[np.ndarray, " rounds"] | slice) -> "PlannedRounds":
        """Some of the rounds; with a slice, what is decided for them is written into the arrays of the whole."""
        kernels, masks = kernels_of("planning.one_pass"), self.rounds.available
        rounds = (array if array is masks and len(masks) == 1 else array[chosen] for array in self.rounds)
        return PlannedRounds(kernels.Rounds(*rounds), kernels.Outcome(*(array[chosen] for array in self.outcome)))

    def limits(self, rule: SamplingRule, t: int, graph: FeedbackGraph | ArmsByArms) -> Limits | None:
        """The limits of the demands of round t; None if nothing is known about which arm is best."""
        rounds, gaps = self.rounds, self.outcome.gaps[t]
        deviations = rounds.deviations[t]
        found = chances_of(self.candidates(t), gaps, deviations, rounds.chances[t])
        if not found.any():
            return None
        ceilings = ceilings_of(graph, self.mask(t), gaps, found)
        if len(deviations):
            ceilings[deviations <= 0.0] = 1.0  # refits may agree on an arm because none has seen it
        return Limits(rule.doubt * found, ceilings)

    def enter(self, t: int, answer: SamplingSolution, solver: str) -> None:
        """Write the answer of the program of round t, and draw its arm."""
        self.play(t, answer.probabilities, answer.observation_probabilities, solver, answer.duality_gap)
        self.outcome.numbers[t, 2] = answer.objective

    def play(self, t: int, probabilities: PerArm, observed: PerArm, solver: str, duality_gap: float) -> None:
        """Write p and q of round t, and draw its arm."""
        from graphbandit.kernels.planning.single_steps import draw_arm

        outcome = self.outcome
        outcome.probabilities[t], outcome.observed[t] = probabilities, observed
        action = int(draw_arm(outcome.probabilities[t], float(self.rounds.uniforms[t])))
        outcome.integers[t, 0], outcome.integers[t, 2] = action, SOLVERS.index(solver)
        outcome.numbers[t, 0] = probabilities[action]
        outcome.numbers[t, 2] = (probabilities * outcome.gaps[t]).sum()
        outcome.numbers[t, 3] = duality_gap


def sample_rounds(
    rule: SamplingRule,
    *,
    values: RoundsByArms,
    candidates: ArmMasks | None,
    graphs: FeedbackGraphs | ProbabilisticGraphs,
    uniforms: PerRound,
    epoch: int,
    available: ArmMasks | None = None,
    widths: RoundsByArms | None = None,
    deviations: RoundsByArms | None = None,
    chances: RoundsByArms | None = None,
    words: Words | None = None,
) -> Decisions:
    """Decide every round of a batch by its own graph (steps 1 to 7). One uniform number a round draws its arm.

    Arrays are as kernels take them (`as_in_kernels`), but for `available`. Without `candidates`, which rules that
    explore them need, they are the arms that are explored. `words` are what the learner says of these decisions, if it
    knows that already.
    """
    kernels, (n, n_arms) = kernels_of("planning.one_pass"), values.shape
    masks = everyone_always(n_arms) if available is None else kernel_mask(available, n, n_arms)
    none = _NO_COLUMNS if n == 1 else np.empty((n, 0))
    given_rounds = (
        values,
        masks if candidates is None else candidates,
        masks,
        none if widths is None else widths,
        none if deviations is None else deviations,
        none if chances is None else chances,
        uniforms,
    )
    # made here, not in functions of their own: in a single round their calls would take a tenth of the time
    tables, integers, numbers = np.empty((n, 5, n_arms)), np.empty((n, 3), INTEGER), np.empty((n, 5))
    rounds: Rounds = tuple_of(kernels.Rounds, given_rounds)
    outcome: Outcome = tuple_of(kernels.Outcome, (tables, integers, numbers))
    sure = graphs if isinstance(graphs, FeedbackGraphs) and graphs.has_all_loops and rule.coverage != "cover" else None
    packed = None if sure is None else packed_batch(sure)
    if sure is None or packed is None:
        _plan_by_kind(rule, PlannedRounds(rounds, outcome), graphs)
    else:  # by far the most common
        room = _no_room() if rule.coverage == "none" else kept_room(n_arms, ROW_LIMIT)
        if _decide_rounds.call(packed, rounds, rule.in_kernels, rule.solvers, room, outcome):
            _solve_open(rule, PlannedRounds(rounds, outcome), sure)
    known: dict[str, Any] = {"of_epoch": epoch}
    if candidates is not None:
        known["candidates"] = candidates
    if words is not None:
        known["words"] = words
    return decisions_of_kernel(integers[:, 0], numbers[:, 0], tables[:, 1], outcome, _FIELDS, known)


_FIELDS: Columns = {
    "probabilities": lambda outcome: np.ascontiguousarray(outcome.probabilities),
    "best": lambda outcome: outcome.integers[:, 1],
    "gaps": lambda outcome: np.ascontiguousarray(outcome.gaps),
    "baseline": lambda outcome: np.ascontiguousarray(outcome.baseline),
    "exploration_set": lambda outcome: outcome.explored != 0.0,
    "candidates": lambda outcome: outcome.explored != 0.0,
    "gamma": lambda outcome: outcome.numbers[:, 1],
    "objective": lambda outcome: outcome.numbers[:, 2],
    "duality_gap": lambda outcome: outcome.numbers[:, 3],
    "solver": lambda outcome: outcome.integers[:, 2],
    "coverage_factor": lambda outcome: outcome.numbers[:, 4],
}
"""How the fields of decisions are read from the arrays that the kernel has filled."""

_NO_COLUMNS = np.empty((1, 0))

Strategy = Callable[[SamplingRule, PlannedRounds, Any], None]


@cache
def _no_room() -> "Room":
    """A placeholder for rounds without a program."""
    room: Room = kernels_of("planning.program").room(1, ROW_LIMIT)
    return room


_decide_rounds = DirectCall("planning.one_pass", "decide_rounds")


def _plan_by_kind(rule: SamplingRule, plan: PlannedRounds, graphs: FeedbackGraphs | ProbabilisticGraphs) -> None:
    """Plan the rounds of each kind of graph in its own way."""
    for chosen, strategy, part in _parts(rule, graphs):
        found = plan.part(chosen)
        strategy(rule, found, part)
        if chosen is not WHOLE:  # all of them are in the arrays of the whole already
            for whole, array in zip(plan.outcome, found.outcome, strict=True):
                whole[chosen] = array


_Part = tuple[Int[np.ndarray, " rounds"] | slice, Strategy, FeedbackGraphs | ProbabilisticGraphs]


def _parts(rule: SamplingRule, graphs: FeedbackGraphs | ProbabilisticGraphs) -> list[_Part]:
    """The rounds of each kind of graph: (their numbers, the function that plans them, their graphs)."""
    if isinstance(graphs, FeedbackGraphs):
        return _parts_of_sure(rule, graphs)
    used, index = np.unique(graphs.index, return_inverse=True)
    matrices = graphs.stored[used]
    is_sure = ((matrices == 0.0) | (matrices == 1.0)).all(axis=(1, 2))
    sure = is_sure[index]
    parts: list[_Part] = []
    if not sure.all() or not len(sure):
        parts.append((np.flatnonzero(~sure), _plan_probabilistic, graphs if not sure.any() else graphs[~sure]))
    if sure.any():
        edges = FeedbackGraphs.from_dense(matrices[is_sure] == 1.0, require_loops=False)
        numbers = np.flatnonzero(sure)
        of_sure = _parts_of_sure(rule, edges[(np.cumsum(is_sure) - 1)[index[sure]]])
        parts += [(numbers[rounds], strategy, part) for rounds, strategy, part in of_sure]
    return parts


def _parts_of_sure(rule: SamplingRule, graphs: FeedbackGraphs) -> list[_Part]:
    if rule.coverage == "cover":
        return [(WHOLE, _plan_cover, graphs)]
    if rule.coverage == "none" or graphs.has_all_loops:
        return [(WHOLE, _plan_sure, graphs)]
    weak = np.array([not graph.has_all_loops for graph in graphs])
    if weak.all():
        return [(WHOLE, _plan_weak, graphs)]
    return [(np.flatnonzero(weak), _plan_weak, graphs[weak]), (np.flatnonzero(~weak), _plan_sure, graphs[~weak])]


def _plan_sure(rule: SamplingRule, plan: PlannedRounds, graphs: FeedbackGraphs) -> None:
    """Plan all rounds in a compiled pass, or one for each large graph; then solve the programs that were left open."""
    room = _no_room() if rule.coverage == "none" else kept_room(graphs.n_arms, ROW_LIMIT)
    open_programs = 0
    for part, stored in kernel_batches(graphs):
        rounds, outcome = plan if part is WHOLE else plan.part(part)
        open_programs += _decide_rounds.call(stored, rounds, rule.in_kernels, rule.solvers, room, outcome)
    if open_programs:
        _solve_open(rule, plan, graphs)


def _solve_open(rule: SamplingRule, plan: PlannedRounds, graphs: FeedbackGraphs) -> None:
    """Solve the programs that a compiled pass has left open, with the demands that it has made."""
    outcome, kernels = plan.outcome, kernels_of("planning.one_pass")
    for t in (outcome.integers[:, 2] < 0).nonzero()[0].tolist():
        best, is_start = int(outcome.integers[t, 1]), outcome.integers[t, 2] == kernels.PENDING
        program = Program(graphs[t], outcome.probabilities[t].copy(), outcome.gaps[t], best, plan.mask(t))
        answer = solve(program, start=outcome.baseline[t] if is_start else None, effort=rule.effort)
        plan.enter(t, answer, answer.solver)


def _plan_cover(rule: SamplingRule, plan: PlannedRounds, graphs: FeedbackGraphs) -> None:
    """Gaps and best as usual; the exploration set is a cover of the candidates, and is played uniformly."""
    _plan_sure(rule.without_program, plan, graphs)
    outcome, nothing = plan.outcome, np.zeros(graphs.n_arms)
    for t in range(len(graphs)):
        mask = np.ascontiguousarray(plan.mask(t))
        outcome.explored[t] = cover_of(graphs[t], plan.candidates(t), mask)
        outcome.baseline[t] = uniform_over(outcome.explored[t][None] != 0.0)[0]
        program = Program(graphs[t], nothing, outcome.gaps[t], int(outcome.integers[t, 1]), mask)
        answer = program.certified(outcome.baseline[t].copy(), nothing, "none")
        plan.enter(t, replace(answer, duality_gap=np.nan), "none")


def _amount(rule: SamplingRule, plan: PlannedRounds, t: int, graph: FeedbackGraph, size: int) -> int:
    """The number used for |S| in the demands of round t, the same as in the kernel."""
    if not rule.by_cover or size <= 1 or graph.n_arms > COVER_ARMS:
        return size
    size_with_cover = kernels_of("graphs.domination").size_with_cover
    mask = np.ascontiguousarray(plan.mask(t))
    return int(size_with_cover(kernel_graph(graph), plan.candidates(t), mask, size))


def _plan_weak(rule: SamplingRule, plan: PlannedRounds, graphs: FeedbackGraphs) -> None:
    """Gaps, S and gamma as usual; then the tight program, scaled down if the graph reveals too little."""
    _plan_sure(rule.without_program, plan, graphs)
    outcome = plan.outcome
    for t in range(len(graphs)):
        gamma, gaps, best = float(outcome.numbers[t, 1]), outcome.gaps[t], int(outcome.integers[t, 1])
        if gamma == np.inf:
            continue
        graph, mask, candidates = graphs[t], plan.mask(t), plan.candidates(t)
        size, revealed = int(outcome.explored[t].sum()), revealed_by_some(graphs[t], mask)
        size = _amount(rule, plan, t, graph, size)
        demand = demand_of_candidates(candidates & revealed, gaps, best, size, gamma, plan.limits(rule, t, graph))
        if revealed[best] and not graph[best, best] and candidates.sum() > 1:
            cheapest = min(gaps[j] for j in graph.revealed_by(best) if mask[j])
            demand[best] = 1.0 / (size + gamma * cheapest)
        _enter_scaled(plan, t, graph, demand)


def _plan_probabilistic(rule: SamplingRule, plan: PlannedRounds, graphs: ProbabilisticGraphs) -> None:
    """S by sums of edge probabilities; then the tight program with edge probabilities instead of edges."""
    from graphbandit.kernels.planning.probabilistic import baselines

    rounds, outcome = plan.rounds, plan.outcome
    baselines(graphs.stored, graphs.index, rounds, rule.explore == "all", float(rule.rate), float(rule.doubt), outcome)
    plays_baseline = rule.coverage in ("none", "cover")  # there is no cover where edges are uncertain
    solver, gap = ("none", np.nan) if plays_baseline else ("trivial", 0.0)
    for t in range(len(graphs)):
        matrix, gamma, best = graphs.matrix(t), float(outcome.numbers[t, 1]), int(outcome.integers[t, 1])
        if plays_baseline or gamma == np.inf:
            played = outcome.baseline[t]
            plan.play(t, played, (played[:, None] * matrix).sum(axis=0), solver, gap)
            continue
        mask, candidates, gaps = plan.mask(t), plan.candidates(t), outcome.gaps[t]
        demand = np.zeros(len(gaps))
        if not candidates[best] or np.count_nonzero(candidates) > 1:  # else there is nothing to learn
            size, revealed = int(outcome.explored[t].sum()), revealed_by_some(matrix, mask)
            demand = demand_of_candidates(candidates & revealed, gaps, best, size, gamma, plan.limits(rule, t, matrix))
            if revealed[best] and matrix[best, best] < 1.0 and candidates.sum() > 1:
                demand[best] = (matrix[mask, best] / (size + gamma * gaps[mask])).max()
        if (matrix[best] >= demand).all():  # best alone meets all demands, and nothing is cheaper
            plan.play(t, (np.arange(len(gaps)) == best).astype(np.float64), matrix[best], solver, gap)
        else:
            _enter_scaled(plan, t, matrix, demand)


def _enter_scaled(plan: PlannedRounds, t: int, graph: FeedbackGraph | ArmsByArms, demand: PerArm) -> None:
    """Solve the program of round t, with its demands scaled down if necessary, and write the answer."""
    outcome = plan.outcome
    program = Program(graph, demand, outcome.gaps[t], int(outcome.integers[t, 1]), np.ascontiguousarray(plan.mask(t)))
    answer, outcome.numbers[t, 4] = solve_scaled(program, start=outcome.baseline[t])
    plan.enter(t, answer, answer.solver if demand.any() else "trivial")
