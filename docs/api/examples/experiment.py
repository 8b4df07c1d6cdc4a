# for: graphbandit.experiments.run, graphbandit.experiments.Results, graphbandit.experiments.InProcess
# for: graphbandit.experiments.Processes, graphbandit.experiments.plot_curves, graphbandit.experiments.plot_paired
# for: graphbandit.experiments.plot_ranks, graphbandit.experiments.plot_regret_versus_time
# for: graphbandit.experiments.write_report, graphbandit.experiments.run_all
from graphbandit.experiments import Experiment, Grid, InProcess, plot_curves, plot_paired, run

experiment = Experiment(
    name="small",
    rounds=32,
    repeats=2,
    environments={"star": Grid("paper", {"graph": "star", "n_arms": 6})},
    learners={"IDS.G": Grid("IDSG"), "FALCON": Grid("Falcon")},
)
results = run(experiment, out="results/small", engine=InProcess())  # Processes(4): the same bytes
print(results.regret("star", "IDS.G").shape)
curves = plot_curves(results, environment="star")
pairs = plot_paired(results, baseline="FALCON")
