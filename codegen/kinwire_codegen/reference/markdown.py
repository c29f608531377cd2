"""Pages as Markdown: the files in the repository, and next to every page of a site."""

from __future__ import annotations

__all__ = ("as_markdown",)

from collections.abc import Iterator

from kinwire_codegen.package import OWNED
from kinwire_codegen.reference.blocks import (
    Badges,
    Block,
    Cell,
    Code,
    Decision,
    Examples,
    Heading,
    Items,
    Page,
    Prose,
    TableBlock,
    TableRow,
    Text,
)


def as_markdown(page: Page) -> str:
    """Return a page as a file of Markdown."""
    source = page.document.file if page.document else "the documents"
    lines = [f"# {page.title}", "", f"<!-- Generated from {source} {OWNED}. -->", ""]
    for block in page.blocks:
        lines += _lines(block)
    text = "\n".join(lines)
    # What links make is for pages two folders down.
    return text.replace("](../../", f"]({'../' * page.path.count('/')}")


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Heading(text, level, anchor):
            yield from (f"{'#' * level} {_anchor(anchor)}{text}", "")
        case Text(text):
            yield from (text, "")
        case Badges(items):
            yield from (" · ".join(items), "")
        case Decision(text):
            yield from (f"> **Decision:** {text}", "")
        case Items():
            yield from _items(block)
        case _:
            yield from _large(block)


def _large(block: Block) -> Iterator[str]:
    match block:
        case TableBlock():
            yield from _table(block)
        case Code():
            yield from _code(block)
        case Prose(text):
            yield from (text.strip(), "")
        case Examples(tabs):
            for tab in tabs:
                yield from (f"### {tab.title}", "")
                for code in tab.codes:
                    yield from _code(code)
        case _:
            pass  # a drawing: the same facts are on the page in words


def _items(block: Items) -> Iterator[str]:
    for number, item in enumerate(block.items, 1):
        yield f"{number}. {item}" if block.ordered else f"- {item}"
    yield ""


def _table(table: TableBlock) -> Iterator[str]:
    yield f"| {' | '.join(table.columns)} |"
    yield f"|{' --- |' * len(table.columns)}"
    for row in table.rows:
        yield f"| {' | '.join(_cells(row))} |"
    yield ""


def _cells(row: TableRow) -> Iterator[str]:
    for column, cell in enumerate(row.cells):
        yield (_anchor(row.anchor) if column == row.column else "") + _cell(cell)


def _cell(cell: Cell) -> str:
    """Return a text as it may stand in a table."""
    if not isinstance(cell, str):
        decided = f"**Decision:** {cell.decision}" if cell.decision else ""
        cell = " ".join(filter(None, (cell.text, decided)))
    return cell.replace("|", "\\|").replace("\n", " ")


def _anchor(name: str) -> str:
    return f'<a id="{name}"></a>' if name else ""


def _code(code: Code) -> Iterator[str]:
    yield from (f"```{code.language}", *code.text.splitlines(), "```", "")
