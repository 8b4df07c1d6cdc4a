"""All golden cases: importing the modules below fills the registry."""

from tests.golden import (  # noqa: F401
    bandit_cases,
    class_cases,
    environment_cases,
    experiment_cases,
    learner_cases,
    program_cases,
)
from tests.golden.registry import CASES, Case

__all__ = ["CASES", "Case"]
