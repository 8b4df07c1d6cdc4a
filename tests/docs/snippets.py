"""The code on the pages: found, run, and compared with the output that stands below it.

Three kinds of block are run, in the order of their page, in one namespace and one temporary folder a page:

- ``python`` and ``{code-cell} python``; a ``text`` block right below a ``python`` one is its output;
- ``console``: lines that begin with ``$ ``; a ``text`` block right below is the output of the last one;
- ``toml`` right before "Save it as `NAME`" is written to that file.

A block inside a ``:class: long-run`` box takes minutes. It is run only with GRAPHBANDIT_TEST_DOCS=all, and the box must
say when it was last run.

``python -m tests.docs.snippets README.md`` writes the outputs into a page anew.
"""

import contextlib
import io
import re
import shlex
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
RUN_BY_HAND = ("pip", "make", "git")
"""Commands of a shell whose targets are checked and which are not run: they install, or run everything."""


@dataclass
class Block:
    """A fenced block: where it stands, what it is, its text, and the text of the output block below it."""

    page: Path
    line: int
    kind: str
    text: str
    expected: str | None = None
    box: str | None = None

    @property
    def is_long(self) -> bool:
        return self.box is not None


def pages() -> list[Path]:
    """All pages that people write, the README first; those made from docstrings are not among them."""
    found = [p for p in DOCS.rglob("*.md") if not {"_build", "generated"} & set(p.relative_to(DOCS).parts)]
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(found)]


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    lines = page.read_text(encoding="utf-8").splitlines()
    found: list[Block] = []
    box: list[str] | None = None
    i = 0
    while i < len(lines):
        fence = re.match(r"(`{3,})\s*(\S*)(.*)", lines[i])
        if re.match(r":{3,}\{admonition\}", lines[i]) and "long-run" in "".join(lines[i + 1 : i + 3]):
            box = []
        elif box is not None and re.fullmatch(r":{3,}", lines[i]):
            for block in found:
                if block.box == "":
                    block.box = "\n".join(box)
            box = None
        elif fence:
            end = next(k for k in range(i + 1, len(lines) + 1) if k == len(lines) or lines[k].startswith(fence[1]))
            kind = fence[2].strip("{}")
            text = "".join(f"{line}\n" for line in lines[i + 1 : end])
            between = lines[found[-1].line : i] if found else []
            if kind == "text" and found and not "".join(between[found[-1].text.count("\n") + 1 :]).strip():
                found[-1].expected = text
            else:
                found.append(Block(page, i + 1, kind, text, box=None if box is None else ""))
            i = end
        elif box is not None:
            box.append(lines[i])
        i += 1
    return found


def without_blocks(page: Path) -> str:
    """The text of a page outside of fenced blocks."""
    return re.sub(r"^(`{3,}).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def code_of(block: Block) -> str:
    """The Python of a block, with the options of a cell and the magic commands of notebooks left out."""
    dropped = re.compile(r"(:\w+:|%)")
    return "\n".join("" if dropped.match(line) else line for line in block.text.splitlines()) + "\n"


def commands(block: Block) -> Iterator[list[str]]:
    """The commands of a console block, settings of the environment in front of them left out."""
    for line in block.text.splitlines():
        if line.startswith("$ "):
            words = shlex.split(line[2:], comments=True)
            while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
                words.pop(0)
            yield words


def run_command(words: list[str]) -> str:
    """What `graphbandit ...` prints; raises unless it ends well."""
    from typer.testing import CliRunner

    from graphbandit.cli.app import app

    assert words[0] == "graphbandit", f"no test knows how to run {words}"
    result = CliRunner().invoke(app, words[1:])
    if result.exit_code != 0:
        raise AssertionError(f"{' '.join(words)} ended with {result.exit_code}: {result.output}") from result.exception
    return result.output


def run_page(page: Path, *, long: bool = False) -> Iterator[tuple[Block, str]]:
    """Run the blocks of a page in the current folder and yield each with what it printed."""
    module = types.ModuleType("__page__")  # so that classes and functions of a page can be found by their addresses
    sys.modules["__page__"] = module
    names = module.__dict__
    text = page.read_text(encoding="utf-8")
    for block in blocks(page):
        if block.is_long and not long:
            continue
        printed = io.StringIO()
        if block.kind in ("python", "code-cell"):
            code = compile("\n" * block.line + code_of(block), str(page), "exec")
            with contextlib.redirect_stdout(printed):
                exec(code, names)
        elif block.kind == "console":
            for words in commands(block):
                if words[0] not in RUN_BY_HAND:
                    printed = io.StringIO(run_command(words))
        elif block.kind == "toml":
            rest = "\n".join(text.splitlines()[block.line + block.text.count("\n") :])
            name = re.match(r"[`\s]*Save it as `([\w.-]+)`", rest)
            if name:
                Path(name[1]).write_text(block.text, encoding="utf-8")
        yield block, printed.getvalue()


def write_outputs(page: Path) -> None:
    """Put what the blocks print into the output blocks below them."""
    import tempfile

    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for block, printed in run_page(page):
            if block.expected is not None:
                head = f"{block.text}```\n\n```text\n"
                text = text.replace(head + block.expected, head + printed)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write_outputs(Path(name).resolve())
