"""Every name of the package that the golden cases use; when something moves, only this file follows.

Cases name learners, function classes and environments by text and get them here. What comes back is plain: arrays by
name, so that a case never looks inside the package's own objects.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import graphbandit as gb
from graphbandit import environments, experiments, function_classes, learners, planning, theory
from graphbandit.base.programs import SOLVERS
from graphbandit.environments.datasets import DIRECTORY_VARIABLE
from graphbandit.experiments.describe.packaged import packaged_file
from graphbandit.experiments.describe.registry import ENVIRONMENTS, LEARNERS
from graphbandit.graphs import generators, sources
from graphbandit.graphs import parameters as graph_parameters
from graphbandit.studies.leaderboard.plans import Suite
from graphbandit.studies.paper.plans import Reproduction
from graphbandit.studies.plans import Plan

Arrays = dict[str, np.ndarray]

DECISION_FIELDS = (
    "action",
    "probability",
    "probabilities",
    "observation_probabilities",
    "best",
    "gaps",
    "baseline",
    "candidates",
    "exploration_set",
    "gamma",
    "epoch",
    "objective",
    "duality_gap",
    "solver",
    "coverage_factor",
)
"""Of `Decisions` and of `Decision`."""

ROUND_FIELDS = ("contexts", "means", "rewards")

SAMPLING_FIELDS = (
    "probabilities", "observation_probabilities", "objective", "duality_gap", "infeasibility", "demand", "duals",
)  # fmt: skip
SQUARECB_FIELDS = (
    "probabilities", "observation_probabilities", "z", "objective", "duality_gap", "iterations", "weights",
    "outer_slopes", "inner_slopes",
)  # fmt: skip

PRESETS = {
    "starter": "experiments/describe/starter.toml",
    **{
        f"paper/{name}": f"studies/paper/{name}.toml"
        for name in (
            "ablation", "arms", "clique_table", "directed", "flixster", "horizon", "independence", "parts",
            "reward_scale",
        )
    },
    **{
        f"studies/{name}": f"studies/{name}.toml"
        for name in (
            "classes_bundled", "classes_bundled_refits", "classes_data", "classes_data_refits", "classes_linear",
            "exploration_boosting", "exploration_finite", "exploration_kernel", "exploration_linear",
            "exploration_logistic", "exploration_network", "exploration_poisson", "exploration_still",
        )
    },
    **{
        f"leaderboard/{name}": f"studies/leaderboard/{name}.toml"
        for name in (
            "arms", "bundled", "clicks", "data", "finite_large", "finite_small", "linear_fixed", "linear_new",
            "linear_still", "shifting",
        )
    },
}  # fmt: skip
"""The packaged experiments: the name of the golden case, and the file."""

DATA_PRESETS = frozenset({"studies/classes_data", "studies/classes_data_refits", "leaderboard/data"})
"""Those that read data sets in files, from the directory named by `DATA_VARIABLE`."""

DATA_VARIABLE = DIRECTORY_VARIABLE

LEARNER_KINDS = tuple(LEARNERS)
ENVIRONMENT_KINDS = tuple(ENVIRONMENTS)
"""What an experiment's file may name."""

LEARNER_NAMES = tuple(
    name
    for name in learners.__all__
    if not name.endswith("State") and name not in ("EpochSchedule", "EveryRoundLearner", "Learner")
)
"""Every learner that can be built."""


def learner(kind: str, **settings: Any) -> Any:
    return getattr(learners, kind)(**settings)


def function_class(kind: str, *positional: Any, **settings: Any) -> Any:
    return getattr(function_classes, kind)(*positional, **settings)


def environment(kind: str, **settings: Any) -> Any:
    return getattr(environments, kind)(**settings)


def uncertain(base: Any, **settings: Any) -> Any:
    """An environment whose edges are there with a probability."""
    return environments.probabilistic(base, **settings)


def classification(X: np.ndarray, y: np.ndarray, **settings: Any) -> Any:
    return environments.classification(X, y, **settings)


def ratings(users: np.ndarray, items: np.ndarray, values: np.ndarray, **settings: Any) -> Any:
    return environments.ratings(users, items, values, **settings)


def dataset(name: str) -> tuple[np.ndarray, np.ndarray]:
    data: Any = environments.load_dataset(name)
    return data.X, data.y


