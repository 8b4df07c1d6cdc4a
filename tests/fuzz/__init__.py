"""A hostile trial of the whole package: ``python -m tests.fuzz --seed N --scale X [--only PART]``.

One file a part. `driver` says what a part is, `__main__` runs parts in a process of their own and counts, `worker` is
that process. What is found is a defect with the command that shows it again; docs/reliability.md says what is promised.
"""
