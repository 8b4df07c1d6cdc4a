"""AdaCB.G's doubt: candidates are observed by the probability that they are best, not much less and not much more."""

import math
from typing import Any

import numpy as np
import pytest

import graphbandit as gb
from graphbandit.base.program_constants import ROW_LIMIT
from graphbandit.errors import SettingError
from graphbandit.planning.demands import ceilings_of, chances_of
from graphbandit.planning.sampled_rounds import SamplingRule, sample_rounds
from graphbandit.rounds.shown import Shown
from tests.references import paper as ref


def drawn(seed: int, n_arms: int = 6) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Values, candidates, deviations and the edges of a graph with all loops."""
    rng = np.random.default_rng(seed)
    values, deviations = rng.normal(size=n_arms), rng.uniform(0.0, 1.5, n_arms) * (rng.random(n_arms) < 0.8)
    candidates = rng.random(n_arms) < 0.7
    candidates[np.argmax(values)] = True
    return values, candidates, deviations, (rng.random((n_arms, n_arms)) < 0.3) | np.eye(n_arms, dtype=bool)


def literal(candidates: np.ndarray, gaps: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """P(a) / sum P, P(a) = P(|Z| >= c(a) / s(a)) for a standard normal Z."""
    likely = np.zeros(len(gaps))
    for a in np.flatnonzero(candidates):
        if gaps[a] <= 0.0:
            likely[a] = 1.0
        elif deviations[a] > 0.0:
            likely[a] = math.erfc(gaps[a] / deviations[a] / math.sqrt(2.0))
    return likely / likely.sum() if candidates.sum() > 1 else np.zeros(len(gaps))


def literal_ceilings(reveals: np.ndarray, available: np.ndarray, gaps: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """For every arm a: P(a), or how often the arms that reveal it are worth playing, whichever is most."""
    ceilings = chances.copy()
    for j in np.flatnonzero(available):
        worth = sum(reveals[j, b] * chances[b] * gaps[b] for b in range(len(gaps)))
        often = 1.0 if worth >= gaps[j] else worth / gaps[j]
        for a in range(len(gaps)):
            ceilings[a] = max(ceilings[a], reveals[j, a] * often)
    return ceilings


@pytest.mark.parametrize("kind", ["sure", "weak", "probabilistic"])
def test_demands_are_inverse_gaps_between_what_doubt_asks_and_what_it_is_worth(kind: str) -> None:
    """In all three ways to plan a round, the answer is that of the reference's program."""
    raised, lowered, rate = 0, 0, 8.0
    for seed in range(60):
        values, candidates, deviations, edges = drawn(seed)
        if kind == "weak":
            hub, best = seed % 6, int(np.argmax(values))
            edges[hub] = True
            edges[(best + 1) % 6, (best + 1) % 6] = (best + 1) % 6 == hub
        graphs = (
            gb.FeedbackGraphs.from_dense(edges[None], require_loops=False)
            if kind != "probabilistic"
            else gb.ProbabilisticGraphs.from_dense(np.where(np.eye(6, dtype=bool), 1.0, 0.5 * edges)[None])
        )
        made = sample_rounds(
            SamplingRule(explore="candidates", coverage="tight", rate=rate, doubt=0.4),
            values=values[None],
            candidates=candidates[None],
            graphs=graphs,
            uniforms=np.array([0.5]),
            epoch=2,
            deviations=deviations[None],
        )
        best, gaps, size = int(made.best[0]), made.gaps[0], int(made.exploration_set[0].sum())
        chances = literal(candidates, gaps, deviations)
        np.testing.assert_allclose(chances_of(candidates, gaps, deviations, np.empty(0)), chances, atol=1e-15)
        everyone = np.ones(6, dtype=bool)
        reveals = edges.astype(float) if kind != "probabilistic" else np.where(np.eye(6, dtype=bool), 1.0, 0.5 * edges)
        ceilings = literal_ceilings(reveals, everyone, gaps, chances) if chances.any() else np.ones(6)
        np.testing.assert_allclose(ceilings_of(reveals, everyone, gaps, chances), ceilings, atol=1e-12)
        plain = ref.tight_demand(np.flatnonzero(candidates), best, size, rate * math.sqrt(size), gaps)
        ceilings[deviations <= 0.0] = 1.0
        asked = np.maximum(np.minimum(plain, ceilings), np.minimum(0.4 * chances, 1.0 / size))
        demand = np.where(candidates & (np.arange(6) != best), asked, 0.0)
        raised, lowered = raised + int((demand > plain).sum()), lowered + int((demand < plain).sum())
        if made.coverage_factor[0] < 1.0:
            continue
        assert (made.observation_probabilities[0] >= demand - 1e-9).all()
        if kind == "sure":
            _, objective = ref.solve_lp(edges, demand, gaps, best)
            assert made.objective[0] == pytest.approx(objective, abs=1e-9)
    assert raised > 10
    assert lowered > 5


