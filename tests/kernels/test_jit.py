"""Kernels that return numbers alone borrow arrays from Python, and inner kernels have no machine code of their own."""

import gc
import sys

import numpy as np
import pytest
from numba.core.registry import cpu_target

from graphbandit.kernels.jit import inner, kernel


@kernel()
def exchanged_sum(first, second, rounds):
    """Exchange two arrays again and again, and look at slices of them: all of it would be counted as references."""
    total = 0.0
    for _ in range(rounds):
        first, second = second, first
        part = first[1:]
        total += part[0]
    return total, len(second)


@kernel()
def checked_last(values, place):
    """The last value, or an error."""
    if place >= len(values):
        raise IndexError("beyond the end")
    return values[place]


@kernel()
def tail(values):
    """An array that shares the memory of the one it is made from."""
    return values[1:]


def test_kernels_that_return_numbers_leave_the_references_to_their_arrays_alone():
    first, second = np.arange(4.0), np.arange(4.0) + 10.0
    before = sys.getrefcount(first), sys.getrefcount(second)
    for _ in range(100):
        assert exchanged_sum(first, second, 3) == (11.0 + 1.0 + 11.0, 4)
    assert (sys.getrefcount(first), sys.getrefcount(second)) == before


def test_they_take_arrays_that_nobody_else_holds():
    for _ in range(100):
        assert exchanged_sum(np.arange(4.0), np.arange(4.0) + 10.0, 1) == (11.0, 4)


def test_an_error_leaves_the_references_alone_too():
    values = np.arange(3.0)
    before = sys.getrefcount(values)
    for _ in range(100):
        with pytest.raises(IndexError, match="beyond the end"):
            checked_last(values, 3)
    assert checked_last(values, 2) == 2.0
    assert sys.getrefcount(values) == before


def test_what_a_kernel_returns_outlives_what_it_was_made_from():
    values = np.arange(5.0)
    kept = tail(values)
    del values
    gc.collect()
    others = [np.full(5, -1.0) for _ in range(100)]  # they would take the memory if it were free
    np.testing.assert_array_equal(kept, [1.0, 2.0, 3.0, 4.0])
    assert not any(np.shares_memory(kept, other) for other in others)


@inner()
def doubled(value):
    return 2.0 * value


@kernel()
def fourfold(value):
    return doubled(doubled(value))


def test_an_inner_kernel_has_no_machine_code_but_that_of_its_callers():
    """It would not be optimised, and every kernel that this process compiles would call it."""
    assert fourfold(1.5) == 6.0
    part, whole = (next(iter(function.overloads.values())).fndesc for function in (doubled, fourfold))
    engine = cpu_target.target_context.codegen()._engine
    assert engine.is_symbol_defined(whole.llvm_func_name)
    assert not engine.is_symbol_defined(part.llvm_func_name)
    with pytest.raises(TypeError, match="doubled is an inner kernel"):
        doubled(1.5)
