"""`graphbandit compile`: what it compiles is all that later processes need, and no learner is left out."""

import inspect
import os
from collections import defaultdict

import pytest

import graphbandit as gb
from graphbandit.cli.compile import USUAL
from graphbandit.cli.rehearsals import Rehearsal, rehearsals
from graphbandit.errors import InputError
from graphbandit.experiments.describe.learner_kinds import LEARNER_KINDS
from tests.helpers.commands import refusal, succeed
from tests.helpers.processes import printed

PLAY = """
import sys
import numpy as np
import graphbandit as gb
from graphbandit.kernels.jit import compilations

K, d = 9, 4
rng = np.random.default_rng(1)
waves = lambda x: np.stack([np.sin(k * x @ np.ones((d, K))) for k in range(7)], axis=1)
finite = gb.FiniteClass(waves, n_functions=7, n_arms=K)
shared, own = (gb.LinearClass(n_arms=K, dimension=d, parameters=kind) for kind in ("shared", "per-arm"))
for name in sys.argv[1:]:
    for functions, shape in ((finite, (d,)), (shared, (K, d)), (own, (d,))):
        for graph in (gb.graphs.star(K, hub=2), gb.graphs.random_graph(K, 0.3, rng=rng)):
            bandit = gb.Bandit(getattr(gb, name)(), gb.Problem(n_arms=K, function_class=functions))
            for t in range(30):
                offered = [0, 2, 3, 7] if t % 3 == 0 else None
                decision = bandit.decide(rng.normal(size=shape), graph, available=offered)
                bandit.observe(decision, {int(arm): float(rng.random()) for arm in decision.revealed_arms})
            decision.explain()
            bandit.decide_batch(rng.normal(size=(5, *shape)), graph)
print(compilations.count, sorted(compilations.modules))
"""


@pytest.mark.parametrize("learners", [["LinUCB"], []], ids=["one", "usual"])
def test_nothing_is_left_to_compile_for_a_later_process(learners, tmp_path):
    if not learners and not os.environ.get("GRAPHBANDIT_TEST_COMPILE"):
        pytest.skip("takes half a minute of a processor; GRAPHBANDIT_TEST_COMPILE=1 runs it")
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert "kernels were compiled" in printed("-m", "graphbandit", "compile", *learners, environment=cache)
    assert printed("-c", PLAY, *(learners or USUAL), environment=cache).split() == ["0", "[]"]


def test_no_learner_is_left_out():
    exported = {name: getattr(gb.learners, name) for name in gb.learners.__all__}
    kinds = {name for name, cls in exported.items() if inspect.isclass(cls) and issubclass(cls, gb.learners.Learner)}
    concrete = {name for name in kinds if not inspect.isabstract(exported[name])}
    assert concrete - {"LateGraph"} <= set(LEARNER_KINDS), "LateGraph is there around two learners"
    failed = defaultdict(list)
    for name in LEARNER_KINDS:
        for rehearsal in rehearsals():
            try:
                rehearsal.play(name)
            except gb.errors.GraphBanditError:
                failed[name].append(rehearsal.name)
    # their losses are linear in a context that all arms share
    assert failed == {name: ["linear class, shared"] for name in ("Exp3LGCU", "Exp3LGCIX")}


@pytest.mark.parametrize("name", ["IDSG", "AdaCBG"])
def test_all_classes_and_graphs_are_played(name):
    everything = rehearsals(True)
    kinds = {type(rehearsal.function_class).__name__ for rehearsal in everything}
    assert kinds == {"FiniteClass", "LinearClass", "KernelClass", "GeneralizedLinearClass"}
    for rehearsal in everything:
        rehearsal.play(name)
        usual, *others = rehearsal._graphs(getattr(gb, name)())
        assert usual.has_all_loops
        assert [type(graph).__name__ for graph in others] == ["FeedbackGraph", "ProbabilisticGraph"][
            : 2 * rehearsal.any_graph
        ]


def test_what_is_not_compiled_is_said(monkeypatch):
    def refuse(rehearsal, name):
        raise InputError(f"{name} cannot")

    monkeypatch.setattr(Rehearsal, "play", refuse)
    done = succeed("compile", "Greedy")
    assert done.output.count("not compiled: Greedy cannot") == len(rehearsals())


def test_learners_that_are_not_there_are_named():
    assert refusal("compile", "Gready") == "learner is 'Gready'; did you mean 'Greedy'?\n"
    assert refusal("compile", "IDGS") == "learner is 'IDGS'; did you mean 'IDSG' or 'IDSN'?\n"
    assert refusal("compile", "Nobody").startswith("learner is 'Nobody'; expected one of 'AdaCB', 'AdaCBG', ")
