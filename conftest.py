"""Test set-up: one thread for fits and linear algebra, quick garbage collection and, on demand, checks of shapes.

With GRAPHBANDIT_CHECK_SHAPES=1 the shapes and types in annotations are checked at every call, everywhere but inside
kernels. It is a pass of its own, because tests that hand in bad input on purpose would be stopped by the annotations
before they reach the package's own errors.
"""

import gc
import os
import pkgutil
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

import tests.helpers.shapes  # noqa: F401  # the hook below names it

for library in ("OMP", "OPENBLAS", "MKL"):
    # Tests run side by side, each on a core of its own, so more threads only wait for each other: small fits of
    # scikit-learn and PyTorch take twice as long with them. Workers inherit this before they load any library.
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

if os.environ.get("GRAPHBANDIT_CHECK_SHAPES") == "1":
    package = Path(__file__).parent / "graphbandit"
    modules = [f"graphbandit.{module.name}" for module in pkgutil.iter_modules([str(package)])]
    modules.remove("graphbandit.kernels")
    install_import_hook(modules, "tests.helpers.shapes.check")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave out of garbage collection what stays to the end.

    That is thousands of tests and all the libraries: looking through them takes half a second each time.
    """
    gc.collect()
    gc.freeze()
