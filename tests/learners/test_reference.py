"""The reference itself, against values worked by hand and against what must hold in every round."""

import math

import numpy as np
import pytest

from tests.references import paper as ref
from tests.references.paper import AdaCBG, Falcon, RegCBG, check_round

# --- Schedule and formulas -------------------------------------------------------------------------------


def test_schedule():
    assert [ref.n_epochs(T) for T in (1, 2, 3, 4, 5, 1024, 1025, 2048)] == [1, 1, 2, 2, 3, 10, 11, 11]
    assert [ref.tau(m) for m in range(6)] == [0, 2, 4, 8, 16, 32]
    assert [ref.split(m) for m in range(5)] == [0, 1, 3, 6, 12]
    assert [ref.epoch_of(t) for t in range(1, 10)] == [1, 1, 2, 2, 3, 3, 3, 3, 4]


def test_radii_of_the_papers_experiment():
    # 2 * 50 * 50^2 * (2^11)^2 / 0.1 = 1.048576e13, whose log is 29.981; 16 times that is 479.7, and 11 times
    # that is 5276.6.
    radii = [ref.beta(m, M=11, F=50, K=50, T=2**11, delta=0.1) for m in range(1, 12)]
    assert radii[-1] == pytest.approx(479.7, abs=0.05)
    assert radii[0] == pytest.approx(5276.6, abs=0.5)
    assert np.diff(radii) == pytest.approx(-radii[-1])
    # 2 log(500) = 2 * 6.2146
    assert ref.sharp_radius(sigma=1, F=50, delta=0.1) == pytest.approx(12.4292, abs=1e-4)


def test_terms_without_a_horizon():
    assert ref.terms(3, T=2048, delta=0.12, horizon_known=True) == (2048, 11, 0.12)
    assert ref.terms(3, T=2048, delta=0.12, horizon_known=False) == (8, 3, pytest.approx(0.01))


def test_mu():
    # n_1 = 2, n_2 = 2, n_3 = 4
    assert [ref.mu(m, M=5, delta=0.1) / math.log(200) for m in (1, 2, 3)] == pytest.approx([32, 32, 16])


# --- One round, by hand ----------------------------------------------------------------------------------


def star(K: int) -> np.ndarray:
    """Hub 0."""
    G = np.eye(K, dtype=bool)
    G[0, :] = G[:, 0] = True
    return G


def test_star():
    # The paper's k-tree: hub 0.9, leaves 1, 0, 0, 0, 0. The walk takes leaf 1 (gap 0), which reveals the hub,
    # then the other leaves, which nothing reveals yet: |S| = 5. With gamma = 5 each leaf of gap 1 gets
    # 1 / (5 + 5).
    G, v = star(6), np.array([0.9, 1, 0, 0, 0, 0])
    best = ref.argmax_lowest(v)
    c = ref.estimated_gaps(v, best)
    assert best == 1
    assert c == pytest.approx([0.1, 0, 1, 1, 1, 1])
    S = ref.exploration_set(G, range(6), c)
    assert S == [1, 2, 3, 4, 5]
    ptilde = ref.baseline(S, best, 5.0, c, 6)
    assert ptilde == pytest.approx([0, 0.6, 0.1, 0.1, 0.1, 0.1])
    assert ref.expected_gap(ptilde, c) == pytest.approx(0.4)

    # The paper's rows: the hub is revealed by all (max 0.6), a leaf by itself and the hub (0.1). A mass of
    # 0.1 on the hub serves the four leaves at a cost of 0.1 * 0.1; y = 0.1 on one leaf's row and z = 0 prove
    # it optimal.
    b = ref.paper_demand(G, ptilde)
    assert b == pytest.approx([0.6, 0.6, 0.1, 0.1, 0.1, 0.1])
    p, objective = ref.solve_lp(G, b, c, best)
    assert p == pytest.approx([0.1, 0.9, 0, 0, 0, 0], abs=1e-9)
    assert objective == pytest.approx(0.01)
    assert ref.dual_bound(G, b, c, best, list(range(6))) == pytest.approx(0.01)
    assert ref.observation_probabilities(G, p) == pytest.approx([1, 1, 0.1, 0.1, 0.1, 0.1])

    # The tight rows: 1 / (5 + 5 * 0.1) for the hub, the same for the leaves, and the same p.
    b = ref.tight_demand(range(6), best, 5, 5.0, c)
    assert b == pytest.approx([1 / 5.5, 0, 0.1, 0.1, 0.1, 0.1])
    assert ref.solve_lp(G, b, c, best)[0] == pytest.approx(p)

    # With the hub not on offer each leaf has to be played; its own row is met by leaf 1.
    available = np.array([False, True, True, True, True, True])
    p, objective = ref.solve_lp(G, b, c, best, available)
    assert p == pytest.approx([0, 0.6, 0.1, 0.1, 0.1, 0.1])
    assert objective == pytest.approx(0.4)


