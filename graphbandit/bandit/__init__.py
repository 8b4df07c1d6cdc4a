"""The everyday object: decide rounds, hand rewards back, save and load."""

from graphbandit.bandit.bandit import Bandit
from graphbandit.bandit.decider import Decider

__all__ = ["Bandit", "Decider"]
