"""What the search finds, as scripts: names in one, the words of texts in parts.

Scripts, since pages that are opened from a folder may load nothing else. The first one is loaded
when a reader opens the search, a part with the words that begin alike when one is typed. No parts
are larger than `PART` bytes but those of one word, so a larger site has more parts, not larger
ones. Libraries do worse here: Pagefind loads its parts with `fetch`, which a browser refuses in a
folder, and lunr loads its index in one piece, 1.4 MB for the 3,000 pages of Chrome DevTools, where
a reader of ours loads parts of at most 16 kB.
"""

from __future__ import annotations

__all__ = ("search_files",)

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from kinwire_codegen.docs.reference.blocks import (
    Block,
    Cell,
    Code,
    Decision,
    Fields,
    Folded,
    Heading,
    Page,
    Prose,
    TableBlock,
    TableRow,
    Text,
)
from kinwire_codegen.docs.site.html import Shown
from kinwire_codegen.docs.site.inline import plain

LONGEST = 100
REPEATED = 3
PART = 24_000
_WORD = re.compile(r"[^\W\d]\w{2,29}")
_PLACE = re.compile(r"\]\([^)]*\)")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "about after all also and any are been before but can did does each for from had has have"
        " how into its itself may more most must not one only other our out over same should since"
        " some such than that the their them then there these they this those through under until"
        " was way were what when where which while who whose why will with without would you your",
    )
)
"""Words that say nothing about a text."""

Postings = dict[str, list[list[int]]]
"""By word the entries whose text has it once, twice, ..., `REPEATED` times or more."""


def search_files(shown: Sequence[Shown]) -> dict[str, str]:
    """Return the scripts by path.

    The first holds pages, each `[name, url, kind, place, summary]`, places on them, each
    `[page, kind, name, anchor, summary]` (the anchor is 0 where it is the name), and the beginnings
    of words that have a part. A part holds words, each with `Postings`: the numbers of pages, and
    those of places after them, each less the one before it.
    """
    pages: list[list[Any]] = []
    places: list[list[Any]] = []
    words: Postings = defaultdict(lambda: [[] for _ in range(REPEATED)])
    for number, one in enumerate(shown):
        page = one.page
        place = page.document.content["title"] if page.document else ""
        pages.append([one.name, one.url, page.kind, place, _short(plain(page.summary))])
        text = "\n".join((one.text, *_prose(page))) if page.kind != "guide" else one.text
        _count(words, number, text, one.name)
        for kind, name, anchor, about, below in _places(one):
            _count(words, len(shown) + len(places), below, name)
            places.append([number, kind, name, anchor if anchor != name else 0, about])
    parts = dict(_parts(words, ""))
    index = {"pages": pages, "places": places, "parts": sorted(parts)}
    found = {"assets/index.js": f"window.KINWIRE_INDEX={_json(index)};\n"}
    for beginning, part in parts.items():
        rows = [[word, *_steps(postings)] for word, postings in sorted(part.items())]
        script = f"kinwireSearch.add({_json(beginning)},{_json(rows)});\n"
        found[f"assets/words/w-{_file(beginning)}.js"] = script
    return found


def _steps(postings: list[list[int]]) -> list[list[int]]:
    """Return numbers as the steps between them, which are shorter, up to the last that are any."""
    steps = [[b - a for a, b in pairwise([0, *numbers])] for numbers in postings]
    while steps and not steps[-1]:
        steps.pop()
    return steps


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _file(beginning: str) -> str:
    """Return the name of the file of a part: its letters, or their numbers if not all are ASCII."""
    if beginning.isascii():
        return beginning
    return "".join(f"-{ord(letter):x}" for letter in beginning)


def _count(words: Postings, number: int, text: str, name: str) -> None:
    """Add the words of an entry's text, without common ones and those of its name."""
    known = _COMMON.union(_WORD.findall(name.lower()))
    for word, count in Counter(_WORD.findall(text.lower())).items():
        if word not in known:
            words[word][min(count, REPEATED) - 1].append(number)


