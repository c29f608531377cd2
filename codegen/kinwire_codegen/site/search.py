"""What the search finds: pages, and places on pages, as a script that a page loads."""

from __future__ import annotations

__all__ = ("search_index",)

import json
from collections.abc import Iterator, Sequence
from typing import Any

from kinwire_codegen.reference.blocks import Cell, Page, TableBlock
from kinwire_codegen.site.html import Shown
from kinwire_codegen.site.inline import plain

LONGEST = 140


def search_index(shown: Sequence[Shown]) -> str:
    """Return the script. A place is `[page, kind, name, anchor, about]`; pages have no anchor."""
    pages: list[list[Any]] = []
    places: list[list[Any]] = []
    for number, one in enumerate(shown):
        page = one.page
        place = page.document.content["title"] if page.document else ""
        pages.append([one.name, one.url, page.kind, place, _short(plain(page.summary))])
        places += ([number, *found] for found in _places(one))
    index = {"pages": pages, "places": places}
    return f"window.KINWIRE_INDEX={json.dumps(index, ensure_ascii=False, separators=(',', ':'))};\n"


def _places(shown: Shown) -> Iterator[list[str]]:
    page = shown.page
    for block in shown.blocks:
        if isinstance(block, TableBlock):
            yield from _rows(page, block)
    if page.kind in ("guide", "api", "data") or page.path == "errors":
        kind = "error" if page.path == "errors" else "section"
        yield from ([kind, one.text, one.anchor, ""] for one in shown.sections)


def _rows(page: Page, table: TableBlock) -> Iterator[list[str]]:
    for row in table.rows:
        if not row.anchor or row.anchor.startswith("error."):
            continue
        kind = "member" if table.members else "error" if page.kind == "protocol" else "row"
        name = row.anchor if table.members else plain(_text(row.cells[row.column]))
        about = _text(row.cells[-1]) if kind != "row" or page.kind == "data" else ""
        if kind == "error":
            about = f"{_text(row.cells[0])} {about}"
        yield [kind, name, row.anchor, _short(plain(about))]


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else cell.text


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rsplit(" ", 1)[0] + " …"
