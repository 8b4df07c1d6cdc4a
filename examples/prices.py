"""Which price? A sale says 1, no sale says 0; the class learns the probability of a sale, shared by all prices.

It is tempting to draw an edge from each price to all lower ones, as who buys at 12 would have bought at 8. But no sale
at 12 says nothing about 8: what is revealed would depend on the reward itself, and the lower prices would look better
than they are. So every price reveals itself alone, and what one price's sales teach about the others is the model's:
`factors` are the prices, and the logistic class, whose features hold the price, learns P(sale) from 0 and 1.
"""

import numpy as np

import graphbandit as gb

PRICES = np.array([4.0, 6.0, 8.0, 10.0, 12.0, 14.0])
ROUNDS = 1500
NAMES = [f"{price:g} euros" for price in PRICES]
OWN = gb.graphs.bandit(len(PRICES))
LOWER = gb.FeedbackGraph.from_dense(np.tri(len(PRICES), dtype=bool))
rng = np.random.default_rng(0)


def sale(loyal: bool) -> np.ndarray:
    """What nobody knows: the probability of a sale at each price. Few buy, and few of them mind the price."""
    return np.asarray(1.0 / (1.0 + np.exp(2.5 - loyal + 0.05 * (PRICES - 8.0))))


def problem(*, known_prices: bool) -> gb.Problem:
    """The probability of a sale depends on the customer, the price, and both; or each price is learnt by itself."""
    if not known_prices:
        by_price = gb.LinearClass(n_arms=len(PRICES), dimension=2, parameters="per-arm")
        return gb.Problem(arms=NAMES, function_class=by_price)
    features = np.column_stack([np.ones(len(PRICES)), (PRICES - 9.0) / 4.0])
    functions = gb.GeneralizedLinearClass(
        n_arms=len(PRICES), dimension=2, link="logistic", arm_features=features, factors=PRICES, norm_bound=5.0
    )
    return gb.Problem(arms=NAMES, function_class=functions)


def lost(functions: gb.Problem, *, lower: bool = False) -> float:
    """Expected earnings lost against the best price for each customer, in euros a customer."""
    bandit, customers, total = gb.Bandit(gb.IDSG(), functions, seed=1), np.random.default_rng(7), 0.0
    for _ in range(ROUNDS):
        loyal = bool(customers.random() < 0.5)
        limit = customers.random()  # who buys at a price buys at every lower one
        chances = sale(loyal)
        decision = bandit.decide([1.0, float(loyal)], LOWER if lower else OWN)
        arm = decision.action
        sold = limit < chances
        total += (PRICES * chances).max() - PRICES[arm] * chances[arm]
        told = range(arm + 1) if lower and sold[arm] else [arm]  # a sale tells about lower prices, no sale does not
        bandit.observe(decision, {j: float(PRICES[j] * sold[j]) for j in told})
    return float(total / ROUNDS)


print(f"each price by itself: {lost(problem(known_prices=False)):.2f} euros a customer lost")
print(f"sales that tell about lower prices, which is wrong: {lost(problem(known_prices=False), lower=True):.2f}")
print(f"factors=prices, and features of the price that all share: {lost(problem(known_prices=True)):.2f}")
