"""Learners that learn in every round, with settings that take any reward, for the tests of the interface."""

import graphbandit as gb

EVERY_ROUND = {
    "UCB-N": gb.learners.UCBN(),
    "UCB-MaxN": gb.learners.UCBMaxN(),
    "TS-N": gb.learners.TSN(prior_scale=2.0),
    "IDS-N": gb.learners.IDSN(),
    "EXP3-SET": gb.learners.Exp3SET(low=-2.0, high=2.0, clip=True),
    "EXP3-DOM": gb.learners.Exp3DOM(low=-2.0, high=2.0, clip=True),
    "EXP3.G": gb.learners.Exp3G(low=-2.0, high=2.0, clip=True),
    "EXP3-IX": gb.learners.Exp3IX(low=-2.0, high=2.0, clip=True),
    "LinUCB": gb.LinUCB(intercept=True),
    "LinTS": gb.LinTS(intercept=True),
    "EXP3-LGC-U": gb.learners.Exp3LGCU(clip=True),
    "EXP3-LGC-IX": gb.learners.Exp3LGCIX(clip=True),
}