def test_lp_of_one_arm():
    p, objective = ref.solve_lp(np.ones((1, 1), dtype=bool), np.ones(1), np.zeros(1), best=0)
    assert p == pytest.approx([1])
    assert objective == 0


def test_two_arms():
    # Self-loops only, gap 0.5, gamma = 4: 1 / (2 + 4 * 0.5) = 1 / 4 on arm 1, and no LP can do with less.
    G, v = np.eye(2, dtype=bool), np.array([1, 0.5])
    c = ref.estimated_gaps(v, 0)
    S = ref.exploration_set(G, [0, 1], c)
    ptilde = ref.baseline(S, 0, 4.0, c, 2)
    assert S == [0, 1]
    assert ptilde == pytest.approx([0.75, 0.25])
    assert ref.inverse_gap(0, 4.0, c) == pytest.approx([0.75, 0.25])
    p, objective = ref.solve_lp(G, ref.paper_demand(G, ptilde), c, 0)
    assert p == pytest.approx([0.75, 0.25])
    assert objective == pytest.approx(0.125)


def test_exploration_set_on_a_directed_graph_need_not_be_independent():
    # Arm 1 reveals arm 0, not the other way round; arm 0 is taken first.
    G = np.array([[True, False], [True, True]])
    assert ref.exploration_set(G, [0, 1], np.array([0.0, 1.0])) == [0, 1]
    assert ref.exploration_set(G, [0, 1], np.array([1.0, 0.0])) == [1]


def test_inverse_gap_over_the_arms_on_offer():
    c = np.array([0.5, -3.0, 0, 1])
    available = np.array([True, False, True, True])
    assert ref.inverse_gap(2, 2.0, c, available) == pytest.approx([1 / 4, 0, 11 / 20, 1 / 5])


def test_baseline_when_best_is_not_in_the_exploration_set():
    for size in range(1, 100):
        ptilde = ref.baseline(list(range(1, size + 1)), 0, 0.0, np.zeros(size + 1), size + 1)
        assert ptilde[0] == 0


def test_ties_go_to_the_lowest_index():
    values = np.array([[1.0, 2, 2], [3, 3, 3], [0, 0, 1]])
    assert ref.argmax_lowest(values[0]) == 1
    assert ref.argmax_lowest(values[0], np.array([True, False, True])) == 2
    assert ref.candidates(values, [0, 1, 2]) == [0, 1, 2]
    assert ref.candidates(values, [1, 2], np.array([False, True, True])) == [1, 2]
    assert ref.exploration_set(np.eye(3, dtype=bool), [0, 1, 2], np.array([1.0, 0, 0])) == [1, 2, 0]


def test_draw():
    p = np.array([0, 0.25, 0, 0.75, 0])
    assert [ref.draw(p, u) for u in (0.0, 0.2499, 0.25, 0.9999, 1.0)] == [1, 1, 3, 3, 3]


