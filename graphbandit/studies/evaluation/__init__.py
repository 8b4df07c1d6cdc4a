"""How good are values and intervals from logs? Variances against the bound, and coverage, measured.

``python -m graphbandit.studies.evaluation efficiency`` and ``... coverage`` print the tables of `docs/evaluation.md`.
"""
