"""One decision on its graph, and the paper's star before and after the linear program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from graphbandit.base.colours import INK
from graphbandit.base.shapes import Float, Int
from graphbandit.errors import InputError
from graphbandit.graphs.generators.star import star
from graphbandit.graphs.graph import FeedbackGraph
from graphbandit.planning.certified_program import SamplingSolution
from graphbandit.planning.exploration import arm_array, exploration_set, inverse_gap_baseline
from graphbandit.planning.sampling_program import solve_sampling_lp
from graphbandit.plots.graph_drawing import (
    NUMBERED,
    ROW_LIMIT,
    canvas,
    check_size,
    cut,
    draw,
    feedback_graph,
    hub_of,
    key,
    layout,
    number,
    trimmed,
    without_loops,
)
from graphbandit.plots.style import GREY, VERMILION, literal
from graphbandit.rounds.decision import Decision

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_probabilities(
    graph: FeedbackGraph | npt.ArrayLike,
    *,
    values: npt.ArrayLike,
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    observed: npt.ArrayLike,
    best: int,
    explored: npt.ArrayLike = (),
    candidates: npt.ArrayLike | None = None,
    arms: Sequence[str] | None = None,
    values_name: str = "estimated reward",
) -> Figure:
    """Draw the graph with each arm's value in its circle, and its probabilities beside it.

    The best arm has a ring, the arms of S have a bold outline, and arms that are not candidates a dotted one. The more
    often an arm is played, the darker it is: blue for the best arm, vermilion for all others. Lines are edges in both
    directions, arrows are edges in one direction; self-loops are not drawn.

    - `graph`: the feedback graph.
    - `values`: the numbers in the circles.
    - `before`, `after`: the probabilities p~ before and p after the linear program.
    - `observed`: the observation probabilities q.
    - `best`: the number of the best arm.
    - `explored`: the exploration set S, as numbers or a mask; empty by default.
    - `candidates`: the arms that may still be the best, as numbers or a mask; None (default): all.
    - `arms`: the names of the arms; None (default): those of the graph, or else their numbers.
    - `values_name`: what the values are, "estimated reward" by default.
    """
    graph = feedback_graph(graph)
    n = graph.n_arms
    check_size(n)
    if not 0 <= best < n:
        raise InputError(f"best is {best}; expected an arm from 0 to {n - 1}")
    numbers = arm_array("values", values, n)
    p0, p1 = arm_array("before", before, n), arm_array("after", after, n)
    q = arm_array("observed", observed, n)
    told = _arm_names(graph, arms)
    places = layout(graph)
    gap = "\n" if n <= ROW_LIMIT and hub_of(without_loops(graph)) is not None else " "  # labels in a row must be narrow
    labels = []
    for a in range(n):
        first, last = number(float(p0[a])), number(float(p1[a]))
        p = first if first == last else f"{first}{gap}→ {last}"
        labels.append(_arm_label(told[a], n, p, number(float(q[a])), float(numbers[a])))
    figure, (axes,) = canvas(places, 1)
    possible = range(n) if candidates is None else _arm_numbers("candidates", candidates, n)
    explorers = _arm_numbers("explored", explored, n)
    draw(axes, graph, places, numbers, p1, best, explorers, labels, candidates=possible)
    inside, beside = (f"circle: {values_name}", "") if n <= NUMBERED else ("circle: arm", f"{values_name}, then ")
    p_and_q = "p = probability (before → after the linear program), q = of being revealed"
    key(figure, f"{inside}    beside it: {beside}{p_and_q}", dotted=len(possible) < n)
    return figure


def plot_decision(
    decision: Decision,
    graph: FeedbackGraph | npt.ArrayLike,
    *,
    values: npt.ArrayLike | None = None,
    arms: Sequence[str] | None = None,
) -> Figure:
    """`plot_probabilities` of one decision.

    - `decision`: the decision.
    - `graph`: the graph it was made on.
    - `values`: the numbers in the circles; None (default): the gaps to the best arm.
    - `arms`: the names of the arms; None (default): those of the decision, or else those of the graph.
    """
    graph = feedback_graph(graph)
    if len(decision.gaps) != graph.n_arms:
        raise InputError(f"graph has {graph.n_arms} arms; expected the decision's {len(decision.gaps)}")
    return plot_probabilities(
        graph,
        values=decision.gaps if values is None else values,
        before=decision.baseline,
        after=decision.probabilities,
        observed=decision.observation_probabilities,
        best=decision.best,
        explored=decision.exploration_set,
        candidates=decision.candidates,
        arms=list(decision.arms)[: graph.n_arms] if arms is None and decision.arms is not None else arms,
        values_name="estimated gap to the best arm" if values is None else "estimated reward",
    )


def _arm_label(name: str, n: int, p: str, q: str, value: float) -> str:
    """The text beside a circle; if there are many arms, p is written only for arms that are played."""
    if n <= ROW_LIMIT:
        return f"{name}\np {p}\nq {q}"
    first = name if n <= NUMBERED else trimmed(f"{value:.2f}")
    return f"{first}   q {q}" if p == "0" else f"{first}   p {p}   q {q}"


class StarExample(NamedTuple):
    """The star of the paper's figure, solved.

    - `graph`: the star.
    - `values`, `gaps`: the rewards of the arms, and their gaps to the best arm.
    - `explored`: the arms of the exploration set S.
    - `baseline`, `before`: p~ and its observation probabilities.
    - `solution`: the solution of the linear program.
    """

    graph: FeedbackGraph
    values: Float[np.ndarray, " arms"]
    gaps: Float[np.ndarray, " arms"]
    explored: Int[np.ndarray, " size"]
    baseline: Float[np.ndarray, " arms"]
    before: Float[np.ndarray, " arms"]
    solution: SamplingSolution


def star_example(gamma: float = 10.0) -> StarExample:
    """Solve the star whose hub 0 has reward 0.9, leaf 1 has 1 and four more leaves have 0; all arms are candidates.

    - `gamma`: the exploration parameter, 10 by default.

    >>> example = star_example(gamma=10.0)
    >>> example.baseline.round(3), example.solution.probabilities.round(3)
    (array([0.   , 0.733, 0.067, 0.067, 0.067, 0.067]), array([0.067, 0.933, 0.   , 0.   , 0.   , 0.   ]))
    """
    graph = star(6, hub=0)
    values = np.array([0.9, 1.0, 0.0, 0.0, 0.0, 0.0])
    gaps = values.max() - values
    explored = exploration_set(graph, np.ones(6, dtype=np.bool_), gaps)
    baseline = inverse_gap_baseline(explored, gaps, gamma)
    before = baseline @ graph.to_dense()
    return StarExample(graph, values, gaps, explored, baseline, before, solve_sampling_lp(graph, baseline, gaps))


def plot_star_example(gamma: float = 10.0) -> Figure:
    """Draw the paper's star before and after the linear program, side by side.

    The program moves exploration from four worthless leaves to the hub, which costs 0.1 and reveals every arm. Arrows
    go from the arms that explore to those that they reveal.

    - `gamma`: the exploration parameter, 10 by default.
    """
    example = star_example(gamma)
    p, q = example.solution.probabilities, example.solution.observation_probabilities
    before, after = float(example.baseline @ example.gaps), example.solution.objective
    less = f", {before / after:.0f} times less" if after > 0 else ""
    places = layout(example.graph)
    figure, panels = canvas(places, 2)
    best = int(np.argmax(example.values))
    stages = (
        (example.baseline, example.before, "Before the linear program", "exploring tries four worthless leaves", ""),
        (p, q, "After the linear program", "exploring tries the hub, which reveals them all", less),
    )
    for axes, cost, (played, seen, title, subtitle, remark) in zip(panels, (before, after), stages, strict=True):
        labels = [f"p = {number(a)}\nq = {number(b)}" for a, b in zip(played, seen, strict=True)]
        explorers = [int(a) for a in np.flatnonzero(played > 0) if a != best]
        draw(axes, example.graph, places, example.values, played, best, [], labels, explorers)
        _write(axes, 1.20, title, size=15, weight="bold", color=INK)
        _write(axes, 1.09, subtitle, size=11.5, color=GREY)
        loss = f"expected regret a round: {number(cost)}{remark}"
        _write(axes, -0.06, loss, size=12.5, weight="bold", color=VERMILION)
    note = "in a circle: estimated reward      p: probability of being played      q: of being revealed"
    figure.text(0.5, -0.2, f"{note}      arrows: what exploring reveals", ha="center", size=10, color=GREY)
    return figure


def _write(axes: Axes, height: float, text: str, **look: Any) -> None:
    axes.text(0.5, height, text, transform=axes.transAxes, ha="center", va="center", **look)


def _arm_names(graph: FeedbackGraph, arms: Sequence[str] | None) -> list[str]:
    """The names of the arms in a picture; long ones are cut."""
    given = arms if arms is not None else graph.arms
    if given is None:
        return [f"arm {a}" if graph.n_arms <= ROW_LIMIT else str(a) for a in range(graph.n_arms)]
    if len(given) != graph.n_arms:
        raise InputError(f"arms has {len(given)} names; expected {graph.n_arms}, one for each arm")
    longest = 14 if graph.n_arms <= ROW_LIMIT else 20
    return [literal(cut(name, longest)) for name in map(str, given)]


def _arm_numbers(what: str, arms: npt.ArrayLike, n: int) -> list[int]:
    array = np.asarray(arms)
    numbers = np.flatnonzero(array) if array.dtype == np.bool_ else array.astype(np.int64).ravel()
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < n):
        raise InputError(f"{what} is {numbers.tolist()}; expected arm numbers from 0 to {n - 1}")
    return [int(a) for a in numbers]
