"""The glossary's words are used, their synonyms are not, and every figure says where it comes from."""

import re

import pytest

from tests.docs.snippets import DOCS, ROOT, pages, without_blocks

SYNONYMS = {
    r"\bodds\b": "edge probability",
    r"\bself[ ]?loops?\b": "self-loop",
    r"\btime ?steps?\b": "round",
    r"\blevers?\b": "arm",
    r"\bconfidence set\b": "version space",
    r"\bpscores?\b": "propensity",
}  # fmt: skip
SITE = {page.relative_to(ROOT).as_posix(): page for page in pages()}


@pytest.mark.parametrize("word", sorted(set(SYNONYMS.values())))
def test_the_glossary_has_the_words_that_replace_others(word):
    assert re.search(rf"^{word}$", (DOCS / "glossary.md").read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize("page", SITE.values(), ids=SITE)
def test_one_word_for_one_thing(page):
    prose = re.sub(r"`[^`\n]*`", "", without_blocks(page))
    for synonym, word in SYNONYMS.items():
        found = re.search(synonym, prose, flags=re.IGNORECASE)
        assert not found, f"{page.name} says {found[0]!r}; the word here is {word!r}"


@pytest.mark.parametrize("name", SITE)
def test_figures_say_how_they_were_made(name):
    text = SITE[name].read_text()
    for picture in re.finditer(r"^!\[[^\]]*\]\([^)]*\)\n", text, flags=re.MULTILINE):
        below = re.sub(r"^!\[.*\n", "", text[picture.end() : picture.end() + 900], flags=re.MULTILINE).strip()
        assert re.match(r"\*Made by `[^`]+`.*(graphbandit|version) \d+\.\d+", below, flags=re.DOTALL), (
            f"{name} has {picture[0].strip()} without 'Made by `COMMAND`, graphbandit VERSION' below it"
        )
    if "{code-cell}" in text and "plots." in text:
        assert "{{ made_here }}" in text, f"{name} draws pictures; expected {{{{ made_here }}}} on it"


@pytest.mark.parametrize("name", SITE)
def test_pictures_are_described(name):
    for words in re.findall(r"!\[([^\]]*)\]\(", SITE[name].read_text()):
        assert len(words) > 10, f"{name} has a picture described as {words!r}"
