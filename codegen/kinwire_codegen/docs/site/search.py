"""What the search finds: pages, and places on pages, as a script that a page loads."""

from __future__ import annotations

__all__ = ("search_index",)

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from kinwire_codegen.docs.reference.blocks import (
    Block,
    Cell,
    Code,
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

LONGEST = 140
REPEATED = 3
_WORD = re.compile(r"[^\W\d]\w{2,29}")
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


def search_index(shown: Sequence[Shown]) -> str:
    """Return the script.

    A page is `[name, url, kind, place, summary, words]`, a place on it
    `[page, kind, name, anchor, summary, words]`; the anchor is 0 where it is the name. Words are
    those of a text: the ones that occur once, after a bar the ones that occur twice, and so on.
    """
    pages: list[list[Any]] = []
    places: list[list[Any]] = []
    for number, one in enumerate(shown):
        page = one.page
        place = page.document.content["title"] if page.document else ""
        summary = _short(plain(page.summary))
        pages.append([one.name, one.url, page.kind, place, summary, _words(one.text, one.name)])
        for kind, name, anchor, about, words in _places(one):
            places.append([number, kind, name, anchor if anchor != name else 0, about, words])
    index = {"pages": pages, "places": places}
    return f"window.KINWIRE_INDEX={json.dumps(index, ensure_ascii=False, separators=(',', ':'))};\n"


def _places(shown: Shown) -> Iterator[list[str]]:
    page = shown.page
    yield from _rows(page, page.blocks)
    kind = "error" if page.path == "errors" else page.kind
    if kind in ("guide", "api", "data", "error"):
        texts = dict(_texts(page.blocks)) if page.kind == "api" else {}
        for section in shown.sections:
            body = section.body or texts.get(section.anchor, "")
            about = _about(body) if kind in ("guide", "api") else ""
            yield [kind, section.text, section.anchor, about, _words(body, section.text)]


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


def _words(text: str, name: str) -> str:
    """Return the words of a text by how often they occur: once, twice, ..., `REPEATED` or more.

    The common ones, and those of its name, are left out.
    """
    known = _COMMON.union(_WORD.findall(name.lower()))
    groups: list[list[str]] = [[] for _ in range(REPEATED)]
    for word, count in Counter(_WORD.findall(text.lower())).items():
        if word not in known:
            groups[min(count, REPEATED) - 1].append(word)
    return "|".join(map(" ".join, groups)).rstrip("|")


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell.text


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rsplit(" ", 1)[0] + " …"
