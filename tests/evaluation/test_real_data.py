"""Real data end to end: the Open Bandit sample against its on-policy means, a classification set against the truth."""

import numpy as np
import pytest

import graphbandit as gb
from benchmarks.evaluation.real_data import classification, open_bandit, read_open_bandit
from graphbandit.errors import InputError
from graphbandit.evaluation import Log, evaluate
from tests.helpers.real_data import real_data


@pytest.mark.parametrize("method", ["ips", "graph-dr"])
def test_open_bandit(method, tmp_path):
    archive = real_data("open_bandit_small", "obd_small.zip")
    found = open_bandit(archive, "men", method=method)
    assert [(row.policy, row.log_of) for row in found] == [("random", "bts"), ("bts", "random")]
    for row in found:
        assert row.agrees
        assert row.low <= row.on_policy[0] <= row.high
        assert 0.001 < row.value < 0.02
    data = read_open_bandit(archive, "random", "men")
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
        read_open_bandit(tmp_path / "x.zip", "random", "men")


@pytest.mark.parametrize("method", ["ips", "graph-ips", "graph-dr"])
def test_classification(method):
    with np.load(real_data("classification_small", "keel.npz")) as arrays:
        features = arrays["segment_X"].astype(float)
        labels = np.unique(arrays["segment_y"], return_inverse=True)[1]
    table, truth = classification(features, labels, gb.graphs.clique_group(7, 2), method=method)
    for name, value in truth.items():
        assert table[name].low <= value <= table[name].high
    assert table["target"].value > table["uniform"].value
