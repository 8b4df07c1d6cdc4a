"""The sections of a report: each file has a function `section`. `SECTIONS` of `report/write_report.py` lists them."""
