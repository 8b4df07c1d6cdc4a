"""Learners that learn in every round, with settings that take any reward, for the tests of the interface."""

import graphbandit as gb

EVERY_ROUND = {
    "UCB-N": gb.UCBN(),
    "UCB-MaxN": gb.UCBMaxN(),
    "TS-N": gb.TSN(prior_scale=2.0),
    "IDS-N": gb.IDSN(),
    "EXP3-SET": gb.Exp3SET(low=-2.0, high=2.0, clip=True),
    "EXP3-DOM": gb.Exp3DOM(low=-2.0, high=2.0, clip=True),
    "EXP3.G": gb.Exp3G(low=-2.0, high=2.0, clip=True),
    "EXP3-IX": gb.Exp3IX(low=-2.0, high=2.0, clip=True),
    "LinUCB": gb.LinUCB(intercept=True),
    "LinTS": gb.LinTS(intercept=True),
    "EXP3-LGC-U": gb.Exp3LGCU(clip=True),
    "EXP3-LGC-IX": gb.Exp3LGCIX(clip=True),
}