def problem(**settings: Any) -> Any:
    return gb.Problem(**settings)


def _observed(functions: Any, contexts: np.ndarray, revealed: np.ndarray, rewards: np.ndarray) -> Any:
    """The data of a function class that has seen these rewards."""
    return functions.add(functions.empty(), gb.Observations.from_masks(contexts, revealed, rewards))


def draws(functions: Any, contexts: np.ndarray, rewards: np.ndarray, count: int, seed: int) -> Any:
    """Draws of a function class that has seen all these rewards."""
    data = _observed(functions, contexts, np.ones(rewards.shape, dtype=np.bool_), rewards)
    return functions.draws(data, noise=0.5, count=count, rng=np.random.default_rng(seed))


def class_arrays(
    functions: Any, contexts: np.ndarray, revealed: np.ndarray, rewards: np.ndarray, new: np.ndarray, seed: int
) -> Arrays:
    """All that a function class says of `new` contexts once it has seen these rewards."""
    data = _observed(functions, contexts, revealed, rewards)
    radius = float(functions.sharp_radius(data, 0.4, 0.1))
    space = functions.version_space(data, radius)
    drawn = functions.draws(data, noise=0.4, count=10, rng=np.random.default_rng(seed))
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


# Graphs


def graph(matrix: np.ndarray) -> Any:
    return gb.FeedbackGraph.from_dense(matrix, require_loops=False)


def graph_batch(matrices: np.ndarray) -> Any:
    return gb.FeedbackGraphs.from_dense(matrices, require_loops=False)


def generated(kind: str, n_arms: int, **settings: Any) -> Any:
    return getattr(generators, kind)(n_arms, **settings)


def source_draws(kind: str, n_arms: int, n: int, seed: int, **options: Any) -> Any:
    return sources.graph_source(kind, n_arms, **options).draw(np.random.default_rng(seed), n)


def dense(graphs: Any) -> np.ndarray:
    """One graph, or the graphs of all rounds, as a matrix each."""
    return graphs.to_dense() if hasattr(graphs, "to_dense") else np.stack([one.to_dense() for one in graphs])


def edges(graph: Any) -> np.ndarray:
    """The out-lists of a large graph, end to end."""
    pointers, arms = graph.csr()
    return np.concatenate([pointers.astype(np.int64), arms.astype(np.int64)])


def parameters(graph: Any) -> dict[str, float]:
    """Of a graph."""
    independence = graph_parameters.independence_number(graph)
    weak = graph_parameters.weak_domination_number_bound(graph)
    degrees = graph_parameters.degree_statistics(graph)
    return {
        "independence, least": float(independence.lower),
        "independence, most": float(independence.upper),
        "weak domination, least": float(weak.lower),
        "weak domination, most": float(weak.upper),
        "density": graph_parameters.density(graph),
        "strong": float(graph_parameters.observability(graph) == "strong"),
        **{f"degree {name}": float(value) for name, value in vars(degrees).items()},
    }


def social_network(n_nodes: int, seed: int, **settings: Any) -> Any:
    return gb.graphs.social_network(n_nodes, rng=np.random.default_rng(seed), **settings)


def network_edges(network: Any) -> np.ndarray:
    return np.asarray(network.edges())


def subgraphs(network: Any, size: int, count: int, sampler: str, seed: int) -> np.ndarray:
    return dense(gb.graphs.sample_subgraphs(network, size, count, sampler=sampler, rng=np.random.default_rng(seed)))


# Rounds, decisions, simulation


def decision_arrays(decisions: Any) -> Arrays:
    """A batch of decisions by field; solvers by their names."""
    found = {name: np.asarray(getattr(decisions, name)) for name in DECISION_FIELDS}
    found["solver"] = np.array([SOLVERS[code] for code in found["solver"]], dtype="S16")
    return found


def single_decision_arrays(decisions: list[Any]) -> Arrays:
    """Decisions of a `Bandit` by field; lists of arms are put end to end."""
    fields = ("revealed", *DECISION_FIELDS)
    found: Arrays = {}
    for name in fields:
        values = [getattr(decision, name) for decision in decisions]
        if name == "solver":
            found[name] = np.array(values, dtype="S16")
        elif name in ("revealed", "candidates", "exploration_set"):
            found[name] = np.concatenate([np.array([len(value)]) for value in values] + values).astype(np.int64)
        else:
            found[name] = np.array(values)
    return found


