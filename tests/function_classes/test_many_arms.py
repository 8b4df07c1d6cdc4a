"""Many arms: a superset of the candidates that takes time linear in their number, and draws in one call."""

from fractions import Fraction

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.function_classes import ellipsoid


@pytest.mark.parametrize("radius", [0.01, 0.3, 5.0])
def test_beyond_some_number_of_arms_candidates_are_a_superset(monkeypatch: pytest.MonkeyPatch, radius: float) -> None:
    rng = np.random.default_rng(0)
    functions = gb.LinearClass(n_arms=60, dimension=4, ridge=1.0)
    contexts = rng.normal(size=(40, 60, 4))
    seen = gb.Observations.from_masks(contexts, rng.random((40, 60)) < 0.1, contexts @ rng.normal(size=4))
    space = functions.version_space(functions.add(functions.empty(), seen), radius)
    available = rng.random((40, 60)) < 0.8
    exact = functions.candidates(space, contexts, available)
    assert functions.exact_candidates
    monkeypatch.setattr(ellipsoid, "EXACT_ARMS", 0)
    more = functions.candidates(space, contexts, available)
    assert (more >= exact).all()
    assert (more <= available).all()
    assert more.sum() < available.sum()
    assert not gb.LinearClass(n_arms=301, dimension=4).exact_candidates
    assert gb.LinearClass(n_arms=301, dimension=4, parameters="per-arm").exact_candidates


@pytest.mark.parametrize("parameters", ["shared", "per-arm"])
def test_draws_are_evaluated_together_as_one_by_one(parameters: str) -> None:
    rng = np.random.default_rng(1)
    functions = gb.LinearClass(n_arms=7, dimension=3, parameters=parameters, ridge=1.0)  # type: ignore[arg-type]
    contexts = rng.normal(size=(5, 7, 3))
    draws = functions.draws(functions.empty(), noise=1.0, count=9, rng=rng)
    values = functions.draw_values(draws, contexts)
    for b in range(9):
        model = ellipsoid.LinearModel(parameters=draws.members.parameters[b])
        # with one theta for all arms, products are rounded together with the sums
        np.testing.assert_allclose(values[:, b], functions.predict(model, contexts), rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("n", "n_arms", "d", "draws", "shared"), [(1, 1, 1, 1, 0), (3, 13, 7, 5, 0), (2, 300, 4, 9, 0), (2, 9, 3, 6, 1)]
)
def test_values_of_draws_are_sums_in_the_order_of_coordinates(
    n: int, n_arms: int, d: int, draws: int, shared: bool
) -> None:
    """To the last bit: arms and draws are taken several at a time, coordinates one after another.

    A product is rounded together with the sum, which Fraction gives exactly.
    """
    from graphbandit.kernels.function_classes.linear import drawn_values

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 1 if shared else n_arms, d))
    parameters, offsets = rng.normal(size=(draws, d)), rng.normal(size=draws)
    values, expected = np.empty((n, draws, n_arms)), np.zeros((n, draws, n_arms))
    drawn_values(rows, np.inf, parameters, offsets, values)
    for t, b, a in np.ndindex(n, draws, n_arms):
        for phi, theta in zip(rows[t, 0 if shared else a], parameters[b], strict=True):
            expected[t, b, a] = float(Fraction(expected[t, b, a]) + Fraction(phi) * Fraction(theta))
    assert np.array_equal(values, expected + offsets[None, :, None])
