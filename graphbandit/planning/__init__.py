"""From estimates to probabilities: exploration sets, the sampling program, SquareCB.G's program, the draw."""

from graphbandit.planning import squarecb_formulas
from graphbandit.planning.anytime import Effort
from graphbandit.planning.certified_program import SamplingSolution
from graphbandit.planning.counters import fallback_count, scaling_count, uncertified_count
from graphbandit.planning.demands import tight_demand
from graphbandit.planning.exploration import exploration_set, inverse_gap_baseline
from graphbandit.planning.sampling_program import solve_sampling_lp
from graphbandit.planning.squarecb_program import (
    SquareCBSolution,
    SquareCBSolutions,
    solve_squarecb_program,
    solve_squarecb_programs,
    squarecb_bound,
)

__all__ = [
    "Effort",
    "SamplingSolution",
    "SquareCBSolution",
    "SquareCBSolutions",
    "exploration_set",
    "fallback_count",
    "inverse_gap_baseline",
    "scaling_count",
    "solve_sampling_lp",
    "solve_squarecb_program",
    "solve_squarecb_programs",
    "squarecb_bound",
    "squarecb_formulas",
    "tight_demand",
    "uncertified_count",
]
