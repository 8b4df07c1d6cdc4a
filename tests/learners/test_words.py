"""Every learner explains its decisions in its own words, and the numbers are those it plays by."""

import json
import math
import pickle

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.errors import InputError

ARMS = ["tea", "cake", "pie"]
GRAPH = gb.FeedbackGraph.from_edges([("tea", "cake")], arms=ARMS, add_loops=True)
L = gb.learners
BEST = "estimated best arm"
GAMMA, SETS, INFORMATION = {"gap", "gamma"}, {"candidates", "exploration set"}, {"expected regret", "information"}
POSTERIOR, WEIGHTS = {"posterior mean", "posterior deviation"}, {"weight", "estimated losses"}
LEARNERS = {
    "AdaCB.G": (gb.AdaCBG(), {BEST, *GAMMA, *SETS}),
    "AdaCB": (L.AdaCB(), {BEST, *GAMMA, *SETS}),
    "IDS.G": (gb.IDSG(), {BEST, "estimate", "candidates", *INFORMATION}),
    "IDS.G, frequentist": (gb.IDSG(form="frequentist"), {BEST, "estimate", "candidates", *INFORMATION}),
    "late graph": (L.LateGraph(learner=gb.IDSG()), {BEST, "estimate", "candidates", *INFORMATION}),
    "FALCON": (L.Falcon(), {BEST, *GAMMA}),
    "RegCB.G": (L.RegCBG(), {BEST, *GAMMA, "exploration set"}),
    "SquareCB": (L.SquareCB(), {BEST, *GAMMA}),
    "SquareCB.G": (L.SquareCBG(), {BEST, *GAMMA}),
    "greedy": (gb.Greedy(), {BEST, "gap"}),
    "epsilon-greedy": (L.EpsilonGreedy(), {BEST, "gap", "epsilon"}),
    "explore then commit": (L.ExploreThenCommit(explore_rounds=5), {BEST, "gap"}),
    "RegCB": (L.RegCB(), {BEST, "lower bound", "upper bound", "candidates"}),
    "Thompson": (L.BootstrappedThompson(), {BEST, "estimate"}),
    "UCB-N": (L.UCBN(), {BEST, "mean reward", "upper bound", "times seen"}),
    "UCB-MaxN": (L.UCBMaxN(), {BEST, "mean reward", "upper bound", "times seen"}),
    "TS-N": (L.TSN(), {BEST, *POSTERIOR}),
    "IDS-N": (L.IDSN(), {BEST, *POSTERIOR, *INFORMATION}),
    "LinUCB": (gb.LinUCB(), {BEST, "estimate", "upper bound"}),
    "LinTS": (gb.LinTS(), {BEST, *POSTERIOR}),
    "EXP3-SET": (L.Exp3SET(), WEIGHTS),
    "EXP3-DOM": (L.Exp3DOM(), {*WEIGHTS, "exploration set", "gamma"}),
    "EXP3.G": (L.Exp3G(), {*WEIGHTS, "exploration set", "gamma"}),
    "EXP3-IX": (L.Exp3IX(), {*WEIGHTS, "gamma"}),
    "EXP3-LGC-U": (L.Exp3LGCU(), {*WEIGHTS, "exploration set", "gamma"}),
    "EXP3-LGC-IX": (L.Exp3LGCIX(), {*WEIGHTS, "gamma"}),
    "uniform": (L.Uniform(), set()),
    "UCB-N with a floor": (L.UCBN(floor=0.1), {BEST, "mean reward", "upper bound", "times seen"}),
    "EXP3.G with a floor": (L.Exp3G(floor=0.1), {*WEIGHTS, "exploration set", "gamma"}),
}
EVERYWHERE = {"probabilities", "expected gap", "solver", "reveals", "coverage"}


def make(learner, noise=0.5):
    problem = gb.Problem(arms=ARMS, features={"age": "number"}, function_class="linear", noise=noise)
    return gb.Bandit(learner, problem, graph=GRAPH, seed=1)


def played(bandit, rounds=12):
    rng = np.random.default_rng(0)
    for t in range(rounds):
        decision = bandit.decide({"age": 0.1 * t})
        rewards = {arm: float(rng.uniform(0.0, 0.5 + 0.25 * (arm == "cake"))) for arm in decision.revealed_arms}
        bandit.observe(decision, rewards)
    return bandit


def rows(text):
    """The names of the lines of an explanation."""
    return {line[2:].split("  ")[0] for line in text.splitlines()[1:]}


@pytest.mark.filterwarnings("ignore:.*noise")
@pytest.mark.parametrize(("learner", "words"), LEARNERS.values(), ids=LEARNERS)
def test_each_learner_speaks_its_own_language(learner, words):
    bandit = make(learner)
    first = bandit.decide({"age": 0.0})
    assert rows(first.explain()) - EVERYWHERE <= words
    decision = played(bandit).decide({"age": 0.5})
    assert rows(decision.explain()) - EVERYWHERE == words
    for one in (first, decision):
        values = json.loads(json.dumps(one.to_dict(), allow_nan=False))
        assert (values["gamma"] is None) == ("gamma" not in rows(one.explain()))
        assert "nan" not in one.explain() + one._repr_html_()
        again = pickle.loads(pickle.dumps(one))
        assert (again.explain(), again.to_dict()) == (one.explain(), one.to_dict())
    shown = decision._repr_html_()
    assert all(word in shown for word in words - {"candidates", "exploration set", BEST})
    assert ("<th>candidate</th>" in shown) == ("candidates" in words)


