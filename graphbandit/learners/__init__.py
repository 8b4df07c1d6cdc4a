"""The learners, one algorithm a file."""

from graphbandit.learners.adacb import AdaCB
from graphbandit.learners.adacb_g import AdaCBG, AdaCBGState
from graphbandit.learners.base import Learner
from graphbandit.learners.bootstrapped_thompson import BootstrappedThompson
from graphbandit.learners.epochs.base import EpochState
from graphbandit.learners.epochs.plausible import PlausibleState
from graphbandit.learners.epochs.schedule import EpochSchedule
from graphbandit.learners.epsilon_greedy import EpsilonGreedy
from graphbandit.learners.every_round.base import EveryRoundLearner
from graphbandit.learners.exp3_dom import Exp3DOM
from graphbandit.learners.exp3_g import Exp3G
from graphbandit.learners.exp3_ix import Exp3IX
from graphbandit.learners.exp3_lgc import Exp3LGCIX, Exp3LGCU
from graphbandit.learners.exp3_set import Exp3SET
from graphbandit.learners.explore_then_commit import ExploreThenCommit
from graphbandit.learners.falcon import Falcon
from graphbandit.learners.greedy import Greedy
from graphbandit.learners.ids_g import IDSG
from graphbandit.learners.ids_n import IDSN
from graphbandit.learners.late_graphs import LateGraph, LateGraphState
from graphbandit.learners.lin_ts import LinTS
from graphbandit.learners.lin_ucb import LinUCB
from graphbandit.learners.regcb import RegCB
from graphbandit.learners.regcb_g import RegCBG
from graphbandit.learners.squarecb import SquareCB
from graphbandit.learners.squarecb_g import SquareCBG
from graphbandit.learners.ts_n import TSN
from graphbandit.learners.ucb_max_n import UCBMaxN
from graphbandit.learners.ucb_n import UCBN
from graphbandit.learners.uniform import Uniform

__all__ = [
    "IDSG",
    "IDSN",
    "TSN",
    "UCBN",
    "AdaCB",
    "AdaCBG",
    "AdaCBGState",
    "BootstrappedThompson",
    "EpochSchedule",
    "EpochState",
    "EpsilonGreedy",
    "EveryRoundLearner",
    "Exp3DOM",
    "Exp3G",
    "Exp3IX",
    "Exp3LGCIX",
    "Exp3LGCU",
    "Exp3SET",
    "ExploreThenCommit",
    "Falcon",
    "Greedy",
    "LateGraph",
    "LateGraphState",
    "Learner",
    "LinTS",
    "LinUCB",
    "PlausibleState",
    "RegCB",
    "RegCBG",
    "SquareCB",
    "SquareCBG",
    "UCBMaxN",
    "Uniform",
]
