"""Whatever a user hands in as features, as an encoder."""

import reprlib
from collections.abc import Mapping

from graphbandit.errors import SettingError
from graphbandit.features.base import Encoder
from graphbandit.features.features import Features
from graphbandit.features.transformer import TransformerFeatures


def as_encoder(features: object) -> Encoder:
    """The encoder that is meant: `Features` as given, `Features` of a dictionary of columns, or a wrapped transformer.

    >>> as_encoder({"age": "number"}).size
    3
    """
    if isinstance(features, Encoder):
        return features
    if isinstance(features, Mapping):
        return Features(features)
    if hasattr(features, "transform"):
        return TransformerFeatures(features)
    raise SettingError(
        f"features is {reprlib.repr(features)}; expected Features, a dictionary of columns, or a fitted transformer"
    )
