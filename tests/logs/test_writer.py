"""The writer of logs: whatever kills it, all rows that were appended are there again."""

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import LogError, SettingError
from graphbandit.evaluation import Log, LogWriter
from graphbandit.logs import growing_file
from graphbandit.logs import writer as writer_module
from tests.helpers.processes import said_until_killed
from tests.logs.logged import logged


def append(writer: LogWriter, arrays: dict, rows: slice) -> np.ndarray:
    graphs = arrays["graphs"] if isinstance(arrays["graphs"], gb.FeedbackGraph) else arrays["graphs"][rows]
    ids = writer.append_decisions(
        contexts=arrays["contexts"][rows],
        graphs=graphs,
        actions=arrays["actions"][rows],
        probabilities=arrays["probabilities"][rows],
    )
    seen = arrays["rewards"][rows]
    places, arms = np.nonzero(~np.isnan(seen))
    writer.append_rewards(decisions=ids[places], arms=arms, rewards=seen[places, arms])
    return ids


def test_written_in_parts_and_continued(tmp_path):
    made = logged(n=100)
    for rows in (slice(0, 30), slice(30, 60), slice(60, 100)):
        with LogWriter(tmp_path / "log", n_arms=5, context_shape=(3,), rows_per_file=25) as writer:
            for start in range(rows.start, rows.stop, 10):
                ids = append(writer, made.arrays, slice(start, start + 10))
                assert ids.tolist() == list(range(start, start + 10))
                read = Log.read(tmp_path / "log")  # also while it is being written
                assert len(read) == start + 10
    batch = Log.read(tmp_path / "log").to_batch()
    assert np.array_equal(batch.rewards, made.arrays["rewards"], equal_nan=True)
    assert np.array_equal(batch.contexts, made.arrays["contexts"])
    assert len(list((tmp_path / "log" / "decisions").iterdir())) == 4
    assert len(list((tmp_path / "log" / "graphs").iterdir())) == 1


def test_whole_batches(tmp_path):
    made = logged(n=50)
    with LogWriter(tmp_path / "log", n_arms=5, context_shape=(3,)) as writer:
        for batch in made.log.batches(20):
            writer.append(batch)
    assert np.array_equal(Log.read(tmp_path / "log").to_batch().rewards, made.arrays["rewards"], equal_nan=True)


def test_graphs_beyond_what_is_shared_are_spelt_out(tmp_path, monkeypatch):
    monkeypatch.setattr(writer_module, "SHARED_BYTES", 40)
    rng = np.random.default_rng(0)
    graphs = gb.FeedbackGraphs.from_dense((rng.random((60, 5, 5)) < 0.4) | np.eye(5, dtype=bool))
    made = logged(n=60, graph=graphs)
    with LogWriter(tmp_path / "log", n_arms=5, context_shape=(3,)) as writer:
        append(writer, made.arrays, slice(0, 30))
    with LogWriter(tmp_path / "log") as writer:
        append(writer, made.arrays, slice(30, 60))
    log = Log.read(tmp_path / "log")
    assert log.to_batch().graphs == graphs
    tables = log.to_arrow()
    assert tables["graphs"].num_rows == 13  # of 3 bytes each
    assert tables["decisions"]["edges"].null_count == 13


def test_a_file_cut_at_any_byte_gives_its_whole_batches(tmp_path):
    made = logged(n=12)
    writer = LogWriter(tmp_path / "log", n_arms=5, context_shape=(3,))
    path = tmp_path / "log" / "decisions" / "000000.arrows"
    ends = []
    for start in range(0, 12, 4):
        append(writer, made.arrays, slice(start, start + 4))
        ends.append(path.stat().st_size)
    content = path.read_bytes()
    header = writer.layout.schema("decisions").serialize().size
    writer.close()
    for table in ("decisions", "rewards"):
        (tmp_path / "log" / table / "000000.parquet").unlink()
    for size in range(0, len(content) + 1, 5):
        path.write_bytes(content[:size])
        log = Log.read(tmp_path / "log")
        assert len(log) == 4 * sum(end <= size for end in ends)
        whole = max(end for end in (0, header, *ends) if end <= size)
        assert log.summary().lost_bytes == size - whole


WRITER = """
import sys
import numpy as np
import graphbandit as gb
from graphbandit.evaluation import LogWriter

writer = LogWriter(sys.argv[1], n_arms=4, context_shape=(2,), rows_per_file=40)
graph = gb.graphs.star(4, hub=0)
while True:
    ids = writer.append_decisions(
        contexts=np.full((3, 2), writer.next_id), graphs=graph, actions=[0, 1, 2], probabilities=np.full((3, 4), 0.25)
    )
    writer.append_rewards(decisions=ids, arms=[0, 1, 2], rewards=ids)
    print(ids[-1], flush=True)
"""


