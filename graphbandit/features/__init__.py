"""Contexts and arms as people have them: named columns of numbers, texts and booleans, encoded as arrays."""

from graphbandit.features.base import Encoder, Tally
from graphbandit.features.features import Features
from graphbandit.features.kinds import Column, boolean, category, cyclic, number
from graphbandit.features.transformer import TransformerFeatures

__all__ = ["Column", "Encoder", "Features", "Tally", "TransformerFeatures", "boolean", "category", "cyclic", "number"]
