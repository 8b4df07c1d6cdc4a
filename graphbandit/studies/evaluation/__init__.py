"""How good are values and intervals from logs? This study measures variances against the bound, and coverage.

``python -m graphbandit.studies.evaluation efficiency`` and ``... coverage`` print the tables of `docs/evaluation.md`.
"""
