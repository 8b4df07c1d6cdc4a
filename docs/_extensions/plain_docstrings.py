"""Docstrings are plain text: paragraphs, `names`, indented formulas, Args lists and examples. Sphinx wants more.

This turns one into the other, so that ``|F|``, ``F_m`` and ``V^-1`` can be written as they are, and a `name` that the
package offers becomes a link to its page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from api_pages import public_names

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SECTION = re.compile(r"(Args|Returns|Raises|Yields|Attributes|Settings|Fields):$")
ENTRY = re.compile(r"([*\w.]+(?:, [*\w.]+)*)(?: \([^)]*\))?: (.*)")
SETTING = re.compile(r"[a-z_]\w*(, [a-z_]\w*)*: ")
BULLET = re.compile(r"- |\d+\. ")
BULLET_OR_NOT = re.compile(r"( *(?:- |\d+\. )?)(.*)")
DOCUMENT = re.compile(r"(?:docs/)?([\w-]+)\.md")


@cache
def links() -> dict[str, str]:
    """Where the page of a public name is, by the name alone."""
    found = {public.name: public.page for listed in public_names().values() for public in reversed(listed)}
    return {name: page for name, page in found.items() if name[0].isupper() or "_" in name}  # `arms` is an argument


def plain(text: str) -> str:
    """Prose with every character escaped that reStructuredText would take for markup."""
    return re.sub(r"([*|\\])", r"\\\1", re.sub(r"(?<=\w)_(?!\w)", r"\\_", text))


def marked(name: str) -> str:
    """A `name` as a link to its page if it has one, else as a literal."""
    document = DOCUMENT.fullmatch(name)
    if document:
        return f":doc:`/{document[1]}`"
    return f":py:obj:`{name} <{links()[name]}>`" if name in links() else f"``{name}``"


def inline(text: str) -> str:
    """A line of prose with its `names` marked; markup needs a gap on both sides, also where a word goes on."""
    parts = re.split(r"``(.+?)``|`([^`]+)`", text)
    done = plain(parts[0])
    for double, single, prose in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        name = double if double is not None else single
        before = "\\ " if done and not done[-1].isspace() else ""
        after = "\\ " if prose and not prose[0].isspace() else ""
        done += before + marked(name) + after + plain(prose)
    return done


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
    least = min(len(line) - len(line.lstrip()) for line in lines)
    for line in lines:
        entry = ENTRY.fullmatch(line.strip())
        deeper = len(line) - len(line.lstrip()) > least
        if entry and not deeper:
            done += ["", f"- ``{entry[1]}``: {inline(entry[2])}"]
        elif done:
            done.append(f"  {inline(line.strip())}")
        else:
            done.append(f"- {inline(line.strip())}")
    return [*done, ""]


def is_list(block: list[str]) -> bool:
    """Whether each line is a setting with what it means, or goes on with the one before."""
    starts = [line for line in block if not line.startswith(" ")]
    return bool(starts) and not block[0].startswith(" ") and all(SETTING.match(line) for line in starts)


def converted(lines: list[str]) -> list[str]:
    """The whole docstring."""
    done: list[str] = []
    for block in blocks(lines):
        heading = SECTION.fullmatch(block[0].strip())
        if block[0].startswith(">>>"):
            done += code("pycon", block)
        elif is_list(block):
            done += entries(block)
        elif heading and len(block) > 1:
            done += [f"**{'Settings' if heading[1] == 'Args' else heading[1]}**", "", *entries(block[1:])]
        elif block[0].startswith("    "):
            least = min(len(line) - len(line.lstrip()) for line in block)
            done += code("text", [line[least:] for line in block])
        elif BULLET.match(block[0]):
            done += [mark + inline(rest) for mark, rest in (BULLET_OR_NOT.fullmatch(line).groups() for line in block)]  # type: ignore[union-attr]
            done.append("")
        else:
            prose = [line for line in block if not line.startswith(" ")]
            rest = block[len(prose) :] if block[: len(prose)] == prose else []
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
