"""Plans: which experiments of a study they ask for, how large, and what they refuse."""

import tomllib
from pathlib import Path

import pytest

from graphbandit.errors import SettingError
from graphbandit.experiments import Experiment
from graphbandit.studies import Plan
from graphbandit.studies.paper.names import FORMS, MAIN
from graphbandit.studies.study import STUDIES, study_named


def paper(**settings: object) -> dict[str, Experiment]:
    return Plan(study="paper", **settings).experiments()


def test_presets_of_the_paper_are_data() -> None:
    full, quick = paper(preset="full"), paper()
    assert [name for name in full if name.startswith("horizon")] == [f"horizon-{2**k}" for k in range(7, 14)]
    assert [name for name in quick if name.startswith("horizon")] == ["horizon-128", "horizon-512", "horizon-2048"]
    assert full["ablation"] == study_named("paper").experiment("ablation")
    assert (full["ablation"].repeats, full["flixster"].repeats, full["clique-table"].repeats) == (50, 50, 40)
    assert {experiment.repeats for experiment in quick.values()} == {8}
    assert quick["clique-table"].environments["cliques"].settings["n_arms"] == [20, 60, 100]
    for experiments in (full, quick):
        for name, experiment in experiments.items():
            assert set(MAIN) <= set(experiment.learners) or name == "parts"
    fewer = paper(preset="full", repeats=3, rounds=16)
    assert set(fewer) == set(study_named("paper").experiments)
    assert {(experiment.repeats, experiment.rounds) for experiment in fewer.values()} == {(3, 16)}


@pytest.mark.parametrize("study", STUDIES)
def test_quick_is_smaller_and_full_is_as_in_the_files(study: str) -> None:
    described = study_named(study)
    name = next(iter(described.experiments))
    quick, full = (Plan(study=study, preset=preset, only=(name,)).experiments()[name] for preset in ("quick", "full"))
    assert full == described.experiment(name)
    assert quick.repeats < full.repeats
    assert quick.n_runs * quick.rounds < full.n_runs * full.rounds / 4


def test_repeats_are_at_most_those_of_the_file() -> None:
    (clicks,) = Plan(study="leaderboard", only=("clicks",), repeats=500, rounds=8).experiments().values()
    assert (clicks.repeats, clicks.rounds) == (10, 8)


def test_data_sets_in_files_have_stand_ins_or_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHBANDIT_DATA", raising=False)
    classes = Plan(study="classes", only=("data_refits",), rounds=4)
    assert list(classes.experiments()) == ["bundled_refits"]
    assert "scikit-learn's small ones stand in" in classes.remark
    assert Plan(study="leaderboard", only=("data",)).experiments() == {}
    assert Plan(study="leaderboard", only=("arms",)).remark == ""


def test_the_command_runs_the_same_plan() -> None:
    plan = Plan(study="leaderboard", preset="full", only=("arms", "clicks"), repeats=3)
    assert plan.command == "graphbandit leaderboard --full --only arms --only clicks --repeats 3"
    assert Plan(study="paper", seed=7).command == "graphbandit reproduce --quick --seed 7"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"study": "explore"}, "study is 'explore'; expected one of 'paper', 'leaderboard', 'exploration', 'classes'"),
        ({"study": "paper", "preset": "slow"}, "preset is 'slow'; expected one of 'quick', 'full'"),
        ({"study": "paper", "only": ("ablatoin",)}, "only is 'ablatoin'; did you mean 'ablation'"),
        ({"study": "classes", "only": ("finite",)}, "only is 'finite'; expected one of 'linear'"),
        ({"study": "classes", "repeats": 0}, "repeats is 0"),
        ({"study": "paper", "rounds": 1.5}, r"rounds is 1\.5"),
        ({"study": "paper", "seed": -1}, "seed is -1"),
        ({"study": "paper", "network": Path("nowhere.csv")}, r"network is 'nowhere.csv'; expected a file"),
        ({"study": "paper", "network": Path("no.csv"), "only": ("arms",)}, "expected none without the experiment"),
        ({"study": "leaderboard", "network": Path("no.csv")}, "expected none"),
    ],
)
def test_bad_plans_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        Plan(**settings)


def test_what_files_share_is_written_out() -> None:
    study = study_named("leaderboard")
    content = tomllib.loads(study.text("linear_new"))
    assert set(content) == {"experiment", "environments", "learners"}
    assert content["environments"]["new arms, star"] == {
        "kind": "linear", "arm_kind": "new", "n_arms": 20, "dimension": 5, "graph": "star",
    }  # fmt: skip
    played = list(content["learners"])
    assert played[5:8] == ["SquareCB.G", "SquareCB.G, online", "FALCON"], "in the order of shared.toml"
    assert not {"UCB-N", "EXP3-LGC-U"} & set(played)
    assert list(tomllib.loads(study_named("paper").text("parts"))["learners"])[:3] == [*FORMS.values(), "RegCB.G"]
