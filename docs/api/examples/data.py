# for: graphbandit.environments.load_dataset, graphbandit.environments.LabelledData
# for: graphbandit.environments.KnownRewardsEnvironment
import graphbandit as gb

data = gb.environments.load_dataset("iris")  # comes with scikit-learn
flowers = gb.environments.classification(data.X, data.y, graph="confusion", degree=1)
print(flowers.n_arms, flowers.n_rounds)
