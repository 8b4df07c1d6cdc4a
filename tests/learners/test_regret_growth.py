"""Known regrets: UCB-N and TS-N grow like log T on a fixed star, EXP3.G like the square root of alpha T."""

import numpy as np

import graphbandit as gb


def fitted(x, y, errors):
    """Slope of a weighted least-squares line, and the half width of its 95% interval."""
    weights = 1 / np.asarray(errors) ** 2
    centre = np.average(x, weights=weights)
    spread = (weights * (x - centre) ** 2).sum()
    return (weights * (x - centre) * y).sum() / spread, 1.96 / np.sqrt(spread)


def mean_and_error(values):
    """Over the first axis."""
    return np.mean(values, axis=0), np.std(values, axis=0, ddof=1) / np.sqrt(len(values))


def star_environment(rounds, seed):
    """Five arms that are the same in every round; the hub is the worst, and reveals all."""
    rng = np.random.default_rng(seed)
    means = np.broadcast_to([0.1, 0.9, 0.4, 0.3, 0.4], (rounds, 5))
    return gb.environments.from_arrays(
        contexts=np.zeros((rounds, 1)),
        graphs=gb.graphs.star(5, hub=0),
        means=means,
        rewards=means + 0.5 * rng.standard_normal((rounds, 5)),
        noise=0.5,
    )


def test_ucb_n_and_ts_n_grow_like_the_logarithm_on_a_fixed_star():
    """Each doubling of T adds as much as the one before (c log T), where sqrt T would have it add 41% more."""
    rounds, repeats, learners = 2**14, 12, {"UCB-N": gb.learners.UCBN(), "TS-N": gb.learners.TSN()}
    marks = 2 ** np.arange(9, 15)
    runs = [
        gb.simulate(learners, star_environment(rounds, repeat), rounds=rounds, seed=repeat, horizon_known=False)
        for repeat in range(repeats)
    ]
    for name in learners:
        at = np.array([run.regret[name][0, marks - 1] for run in runs])
        mean, error = mean_and_error(at)
        slope, half = fitted(np.log(marks), np.log(mean), error / mean)
        assert slope - half > 0, f"{name}: {slope:.3f} +- {half:.3f}; it does grow"
        assert slope + half < 0.35, f"{name}: {slope:.3f} +- {half:.3f} on a log-log scale; sqrt T has 0.5"
        added, added_error = mean_and_error(np.diff(at, axis=1))
        trend, half = fitted(np.arange(5.0), added, added_error)
        assert trend - half < 0, f"{name}: a doubling adds {added}, more and more: {trend:.3f} +- {half:.3f}"
        assert trend + half < 0.3 * added.mean(), f"{name}: the fit is too loose to tell log T from sqrt T"


def exp3_g_regrets(rounds, graph_of, alpha, repeats):
    """Final regrets with the gap that is hard at this T, and the share of what uniform play loses."""
    found, gap = [], 5 * np.sqrt(alpha / rounds)
    for repeat in range(repeats):
        rng = np.random.default_rng([rounds, repeat])
        graph = graph_of(rng)
        means = np.full((rounds, graph.n_arms), 0.4)
        means[:, rng.integers(graph.n_arms)] += gap
        environment = gb.environments.from_arrays(
            contexts=np.zeros((rounds, 1)),
            graphs=graph,
            means=means,
            rewards=(rng.random(means.shape) < means).astype(float),
        )
        run = gb.simulate(gb.learners.Exp3G(), environment, rounds=rounds, seed=repeat, chunk=rounds)
        found.append(run.regret["learner"][0, -1])
    assert np.mean(found) < 0.5 * rounds * gap * (1 - 1 / graph.n_arms), "no better than playing anything"
    return np.array(found)


def check_square_root(x, runs, tolerance):
    """`runs` has the regrets of several repeats at each x."""
    mean, error = mean_and_error(np.array(runs).T)
    slope, half = fitted(np.log(x), np.log(mean), error / mean)
    assert half < 0.05, "too few repeats to say anything"
    assert abs(slope - 0.5) < tolerance + half, f"slope {slope:.3f} +- {half:.3f}"


def test_exp3_g_grows_like_the_square_root_of_t_on_random_graphs():
    horizons = 2 ** np.arange(10, 15)
    runs = [exp3_g_regrets(int(T), lambda rng: gb.graphs.erdos_renyi(12, 0.3, rng=rng), 4.0, 16) for T in horizons]
    check_square_root(horizons, runs, 0.05)


def test_exp3_g_grows_like_the_square_root_of_alpha():
    """32 arms in cliques, 2 to 32 of them: the independence number."""
    sizes, arms = 2 ** np.arange(1, 6), np.arange(32)
    runs = []
    for alpha in sizes:
        cliques = gb.FeedbackGraph.from_dense(np.equal.outer(arms % alpha, arms % alpha))
        runs.append(exp3_g_regrets(2**13, lambda _, graph=cliques: graph, alpha, 8))
    check_square_root(sizes, runs, 0.1)
