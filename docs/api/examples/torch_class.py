# for: graphbandit.TorchClass, graphbandit.function_classes.LastLayerClass
import torch

import graphbandit as gb


def make() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))


network = gb.TorchClass(make, n_arms=3, dimension=2, members=2, passes=2)
cheaper = gb.function_classes.LastLayerClass(gb.TorchClass(make, n_arms=3, dimension=2))  # one training an epoch
for functions in (network, cheaper):
    bandit = gb.Bandit(gb.IDSG(), gb.Problem(n_arms=3, function_class=functions, noise=0.5))
    print(bandit.decide([0.2, 0.7], gb.graphs.star(3, hub=0)).action)
