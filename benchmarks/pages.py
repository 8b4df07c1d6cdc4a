"""Tables of docs that a command writes: between `<!-- name -->` and `<!-- end of name -->`."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def put(page: Path, name: str, text: str) -> None:
    """Put a text between its two marks in a page, in place of what is there."""
    before = page.read_text(encoding="utf-8")
    mark, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    if before.count(mark) != 1 or before.count(end) != 1:
        raise ValueError(f"{page} has no {mark} with its {end}, or several; expected one of each")
    between = re.compile(f"{re.escape(mark)}.*?{re.escape(end)}", re.DOTALL)
    page.write_text(between.sub(lambda _: f"{mark}\n\n{text}\n\n{end}", before), encoding="utf-8")
