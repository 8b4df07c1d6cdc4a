"""Files name classes of the package, which is loaded lazily: this module loads all of them."""

from functools import cache

from graphbandit import function_classes, learners


@cache
def load_savable_classes() -> None:
    """Load every learner and function class, with their states, so that a file may name them."""
    for package in (function_classes, learners):
        for name in package.__all__:
            getattr(package, name)
