"""``python -m graphbandit`` is the command ``graphbandit``."""

from graphbandit.cli import app

app(prog_name="graphbandit")
