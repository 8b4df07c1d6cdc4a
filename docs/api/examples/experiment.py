# for: graphbandit.experiments.run, graphbandit.experiments.Results, graphbandit.experiments.InProcess
# for: graphbandit.experiments.Processes, graphbandit.experiments.plot_regret, graphbandit.experiments.plot_paired
# for: graphbandit.experiments.plot_ranks, graphbandit.experiments.plot_regret_versus_time
# for: graphbandit.experiments.write_report, graphbandit.experiments.run_all
from graphbandit.experiments import Experiment, Grid, InProcess, plot_paired, plot_regret, run

experiment = Experiment(
    name="small",
    rounds=32,
    repeats=2,
    environments={"star": Grid("paper", {"graph": "star", "n_arms": 6})},
    learners={"IDS.G": Grid("IDSG"), "FALCON": Grid("Falcon")},
)
results = run(experiment, out="results/small", engine=InProcess())  # Processes(4): the same bytes
print(results.regret("star", "IDS.G").shape)
curves = plot_regret(results, environment="star")
pairs = plot_paired(results, baseline="FALCON")
