"""What travels in a round: what a learner is shown, what it decides, what it learns from."""

from graphbandit.base.program_constants import SOLVERS
from graphbandit.base.public_names import listing
from graphbandit.rounds.decision import Decision
from graphbandit.rounds.decisions import Decisions
from graphbandit.rounds.observations import Observations
from graphbandit.rounds.shown import Shown

__all__ = ["SOLVERS", "Decision", "Decisions", "Observations", "Shown"]

__dir__ = listing(globals())
