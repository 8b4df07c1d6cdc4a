"""Contextual bandits with graph feedback.

In each round a context and a feedback graph are shown, one arm is played, and the rewards of all the arms it reveals
are seen. The names below are the ones people reach for; everything else is one level down, as in
``gb.learners.UCBN`` or ``gb.graphs.star``.
"""

from typing import TYPE_CHECKING

from graphbandit import environments, errors, features, function_classes, graphs, learners, planning, plots, theory
from graphbandit.bandit import Bandit
from graphbandit.features import Features
from graphbandit.function_classes import (
    FiniteClass,
    GeneralizedLinearClass,
    KernelClass,
    LinearClass,
    RegressorClass,
    TorchClass,
)
from graphbandit.graphs import FeedbackGraph, FeedbackGraphs, ProbabilisticGraph, ProbabilisticGraphs
from graphbandit.learners import IDSG, AdaCBG, Falcon, Greedy, LinTS, LinUCB, RegCBG, SquareCBG
from graphbandit.learners.problem import Problem
from graphbandit.planning import exploration_set, solve_sampling_lp
from graphbandit.rounds import Decision, Decisions, Observations
from graphbandit.simulate import simulate

if TYPE_CHECKING:
    from graphbandit import evaluation, experiments, interop

__version__ = "0.1.0"

__all__ = [
    "IDSG",
    "AdaCBG",
    "Bandit",
    "Decision",
    "Decisions",
    "Falcon",
    "Features",
    "FeedbackGraph",
    "FeedbackGraphs",
    "FiniteClass",
    "GeneralizedLinearClass",
    "Greedy",
    "KernelClass",
    "LinTS",
    "LinUCB",
    "LinearClass",
    "Observations",
    "ProbabilisticGraph",
    "ProbabilisticGraphs",
    "Problem",
    "RegCBG",
    "RegressorClass",
    "SquareCBG",
    "TorchClass",
    "environments",
    "errors",
    "evaluation",
    "experiments",
    "exploration_set",
    "features",
    "function_classes",
    "graphs",
    "interop",
    "learners",
    "planning",
    "plots",
    "simulate",
    "solve_sampling_lp",
    "theory",
]


def __getattr__(name: str) -> object:
    """Load rooms that need Arrow when they are asked for: everyday use does not."""
    if name in ("evaluation", "experiments", "interop"):
        import importlib

        return importlib.import_module(f"graphbandit.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
