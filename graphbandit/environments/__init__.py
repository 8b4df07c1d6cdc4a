"""Where contexts, graphs and rewards come from."""

from graphbandit.environments.arrays import ArrayEnvironment, from_arrays
from graphbandit.environments.base import Environment, Instance, Rounds
from graphbandit.environments.synthetic import SyntheticEnvironment, paper

__all__ = [
    "ArrayEnvironment",
    "Environment",
    "Instance",
    "Rounds",
    "SyntheticEnvironment",
    "from_arrays",
    "paper",
]