def test_width_gamma():
    # Two arms without an estimated gap, w = (0, 1), s = 2: gamma_0 = sqrt(8 * 2 / 1) = 4. q(1) = 1/2 at every
    # gamma, so B(gamma) = 4 / gamma + gamma / 8: 1.5 at 4, 1.5 at 8, more beyond. The tie goes to 4.
    values = np.array([[1.0, 1.0], [1.0, 2.0]])
    w = ref.widths(values, [0, 1], fhat=0, best=0)
    assert w == pytest.approx([0, 1])
    assert ref.width_gamma(2, w, lambda g: np.array([0.5, 0.5])) == 4
    # With q(1) = 1/8 at every gamma the best is at 4 / gamma = gamma / 32: gamma^2 = 128, between 8 and 16.
    # B(8) = 0.75 and B(16) = 0.75 tie again; with q(1) = 1/9, B(8) = 0.722 and B(16) = 0.694.
    assert ref.width_gamma(2, w, lambda g: np.array([0, 1 / 8])) == 8
    assert ref.width_gamma(2, w, lambda g: np.array([0, 1 / 9])) == 16
    # A context at which all members agree about differences needs no exploration.
    assert ref.width_gamma(2, ref.widths(values, [0], 0, 0), lambda g: np.ones(2)) == math.inf


# --- A short run, by hand --------------------------------------------------------------------------------


def two_functions(**settings: object) -> list[ref.Record]:
    """K = 2, T = 4, complete graphs, f_0 = (1, 0), f_1 = (0, 1), every reward as f_0 says."""
    values = np.tile(np.array([[1.0, 0.0], [0.0, 1.0]]), (4, 1, 1))
    rewards = np.tile(np.array([1.0, 0.0]), (4, 1))
    return AdaCBG(**settings).run(values, np.ones((4, 2, 2), dtype=bool), rewards, np.full(4, 0.5))


def test_scale_factor_by_hand():
    # beta_2 = 16 log(2 * 2 * 2^2 * 4^2 / 0.1) = 125.6 keeps f_1, whose loss in round 1 is 2. Round 2 has two
    # candidates: nu_2 = 1 = nu_1, and n_1 = n_2 = 2, so w_1 = w_2 = 1 + 32 log(80), lambda_2 = sqrt(w_2).
    records = two_functions()
    w = 1 + 32 * math.log(80)
    assert [r.epoch for r in records] == [1, 1, 2, 2]
    assert [r.lam for r in records] == pytest.approx([1, 1, math.sqrt(w), math.sqrt(w)])
    assert records[2].members == [0, 1]
    # On a complete graph S = {best}; tau_1 - tau_0 = 2; log(2 * 2 * 2 * 4^2 / 0.1) = log(1280).
    assert records[2].candidates == [0, 1]
    assert records[2].exploration_set == [0]
    assert records[2].gamma == pytest.approx(math.sqrt(w / math.log(1280)))
    assert [r.action for r in records] == [0, 0, 0, 0]
    assert all(r.revealed == [0, 1] for r in records)


def test_sharp_radius_by_hand():
    # 2 * 0.1^2 * log(2 / 0.1) = 0.06 < 2: f_1 is out, nu_2 = 0, lambda_2 = mu_2 / sqrt(1 + mu_1).
    record = two_functions(radius="sharp", sigma=0.1)[2]
    mu = 32 * math.log(80)
    assert record.members == [0]
    assert record.candidates == [0]
    assert record.lam == pytest.approx(mu / math.sqrt(1 + mu))


def test_no_horizon_by_hand():
    # Epoch 1: M = 1, delta / 2, mu_1 = 32 log(4 / 0.05). Epoch 2: T = 4, M = 2, delta / 6 = 1 / 60,
    # mu_2 = 32 log(8 * 60).
    record = two_functions(horizon_known=False)[2]
    lam = (1 + 32 * math.log(480)) / math.sqrt(1 + 32 * math.log(80))
    assert record.lam == pytest.approx(lam)
    assert record.gamma == pytest.approx(lam / math.sqrt(math.log(2 * 2 * 2 * 16 * 60)))


# --- Whole runs ------------------------------------------------------------------------------------------