def test_what_an_arm_is_worth_is_what_thompson_sampling_pays_for_what_it_reveals() -> None:
    """Alone, an arm is played with P(a); the hub of a star as often as all leaves together are worth its price."""
    gaps, chances, everyone = np.array([0.5, 0.0, 0.5, 1.0]), np.array([0.0, 0.5, 0.3, 0.2]), np.ones(4, dtype=bool)
    loops, star = gb.graphs.bandit(4), gb.graphs.star(4, hub=0)
    np.testing.assert_allclose(ceilings_of(loops, everyone, gaps, chances)[[0, 2, 3]], [0.0, 0.3, 0.2])
    paid = 0.3 * 0.5 + 0.2 * 1.0
    np.testing.assert_allclose(ceilings_of(star, everyone, gaps, chances)[[2, 3]], paid / 0.5)
    assert (ceilings_of(gb.graphs.bandit(513), np.ones(513, dtype=bool), np.ones(513), np.ones(513) / 513) == 1).all()


def test_without_deviations_or_with_one_candidate_nothing_is_doubted() -> None:
    some = np.array([True, False, True])
    gaps, deviations = np.array([0.0, 1.0, 0.5]), np.array([0.0, 1.0, 1.0])
    untold = np.empty(0)
    assert chances_of(some, gaps, deviations, untold)[2] > 0.2
    assert chances_of(some, gaps, untold, np.array([0.1, 0.6, 0.3])).tolist() == pytest.approx([0.25, 0.0, 0.75])
    assert not chances_of(some, gaps, untold, untold).any()
    assert not chances_of(np.array([True, False, False]), gaps, deviations, untold).any()
    assert not chances_of(some, np.array([0.1, 1.0, 0.5]), np.zeros(3), untold).any()


