"""Two calculations at the same time: results, errors, and no thread that is left."""

import threading

import pytest

from graphbandit.base.two_threads import both


@pytest.mark.parametrize("at_once", [True, False])
def test_both_results_come_and_no_thread_stays(at_once):
    here = threading.get_ident()
    assert both(threading.get_ident, lambda: 2, at_once=at_once) == (here, 2)
    second = both(lambda: None, threading.get_ident, at_once=at_once)[1]
    assert (second != here) == at_once
    assert not at_once or second not in {thread.ident for thread in threading.enumerate()}


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("place", [0, 1])
def test_an_error_of_either_arrives(at_once, place):
    def fails():
        raise LookupError("not found")

    tasks = [lambda: 1, lambda: 2]
    tasks[place] = fails
    with pytest.raises(LookupError, match="not found"):
        both(*tasks, at_once=at_once)
