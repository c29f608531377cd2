"""Pages as Markdown: the reference in the repository, and a file for every page of a site."""

from __future__ import annotations

__all__ = ("as_markdown",)

import re
from collections.abc import Iterable, Iterator
from html import escape

from kinwire_codegen.docs.reference.blocks import (
    Badges,
    Block,
    Cell,
    Code,
    Decision,
    Examples,
    FieldRow,
    Fields,
    Folded,
    Heading,
    Items,
    Page,
    PageList,
    Prose,
    ProtocolCards,
    TableBlock,
    TableRow,
    Text,
)
from kinwire_codegen.emit.package import OWNED
from kinwire_codegen.load.document import Document
from kinwire_codegen.load.names import visible

_TAG = re.compile(
    r"^(?P<fence>`{3,})[^`\n]*$.*?^(?P=fence)`*$"
    r"|(?P<ticks>(?<!`)`+(?!`))[^\n]*?(?<!`)(?P=ticks)(?!`)"
    r"|\\.|<(?=[A-Za-z/!?])(?!https?://)",
    re.MULTILINE | re.DOTALL,
)
"""Code and escaped signs, which stay, or the begin of a tag of HTML."""


def as_markdown(page: Page) -> str:
    """Return a page as a file of Markdown."""
    source = page.document.file if page.document else "the documents"
    lines = [f"# {_line(page.title)}", "", f"<!-- Generated from {source} {OWNED}. -->", ""]
    for block in page.blocks:
        lines += _lines(block)
    text = "\n".join(lines)
    # Links are made for pages two folders down.
    return text.replace("](../../", f"]({'../' * page.path.count('/')}")


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Heading(text, level, anchor):
            yield from (f"{'#' * level} {_anchor(anchor)}{_line(text)}", "")
        case Text(text):
            yield from (_plain(text), "")
        case Badges(items):
            yield from (_line(" · ".join(items)), "")
        case Decision(text):
            yield from (f"> **Decision:** {_plain(text)}", "")
        case Items():
            yield from _items(block)
        case PageList(entries):
            items = tuple(f"[{name}]({place}): {summary}" for name, place, summary in entries)
            yield from _items(Items(items))
        case TableBlock():
            yield from _table(block)
        case _:
            yield from _large(block)


def _large(block: Block) -> Iterator[str]:
    match block:
        case Fields(rows):
            yield from _table(_fields_table(rows))
        case ProtocolCards(documents):
            yield from _table(_protocols_table(documents))
        case Folded(title, blocks):
            yield from (f"**{_line(title)}**", "")
            for inner in blocks:
                yield from _lines(inner)
        case Code():
            yield from _code(block)
        case Prose(text):
            yield from (text.strip(), "")
        case Examples():
            yield from _examples(block)
        case _:
            pass  # a drawing: the same facts are in words next to it


def _examples(examples: Examples) -> Iterator[str]:
    yield from (f"## {_anchor('example')}Example", "")
    for tab in examples.tabs:
        yield from (f"### {_line(tab.title)}", "")
        for code in tab.codes:
            yield from _code(code)
    yield from (examples.note, "")


def _fields_table(rows: Iterable[FieldRow]) -> TableBlock:
    return TableBlock.of(
        ("field", "type", "required", "meaning"),
        (TableRow((f"`{row.name}`", *_field_cells(row)), row.anchor) for row in rows),
    )


def _field_cells(row: FieldRow) -> tuple[Cell, Cell, Cell]:
    needed = "yes" if row.required else "no"
    by = f"by {row.added_by}" if row.added_by else needed
    return ", ".join((row.type, *row.limits)), by, row.meaning


def _protocols_table(documents: Iterable[Document]) -> TableBlock:
    return TableBlock.of(
        ("protocol", "version", "methods", "tools", "types"),
        (
            (
                f"[{document.content['title']}](../../{document.name}/README.md)",
                document.content["version"],
                str(len(document.content["methods"])),
                str(len(document.table("tools"))),
                str(len(document.definitions)),
            )
            for document in documents
        ),
    )


def _items(block: Items) -> Iterator[str]:
    for number, item in enumerate(block.items, 1):
        yield f"{number}. {_line(item)}" if block.ordered else f"- {_line(item)}"
    yield ""


def _table(table: TableBlock) -> Iterator[str]:
    yield f"| {' | '.join(map(_cell, table.columns))} |"
    yield f"|{' --- |' * len(table.columns)}"
    for row in table.rows:
        yield f"| {' | '.join(_cells(row))} |"
    yield ""


def _cells(row: TableRow) -> Iterator[str]:
    for column, cell in enumerate(row.cells):
        yield (_anchor(row.anchor) if column == row.column else "") + _cell(cell)


def _cell(cell: Cell) -> str:
    """Return a text that a cell of a table may hold."""
    if not isinstance(cell, str):
        decided = f"**Decision:** {cell.decision}" if cell.decision else ""
        cell = " ".join(filter(None, (cell.text, decided)))
    return _line(cell).replace("|", "\\|")


def _anchor(name: str) -> str:
    return f'<a id="{escape(visible(name))}"></a>' if name else ""


def _plain(text: str) -> str:
    """Return Markdown in which tags of HTML are text, as on the site."""
    if "<" not in text:  # as in most texts: looking for code takes long
        return text
    return _TAG.sub(lambda found: "\\<" if found[0] == "<" else found[0], text)


def _line(text: str) -> str:
    """Return the same on one line."""
    return _plain(" ".join(text.splitlines()))


def _code(code: Code) -> Iterator[str]:
    if code.caption:
        yield from (f"{_line(code.caption)}:", "")
    yield from (f"```{code.language}", *code.text.split("\n"), "```", "")
