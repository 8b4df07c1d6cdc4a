"""Arms with features of any name: hashed to the numbers that the documentation says."""

import hashlib

import numpy as np
import pytest

from graphbandit.errors import InputError
from graphbandit.service.encoding import Hashed

SIZE = 7


def literal_row(values):
    """The sum of the hashed features, of length 1: a digest names the place and, by its lowest bit, the sign."""
    row = np.zeros(SIZE)
    for name, value in values.items():
        number = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")
        row[(number >> 1) % SIZE] += value * (1 if number % 2 else -1)
    return row / np.linalg.norm(row)


def test_features_and_their_pairs_with_the_context_are_hashed():
    hashed = Hashed(SIZE, 4)
    arms, tally = hashed.rows([{"price": 2.5, "tags": ["new", "hot"], "maker": {"land": "DE", "old": True}}, {}])
    rows, again = hashed.paired({"age": 31, "gone": None}, arms)
    alone = {"a.price": 2.5, "a.tags=new": 1.0, "a.tags=hot": 1.0, "a.maker.land=DE": 1.0, "a.maker.old=True": 1.0}
    pairs = {f"{name}\0c.age": value * 31 for name, value in alone.items()}
    np.testing.assert_allclose(rows[0], literal_row(alone | pairs))
    np.testing.assert_allclose(rows[1], literal_row({"a": 1.0, "a\0c.age": 31.0}))
    assert not rows[2:].any()
    assert tally == again
    assert not tally.unknown
    assert not tally.missing


@pytest.mark.parametrize("value", [1e13, -1e300, float("nan")])
def test_numbers_that_would_drown_the_others_are_refused(value):
    with pytest.raises(InputError, match=r"a\.price is .*; expected a number up to 1e12 in size"):
        Hashed(SIZE, 4).rows([{"price": value}])
