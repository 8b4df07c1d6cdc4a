"""Questions asked of the package: the paper's claims, the leaderboard, how much to explore, what each class is worth.

Each study is a folder: experiments as TOML files, ``presets.toml`` with their sizes, and ``study.py``, which says what
the study consists of and what it has found. All are planned, run, resumed and written in one way:

    plan = Plan(study="exploration", preset="quick", only=("still",))
    outcome = run_study(plan, out="results/exploration")
"""

from graphbandit.studies.findings import Finding, Findings
from graphbandit.studies.outcome import Outcome
from graphbandit.studies.plan import Plan
from graphbandit.studies.running import PlanProgress, run_plan, run_study

__all__ = ["Finding", "Findings", "Outcome", "Plan", "PlanProgress", "run_plan", "run_study"]