def papers_class(rng: np.random.Generator, T: int, K: int, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """50 functions f(x, a) = (x - x0)'(a - a0) in R^10, function 0 the truth: values and noisy rewards."""
    x0, a0 = rng.standard_normal((2, 50, 10))
    arms = rng.uniform(-1, 1, (K, 10))
    x = rng.standard_normal((T, 10))
    values = np.einsum("tfd,fkd->tfk", x[:, None] - x0, arms - a0[:, None]) / scale
    return values, values[:, 0] + rng.standard_normal((T, K))


def random_graphs(rng: np.random.Generator, T: int, K: int, directed: bool) -> np.ndarray:
    G = rng.random((T, K, K)) < 0.15
    if not directed:
        G |= G.transpose(0, 2, 1)
    return G | np.eye(K, dtype=bool)


def test_papers_problem():
    rng = np.random.default_rng(0)
    T, K = 256, 50
    values, rewards = papers_class(rng, T, K)
    graphs = np.array([star(K)[np.ix_(order, order)] for order in (rng.permutation(K) for _ in range(T))])
    records = AdaCBG().run(values, graphs, rewards, rng.random(T))
    for record, G in zip(records, graphs, strict=True):
        check_round(record, G)
        assert 0 in record.members
    assert any(record.demand is not None for record in records)
    regret = [values[r.t - 1, 0].max() - values[r.t - 1, 0, r.action] for r in records]
    assert sum(regret[T // 2 :]) < sum(regret[: T // 2])


LEARNERS = [
    AdaCBG(),
    AdaCBG(horizon_known=False),
    AdaCBG(radius="sharp", coverage="tight", eta=100.0),
    AdaCBG(radius="sharp", horizon_known=False, coverage="tight"),
    AdaCBG(radius="sharp", coverage="tight", gamma="width"),
    AdaCBG(gamma="width", use_lp=False),
    AdaCBG(baseline="inverse-gap"),
    AdaCBG(baseline="inverse-gap", coverage="tight", gamma="width", radius="sharp"),
    AdaCBG(use_candidates=False, use_scale_factor=False),
    AdaCBG(use_lp=False),
    Falcon(),
    Falcon(horizon_known=False),
    RegCBG(),
    RegCBG(horizon_known=False),
]


def name(learner: ref.Learner) -> str:
    """Its class and the settings that are not the defaults."""
    defaults = vars(type(learner)())
    changed = [f"{key}={value}" for key, value in vars(learner).items() if value != defaults[key]]
    return " ".join([type(learner).__name__, *changed])


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
@pytest.mark.parametrize("masked", [False, True], ids=["all", "masked"])
def test_what_must_hold(learner: ref.Learner, masked: bool):
    rng = np.random.default_rng(1)
    T, K = 20, 8
    values, rewards = papers_class(rng, T, K, scale=8)
    graphs = random_graphs(rng, T, K, directed=masked)
    available = None
    if masked:
        available = rng.random((T, K)) < 0.7
        available[np.arange(T), rng.integers(K, size=T)] = True
    records = learner.run(values, graphs, rewards, rng.random(T), available=available)
    assert [r.epoch for r in records] == [ref.epoch_of(t) for t in range(1, T + 1)]
    for record, G in zip(records, graphs, strict=True):
        check_round(record, G)
    first = records[0]
    assert first.gamma == 0
    assert first.best == first.available[0]
    played = first.p[first.p > 0]
    assert played == pytest.approx(1 / len(first.exploration_set))


def test_one_arm():
    ones = np.ones((5, 1, 1))
    for learner in (AdaCBG(), AdaCBG(gamma="width"), Falcon(), RegCBG()):
        records = learner.run(ones, ones.astype(bool), np.ones((5, 1)), np.zeros(5))
        assert [r.action for r in records] == [0] * 5


def test_no_data_of_later_rounds_is_used():
    rng = np.random.default_rng(2)
    values, rewards = papers_class(rng, 32, 6)
    graphs, uniforms = random_graphs(rng, 32, 6, directed=True), rng.random(32)
    whole = AdaCBG().run(values, graphs, rewards, uniforms)
    start = AdaCBG().run(values[:20], graphs[:20], rewards[:20], uniforms[:20], T=32)
    for a, b in zip(whole[:20], start, strict=True):
        assert a.action == b.action
        assert (a.p == b.p).all()
