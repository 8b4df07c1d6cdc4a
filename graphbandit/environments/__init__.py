"""Where contexts, graphs and rewards come from."""

from graphbandit.base.public_names import listing
from graphbandit.environments.arm_graphs import confusion_graph, confusions, hierarchy_graph, similarity_graph
from graphbandit.environments.arms import ArmsEnvironment, arms
from graphbandit.environments.arrays import ArrayEnvironment, from_arrays
from graphbandit.environments.base import Environment, Instance, Rounds
from graphbandit.environments.classification import classification
from graphbandit.environments.data_files import LabelledData, RatingData, read_labelled, read_ratings
from graphbandit.environments.known_rewards import KnownRewardsEnvironment
from graphbandit.environments.linear import LinearEnvironment, linear
from graphbandit.environments.named_datasets import load_dataset
from graphbandit.environments.probabilistic import ProbabilisticEnvironment, probabilistic
from graphbandit.environments.ratings import ratings
from graphbandit.environments.synthetic import SyntheticEnvironment, paper
from graphbandit.environments.units import UnitsEnvironment, units

__all__ = [
    "ArmsEnvironment",
    "ArrayEnvironment",
    "Environment",
    "Instance",
    "KnownRewardsEnvironment",
    "LabelledData",
    "LinearEnvironment",
    "ProbabilisticEnvironment",
    "RatingData",
    "Rounds",
    "SyntheticEnvironment",
    "UnitsEnvironment",
    "arms",
    "classification",
    "confusion_graph",
    "confusions",
    "from_arrays",
    "hierarchy_graph",
    "linear",
    "load_dataset",
    "paper",
    "probabilistic",
    "ratings",
    "read_labelled",
    "read_ratings",
    "similarity_graph",
    "units",
]

__dir__ = listing(globals())
