"""The learners, one algorithm a file."""

from graphbandit.learners.adacb_g import AdaCBG, AdaCBGState
from graphbandit.learners.base import Learner
from graphbandit.learners.epochs import EpochSchedule, EpochState
from graphbandit.learners.falcon import Falcon
from graphbandit.learners.greedy import Greedy
from graphbandit.learners.regcb_g import RegCBG
from graphbandit.learners.squarecb import SquareCB
from graphbandit.learners.squarecb_g import SquareCBG
from graphbandit.learners.uniform import Uniform

__all__ = [
    "AdaCBG",
    "AdaCBGState",
    "EpochSchedule",
    "EpochState",
    "Falcon",
    "Greedy",
    "Learner",
    "RegCBG",
    "SquareCB",
    "SquareCBG",
    "Uniform",
]
