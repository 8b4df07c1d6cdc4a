"""Contextual bandits with graph feedback.

In each round a context and a feedback graph are shown, one arm is played, and the rewards of all the arms it reveals
are seen. The names below are the package's promise; everything else may change.
"""

from typing import TYPE_CHECKING

from graphbandit import (
    environments,
    errors,
    graph_generators,
    graph_parameters,
    graph_sources,
    plots,
    squarecb_closed_forms,
    theory,
)
from graphbandit.anytime import Effort
from graphbandit.bandit import Bandit
from graphbandit.exploration import exploration_set, inverse_gap_baseline
from graphbandit.function_classes import (
    BilinearClass,
    FiniteClass,
    FunctionClass,
    GeneralizedLinearClass,
    KernelClass,
    LastLayerClass,
    LinearClass,
    RegressorClass,
    TorchClass,
    finite_from_draws,
    finite_from_parameters,
)
from graphbandit.graph_batches import FeedbackGraphs
from graphbandit.graphs import FeedbackGraph
from graphbandit.learners import (
    IDSG,
    IDSN,
    TSN,
    UCBN,
    AdaCB,
    AdaCBG,
    BootstrappedThompson,
    EpsilonGreedy,
    Exp3DOM,
    Exp3G,
    Exp3IX,
    Exp3LGCIX,
    Exp3LGCU,
    Exp3SET,
    ExploreThenCommit,
    Falcon,
    Greedy,
    Learner,
    LinTS,
    LinUCB,
    RegCB,
    RegCBG,
    SquareCB,
    SquareCBG,
    UCBMaxN,
    Uniform,
)
from graphbandit.network_files import read_network
from graphbandit.network_generators import social_network
from graphbandit.networks import Network
from graphbandit.online_regression import OnlineLinear
from graphbandit.probabilistic_graphs import ProbabilisticGraphs
from graphbandit.problem import Problem
from graphbandit.sampling_batch import SamplingSolutions, solve_sampling_lps
from graphbandit.sampling_lp import SamplingSolution, fallback_count, solve_sampling_lp, tight_demand
from graphbandit.simulate import SimulationResult, simulate
from graphbandit.squarecb_program import (
    SquareCBSolution,
    SquareCBSolutions,
    solve_squarecb_program,
    solve_squarecb_programs,
    squarecb_bound,
)
from graphbandit.subgraphs import sample_subgraphs
from graphbandit.types import Decision, Decisions, Observations

if TYPE_CHECKING:
    from graphbandit import experiments

__version__ = "0.1.0"

__all__ = [
    "IDSG",
    "IDSN",
    "TSN",
    "UCBN",
    "AdaCB",
    "AdaCBG",
    "Bandit",
    "BilinearClass",
    "BootstrappedThompson",
    "Decision",
    "Decisions",
    "Effort",
    "EpsilonGreedy",
    "Exp3DOM",
    "Exp3G",
    "Exp3IX",
    "Exp3LGCIX",
    "Exp3LGCU",
    "Exp3SET",
    "ExploreThenCommit",
    "Falcon",
    "FeedbackGraph",
    "FeedbackGraphs",
    "FiniteClass",
    "FunctionClass",
    "GeneralizedLinearClass",
    "Greedy",
    "KernelClass",
    "LastLayerClass",
    "Learner",
    "LinTS",
    "LinUCB",
    "LinearClass",
    "Network",
    "Observations",
    "OnlineLinear",
    "ProbabilisticGraphs",
    "Problem",
    "RegCB",
    "RegCBG",
    "RegressorClass",
    "SamplingSolution",
    "SamplingSolutions",
    "SimulationResult",
    "SquareCB",
    "SquareCBG",
    "SquareCBSolution",
    "SquareCBSolutions",
    "TorchClass",
    "UCBMaxN",
    "Uniform",
    "environments",
    "errors",
    "experiments",
    "exploration_set",
    "fallback_count",
    "finite_from_draws",
    "finite_from_parameters",
    "graph_generators",
    "graph_parameters",
    "graph_sources",
    "inverse_gap_baseline",
    "plots",
    "read_network",
    "sample_subgraphs",
    "simulate",
    "social_network",
    "solve_sampling_lp",
    "solve_sampling_lps",
    "solve_squarecb_program",
    "solve_squarecb_programs",
    "squarecb_bound",
    "squarecb_closed_forms",
    "theory",
    "tight_demand",
]


def __getattr__(name: str) -> object:
    """`experiments` is loaded when it is asked for."""
    if name == "experiments":
        import importlib

        return importlib.import_module("graphbandit.experiments")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