def test_an_arm_that_looks_bad_by_few_rewards_is_tried_again() -> None:
    """On loops p(a) is the demand itself: d(a), where the inverse gap asks for less."""
    functions = gb.LinearClass(n_arms=4, dimension=1, parameters="per-arm", ridge=1.0)
    problem = gb.Problem(n_arms=4, function_class=functions, noise=0.5)
    states = {}
    for doubt in (0.0, 0.3):
        learner = gb.AdaCBG(doubt=doubt)
        state, rng, t = learner.init(problem), np.random.default_rng(1), 0
        while t < 400:
            n = learner.rounds_until_update(state)
            arms = np.minimum((np.arange(t, t + n) // 3), 3) if t < 12 else np.full(n, 3)
            rewards = np.array([-0.2, 0.0, 0.1, 0.6])[arms] + 0.5 * rng.normal(size=n)
            seen = np.arange(4) == arms[:, None]
            told = gb.Observations.from_masks(
                np.ones((n, 1)), seen, np.where(seen, rewards[:, None], np.nan), first_round=t
            )
            state, t = learner.update(state, told), t + n
        states[doubt] = learner, state
    shown = Shown(np.ones((1, 1)), gb.FeedbackGraphs.repeat(gb.graphs.bandit(4), 1))
    made = {doubt: learner.decide(state, shown, np.random.default_rng(0)) for doubt, (learner, state) in states.items()}
    doubted, certain = made[0.3], made[0.0]
    gaps, candidates = doubted.gaps[0], doubted.candidates[0]
    counts = np.array([3.0, 3.0, 3.0, states[0.3][1].rounds - 9.0])
    deviations = 0.5 * np.sqrt(1.0 / (counts + 1.0) + 1.0 / (counts[3] + 1.0))
    expected = 0.3 * literal(candidates, gaps, deviations)
    assert candidates.sum() == 4
    np.testing.assert_allclose(doubted.probabilities[0][:3], expected[:3], rtol=1e-6)
    assert (certain.probabilities[0][:3] < 0.5 * expected[:3]).all()


@pytest.mark.parametrize("doubt", [-0.1, 1.5, math.nan])
def test_a_doubt_that_is_no_share_is_refused(doubt: float) -> None:
    for learner in (gb.AdaCBG, gb.learners.AdaCB):
        with pytest.raises(SettingError, match="doubt is"):
            learner(doubt=doubt)


@pytest.mark.filterwarnings("ignore::graphbandit.errors.EstimatedNoiseWarning")
@pytest.mark.parametrize("radius", ["natural", "sharp", "paper"])
@pytest.mark.parametrize("noise", [None, 0.0, 0.5])
def test_every_radius_and_noise_can_doubt(radius: str, noise: float | None) -> None:
    """Rewards without noise, too few to tell it, or of one value: probabilities sum to 1 and nothing warns."""
    rng = np.random.default_rng(2)
    functions = gb.LinearClass(n_arms=4, dimension=2, parameters="per-arm")
    with np.errstate(all="raise"):
        bandit = gb.Bandit(
            gb.AdaCBG(radius=radius, gamma="natural"),  # type: ignore[arg-type]
            gb.Problem(n_arms=4, function_class=functions, noise=noise),
            graph=gb.graphs.bandit(4),
        )
        for t in range(40):
            decision = bandit.decide(np.array([1.0, rng.normal()]))
            assert decision.probabilities.sum() == pytest.approx(1.0)
            bandit.observe(decision, {decision.action: float(t > 5) * float(rng.normal())})


def test_deviations_are_found_only_where_they_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with one candidate in every round, nor with more than doubts take, nor without doubt."""
    asked: list[tuple[int, ...]] = []
    whole = gb.LinearClass._find_deviations

    def counted(self: gb.LinearClass, space: Any, known: Any, contest: Any, found: Any) -> None:
        asked.append(contest.candidates.shape)
        whole(self, space, known, contest, found)

    monkeypatch.setattr(gb.LinearClass, "_find_deviations", counted)
    for n_arms, doubt, means, expected in (
        (4, 0.2, [0.1, 0.0, 0.0, 0.0], [(1, 4)]),
        (4, 0.0, [0.1, 0.0, 0.0, 0.0], []),
        (4, 0.2, [9.0, 0.0, 0.0, 0.0], []),
        (ROW_LIMIT + 1, 0.2, [0.1], []),
    ):
        functions = gb.LinearClass(n_arms=n_arms, dimension=1, parameters="per-arm")
        learner, graph = gb.AdaCBG(doubt=doubt), gb.graphs.star(n_arms)
        state = learner.init(gb.Problem(n_arms=n_arms, function_class=functions, noise=0.1))
        rewards = np.resize(means, n_arms) + 0.1 * np.random.default_rng(0).normal(size=(1, n_arms))
        seen = np.ones((1, n_arms), dtype=np.bool_)
        state = learner.update(state, gb.Observations.from_masks(np.ones((1, 1)), seen, rewards))
        asked.clear()
        shown = Shown(np.ones((1, 1)), gb.FeedbackGraphs.repeat(graph, 1))
        made = learner.decide(state, shown, np.random.default_rng(0))
        assert asked == expected, (n_arms, doubt, means, made.candidates.sum())
