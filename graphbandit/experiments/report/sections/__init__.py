"""The sections of a report: each file has a function `section`. `SECTIONS` of `report/experiment.py` lists them."""
