"""Results are those that were frozen, to the bit; GRAPHBANDIT_TEST_GOLDEN=1 compares all of them.

On a machine of another kind, or with other libraries, the last bits are others: there, what was decided is the same.
"""

import os

import pytest

from graphbandit.environments.named_datasets import DIRECTORY_VARIABLE
from tests.golden.cases import CASES
from tests.golden.frozen import differences, differences_elsewhere, here, read
from tests.golden.learner_cases import LEARNERS, VARIANTS
from tests.golden.registry import one_thread

FROZEN = read()
ALL = os.environ.get("GRAPHBANDIT_TEST_GOLDEN") == "1"
GROUPS = sorted({"/".join(name.split("/")[:2]) for name in CASES})


def test_every_learner_has_a_case():
    without = sorted(set(LEARNERS) - {kind for kind, _ in VARIANTS.values()})
    assert not without, (
        f"no golden case plays {', '.join(without)}: add a line to VARIANTS of tests/golden/learner_cases.py, "
        f"and freeze its results with python -m tests.golden --only '*/{without[0]}/*' and 'experiments/every kind'"
    )


def test_every_case_is_frozen():
    assert sorted(FROZEN.results) == sorted(CASES)


@pytest.mark.parametrize("group", GROUPS)
def test_results_are_the_frozen_ones(group):
    same_libraries = {**here(), "machine": ""} == {**FROZEN.made_with, "machine": ""}
    if not same_libraries and not ALL:
        pytest.skip("results depend on libraries: golden.json was made with other versions of them")
    data = bool(os.environ.get(DIRECTORY_VARIABLE))
    cases = [
        case
        for case in CASES.values()
        if case.name.startswith(f"{group}/") or case.name == group
        if (ALL or not case.slow) and (data or not case.needs_data)
    ]
    if not cases:
        pytest.skip("slow: see GRAPHBANDIT_TEST_GOLDEN, or needs data sets in files")
    with one_thread():
        found = {case.name: case.frozen() for case in cases}
    compare = differences if here() == FROZEN.made_with else differences_elsewhere
    assert not compare(FROZEN.results, found)
