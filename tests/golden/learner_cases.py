"""Every learner, with every setting that is a choice, on the environments that it can play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphbandit import learners
from tests.golden.played import simulated
from tests.golden.problems import PROBLEMS, problem
from tests.golden.registry import Outcome, add

PAPER = {"radius": "paper", "coverage": "paper", "eta": 1.0}
BOUNDED = {"low": -2.0, "high": 2.0, "clip": True}

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "AdaCBG": ("AdaCBG", {}),
    "AdaCBG, eta=1": ("AdaCBG", {"eta": 1.0}),
    "AdaCBG, paper": ("AdaCBG", PAPER),
    "AdaCBG, radius=paper": ("AdaCBG", {"radius": "paper", "gamma": "natural", "eta": 10.0}),
    "AdaCBG, coverage=paper": ("AdaCBG", {"coverage": "paper", "gamma": "natural", "eta": 10.0}),
    "AdaCBG, gamma=width": ("AdaCBG", {"gamma": "width", "eta": 10.0}),
    "AdaCBG, paper, gamma=width": ("AdaCBG", {**PAPER, "gamma": "width"}),
    "AdaCBG, inverse-gap": ("AdaCBG", {"baseline": "inverse-gap", "eta": 1.0}),
    "AdaCBG, paper, inverse-gap": ("AdaCBG", {**PAPER, "baseline": "inverse-gap"}),
    "AdaCBG, no candidate set": ("AdaCBG", {"candidate_set": False, "eta": 1.0}),
    "AdaCBG, no scale factor": ("AdaCBG", {"scale_factor": False, "eta": 1.0}),
    "AdaCBG, no program": ("AdaCBG", {"linear_program": False, "eta": 1.0}),
    "AdaCBG, paper, no candidate set": ("AdaCBG", {**PAPER, "candidate_set": False}),
    "AdaCBG, paper, no scale factor": ("AdaCBG", {**PAPER, "scale_factor": False}),
    "AdaCBG, paper, no program": ("AdaCBG", {**PAPER, "linear_program": False}),
    "AdaCBG, other numbers": (
        "AdaCBG", {"radius_factor": 3.0, "delta": 0.01, "epoch_growth": 1.5, "eta": 5.0, "unrevealed": "ignore"},
    ),
    "AdaCB": ("AdaCB", {}),
    "AdaCB, radius=paper": ("AdaCB", {"radius": "paper"}),
    "IDSG": ("IDSG", {"draws": 60}),
    "IDSG, frequentist": ("IDSG", {"form": "frequentist"}),
    "IDSG, other numbers": ("IDSG", {"draws": 25, "epoch_growth": 1.7, "seed": 5}),
    "BootstrappedThompson": ("BootstrappedThompson", {"draws": 50}),
    "RegCB": ("RegCB", {}),
    "RegCB, elimination": ("RegCB", {"form": "elimination"}),
    "RegCBG": ("RegCBG", {}),
    "Falcon": ("Falcon", {}),
    "Falcon, eta=50": ("Falcon", {"eta": 50.0, "epoch_growth": 1.5}),
    "Greedy": ("Greedy", {}),
    "EpsilonGreedy": ("EpsilonGreedy", {}),
    "EpsilonGreedy, constant": ("EpsilonGreedy", {"schedule": "constant", "epsilon": 0.2}),
    "ExploreThenCommit": ("ExploreThenCommit", {"explore_rounds": 12}),
    "ExploreThenCommit, by horizon": ("ExploreThenCommit", {}),
    "SquareCB": ("SquareCB", {}),
    "SquareCB, ridge": ("SquareCB", {"oracle": "ridge", "gamma": 20.0}),
    "SquareCB, ogd": ("SquareCB", {"oracle": "ogd"}),
    "SquareCB, offline": ("SquareCB", {"oracle": "offline"}),
    "SquareCBG": ("SquareCBG", {}),
    "SquareCBG, gamma=20": ("SquareCBG", {"gamma": 20.0}),
    "SquareCBG, vaw": ("SquareCBG", {"oracle": "vaw"}),
    "SquareCBG, ridge": ("SquareCBG", {"oracle": "ridge"}),
    "SquareCBG, ogd": ("SquareCBG", {"oracle": "ogd", "gamma_scale": 3.0, "gamma_exponent": 0.25}),
    "Uniform": ("Uniform", {}),
    "UCBN": ("UCBN", {}),
    "UCBMaxN": ("UCBMaxN", {"width": 0.5}),
    "TSN": ("TSN", {"prior_mean": 0.5, "prior_scale": 2.0}),
    "IDSN": ("IDSN", {}),
    "Exp3SET": ("Exp3SET", BOUNDED),
    "Exp3DOM": ("Exp3DOM", BOUNDED),
    "Exp3G": ("Exp3G", BOUNDED),
    "Exp3IX": ("Exp3IX", BOUNDED),
    "Exp3IX, rates": ("Exp3IX", {**BOUNDED, "eta": 0.2, "gamma": 0.1}),
    "LinUCB": ("LinUCB", {}),
    "LinUCB, alpha, intercept": ("LinUCB", {"alpha": 0.7, "intercept": True}),
    "LinTS": ("LinTS", {"draws": 40}),
    "LinTS, intercept": ("LinTS", {"draws": 25, "intercept": True, "seed": 3}),
    "Exp3LGCU": ("Exp3LGCU", {"clip": True}),
    "Exp3LGCIX": ("Exp3LGCIX", {"clip": True}),
    "LateGraph, IDSG": ("LateGraph", {"learner": ("IDSG", {"draws": 40})}),
    "LateGraph, AdaCBG": (
        "LateGraph", {"learner": ("AdaCBG", {"eta": 10.0}), "prior_present": 0.5, "prior_absent": 2.0},
    ),
    "LateGraph, no loops": ("LateGraph", {"learner": ("IDSG", {"form": "frequentist"}), "loops": False}),
}  # fmt: skip
"""Name of a case: the learner and its settings; a learner inside another is such a pair, too."""


def built(kind: str, settings: Mapping[str, Any]) -> Any:
    """The learner of such a pair."""
    own = {name: built(*value) if name == "learner" else value for name, value in settings.items()}
    return getattr(learners, kind)(**own)


def variant(name: str) -> Any:
    """The learner of `VARIANTS`."""
    return built(*VARIANTS[name])


LEARNERS = tuple(
    name
    for name in learners.__all__
    if not name.endswith("State") and name not in ("EpochSchedule", "EstimateLearner", "EveryRoundLearner", "Learner")
)
"""Every learner that can be built."""

_FIRST = {kind: name for name, (kind, _) in reversed(VARIANTS.items())}
BASES = tuple(_FIRST[kind] for kind in LEARNERS if kind in _FIRST)
"""The first variant of every learner: it plays everywhere it can, the others on `FEW`."""

FEW = frozenset({"star", "random", "directed", "linear, new arms", "linear, one context", "masks", "weak",
                 "edge probabilities", "hidden graph", "large"})  # fmt: skip

PLANS_WITH_PROBABILITIES = frozenset(
    name
    for name, (kind, settings) in VARIANTS.items()
    if kind in ("IDSG", "LateGraph")
    or (kind == "AdaCBG" and settings.get("coverage") != "paper" and settings.get("linear_program", True))
)
NEEDS_LOOPS = frozenset(
    name
    for name, (kind, _) in VARIANTS.items()
    if (kind == "AdaCBG" and name not in PLANS_WITH_PROBABILITIES)
    or kind in ("RegCBG", "UCBN", "UCBMaxN", "Exp3SET", "Exp3DOM", "Exp3IX", "Exp3LGCU", "Exp3LGCIX")
)
ON_LARGE = frozenset(
    {"AdaCBG", "AdaCBG, paper", "AdaCBG, gamma=width", "AdaCBG, inverse-gap", "AdaCB", "IDSG", "RegCB", "RegCBG",
     "Falcon", "Greedy", "EpsilonGreedy", "BootstrappedThompson", "SquareCB", "Uniform", "UCBN", "UCBMaxN", "TSN",
     "Exp3SET", "Exp3DOM", "Exp3G", "Exp3IX", "LinUCB", "LinTS", "Exp3LGCU"}
)  # fmt: skip


def plays(name: str, where: str) -> bool:
    """Whether the variant is played on the environment; where it cannot be, the learner refuses it."""
    kind = VARIANTS[name][0]
    if where == "large":
        return name in ON_LARGE
    if where == "hidden graph":
        return kind == "LateGraph"
    if where.startswith("edge probabilities"):
        return name in PLANS_WITH_PROBABILITIES
    if where == "weak":
        return name not in NEEDS_LOOPS
    if where == "weak, masks":  # some arm is revealed by no arm on offer
        return name == "AdaCBG, other numbers" or (
            name not in NEEDS_LOOPS and kind not in ("AdaCBG", "SquareCBG", "Exp3G")
        )
    if where == "counts" and kind in ("UCBN", "UCBMaxN", "TSN", "IDSN", "LinUCB", "LinTS"):
        return False  # counts have no known noise
    return not (kind.startswith("Exp3LGC") and where in ("linear, new arms", "clicks", "counts"))


def play(name: str, where: str, *, horizon_known: bool = True, chunk: int) -> Outcome:
    """Simulate it; the large environment has few rounds."""
    rounds, repeats = (12, 1) if where == "large" else (96, 2)
    arrays = simulated(
        variant(name),
        problem(where),
        rounds=rounds,
        repeats=repeats,
        seed=11,
        horizon_known=horizon_known,
        chunk=chunk,
    )
    numbers = {
        "final regret": float(arrays["regret"][:, -1].mean()),
        "mean probability": float(arrays["probability"].mean()),
        "last gamma": float(arrays["gamma"][-1]),
    }
    return Outcome(arrays, numbers)


for _name in VARIANTS:
    for _where in PROBLEMS:
        if plays(_name, _where) and (_name in BASES or _where in FEW or _where == "weak, masks"):
            add(
                f"learners/{_name}/{_where}",
                lambda chunk, name=_name, where=_where: play(name, where, chunk=chunk),
                # AdaCB.G solves these with HiGHS, and one variant of it will do
                slow=_where == "large"
                or (_name not in BASES and _where in ("weak", "edge probabilities"))
                or _name == "LateGraph, AdaCBG",
            )
    if _name in BASES:
        add(
            f"learners/{_name}/cliques, no horizon",
            lambda chunk, name=_name: play(name, "cliques", horizon_known=False, chunk=chunk),
        )
