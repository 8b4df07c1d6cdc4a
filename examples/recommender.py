"""A shop window of 5,000 items: showing one reveals what visitors think of its neighbours. Items come and go.

Several processes decide with read-only copies of the bandit; one process takes their decisions and learns.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

import graphbandit as gb

ITEMS, NEIGHBOURS, TASTES, VISITS = 5000, 10, 3, 24
rng = np.random.default_rng(0)
weights = rng.normal(size=(TASTES, TASTES))


def items(first: int, n: int) -> pd.DataFrame:
    """Items as the catalogue has them: a name and what they are like."""
    frame = pd.DataFrame(rng.normal(size=(n, TASTES)).round(3), columns=[f"like{i}" for i in range(TASTES)])
    return frame.assign(arm=[f"item-{first + i}" for i in range(n)])


def visitors(n: int) -> pd.DataFrame:
    """Visitors and their tastes."""
    return pd.DataFrame(rng.normal(size=(n, TASTES)), columns=[f"taste{i}" for i in range(TASTES)])


def neighbours(catalogue: pd.DataFrame) -> gb.FeedbackGraph:
    """An edge from each item to itself and to those most like it."""
    points = catalogue.drop(columns="arm").to_numpy()
    near = cKDTree(points).query(points, k=NEIGHBOURS + 1)[1]
    edges = np.stack([np.repeat(np.arange(len(points)), NEIGHBOURS + 1), near.ravel()], axis=1)
    return gb.FeedbackGraph.from_edges(edges, len(points), add_loops=True).with_arms(catalogue["arm"])


def main() -> None:
    """Four mornings: decide in other processes, take the decisions, observe, and change the catalogue."""
    catalogue = items(0, ITEMS)
    columns = {f"taste{i}": "number" for i in range(TASTES)}
    problem = gb.Problem(
        arms=list(catalogue["arm"]),
        features=columns,
        arm_features=catalogue,
        function_class="linear",
    )
    bandit = gb.Bandit(gb.IDSG(draws=20, epoch_growth=2.0), problem, graph=neighbours(catalogue), seed=0)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for morning in range(4):
            decider, people = bandit.decider(), visitors(VISITS)
            halves = [people.iloc[: VISITS // 2], people.iloc[VISITS // 2 :]]
            asked = [
                pool.submit(decider.decide_batch, half, keys=[f"day {morning}, visitor {i}" for i in half.index])
                for half in halves
            ]
            decided = bandit.take([decision for one in asked for decision in one.result()])
            likes = catalogue.drop(columns="arm").to_numpy()
            values = people.to_numpy() @ weights @ likes.T / TASTES
            for decision, value in zip(decided, values, strict=True):
                noise = rng.normal(scale=0.5, size=len(decision.revealed))
                rewards = value[decision.revealed] + noise
                bandit.observe(decision, dict(zip(decision.revealed.tolist(), rewards.tolist(), strict=True)))
            bandit.refit()
            shown = np.mean([value[decision.action] for decision, value in zip(decided, values, strict=True)])
            print(f"morning {morning}: value shown {shown:.2f}, of the best item {values.max(axis=1).mean():.2f}")
            joining = items(len(catalogue), 50)
            catalogue = pd.concat([catalogue, joining], ignore_index=True)
            bandit.add_arms(list(joining["arm"]), arm_features=joining, graph=neighbours(catalogue))
            bandit.retire_arms([f"item-{morning * 50 + i}" for i in range(50)])
    print(f"{bandit.problem.n_arms} items, {len(bandit.retired)} of them gone, {bandit.rounds} visits")


if __name__ == "__main__":
    main()