def test_kill_at_any_moment(tmp_path):
    folder, rng = tmp_path / "log", np.random.default_rng(0)
    acknowledged: list[int] = []
    recovered = 0
    for kill in range(20):
        lines, wait = int(rng.integers(5, 60)), float(rng.random()) * 0.01
        said = said_until_killed(WRITER, folder, lines=lines, wait=wait)
        acknowledged += [int(line) - back for line in said for back in (2, 1, 0)]
        log = Log.read(folder)
        batch = log.to_batch()
        assert acknowledged[-1] <= batch.ids[-1] <= acknowledged[-1] + 3
        assert np.array_equal(batch.ids, np.arange(len(batch)))
        assert np.array_equal(batch.rewards[acknowledged, batch.actions[acknowledged]], acknowledged)
        if kill >= 3:  # before, the next child recovers what this one has left
            with LogWriter(folder) as writer:
                recovered += writer.recovered_rows
                assert writer.next_id == len(log)
            if recovered:  # or the kill came just when a file was full
                break
    assert recovered > 0
    assert not list(folder.glob("*/*.arrows"))
    assert len(Log.read(folder)) == len(log)


def test_one_writer_at_a_time(tmp_path):
    with LogWriter(tmp_path / "log", n_arms=2), pytest.raises(LogError, match="another process"):
        LogWriter(tmp_path / "log")
    LogWriter(tmp_path / "log").close()


def test_bad_input_is_refused_and_changes_nothing(tmp_path):
    made = logged(n=20)
    with pytest.raises(SettingError, match="n_arms is None"):
        LogWriter(tmp_path / "log")
    with LogWriter(tmp_path / "log", n_arms=5, context_shape=(3,)) as writer:
        append(writer, made.arrays, slice(0, 10))
        for arguments, message in [
            ({"decisions": [99], "arms": [0], "rewards": [1.0]}, "the decision is 99"),
            ({"decisions": [1], "arms": [5], "rewards": [1.0]}, "the arm is 5"),
            ({"decisions": [1], "arms": [0], "rewards": [np.nan]}, "the reward is nan"),
            ({"decisions": [1, 2], "arms": [0], "rewards": [1.0]}, "there are 2 decisions"),
        ]:
            with pytest.raises(LogError, match=message):
                writer.append_rewards(**arguments)
        with pytest.raises(LogError, match="expected at least 10"):
            writer.append(made.log[:5].to_batch())
        with pytest.raises(LogError, match="sum to"):
            writer.append_decisions(contexts=np.zeros((1, 3)), actions=[0], probabilities=[[0.9] * 5])
    assert len(Log.read(tmp_path / "log")) == 10
    with pytest.raises(LogError, match="the log has 5 arms"):
        LogWriter(tmp_path / "log", n_arms=4, context_shape=(3,))


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    made = logged(n=20)
    writer = LogWriter(tmp_path / "log", n_arms=5, context_shape=(3,), sync="append")
    append(writer, made.arrays, slice(0, 5))
    real, calls = growing_file.write_all, []

    def fail(file, data):
        calls.append(1)
        real(file, memoryview(data)[:30])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(growing_file, "write_all", fail)
    with pytest.raises(LogError, match="No space left"):
        append(writer, made.arrays, slice(5, 10))
    monkeypatch.setattr(growing_file, "write_all", real)
    append(writer, made.arrays, slice(5, 10))
    writer.close()
    assert np.array_equal(Log.read(tmp_path / "log").to_batch().rewards, made.arrays["rewards"][:10], equal_nan=True)


def test_arms_join_a_log(tmp_path):
    edges = gb.ProbabilisticGraph.from_graph(gb.graphs.star(2, hub=0), 0.5).matrix
    graphs = [gb.graphs.star(2, hub=0), gb.ProbabilisticGraphs.from_dense(edges[None])]
    with LogWriter(tmp_path / "log", n_arms=2, arms=["a", "b"]) as writer:
        for graph in graphs:
            writer.append_decisions(actions=[0], probabilities=[[0.5, 0.5]], graphs=graph)
        for n_arms, arms in ((3, ["a", "c", "b"]), (1, ["a"]), (3, None)):
            with pytest.raises(LogError, match="the log has the arms a, b; expected these and others behind them"):
                writer.grow(n_arms, arms)
        reader = Log.read(tmp_path / "log")
        writer.grow(3, ["a", "b", "c"])
        writer.append_decisions(actions=[2], probabilities=[[0.25, 0.25, 0.5]], graphs=gb.graphs.complete(3))
        assert reader.to_batch().n_arms == 2  # what was opened before stays as it was
        log = Log.read(tmp_path / "log")
        assert log.to_batch().q.tolist() == [[1, 1, 0], [0.75, 0.75, 0], [1, 1, 1]]
    with LogWriter(tmp_path / "log") as writer:
        assert writer.layout.stamp.arms == ("a", "b", "c")
        writer.append_decisions(actions=[1], probabilities=[[0.25, 0.25, 0.5]], graphs=gb.graphs.bandit(3))
    assert Log.read(tmp_path / "log").to_batch().graphs.matrix(3).tolist() == np.eye(3).tolist()
