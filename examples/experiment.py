"""An experiment in Python: two learners on stars of two sizes, resumed if it was stopped, and its results."""

import graphbandit as gb
from graphbandit.experiments import Experiment, Grid


def main() -> None:
    experiment = Experiment(
        name="stars",
        rounds=512,
        repeats=5,
        environments={"star": Grid("paper", {"graph": "star", "n_arms": [10, 20], "reward_scale": 8.0})},
        learners={"ours": Grid("AdaCBG"), "FALCON": Grid("Falcon", {"eta": [1.0, 4.0]})},
    )
    results = gb.experiments.run(experiment, out="results/stars")  # in as many processes as there are cores
    for environment in results.environments:
        for learner in results.learners:
            print(f"{environment:<16} {learner:<16} {results.regret(environment, learner).mean():8.2f}")


if __name__ == "__main__":  # worker processes import this file
    main()
