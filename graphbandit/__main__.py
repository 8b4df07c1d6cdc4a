"""``python -m graphbandit`` is the command ``graphbandit``."""

from graphbandit.cli import app

if __name__ == "__main__":
    app(prog_name="graphbandit")