def _parts(words: Mapping[str, Any], beginning: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield words in parts, each with the letters that all words in it begin with."""
    if beginning and (len(words) == 1 or len(_json(words)) <= PART):
        yield beginning, words
        return
    below: dict[str, dict[str, Any]] = defaultdict(dict)
    for word, postings in words.items():
        below[word[: len(beginning) + 1]][word] = postings
    whole = below.pop(beginning, None) if beginning else None
    if whole is not None:
        yield beginning, whole
    for longer, some in below.items():
        yield from _parts(some, longer)


def _prose(page: Page) -> Iterator[str]:
    """Yield the texts of a page that has no sections of its own in the index."""
    if page.kind in ("method", "tool", "type", "protocol", "data"):
        yield from _texts_of(page.blocks, tables=page.kind in ("protocol", "data"))


def _texts_of(blocks: Iterable[Block], *, tables: bool) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Text | Decision | Prose):
            yield _PLACE.sub("]", block.text)
        elif isinstance(block, Folded):
            yield from _texts_of(block.blocks, tables=tables)
        elif isinstance(block, Fields):
            for row in block.rows:
                yield f"{row.name} {_PLACE.sub(']', row.meaning.text)} {row.meaning.decision}"
        elif isinstance(block, TableBlock) and tables:
            for line in block.rows:
                yield " ".join(_PLACE.sub("]", _text(cell)) for cell in line.cells)


def _places(shown: Shown) -> Iterator[list[str]]:
    page = shown.page
    yield from _rows(page, page.blocks)
    kind = "error" if page.path == "errors" else page.kind
    if kind in ("guide", "api", "data", "error"):
        texts = dict(_texts(page.blocks)) if page.kind == "api" else {}
        for section in shown.sections:
            body = section.body or texts.get(section.anchor, "")
            about = _about(body) if kind in ("guide", "api") else ""
            yield [kind, section.text, section.anchor, about, body]


def _rows(page: Page, blocks: Sequence[Block]) -> Iterator[list[str]]:
    """Yield the fields and the rows of tables that have an anchor."""
    for block in blocks:
        if isinstance(block, Folded):
            yield from _rows(page, block.blocks)
        elif isinstance(block, Fields):
            for field in block.rows:
                about = _short(plain(field.meaning.text))
                yield ["field", field.anchor, field.anchor, about, ""]
        elif isinstance(block, TableBlock):
            for row in block.rows:
                if row.anchor and not row.anchor.startswith("error."):
                    yield _row(page, row)


def _row(page: Page, row: TableRow) -> list[str]:
    kind = "error" if page.kind == "protocol" else "row"
    name = plain(_text(row.cells[row.column]))
    about = _text(row.cells[-1]) if kind != "row" or page.kind == "data" else ""
    if kind == "error":
        about = f"{_text(row.cells[0])} {about}"
    return [kind, name, row.anchor, _short(plain(about)), ""]


def _texts(blocks: Sequence[Block]) -> Iterator[tuple[str, str]]:
    """Yield the anchor of each heading with the text below it."""
    anchor, texts = "", list[str]()
    for block in blocks:
        if isinstance(block, Heading):
            yield anchor, "\n".join(texts)
            anchor, texts = block.anchor, []
        elif isinstance(block, Prose | Text):
            texts.insert(0, block.text)  # before the signature, so that the summary is of words
        elif isinstance(block, Code):
            texts.append(block.text)
    yield anchor, "\n".join(texts)


def _about(body: str) -> str:
    """Return the first line of a text that is not code."""
    first = re.split(r"\n\n|(?<=[.:?]) ", body.strip(), maxsplit=1)[0]
    return _short(plain(" ".join(first.split()))) if first[:1].isalpha() else ""


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell.text


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rsplit(" ", 1)[0] + " …"
