"""A rule keeps its form for kernels, which has an address of this process in it."""

import copy
import pickle

import pytest

from graphbandit.planning.sampled_rounds import SamplingRule


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda rule: pickle.loads(pickle.dumps(rule))])
def test_a_copy_of_a_rule_finds_its_own_addresses(copied: object) -> None:
    rule = SamplingRule(explore="candidates", coverage="tight", rate=2.0, by_cover=True, doubt=0.2)
    assert rule.in_kernels.cover != 0
    assert rule.solvers.program != 0
    assert callable(copied)
    other = copied(rule)
    assert other == rule
    assert not {"in_kernels", "solvers"} & set(other.__dict__)
    assert other.in_kernels == rule.in_kernels


def test_a_rule_without_its_program_plays_the_baseline() -> None:
    rule = SamplingRule(explore="all", coverage="tight", rate=2.0)
    assert rule.without_program == SamplingRule(explore="all", coverage="none", rate=2.0)
