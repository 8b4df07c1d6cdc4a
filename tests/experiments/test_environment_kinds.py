"""Environments that experiment files describe: edge probabilities beside any kind."""

import pytest

from graphbandit.environments import ProbabilisticEnvironment
from graphbandit.errors import SettingError
from graphbandit.experiments.describe.environment_kinds import ENVIRONMENT_KINDS, build_environment
from graphbandit.experiments.describe.identity import identity


def test_settings_of_experiment_files():
    plain = {"n_arms": 6, "graph": "star"}
    assert not isinstance(build_environment("paper", plain), ProbabilisticEnvironment)
    given = {**plain, "edge_probability": 0.5, "edge_concentration": 2.0, "shown": "nothing", "keep_loops": False}
    built = build_environment("linear", given)
    assert isinstance(built, ProbabilisticEnvironment)
    assert (built.probability, built.concentration, built.shown, built.keep_loops) == (0.5, 2.0, "nothing", False)
    assert built.n_arms == 6
    sure = build_environment("paper", {**plain, "shown": "nothing"})
    assert sure.instance(0).rounds(0, 9).graphs == build_environment("paper", plain).instance(0).rounds(0, 9).graphs
    assert "edge" not in identity("paper", plain, ENVIRONMENT_KINDS)
    assert identity("paper", plain, ENVIRONMENT_KINDS) != identity(
        "paper", {**plain, "shown": "nothing"}, ENVIRONMENT_KINDS
    )
    with pytest.raises(SettingError, match="probability is 2"):
        build_environment("paper", {**plain, "edge_probability": 2.0})
