"""Contexts and arms with named columns of numbers, texts and booleans, encoded as arrays."""

from graphbandit.base.public_names import listing
from graphbandit.features.arm_features import ArmFeatures
from graphbandit.features.base import NOTHING, Encoder, Tally
from graphbandit.features.column_kinds import Column, boolean, category, cyclic, number
from graphbandit.features.features import Features, as_encoder
from graphbandit.features.pair_features import pair_features, pair_names
from graphbandit.features.transformer import TransformerFeatures

__all__ = [
    "NOTHING",
    "ArmFeatures",
    "Column",
    "Encoder",
    "Features",
    "Tally",
    "TransformerFeatures",
    "as_encoder",
    "boolean",
    "category",
    "cyclic",
    "number",
    "pair_features",
    "pair_names",
]

__dir__ = listing(globals())
