"""The everyday object: decide rounds, hand rewards back, save and load."""

from graphbandit.bandit.decider import Decider
from graphbandit.bandit.bandit import Bandit

__all__ = ["Bandit", "Decider"]
