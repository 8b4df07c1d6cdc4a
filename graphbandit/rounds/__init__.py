"""What travels between environment, learner and user: observations one way, decisions the other."""

from graphbandit.rounds.decisions import Decision, Decisions
from graphbandit.rounds.observations import Observations

__all__ = ["Decision", "Decisions", "Observations"]
