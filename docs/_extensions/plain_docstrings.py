"""Docstrings are plain text: paragraphs, `names`, indented formulas, Args lists and examples. Sphinx wants more.

This turns one into the other, so that ``|F|``, ``F_m`` and ``V^-1`` can be written as they are, and a `name` that the
package offers becomes a link to its page.
"""

import re
from collections.abc import Iterator
from functools import cache

from api_pages import public_names
from sphinx.application import Sphinx

SECTION = re.compile(r"(Args|Returns|Raises|Yields|Attributes|Settings|Fields):$")
ENTRY = re.compile(r"([*\w.]+(?:, [*\w.]+)*)(?: \([^)]*\))?: (.*)")
DOCUMENT = re.compile(r"(?:docs/)?([\w-]+)\.md")


@cache
def links() -> dict[str, str]:
    """Where the page of a public name is, by the name alone."""
    return {public.name: public.page for listed in public_names().values() for public in reversed(listed)}


def inline(text: str) -> str:
    """A line of prose with its `names` as literals or links, and nothing else that reStructuredText would see."""
    done = []
    for i, part in enumerate(re.split(r"(``.+?``|`[^`]+`)", text)):
        if i % 2 == 0:
            done.append(re.sub(r"([*|\\])", r"\\\1", re.sub(r"(?<=\w)_(?!\w)", r"\\_", part)))
            continue
        name = part.strip("`")
        document = DOCUMENT.fullmatch(name)
        if document:
            done.append(f":doc:`/{document[1]}`")
        elif name in links():
            done.append(f":py:obj:`{name} <{links()[name]}>`")
        else:
            done.append(f"``{name}``")
    return re.sub(r"(?<=[\w)])(``|:py)", r"\\ \1", re.sub(r"(``|`)(?=\w)", r"\1", "".join(done)))


def blocks(lines: list[str]) -> Iterator[list[str]]:
    """Runs of lines without a blank one; a blank line inside indented lines does not end them."""
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def code(language: str, lines: list[str]) -> list[str]:
    """Lines shown as they are."""
    return [f".. code-block:: {language}", "", *("   " + line for line in lines), ""]


def entries(lines: list[str]) -> list[str]:
    """An Args list: one item for each name, with what is said about it."""
    done: list[str] = []
    for line in lines:
        entry = ENTRY.fullmatch(line.strip())
        deeper = len(line) - len(line.lstrip()) > 4
        if entry and not deeper:
            done += ["", f"- ``{entry[1]}``: {inline(entry[2])}"]
        elif done:
            done.append(f"  {inline(line.strip())}")
        else:
            done.append(f"- {inline(line.strip())}")
    return [*done, ""]


def converted(lines: list[str]) -> list[str]:
    """The whole docstring."""
    done: list[str] = []
    for block in blocks(lines):
        heading = SECTION.fullmatch(block[0].strip())
        if block[0].startswith(">>>"):
            done += code("pycon", block)
        elif heading and len(block) > 1:
            done += [f"**{heading[1]}**", "", *entries(block[1:])]
        elif block[0].startswith("    "):
            least = min(len(line) - len(line.lstrip()) for line in block)
            done += code("text", [line[least:] for line in block])
        elif re.match(r"- |\d+\. ", block[0]):
            done += [re.match(r" *(- |\d+\. )?", line)[0] + inline(line[re.match(r" *(- |\d+\. )?", line).end():])  # type: ignore[index,union-attr]
                     for line in block] + [""]
        else:
            prose = [line for line in block if not line.startswith(" ")]
            rest = block[len(prose):] if block[: len(prose)] == prose else []
            if rest:  # a paragraph with an indented block right below it
                done += [inline(line) for line in prose] + ["", *code("text", [line.strip() for line in rest])]
            else:
                done += [inline(line.strip()) for line in block] + [""]
    return done


def process(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Sphinx hands in the lines of a docstring and takes back what stands in their place."""
    lines[:] = converted(list(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    """Every docstring goes through `process`."""
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
