"""Real data end to end: the Open Bandit sample against its on-policy means, a classification set against the truth."""

from pathlib import Path

import numpy as np
import pytest

import graphbandit as gb
from benchmarks.evaluation import real_data
from graphbandit.errors import InputError
from graphbandit.evaluation import Log, evaluate

DATA = Path(__file__).parents[3] / "shared" / "data"
if not DATA.exists():
    DATA = Path(__file__).parents[4] / "shared" / "data"
ARCHIVE = DATA / "open_bandit_small" / "obd_small.zip"
KEEL = DATA / "classification_small" / "keel.npz"


@pytest.mark.skipif(not ARCHIVE.exists(), reason="the Open Bandit sample is not there")
@pytest.mark.parametrize("method", ["ips", "graph-dr"])
def test_open_bandit(method, tmp_path):
    found = real_data.open_bandit(ARCHIVE, "men", method=method)
    assert [(row.policy, row.log_of) for row in found] == [("random", "bts"), ("bts", "random")]
    for row in found:
        assert row.agrees
        assert row.low <= row.on_policy[0] <= row.high
        assert 0.001 < row.value < 0.02
    data = real_data.read_open_bandit(ARCHIVE, "random", "men")
    log = data.log()
    log.write(tmp_path / "log")
    read = Log.read(tmp_path / "log")
    table = evaluate(read, {"random": "logged"}, method="ips", interval="asymptotic", by="position")
    mean, low, high = data.on_policy()
    assert table["random"].value == pytest.approx(mean, abs=1e-12)
    assert (table["random"].low, table["random"].high) == pytest.approx((low, high), abs=1e-10)
    assert {found.segment for found in table.segments} == {"0", "1", "2"}


def test_an_archive_that_is_not_one(tmp_path):
    (tmp_path / "x.zip").write_bytes(b"nothing")
    with pytest.raises(InputError, match="not the Open Bandit sample"):
        real_data.read_open_bandit(tmp_path / "x.zip", "random", "men")


@pytest.mark.skipif(not KEEL.exists(), reason="the classification sets are not there")
@pytest.mark.parametrize("method", ["ips", "graph-ips", "graph-dr"])
def test_classification(method):
    with np.load(KEEL) as arrays:
        features = arrays["segment_X"].astype(float)
        labels = np.unique(arrays["segment_y"], return_inverse=True)[1]
    table, truth = real_data.classification(features, labels, gb.graphs.clique_group(7, 2), method=method)
    for name, value in truth.items():
        assert table[name].low <= value <= table[name].high
    assert table["target"].value > table["uniform"].value