def simulated(
    learner: Any, environment: Any, *, rounds: int, repeats: int, seed: int, horizon_known: bool, chunk: int
) -> Arrays:
    """Cumulative regret (repeats, rounds), and all decisions of all repeats in turn."""
    result = gb.simulate(
        learner,
        environment,
        rounds=rounds,
        repeats=repeats,
        seed=seed,
        horizon_known=horizon_known,
        keep_decisions=True,
        chunk=chunk,
    )
    (regret,), (decisions,) = result.regret.values(), result.decisions.values()
    parts = [decision_arrays(one) for one in decisions]
    return {"regret": regret, **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]}}


def drawn(environment: Any, *, rounds: int, repeat: int, seed: int, chunk: int) -> Arrays:
    """The first rounds of an environment, drawn `chunk` at a time."""
    instance = environment.instance(seed, repeat)
    parts = [instance.rounds(first, min(first + chunk, rounds)) for first in range(0, rounds, chunk)]
    found = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ROUND_FIELDS}
    found["graphs"] = np.concatenate([dense(part.graphs) for part in parts])
    if parts[0].available is not None:
        found["available"] = np.concatenate([part.available for part in parts])
    if parts[0].probabilistic is not None:
        found["edge_probabilities"] = np.concatenate(
            [np.stack([graph.matrix for graph in part.probabilistic]) for part in parts]
        )
    found["noise"] = np.array(np.nan if instance.problem(None).noise is None else instance.problem(None).noise)
    return found


class Play:
    """A `Bandit` on an instance of an environment, whose rewards are handed back by whoever plays."""

    def __init__(self, learner: Any, environment: Any, *, rounds: int, seed: int, horizon_known: bool = True) -> None:
        instance = environment.instance(seed)
        self._problem = instance.problem(rounds if horizon_known else None)
        self._rounds = instance.rounds(0, rounds)
        self.bandit: Any = gb.Bandit(learner, self._problem, seed=seed)
        self.external: Any = None

    def _shown(self, t: int) -> Any:
        graphs = self._rounds.shown.graphs
        return None if graphs is None else graphs[t]

    def decide(self, t: int) -> Any:
        """Round t."""
        masks = self._rounds.available
        mask = None if masks is None else masks[t]
        return self.bandit.decide(self._rounds.contexts[t], self._shown(t), available=mask)

    def decide_batch(self, first: int, stop: int) -> list[Any]:
        """Rounds first .. stop - 1."""
        part = self._rounds[first:stop]
        made: list[Any] = self.bandit.decide_batch(part.contexts, part.shown.graphs, available=part.available)
        return made

    def rewards(self, t: int, decision: Any) -> dict[int, float]:
        """What the decision of round t reveals."""
        revealed = dense(self._rounds.graphs[t])[decision.action].nonzero()[0]
        return {int(arm): float(self._rounds.rewards[t, arm]) for arm in revealed}

    def regret(self, decisions: list[Any]) -> np.ndarray:
        """Cumulative."""
        best = self._rounds.best_means()
        obtained = np.array([self._rounds.means[t, decision.action] for t, decision in enumerate(decisions)])
        return np.cumsum(best[: len(decisions)] - obtained)

    def save_and_load(self, function_class: Any = None) -> None:
        """Go on with what a file holds."""
        with tempfile.TemporaryDirectory() as folder:
            self.bandit.save(Path(folder) / "bandit")
            self.bandit = gb.Bandit.load(Path(folder) / "bandit", function_class=function_class)


# Programs


