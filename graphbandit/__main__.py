"""``python -m graphbandit`` is the command ``graphbandit``."""

from graphbandit.cli.app import app

if __name__ == "__main__":
    app(prog_name="graphbandit")
