"""Studies: the paper's claims, the leaderboard, how much to explore, and what each function class is worth.

Each study is a folder with its experiments as TOML files, what they share in ``shared.toml``, their sizes in
``presets.toml``, and ``study.py``, which lists the experiments and turns their results into findings. All studies are
planned, run, resumed and written alike:

    plan = Plan(study="exploration", preset="quick", only=("still",))
    outcome = run_study(plan, out="results/exploration")
"""

from graphbandit.studies.findings import Finding, Findings
from graphbandit.studies.outcome import Outcome
from graphbandit.studies.plan import Plan
from graphbandit.studies.study_runs import PlanProgress, run_plan, run_study

__all__ = ["Finding", "Findings", "Outcome", "Plan", "PlanProgress", "run_plan", "run_study"]
