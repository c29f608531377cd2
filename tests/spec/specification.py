"""The texts of the specifications: headings and sentences, as the ledger numbers them.

Four texts are Markdown; MCP-lite is plain text whose headings are its numbered lines.
"""

from __future__ import annotations

__all__ = ("LEVELS", "Section", "id_stem", "level_of", "plain", "sections_of")

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# Strongest first; a sentence without such a word states, and binds nobody.
LEVELS = ("must", "should", "may", "states")

NUMBER = re.compile(r"Appendix ([A-Z]):|(\d+(?:\.\d+)*)\.?(?=\s)|([A-Z](?:\.\d+)+)\.?(?=\s)")
MARKDOWN_HEADING = re.compile(r"(#{1,6}) (.*)")
FENCE = re.compile(r"\s*```")
LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+\.)\s+")
SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<! vs)(?<!etc)[.!?][*_)\"”]*\s+(?=[^a-z\s])")


@dataclass
class Section:
    """One heading and the sentences between it and the next one."""

    name: str
    sentences: list[str] = field(default_factory=list)

    def count(self, level: str) -> int:
        return sum(level_of(sentence) == level for sentence in self.sentences)


def level_of(sentence: str) -> str:
    """Return the strongest level whose word the sentence has, in either case."""
    words = set(re.findall(r"[a-z]+", sentence.lower()))
    return next((level for level in LEVELS[:3] if level in words), "states")


def id_stem(protocol: str, section: str) -> str:
    """Return what the ids of the rows of a section begin with."""
    return f"{protocol}-{dashed(section)}"


def plain(text: str) -> str:
    """Return the words of `text` alone, to compare wordings."""
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def sections_of(text: str) -> list[Section]:
    """Return the sections of a text in its order; what stands before the first one has no name."""
    headings = markdown_lines if text.startswith("# ") else outline_lines
    found: list[Section] = []
    block: list[str] = []
    for depth, line in [*headings(text), (1, "")]:
        if depth or not line.strip() or begins_unit(line):
            if block:
                found[-1].sentences += sentences_in(" ".join(block))
            block = []
        if depth and line:
            found.append(Section(line))
        elif line.strip():
            block.append(line.strip())
    return found


def begins_unit(line: str) -> bool:
    """Whether a line begins a list item, a table row or a line of code of its own."""
    return bool(LIST_ITEM.match(line)) or line.lstrip().startswith(("|", "//"))


def sentences_in(block: str) -> Iterator[str]:
    cells = block.strip("|").split("|") if block.startswith("|") else [block]
    for cell in cells:
        start = 0
        for end in SENTENCE_END.finditer(cell):
            yield cell[start : end.end()].strip()
            start = end.end()
        yield cell[start:].strip()


def markdown_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with the depth of their heading, 0 for other lines; headings as names."""
    numbers: list[tuple[int, str]] = []
    fenced = False
    for line in text.splitlines():
        if FENCE.match(line):
            fenced = not fenced
            yield 0, ""
            continue
        heading = None if fenced else MARKDOWN_HEADING.fullmatch(line)
        if heading is None:
            yield 0, line.removeprefix("> ")
            continue
        depth, title = len(heading[1]), heading[2].replace("`", "").strip()
        numbers = [(above, number) for above, number in numbers if above < depth]
        own = number_of(title)
        if own:
            numbers.append((depth, own))
        yield depth, own or under(numbers[-1][1] if numbers else None, title)


def outline_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text whose first line is its title and whose headings are numbered."""
    title, *lines = text.splitlines()
    yield 1, under(None, title)
    for line in lines:
        own = number_of(line)
        yield (1, own) if own else (0, line)


def number_of(title: str) -> str | None:
    found = NUMBER.match(title)
    return next(filter(None, found.groups())) if found else None


def under(number: str | None, title: str) -> str:
    return f"{number} {title}" if number else dashed(title.lower())


def dashed(title: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", title).strip("-")
