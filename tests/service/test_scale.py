"""The page on scale: its tables come from commands, and its consequences from its coefficients."""

from pathlib import Path

import numpy as np
import pytest

import graphbandit as gb
from benchmarks.lag import LAGS, Lag, picture, regret, table
from benchmarks.pages import DOCS, put
from benchmarks.scale import PARTS, Costs, coefficients, consequences

COSTS = Costs(
    decision=dict(zip(PARTS, (4e-4, 1e-4, 5e-5, 0.0), strict=True)),
    rewards=dict(zip(PARTS, (4e-4, 1e-4, 5e-5, 0.0), strict=True)),
    decision_bytes=1400.0,
    reward_bytes=200.0,
    viewer=0.006,
)


def test_consequences_follow_from_coefficients() -> None:
    text = consequences({"SQLite": COSTS})
    assert "1,250 (decider), 5,000 (writer), 10,000 (learner)" in text
    assert "| 10 x | 5,000 | 4.0 | 1.0 | 0.5 | 864 GB a day |" in text
    rows = coefficients({"SQLite": COSTS, "PostgreSQL": COSTS})
    assert "| decider, a decision | 400 us | 400 us | K and d |" in rows
    assert "| the page, a viewer, each second | 6.0 ms | 6.0 ms | viewers |" in rows


def test_the_page_has_room_for_its_tables(tmp_path: Path) -> None:
    page = tmp_path / "scale.md"
    page.write_text((DOCS / "scale.md").read_text())
    for name in ("coefficients", "consequences", "lag"):
        put(page, name, "| new |")
        put(page, name, "| newer |")
        assert f"<!-- {name} -->\n\n| newer |\n\n<!-- end of {name} -->" in page.read_text()
    assert "| new |" not in page.read_text()
    with pytest.raises(ValueError, match="nothing"):
        put(page, "nothing", "")


def test_lag_is_paid_until_the_first_snapshot_comes(tmp_path: Path) -> None:
    environment = gb.environments.linear(n_arms=5, dimension=3, graph="random", noise=0.5)
    at_once, late = (regret(gb.AdaCBG(), environment, Lag(delay=delay), 200, 0) for delay in (0, 50))
    assert (np.diff(late) >= 0).all()
    assert late[-1] > at_once[-1]
    assert late[-1] - late[99] < late[49], "the second half costs less than the wait"
    found = {(name, lag): np.stack([late, at_once]) for name in ("IDS.G", "AdaCB.G") for lag in LAGS}
    assert "| 1,000 rounds late |" in table(found)
    picture(found, tmp_path / "lag.svg")
    assert (tmp_path / "lag.svg").stat().st_size > 1000
