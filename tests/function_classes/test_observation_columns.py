"""The growing store of observations: values that share memory and never disturb each other."""

import copy
import pickle

import numpy as np
import pytest

from graphbandit.base import saved_files
from graphbandit.errors import InputError
from graphbandit.function_classes.observation_columns import ObservationColumns


def rows(rng, n):
    return rng.normal(size=(n, 3)), rng.integers(0, 5, n), rng.normal(size=n), rng.integers(0, 9, n)


def same(columns, contexts, arms, rewards, rounds):
    np.testing.assert_array_equal(columns.contexts, contexts)
    np.testing.assert_array_equal(columns.arms, arms)
    np.testing.assert_array_equal(columns.rewards, rewards)
    np.testing.assert_array_equal(columns.rounds, rounds)


def test_parts_are_the_whole_and_old_values_stay():
    rng = np.random.default_rng(0)
    whole = rows(rng, 500)
    value, kept, start = ObservationColumns.empty((3,)), [], 0
    for size in (0, 1, 1, 30, 100, 0, 68, 300):
        value = value.append(*(column[start : start + size] for column in whole))
        start += size
        kept.append((start, value))
    for count, old in kept:
        assert len(old) == count
        same(old, *(column[:count] for column in whole))


def test_two_values_may_grow_out_of_one():
    rng = np.random.default_rng(1)
    stem = rows(rng, 20)
    one = ObservationColumns.empty((3,)).append(*stem)
    left, right = rows(rng, 4), rows(rng, 4)
    grown_left, grown_right = one.append(*left), one.append(*right)
    same(grown_left, *(np.concatenate(pair) for pair in zip(stem, left, strict=True)))
    same(grown_right, *(np.concatenate(pair) for pair in zip(stem, right, strict=True)))
    same(one, *stem)


def test_growth_copies_each_row_a_few_times_at_most():
    value, copies, previous = ObservationColumns.empty((1,)), 0, None
    for i in range(4000):
        value = value.append(np.full((1, 1), float(i)), np.array([0]), np.array([0.0]), np.array([i]))
        if previous is None or not np.shares_memory(previous.contexts, value.contexts):
            copies += len(value)
        previous = value
    assert copies < 3 * 4000


def test_what_is_held_cannot_be_written_to():
    value = ObservationColumns.empty((3,)).append(*rows(np.random.default_rng(2), 2))
    with pytest.raises(ValueError, match="read-only"):
        value.rewards[0] = 1.0


@pytest.mark.parametrize("round_trip", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies_grow_alone(round_trip):
    stem = rows(np.random.default_rng(3), 7)
    value = ObservationColumns.empty((3,)).append(*stem)
    other = round_trip(value)
    other.append(*stem)
    same(value, *stem)
    same(other, *stem)


def test_saved_files_hold_the_rows_and_no_more(tmp_path):
    stem = rows(np.random.default_rng(4), 7)
    value = ObservationColumns.empty((3,)).append(*stem)
    saved_files.write(tmp_path / "file", "test", {"columns": value})
    same(saved_files.read(tmp_path / "file", "test", dict)["columns"], *stem)
    exact = ObservationColumns(contexts=stem[0], arms=stem[1], rewards=stem[2], rounds=stem[3])
    saved_files.write(tmp_path / "exact", "test", {"columns": exact})
    assert (tmp_path / "file").read_bytes() == (tmp_path / "exact").read_bytes()


@pytest.mark.parametrize(
    ("contexts", "arms", "rewards"),
    [
        (np.zeros((2, 4)), np.zeros(2, dtype=int), np.zeros(2)),
        (np.zeros((2, 3)), np.zeros(3, dtype=int), np.zeros(2)),
        (np.zeros((2, 3)), np.zeros(2, dtype=int), np.zeros((2, 1))),
        (np.zeros((2, 3)), np.zeros(2), np.zeros(2)),
        (np.zeros((2, 3), dtype=object), np.zeros(2, dtype=int), np.zeros(2)),
    ],
)
def test_rows_that_do_not_fit_are_refused(contexts, arms, rewards):
    with pytest.raises(InputError, match="expected"):
        ObservationColumns.empty((3,)).append(contexts, arms, rewards, np.arange(2))
