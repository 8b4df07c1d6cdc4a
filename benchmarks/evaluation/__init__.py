"""How good are values and intervals from logs? Variances against the bound, coverage, and values on real data.

``python -m benchmarks.evaluation efficiency``, ``... coverage`` and ``... data`` print the tables of
`docs/evaluation.md`. These are no studies: they have no learners that play environments, which is what a plan lists.
"""
