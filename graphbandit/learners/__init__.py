"""The learners, one algorithm a file."""

from graphbandit.learners.adacb import AdaCB
from graphbandit.learners.adacb_g import AdaCBG, AdaCBGState
from graphbandit.learners.base import Learner
from graphbandit.learners.bootstrapped_thompson import BootstrappedThompson
from graphbandit.learners.epochs import EpochSchedule, EpochState
from graphbandit.learners.epsilon_greedy import EpsilonGreedy
from graphbandit.learners.explore_then_commit import ExploreThenCommit
from graphbandit.learners.falcon import Falcon
from graphbandit.learners.greedy import Greedy
from graphbandit.learners.ids_g import IDSG
from graphbandit.learners.plausible import PlausibleState
from graphbandit.learners.regcb import RegCB
from graphbandit.learners.regcb_g import RegCBG
from graphbandit.learners.uniform import Uniform

__all__ = [
    "IDSG",
    "AdaCB",
    "AdaCBG",
    "AdaCBGState",
    "BootstrappedThompson",
    "EpochSchedule",
    "EpochState",
    "EpsilonGreedy",
    "ExploreThenCommit",
    "Falcon",
    "Greedy",
    "Learner",
    "PlausibleState",
    "RegCB",
    "RegCBG",
    "Uniform",
]
