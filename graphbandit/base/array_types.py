"""Names for the arrays that most signatures share: what an axis is, said once.

Each is an annotation of `base.shapes`: saved files and checked calls treat it as if it were written out.
"""

import numpy as np

from graphbandit.base.shapes import Bool, Float, Int, Shaped

PerArm = Float[np.ndarray, " arms"]
ArmMask = Bool[np.ndarray, " arms"]
ArmIndices = Int[np.ndarray, " arms"]
ArmsByArms = Float[np.ndarray, "arms arms"]

PerRound = Float[np.ndarray, " n"]
RoundMask = Bool[np.ndarray, " n"]
RoundIndices = Int[np.ndarray, " n"]

RoundsByArms = Float[np.ndarray, "n arms"]
ArmMasks = Bool[np.ndarray, "n arms"]
Offers = Bool[np.ndarray, "masks arms"]
"""The arms on offer: one mask for all rounds, or one each."""

Contexts = Shaped[np.ndarray, "n ..."]

PerObservation = Float[np.ndarray, " observed"]
ObservationIndices = Int[np.ndarray, " observed"]

Vector = Float[np.ndarray, " d"]
Matrix = Float[np.ndarray, "d d"]
