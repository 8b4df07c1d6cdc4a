"""The fixed part of the trial that is in the suite, and that nothing public is left out of it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.fuzz.functions import found
from tests.fuzz.recipes import World, arguments
from tests.fuzz.subjects import CLASSES, RECIPES

SCALE = os.environ.get("GRAPHBANDIT_TEST_FUZZ", "1")


def test_nothing_breaks():
    command = [sys.executable, "-m", "tests.fuzz", "--seed", "0", "--scale", SCALE]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stdout + done.stderr
    counts = {what: int(n.replace(",", "")) for n, what in re.findall(r"^ +([\d,]+)  (.*)$", done.stdout, re.MULTILINE)}
    for what in (
        "bad calls refused",
        "calls interrupted at an instruction",
        "damaged files",
        "decisions of a shared bandit",
        "processes killed while they saved",
        "saves on a full disk",
        "sampling programs, simplex",
        "twins compared",
    ):
        assert counts[what] > 0


def test_every_function_class_has_a_recipe():
    assert {one.__name__ for one in CLASSES} == set(RECIPES)


def test_every_public_function_can_be_given_arguments():
    """A parameter of a type that no recipe makes raises: add one to tests/fuzz/recipes.py."""
    world = World(np.random.default_rng(0))
    functions = found()
    assert {"simulate", "solve_sampling_lp", "Bandit", "Bandit.decide", "AdaCBG.choose"} <= set(functions)
    for _, function in functions.values():
        for _ in range(3):  # each draws other members of unions
            arguments(function, world)
