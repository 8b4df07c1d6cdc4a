"""One page for every public name: written from the ``__all__`` of the rooms before the site is read.

A name that the package offers at its top has its page there, and a room that offers it too links to it.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOMS = (
    "graphbandit",
    "graphbandit.learners",
    "graphbandit.function_classes",
    "graphbandit.features",
    "graphbandit.graphs",
    "graphbandit.environments",
    "graphbandit.planning",
    "graphbandit.evaluation",
    "graphbandit.interop.vw",
    "graphbandit.interop.obp",
    "graphbandit.interop.frames",
    "graphbandit.interop.gymnasium",
    "graphbandit.interop.networkx",
    "graphbandit.experiments",
    "graphbandit.plots",
    "graphbandit.service",
    "graphbandit.theory",
    "graphbandit.errors",
)
EXAMPLES = Path(__file__).parents[1] / "api" / "examples"
TITLES = {"graphbandit": "Everyday names"}


class PublicName(NamedTuple):
    """A name people import, where its page is, and what it stands for."""

    room: str
    name: str
    page: str
    value: object

    @property
    def summary(self) -> str:
        """The first sentence of its docstring."""
        text = inspect.getdoc(self.value) or ""
        return " ".join(text.split("\n\n")[0].split())


def rooms() -> list[ModuleType]:
    """Those of `ROOMS` that the package has."""
    return [importlib.import_module(name) for name in ROOMS if importlib.util.find_spec(name) is not None]


def names_of(room: ModuleType) -> list[str]:
    """Its ``__all__``, or else what it defines itself under a name without an underscore."""
    if hasattr(room, "__all__"):
        return [str(name) for name in room.__all__]
    own = [n for n, v in vars(room).items() if getattr(v, "__module__", None) == room.__name__ and n[0] != "_"]
    return [name for name in own if inspect.isclass(vars(room)[name]) or inspect.isfunction(vars(room)[name])]


def public_names() -> dict[str, list[PublicName]]:
    """All of them by room, modules left out."""
    pages: dict[int, str] = {}
    found: dict[str, list[PublicName]] = {}
    for room in rooms():
        listed = []
        for name in sorted(names_of(room), key=str.lower):
            value = getattr(room, name)
            if not inspect.ismodule(value):
                page = pages.setdefault(id(value), f"{room.__name__}.{name}")
                listed.append(PublicName(room.__name__, name, page, value))
        found[room.__name__] = listed
    return found


def examples() -> dict[str, str]:
    """From a name to the file in api/examples that shows it, for names whose docstring has no example."""
    found = {}
    for path in sorted(EXAMPLES.glob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("# for: "):
                found |= dict.fromkeys(line.removeprefix("# for: ").split(", "), path.name)
    return found


def page_of(public: PublicName) -> str:
    """The page of a name, in reStructuredText, as autodoc wants it."""
    kind = "autoclass" if inspect.isclass(public.value) else "autofunction" if callable(public.value) else "autodata"
    if inspect.isclass(public.value) and issubclass(public.value, Exception):
        kind = "autoexception"
    options = "   :show-inheritance:\n" if inspect.isclass(public.value) else ""
    title = public.name
    parts = [f"{title}\n{'=' * len(title)}", f".. {kind}:: {public.page}\n{options}"]
    example = examples().get(public.page)
    if example:
        first = 1 + sum(line.startswith("# for: ") for line in (EXAMPLES / example).read_text().splitlines())
        parts += [
            "Example\n-------",
            f".. literalinclude:: ../examples/{example}\n   :language: python\n   :lines: {first}-",
        ]
    return "\n\n".join(parts) + "\n"


def room_page(room: ModuleType, listed: list[PublicName]) -> str:
    """The page of a room: what it is for, and its names with a sentence each."""
    title = TITLES.get(room.__name__, room.__name__)
    lines = [f"# {title}", "", f"```{{py:module}} {room.__name__}", "```", ""]
    lines += [(inspect.getdoc(room) or "").split("\n\n")[0].replace("\n", " "), ""]
    lines += ["| name | what it is |", "| --- | --- |"]
    for public in listed:
        summary = public.summary.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")
        lines.append(f"| [{public.name}]({public.page}.rst) | {summary} |")
    own = [public.page for public in listed if public.page == f"{room.__name__}.{public.name}"]
    lines += ["", "```{toctree}", ":hidden:", "", *own, "```", ""]
    return "\n".join(lines)


def write(path: Path, text: str) -> None:
    """Leave a page alone that is as it should be: what did not change is not read again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_pages(app: Sphinx) -> None:
    """Write all pages into docs/api/generated, and delete those of names that are gone."""
    folder = Path(app.srcdir) / "api" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    found = public_names()
    texts: dict[str, str] = {}
    for room in rooms():
        texts[f"room-{room.__name__}.md"] = room_page(room, found[room.__name__])
        for public in found[room.__name__]:
            texts.setdefault(f"{public.page}.rst", page_of(public))
    for name, text in texts.items():
        write(folder / name, text)
    for old in folder.iterdir():
        if old.name not in {*texts, "commands.md"}:
            old.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Pages are written before Sphinx looks for them."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
