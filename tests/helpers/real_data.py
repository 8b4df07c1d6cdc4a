"""Real graphs and data sets, in the folder that GRAPHBANDIT_DATA names."""

import os
from pathlib import Path

import pytest


def real_data(*names: str) -> Path:
    """The folder, or a file in it; a test without it is skipped."""
    folder = os.environ.get("GRAPHBANDIT_DATA")
    if not folder:
        pytest.skip("GRAPHBANDIT_DATA names no folder of real data")
    path = Path(folder, *names)
    if not path.exists():
        pytest.skip(f"the folder of real data has no {'/'.join(names)}")
    return path