def exploration_set(graph: Any, candidates: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    return np.asarray(gb.exploration_set(graph, candidates, gaps))


def inverse_gap_baseline(explored: np.ndarray, gaps: np.ndarray, gamma: float) -> np.ndarray:
    return np.asarray(planning.inverse_gap_baseline(explored, gaps, gamma))


def tight_demand(candidates: np.ndarray, gaps: np.ndarray, *, best: int, size: int, gamma: float) -> np.ndarray:
    return np.asarray(planning.tight_demand(candidates, gaps, best=best, size=size, gamma=gamma))


def sampling_solution(graph: Any, gaps: np.ndarray, **settings: Any) -> Arrays:
    """`settings`: baseline or demand, best, available, solver."""
    baseline = settings.pop("baseline", None)
    answer = gb.solve_sampling_lp(graph, baseline, gaps, **settings)
    return {
        **{name: np.asarray(getattr(answer, name)) for name in SAMPLING_FIELDS},
        "solver": np.array(answer.solver, dtype="S16"),
    }


def squarecb_solution(graph: Any, losses: np.ndarray, gamma: float, available: np.ndarray | None = None) -> Arrays:
    answer = planning.solve_squarecb_program(losses, graph, gamma, available=available)
    return {name: np.asarray(getattr(answer, name)) for name in SQUARECB_FIELDS}


def squarecb_solutions(graphs: Any, losses: np.ndarray, gammas: np.ndarray) -> Arrays:
    answers = planning.solve_squarecb_programs(losses, graphs, gammas)
    return {name: getattr(answers, name) for name in ("probabilities", "objective", "duality_gap", "iterations")}


def squarecb_closed_form(kind: str, losses: np.ndarray, gamma: float) -> np.ndarray:
    return np.asarray(getattr(planning.squarecb_formulas, kind)(losses, gamma))


def bounds(horizon: np.ndarray) -> Arrays:
    """The paper's bounds of regret, for fixed settings."""
    common: dict[str, Any] = {"horizon": horizon, "log_size": 4.0}
    return {
        "minimax": theory.minimax_bound(**common, mean_independence_number=3.0, n_arms=20),
        "lower": theory.minimax_lower_bound(**common, independence_number=3.0),
        "gaps": theory.context_gaps(np.linspace(0, 1, 12).reshape(3, 4) ** 2),
    }


# Experiments


def preset(name: str) -> Any:
    """A packaged experiment as its file has it."""
    return packaged_file(PRESETS[name])


def cut(experiment: Any, *, rounds: int, repeats: int = 1, values: int = 2) -> Any:
    """The experiment with few rounds, and with only the first and the last `values - 1` values of each list."""

    def shorter(grids: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: replace(grid, settings={key: _ends(value, values) for key, value in grid.settings.items()})
            for name, grid in grids.items()
        }

    return replace(
        experiment,
        rounds=rounds,
        repeats=repeats,
        environments=shorter(experiment.environments),
        learners=shorter(experiment.learners),
    )


def _ends(value: Any, values: int) -> Any:
    if not isinstance(value, list | tuple) or len(value) <= values:
        return value
    return [value[0], *value[len(value) - values + 1 :]]


def experiment(**settings: Any) -> Any:
    """`environments` and `learners` are dictionaries from names to (kind, settings)."""
    grids = {
        room: {name: experiments.Grid(kind, told) for name, (kind, told) in settings.pop(room).items()}
        for room in ("environments", "learners")
    }
    return experiments.Experiment(**settings, **grids)


def experiment_arrays(experiment: Any) -> Arrays:
    """Run it in this process: who played where, final regrets, and the curves."""
    with tempfile.TemporaryDirectory() as folder:
        found = experiments.run(experiment, out=Path(folder) / "results", engine=experiments.InProcess())
    if found.failures:
        raise AssertionError(found.failures[0])
    labels = [f"{row['environment']} | {row['learner']} | {row['repeat']}" for row in found.runs.to_pylist()]
    return {
        "labels": np.frombuffer("\n".join(labels).encode(), dtype=np.uint8),
        "final": found.runs.column("regret").to_numpy(),
        "curve_round": found.curves.column("round").to_numpy(),
        "curve_regret": found.curves.column("regret").to_numpy(),
    }


def planned() -> Iterator[tuple[str, Any]]:
    """Every experiment of the paper, the studies and the leaderboard, as the presets size it."""
    for size in ("quick", "full"):
        for name, made in Reproduction(preset=size).experiments().items():
            yield f"{size}/paper/{name}", made
        for study in ("exploration", "classes"):
            for name, made in Plan(study=study, preset=size).experiments().items():
                yield f"{size}/{study}/{name}", made
        for name, made in Suite(preset=size).experiments().items():
            yield f"{size}/leaderboard/{name}", made


def described(experiment: Any) -> dict[str, Any]:
    """What a preset makes of an experiment: its sizes, and what plays where."""
    return {
        **{name: getattr(experiment, name) for name in ("name", "rounds", "repeats", "seed", "horizon_known")},
        "environments": [point.label for point in experiment.environment_points()],
        "learners": [point.label for point in experiment.learner_points()],
    }