@pytest.mark.parametrize("name", ["AdaCB.G", "IDS.G", "LinUCB", "EXP3.G", "FALCON"])
def test_words_are_the_same_in_a_batch_from_a_decider_and_from_a_file(name, tmp_path):
    bandit = make(LEARNERS[name][0])
    batch = make(LEARNERS[name][0]).decide_batch([{"age": 0.0}] * 9)
    singles = [bandit.decide({"age": 0.0}, key=str(t)) for t in range(9)]
    assert [one.explain() for one in batch] == [one.explain() for one in singles]
    bandit.save(tmp_path / "b.gb")
    loaded = gb.Bandit.load(tmp_path / "b.gb")
    assert [loaded.decide(key=str(t)).explain() for t in range(9)] == [one.explain() for one in singles]
    assert [loaded.decide(key=str(t)).to_dict() for t in range(9)] == [one.to_dict() for one in singles]
    decided = bandit.decider().decide({"age": 0.0}, key="x")
    assert rows(decided.explain()) == rows(bandit.decide({"age": 0.0}, key="y").explain())


def told(bandit, **given):
    decision = bandit.decide({"age": 0.5}, **given)
    return decision, {name: row[0] for name, row in decision.batch.told.items()}


def test_bounds_are_those_that_are_played_by():
    for learner in (L.UCBN(), gb.LinUCB(), L.RegCB()):
        decision, words = told(played(make(learner)))
        assert int(words["upper bound"].argmax()) == decision.action
        middle = words.get("mean reward", words.get("estimate"))
        if middle is not None:
            np.testing.assert_allclose(middle.max() - middle, decision.gaps, atol=1e-12)
            assert (words["upper bound"] > middle).all()
    decision, words = told(make(L.UCBN()))
    assert words["upper bound"].tolist() == [math.inf] * 3
    assert np.isnan(words["mean reward"]).all()
    assert "mean reward" not in decision.explain()
    assert "none yet" in decision.explain()


def test_estimates_are_rewards_also_where_they_are_counted_from_the_first_one():
    bandit = make(gb.LinUCB(), noise=None)
    for t in range(60):
        decision = bandit.decide({"age": 0.1 * t})
        bandit.observe(decision, dict.fromkeys(decision.revealed_arms, 100.0 + 0.1 * (t % 3)))
    _, words = told(bandit)
    assert (np.abs(words["estimate"] - 100.0) < 2.0).all()


def test_posteriors_are_those_of_the_formula():
    bandit = make(L.TSN(prior_mean=0.25, prior_scale=2.0), noise=0.5)
    for reward in (0.5, 0.75):
        decision = bandit.decide({"age": 0.5}, available=["tea"])
        bandit.observe(decision, {"tea": reward, "cake": reward})
    _, words = told(bandit)
    precision = 1 / 4 + 2 / 0.25
    assert words["posterior mean"][0] == pytest.approx((0.25 / 4 + 1.25 / 0.25) / precision)
    assert words["posterior deviation"].tolist() == pytest.approx([precision**-0.5, precision**-0.5, 2.0])


@pytest.mark.parametrize("learner", [L.Exp3SET(eta=0.5), L.Exp3IX(eta=0.5), L.Exp3G(eta=0.5, gamma=0.2)], ids=repr)
def test_weights_are_exponential_in_the_losses(learner):
    decision, words = told(played(make(learner)))
    expected = np.exp(-0.5 * words["estimated losses"])
    np.testing.assert_allclose(words["weight"], expected / expected.sum(), rtol=1e-12)
    share = 0.2 if isinstance(learner, L.Exp3G) else 0.0
    np.testing.assert_allclose(decision.probabilities, (1 - share) * words["weight"] + share / 3, rtol=1e-12)


def test_one_arm_on_offer_is_the_best_of_them():
    decision, _ = told(played(make(gb.IDSG())), available=["pie"])
    assert "estimated best arm    pie" in decision.explain()
    assert rows(told(make(gb.IDSG()))[0].explain()) >= {"expected regret", BEST}


class Mine(L.Uniform):
    """Somebody's own learner."""

    def choose(self, state, shown, rng):
        n, k = len(shown), state.problem.n_arms
        return gb.Decisions.from_probabilities(
            np.full((n, k), 1 / k),
            graphs=shown.graphs,
            rng=rng,
            epoch=1,
            gamma=2.0,
            told={
                "mood": np.tile(np.arange(k) / 2, (n, 1)),
                "luck": np.full(n, 0.25),
                "friends": np.ones((n, k), bool),
            },
        )


def test_own_learners_say_what_they_give():
    decision = make(Mine()).decide({"age": 0.0})
    text = decision.explain()
    assert rows(text) == {"probabilities", "gamma", "mood", "luck", "friends", "reveals"}
    assert "mood                  tea: 0, cake: 0.5, pie: 1" in text
    values = decision.to_dict()
    assert (values["gamma"], values["luck"], values["friends"]) == (2.0, 0.25, ARMS)
    assert values["mood"] == {"tea": 0.0, "cake": 0.5, "pie": 1.0}
    assert "; gamma 2; luck 0.25</p>" in decision._repr_html_()


@pytest.mark.parametrize(
    "words", [np.zeros((2, 4)), np.zeros((1, 4)), "text", np.array([["a"] * 3]), [0.0], None], ids=str
)
def test_words_of_another_shape_are_refused(words):
    with pytest.raises(InputError, match=r"mood has shape .*; expected an array"):
        gb.Decisions.from_probabilities(
            np.full((1, 3), 1 / 3),
            graphs=gb.FeedbackGraphs.repeat(GRAPH, 1),
            rng=np.random.default_rng(0),
            epoch=1,
            told={"mood": words},
        )
