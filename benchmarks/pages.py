"""Tables of docs that a command writes: between `<!-- name -->` and `<!-- end of name -->`."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def put(page: Path, name: str, text: str, *, inline: bool = False) -> None:
    """Put a text between its two marks in a page, in place of what is there; `inline`, on the line of the marks."""
    before = page.read_text(encoding="utf-8")
    mark, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    if before.count(mark) != 1 or before.count(end) != 1:
        raise ValueError(f"{page} has no {mark} with its {end}, or several; expected one of each")
    between = re.compile(f"{re.escape(mark)}.*?{re.escape(end)}", re.DOTALL)
    page.write_text(between.sub(lambda _: marked(name, text, inline=inline), before), encoding="utf-8")


def marked(name: str, text: str, *, inline: bool = False) -> str:
    """A text with its two marks."""
    between = text if inline else f"\n\n{text}\n\n"
    return f"<!-- {name} -->{between}<!-- end of {name} -->"
