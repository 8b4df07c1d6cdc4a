# for: graphbandit.environments.read_labelled, graphbandit.environments.read_ratings
# for: graphbandit.environments.ratings, graphbandit.environments.RatingData
from pathlib import Path

import numpy as np

import graphbandit as gb

rng = np.random.default_rng(0)
np.savez("shapes.npz", X=rng.normal(size=(60, 3)), y=rng.integers(0, 3, 60))
shapes = gb.environments.read_labelled("shapes.npz")
print(gb.environments.classification(shapes.X, shapes.y).n_arms)

rows = [f"{user},{item},{rng.integers(1, 6)}" for user in range(40) for item in range(12)]
Path("films.csv").write_text("user,item,value\n" + "\n".join(rows))
films = gb.environments.read_ratings("films.csv")
print(gb.environments.ratings(films.users, films.items, films.values, n_arms=5, dimension=2).n_arms)
