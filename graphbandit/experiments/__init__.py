"""The paper's experiments, each a module: settings, a run, results beside the paper's own, files."""

from graphbandit.experiments.clique_table import CliqueTable, CliqueTableResult, run_clique_table

__all__ = ["CliqueTable", "CliqueTableResult", "run_clique_table"]
