"""The sections of a report, one a file with a function `section`; `SECTIONS` of `report/experiment.py` names them."""
